--
-- Near-duplicates where no extension may be installed: SQL and PL/pgSQL alone, to be
-- run by any role that may create a schema, on PostgreSQL 14 to 19, and on PGlite.
-- SPDX-License-Identifier: PostgreSQL
--
--     CALL plain.add_keys('docs');      columns, indexes, and docs_near(q, k)
--     CALL plain.add_guard('docs', 3);  a trigger that refuses near-duplicates
--
-- docs has a column fp, bigint, that a program fills with fingerprints of 64 bits, and
-- a column id.  docs/without.md has more, and how the extension takes over.
--
-- A fingerprint has four blocks of 16 bits.  Within distance k = 4a + r, two
-- fingerprints differ in at most a bits in one of the blocks 0 to r, or in at most
-- a - 1 in one of the others.  So docs_near looks up the keys of each block that are so
-- near, by index-only scans: 4 keys for k = 3, 188 for k = 8.  A row that several
-- blocks find counts for the first of them.
--
-- Operators have the very types of their operands, or a search_path of pg_catalog, so
-- that none of another schema is taken.  What fails undoes all.
--

BEGIN;
SET LOCAL search_path = pg_catalog, pg_temp;

-- A newer version replaces what the same role has made; any other schema stays as it is.
DO $$ BEGIN
	IF NOT EXISTS (SELECT FROM pg_proc JOIN pg_namespace AS n ON n.oid = pronamespace
		WHERE nspname = 'plain' AND proname = 'add_guard' AND nspowner = proowner
		AND pg_get_userbyid(nspowner) = current_user) THEN
		CREATE SCHEMA plain;
	END IF;
END $$;

-- Bodies that are expressions or BEGIN ATOMIC are bound to what they name here.
CREATE OR REPLACE FUNCTION plain.hamming(a bigint, b bigint) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN bit_count((a # b)::bit(64))::integer;

-- The block by which a search within k finds a row that differs in the bits x.
CREATE OR REPLACE FUNCTION plain.block(x bigint, k integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE
	WHEN plain.hamming(x >> 48 & 65535::bigint, 0::bigint) <= k / 4 THEN 0
	WHEN plain.hamming(x >> 32 & 65535::bigint, 0::bigint) <= k / 4 - (1 > k % 4)::integer THEN 1
	WHEN plain.hamming(x >> 16 & 65535::bigint, 0::bigint) <= k / 4 - (2 > k % 4)::integer THEN 2
	ELSE 3 END;

-- The keys to look up in block b: those that differ from q's in at most radius bits.
-- Bit 16 is outside the key, so i and j stand for two bits, one, or none.
CREATE OR REPLACE FUNCTION plain.keys(q bigint, b integer, k integer) RETURNS smallint[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
	key integer := (q << 16 * b) >> 48;
	radius integer := k / 4 - (b > k % 4)::integer;
BEGIN
	IF radius < 0 THEN
		RETURN '{}';
	ELSIF radius = 0 THEN
		RETURN ARRAY[key];
	ELSIF radius > 2 THEN
		RAISE EXCEPTION 'distance % is more than 11', k
		USING ERRCODE = 'invalid_parameter_value';
	END IF;
	RETURN ARRAY(SELECT ((key # ((1 << i) | (1 << j))) << 16 >> 16)::smallint
		FROM generate_series(0, 16) AS i, generate_series(
			CASE radius WHEN 1 THEN 16 ELSE least(i + 1, 16) END, 16) AS j);
END $$;

-- Give a table four key columns, their indexes, and a function of its name:
-- docs_near(q, k) returns id, fp and distance of the rows within k bits of q, k <= 11.
CREATE OR REPLACE PROCEDURE plain.add_keys(tab regclass, id name DEFAULT 'id', fp name DEFAULT 'fp')
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	near text;
	type text;
	arms text[];
BEGIN
	SELECT format('%I.%I', nspname, relname::text || '_near'),
		format_type(i.atttypid, NULL) INTO near, type
	FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace
	JOIN pg_attribute AS i ON i.attrelid = c.oid AND i.attname = id
	JOIN pg_attribute AS f ON f.attrelid = c.oid AND f.attname = fp
		AND f.atttypid = 'bigint'::regtype
	WHERE c.oid = tab;
	IF NOT FOUND THEN
		RAISE EXCEPTION '% has no column "%", or no column "%" of type bigint', tab, id, fp
		USING ERRCODE = 'undefined_column';
	END IF;
	EXECUTE (SELECT format('ALTER TABLE %s ', tab) || string_agg(format(
		'ADD k%s smallint GENERATED ALWAYS AS (((%I << 16 * %1$s) >> 48)::smallint) STORED',
		b, fp), ', ') FROM generate_series(0, 3) AS b);
	FOR b IN 0..3 LOOP
		EXECUTE format('CREATE INDEX ON %s (k%s) INCLUDE (%I, %I)', tab, b, fp, id);
		arms[b] := format('SELECT t.%I, t.%I, plain.hamming(t.%2$I, $1) FROM %s AS t
			WHERE t.k%s = ANY (plain.keys($1, %4$s, $2)) AND plain.hamming(t.%2$I, $1) <= $2
			AND plain.block(t.%2$I # $1, $2) = %4$s', id, fp, tab, b);
	END LOOP;
	EXECUTE format('CREATE FUNCTION %s(q bigint, k integer DEFAULT 3)
		RETURNS TABLE (id %s, fp bigint, distance integer)
		LANGUAGE sql STABLE PARALLEL SAFE ROWS 10 BEGIN ATOMIC %s; END',
		near, type, array_to_string(arms, ' UNION ALL '));
END $$;

-- Have a table that has the keys refuse rows within k bits of another, or leave them
-- out where action is 'skip'.  The guard looks up rows with the rights of the table's
-- owner, and says nothing of the row that it finds.
--
-- A row locks the pieces of its fingerprint, of which two rows within k have one in
-- common, until the transaction ends; then it is looked up in a new snapshot, which has
-- what other transactions have committed.  Since the server has room for a bounded
-- number of locks, a transaction takes one lock for all rows from its row 257 on, which
-- the others hold shared.  Pieces hashed to a thousand values would be bounded too, but
-- by them transactions of ten unrelated rows by six clients deadlock in three cases of
-- ten, by pieces in none.
--
-- PL/pgSQL finds docs_near by its name: the guard calls it while it reads the table, or
-- one that this is a partition of, and belongs to the table's owner, and is made only
-- where the schema's owner has the table owner's rights.
CREATE OR REPLACE PROCEDURE plain.add_guard(tab regclass, k integer DEFAULT 3,
	action text DEFAULT 'reject', fp name DEFAULT 'fp')
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $make$
DECLARE
	near text;
	guard text;
BEGIN
	SELECT format('%I.%I', nspname, relname::text || '_near'),
		format('%I.%I', nspname, relname::text || '_guard')
	INTO near, guard
	FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace
	JOIN pg_database ON datname = current_database()
	WHERE c.oid = tab AND pg_get_userbyid(relowner) = current_user
	AND (action = 'reject' OR action = 'skip' AND relkind = 'r' AND NOT relispartition)
	AND pg_has_role(CASE pg_get_userbyid(nspowner) WHEN 'pg_database_owner' THEN datdba
		ELSE nspowner END, relowner, 'MEMBER');
	IF NOT EXISTS (SELECT FROM pg_proc AS p JOIN pg_depend AS d ON d.objid = p.oid
		AND d.classid = 'pg_proc'::regclass
		WHERE p.oid = to_regprocedure(near || '(bigint, integer)') AND refobjid = tab
		AND pg_get_userbyid(proowner) = current_user) OR (k BETWEEN 0 AND 11) IS NOT TRUE
		OR NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = tab AND attname = fp
			AND atttypid = 'bigint'::regtype)
		OR EXISTS (SELECT FROM pg_proc AS p WHERE prosrc NOT LIKE '%plain.guarded%'
			AND (p.oid = to_regprocedure(guard || '()') OR EXISTS (SELECT FROM pg_trigger
				WHERE tgfoid = p.oid AND tgrelid = tab AND tgname = 'guard'))) THEN
		RAISE EXCEPTION 'no guard within % of % by "%"', k, tab, action
		USING ERRCODE = 'invalid_parameter_value', HINT = 'The owner of a table, after '
			'plain.add_keys, makes a guard within 0 to 11 of its column of fingerprints, by '
			'"reject", or by "skip" if the table is no part of a partitioned one, in a schema '
			'of that owner; it replaces no other trigger or function.';
	END IF;
	EXECUTE format('CREATE OR REPLACE FUNCTION %s() RETURNS trigger
		LANGUAGE plpgsql SECURITY DEFINER
		SET search_path = pg_catalog, pg_temp SET row_security = off
		SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS %L', guard,
		format($guard$
DECLARE
	print CONSTANT bigint := new.%1$I;
	was CONSTANT bigint := old.%1$I;
	root CONSTANT oid := coalesce(pg_partition_root(tg_relid), tg_relid);
	pieces CONSTANT integer := greatest(%2$s + 1, 4);
	guarded integer;
	others integer;
BEGIN
	IF print IS NULL OR print = was THEN
		RETURN new;
	ELSIF current_setting('transaction_isolation') NOT LIKE 'read %%' THEN
		RAISE EXCEPTION 'near-duplicates are kept out at isolation level read committed only'
		USING ERRCODE = 'feature_not_supported',
			HINT = 'Use BEGIN ISOLATION LEVEL READ COMMITTED.';
	END IF;

	guarded := set_config('plain.guarded', (1 + coalesce(substring(
		current_setting('plain.guarded', true), '^[0-9]{1,9}$'), '0')::integer)::text, true);
	IF guarded > 256 THEN
		PERFORM pg_advisory_xact_lock(root::integer, -1);
	ELSE
		PERFORM pg_advisory_xact_lock_shared(root::integer, -1);
		PERFORM pg_advisory_xact_lock(root::integer, i << 16 | (print >> 64 * i / pieces
			& ((1 << 64 * (i + 1) / pieces - 64 * i / pieces) - 1)::bigint)::integer)
		FROM generate_series(0, pieces - 1) AS i;
	END IF;

	IF NOT EXISTS (SELECT FROM pg_proc AS p JOIN pg_depend AS d ON d.objid = p.oid
		AND d.classid = 'pg_proc'::regclass WHERE p.oid = to_regprocedure(%3$L)
		AND pg_get_userbyid(proowner) = current_user AND (refobjid = tg_relid
		OR refobjid IN (SELECT pg_partition_ancestors(tg_relid)))) THEN
		RAISE EXCEPTION 'the guard of table "%%" misses its owner''s %%', tg_table_name, %3$L
		USING ERRCODE = 'undefined_function', HINT = 'Call plain.add_guard again.';
	END IF;
	-- An update may find its own row, as it was.
	SELECT count(*) INTO others FROM (SELECT FROM %4$s(print, %2$s) LIMIT 2) AS n;
	IF others <= coalesce(bit_count((was # print)::bit(64)) <= %2$s, false)::integer THEN
		RETURN new;
	-- An update that moves a row to another partition inserts it: left out, it is lost.
	ELSIF tg_argv[0] = 'skip' AND tg_op = 'INSERT' AND root = tg_relid THEN
		RETURN NULL;
	END IF;
	RAISE EXCEPTION 'row is a near-duplicate of another in table "%%"', tg_table_name
	USING ERRCODE = 'exclusion_violation', CONSTRAINT = tg_name,
		SCHEMA = tg_table_schema, TABLE = tg_table_name,
		HINT = format('SELECT * FROM %%s(%%s, %2$s) shows those that you may see.', %4$L, print);
END $guard$, fp, k, near || '(bigint, integer)', near));
	EXECUTE format('REVOKE ALL ON FUNCTION %s() FROM PUBLIC', guard);
	EXECUTE format('CREATE OR REPLACE TRIGGER guard BEFORE INSERT OR UPDATE ON %s
		FOR EACH ROW EXECUTE FUNCTION %s(%L)', tab, guard, action);
END $make$;

COMMIT;
