# DDL of the session's own between two rows of a statement, at random, under
# guards and clusters of every action and option.  Each statement is run three
# times from one state of the tables: with the DDL between two rows, with the DDL
# before it, and without.  The first ends in an error, or leaves the rows that one
# of the other two leaves; and no run takes the server down.
# SIMHASH_SEED repeats a run; SIMHASH_ROUNDS is how many statements there are.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $seed = seed();
my $rounds = rounds(120, 500);
my $batch = 100;

my $node = new_node('ddl', <<'END');
restart_after_crash = off
client_min_messages = error
END

$node->safe_psql('postgres', <<'END');
CREATE SCHEMA trial;
CREATE TABLE trial.seen (round int, form text, trigger text, statement text, ddl text,
    outcome text);

-- one of several
CREATE FUNCTION trial.one(VARIADIC texts text[]) RETURNS text LANGUAGE sql VOLATILE AS
$$ SELECT texts[1 + floor(random() * cardinality(texts))::int] $$;

-- what is done between two rows: the DDL, when it is that row's turn
CREATE FUNCTION trial.f(i int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    IF i = current_setting('trial.turn')::int THEN
        BEGIN
            EXECUTE current_setting('trial.ddl');
        EXCEPTION WHEN others THEN
            -- what cannot be done is not done; some goes on, some fails
            IF current_setting('trial.strict')::boolean THEN RAISE; END IF;
        END;
    END IF;
    RETURN i;
END $$;
CREATE FUNCTION trial.fire() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN NEW.m := trial.f(NEW.m::int); RETURN NEW; END $$;

-- the tables, in a schema of their own
CREATE FUNCTION trial.make(form text, trigger text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    fp text := CASE WHEN form LIKE '%of two%' THEN
        'bigint GENERATED ALWAYS AS (minhash(coalesce(site, '''') || '' '' || body)) STORED' WHEN form LIKE '%generated%' THEN
        'bigint GENERATED ALWAYS AS (hashint8(length(body)) & 7) STORED' ELSE 'bigint' END;
    target text := 'w.docs';
BEGIN
    CREATE SCHEMA w;
    EXECUTE 'CREATE TABLE w.docs (id int NOT NULL, site text, body text, m bigint, twin text, other text, at date DEFAULT ''2026-01-01'', fp '
        || fp || CASE WHEN form LIKE '%parted%' THEN ') PARTITION BY LIST (id)' ELSE ')' END;
    IF form LIKE '%parted%' THEN
        CREATE TABLE w.p1 PARTITION OF w.docs FOR VALUES IN (1, 2, 3);
        EXECUTE 'CREATE TABLE w.p2 (gone int, m bigint, fp ' || fp
            || ', site text, twin text, other text, body text, id int NOT NULL, at date DEFAULT ''2026-01-01'')';
        ALTER TABLE w.p2 DROP COLUMN gone;
        ALTER TABLE w.docs ATTACH PARTITION w.p2 FOR VALUES IN (4, 5, 6);
        CREATE TABLE w.p3 PARTITION OF w.docs FOR VALUES IN (7, 8, 9);
    END IF;
    ALTER TABLE w.docs ADD PRIMARY KEY (id);
    CREATE TABLE w.p4 (LIKE w.docs INCLUDING ALL);
    CREATE INDEX docs_fp ON w.docs USING hamming (fp);
    IF form LIKE '%parted%' THEN
        CREATE INDEX p4_fp ON w.p4 USING hamming (fp);
    END IF;
    CREATE TRIGGER aaa BEFORE UPDATE ON w.docs FOR EACH ROW EXECUTE FUNCTION trial.fire();
    IF trigger LIKE 'simhash_guard%' THEN
        EXECUTE 'CREATE TRIGGER g BEFORE INSERT OR UPDATE ON w.docs FOR EACH ROW EXECUTE FUNCTION ' || trigger;
    ELSIF trigger <> '' THEN
        EXECUTE 'CALL simhash_add_clusters(''w.docs'', ''fp'', ' || trigger || ')';
    END IF;
END $$;

-- the rows, by the numbers of their columns, whatever these are called by now
CREATE FUNCTION trial.rows() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text := '';
    part text;
    t oid;
BEGIN
    FOR t IN SELECT c.oid FROM pg_class c WHERE relkind = 'r'
        AND oid IN (SELECT relid FROM pg_partition_tree((SELECT oid FROM pg_class
            WHERE oid = current_setting('trial.docs')::oid)) UNION
            SELECT current_setting('trial.docs')::oid) LOOP
        EXECUTE format('SELECT string_agg(d.r, E''\n'' ORDER BY d.r) FROM (SELECT concat_ws(''|'', %s) AS r FROM %s) AS d',
            (SELECT string_agg(format('coalesce(%I::text, ''-'')', attname), ', ' ORDER BY column_order)
             FROM (SELECT a.attname, b.attnum AS column_order FROM pg_attribute a
                   JOIN pg_attribute b ON b.attname = a.attname
                   AND b.attrelid = current_setting('trial.docs')::oid
                   WHERE a.attrelid = t AND a.attnum > 0 AND NOT a.attisdropped) AS x),
            t::regclass) INTO part;
        result := result || coalesce(part || E'\n', '');
    END LOOP;
    RETURN (SELECT string_agg(l, E'\n' ORDER BY l) FROM regexp_split_to_table(result, E'\n') AS l);
END $$;

-- run all of it, and take it back
CREATE FUNCTION trial.run(form text, trigger text, first text, statement text, ddl text,
    turn int, before text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    BEGIN
        PERFORM set_config('trial.turn', '0', true), set_config('trial.ddl', ddl, true),
            set_config('trial.docs', '0', true);
        PERFORM trial.make(form, trigger);
        PERFORM set_config('trial.docs', 'w.docs'::regclass::oid::text, true);
        EXECUTE first;
        IF before <> '' THEN
            EXECUTE before;
        END IF;
        PERFORM set_config('trial.turn', turn::text, true);
        EXECUTE statement;
        RAISE EXCEPTION USING ERRCODE = 'TRIAL', MESSAGE = coalesce(trial.rows(), '');
    EXCEPTION WHEN others THEN
        RETURN CASE WHEN SQLSTATE = 'TRIAL' THEN SQLERRM ELSE SQLSTATE || ' ' || SQLERRM END;
    END;
END $$;

CREATE FUNCTION trial.some_ddl(form text, clusters boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    swap text := trial.one('site', 'body', 'm', 'twin', 'fp', 'other', 'cluster', 'at');
    for_it text := trial.one('site', 'body', 'm', 'twin', 'fp', 'other', 'cluster', 'at');
    t text := trial.one('w.docs', 'w.docs', 'w.p1', 'w.p2', 'w.p3', 'w.docs_clusters', 'w.docs_clusters');
    c text := trial.one('site', 'body', 'm', 'twin', 'fp', 'other', 'at', 'cluster', 'made', 'copy_of', 'unused_since', 'merged_into', 'merged_at');
BEGIN
    RETURN CASE floor(random() * 24)::int
        WHEN 0 THEN format('ALTER TABLE %s RENAME %I TO t0; ALTER TABLE %1$s RENAME %I TO %2$I; ALTER TABLE %1$s RENAME t0 TO %3$I', t, swap, for_it)
        WHEN 1 THEN format('ALTER TABLE w.docs RENAME %I TO t0; ALTER TABLE w.docs RENAME %I TO %1$I', swap, for_it)
        WHEN 2 THEN format('ALTER TABLE %s RENAME %I TO renamed', t, c)
        WHEN 3 THEN format('ALTER TABLE %s ALTER %I TYPE %s', t, c,
            trial.one('text', 'int USING length(' || c || '::text)', 'bigint USING 1', 'bit(64)', 'hamming_ball USING NULL', 'numeric', 'varchar(9)', 'text COLLATE "C"', 'float8'))
        WHEN 4 THEN format('ALTER TABLE %s DROP COLUMN %I %s', t, c, trial.one('', 'CASCADE'))
        WHEN 5 THEN format('DROP INDEX w.docs_fp %s', trial.one('', 'CASCADE'))
        WHEN 6 THEN format('DROP TRIGGER %s', trial.one('g ON w.docs', 'simhash_cluster ON w.docs', 'simhash_cluster_merge ON w.docs',
            'simhash_cluster_inserted ON w.docs', 'simhash_cluster_text ON w.docs', 'simhash_clusters ON w.docs_clusters'))
        WHEN 7 THEN 'ALTER TABLE w.docs DETACH PARTITION ' || trial.one('w.p1', 'w.p2', 'w.p3')
        WHEN 8 THEN 'ALTER TABLE w.docs ATTACH PARTITION w.p4 FOR VALUES IN (10, 11, 12)'
        WHEN 9 THEN format('DROP TABLE %s %s', trial.one('w.p1', 'w.p2', 'w.p3', 'w.docs', 'w.docs_clusters'), trial.one('', 'CASCADE'))
        WHEN 10 THEN 'DROP POLICY simhash_clusters ON w.docs_clusters'
        WHEN 11 THEN format('TRUNCATE %s', t)
        WHEN 12 THEN format('ALTER TABLE %s ADD COLUMN added int DEFAULT %s', t, trial.one('NULL', '7', 'random()'))
        WHEN 13 THEN 'CREATE INDEX ON w.docs USING hamming (fp)'
        WHEN 14 THEN format('REINDEX TABLE %s', t)
        WHEN 15 THEN 'ALTER TABLE w.docs RENAME TO docs2; ' || trial.one('', 'ALTER TABLE w.docs_clusters RENAME TO docs; ', 'CREATE TABLE w.docs (id int, fp bigint, site int, body text)')
        WHEN 16 THEN 'ALTER SCHEMA w RENAME TO w2' || trial.one('', '; CREATE SCHEMA w', '; CREATE SCHEMA w; CREATE TABLE w.docs_clusters (cluster bigint)')
        WHEN 17 THEN format('ALTER TABLE w.docs_clusters RENAME TO old; CREATE %s', trial.one('TABLE w.docs_clusters (cluster bigint, made timestamptz, fp bigint)', 'VIEW w.docs_clusters AS SELECT 1::bigint AS cluster', 'TABLE w.docs_clusters (LIKE w.old INCLUDING ALL)'))
        WHEN 18 THEN format('ALTER TABLE %s SET SCHEMA trial', t)
        WHEN 19 THEN 'ALTER TABLE w.docs DISABLE TRIGGER ' || trial.one('ALL', 'USER')
        WHEN 20 THEN 'ALTER POLICY simhash_clusters ON w.docs_clusters USING (true)'
        WHEN 21 THEN format('CLUSTER %s', trial.one('w.docs USING docs_pkey', 'w.docs_clusters USING docs_clusters_pkey'))
        WHEN 22 THEN format('DELETE FROM %s', t)
        ELSE trial.one('CALL simhash_drop_clusters(''w.docs'')', 'ALTER TABLE w.docs_clusters ALTER cluster DROP IDENTITY',
            'ALTER TABLE w.docs_clusters DROP CONSTRAINT docs_clusters_pkey', 'CALL simhash_split_clusters(''w.docs'')',
            'ALTER TABLE w.docs_clusters SET UNLOGGED', 'CREATE OR REPLACE TRIGGER g BEFORE INSERT OR UPDATE ON w.docs FOR EACH ROW EXECUTE FUNCTION simhash_guard(''fp'', ''reject'', ''0'')')
    END;
END $$;

CREATE FUNCTION trial.go(first int, last int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    form text; trigger text; statement text; ddl text; rows text; turn int; clusters boolean;
    between text; before text; without text; target text; fails text;
BEGIN
    FOR n IN first .. last LOOP
        form := trial.one('plain', 'generated', 'parted', 'parted generated', 'generated of two', 'parted generated of two');
        clusters := random() < .5;
        trigger := CASE WHEN clusters THEN
            (floor(random() * 3)::int)::text || ', kind => ' || trial.one('''star''', '''connected''')
            || trial.one('', ', within => ''{site}''', ', since => ''added_at''')
            || CASE WHEN form LIKE '%of two' THEN ', similarity => ''jaccard'', at_least => .1' ELSE
                trial.one('', '', ', similarity => ''jaccard'', at_least => .1, document => ''body''') END
        ELSE format('simhash_guard(''fp'', %s%s%s%s)',
            replace(trial.one('''reject'', ''%''', '''skip'', ''%''', '''mark'', ''%'', ''mark=twin''', '''conflict'', ''%'''), '%', floor(random() * 3)::text),
            trial.one('', ', ''within=site''', ', ''within=site,other'''),
            CASE WHEN form LIKE '%of two' THEN ', ''at_least=0.1''' ELSE trial.one('', '', ', ''document=body'', ''similarity=jaccard''',
                CASE WHEN form LIKE '%generated%' THEN '' ELSE ', ''document=body'', ''fill=minhash''' END) END,
            trial.one('', ', ''except=id''', ', ''time=at'', ''for=7 days''')) END;
        rows := format('SELECT i, %s, %s, %s, %s FROM generate_series(%s, %s) AS i',
            trial.one('''x''', '''s'' || i % 2'), trial.one('''one two three''', '''body '' || i', 'repeat(''y '', i)'),
            'trial.f(i)', CASE WHEN form LIKE '%generated%' OR trigger LIKE '%fill%' THEN 'NULL' ELSE trial.one('i & 1', '(i & 3) * 255', 'i * 7777777') END,
            1, trial.one('6', '9'));
        target := trial.one('w.docs', 'w.docs', CASE WHEN form LIKE 'parted%' THEN 'w.p' || (1 + floor(random() * 3)::int) ELSE 'w.docs' END);
        IF target <> 'w.docs' THEN
            rows := replace(replace(rows, 'generate_series(1, 6)', 'generate_series(1, 3)'), 'generate_series(1, 9)', 'generate_series(1, 3)');
            rows := regexp_replace(rows, '^SELECT i,', 'SELECT i + ' || 3 * (right(target, 1)::int - 1) || ',');
        END IF;
        rows := format('INSERT INTO %s (id, site, body, m%s) %s', target,
            CASE WHEN rows LIKE '%NULL FROM%' THEN '' ELSE ', fp' END, replace(rows, ', NULL FROM', ' FROM'));
        statement := trial.one(rows, rows || ' ON CONFLICT DO NOTHING', rows || ' ON CONFLICT (id) DO UPDATE SET m = excluded.m',
            'UPDATE w.docs SET m = id, site = ''z''', 'UPDATE w.docs SET m = id, body = body || '' more''',
            CASE WHEN form LIKE 'parted%' THEN 'UPDATE w.docs SET m = id, id = CASE WHEN id < 4 THEN id + 6 ELSE id END' ELSE 'UPDATE w.docs SET m = id' END,
            'WITH d AS (DELETE FROM w.docs WHERE id < 3) ' || rows);
        turn := 2 + floor(random() * 4);
        ddl := trial.some_ddl(form, clusters);
        fails := (random() < .5)::text;
        PERFORM set_config('trial.strict', fails, true);
        INSERT INTO trial.seen VALUES (n, form, trigger, statement, ddl, NULL);
        PERFORM setseed(0);
        between := trial.run(form, trigger, CASE WHEN statement LIKE 'UPDATE%' THEN rows || ' ON CONFLICT DO NOTHING' ELSE '' END || ';', statement, ddl, turn, '');
        before := trial.run(form, trigger, CASE WHEN statement LIKE 'UPDATE%' THEN rows || ' ON CONFLICT DO NOTHING' ELSE '' END || ';', statement, ddl, 0, ddl);
        without := trial.run(form, trigger, CASE WHEN statement LIKE 'UPDATE%' THEN rows || ' ON CONFLICT DO NOTHING' ELSE '' END || ';', statement, ddl, 0, '');
        PERFORM setseed(n::float8 / 1e7 * current_setting('trial.salt')::float8);
        UPDATE trial.seen SET outcome = left(between, 90) WHERE round = n;
        -- what changes rows besides, or takes triggers away, leaves a mixture
        IF between !~ '^[0-9A-Z]{5} ' AND between NOT IN (before, without)
            AND ddl !~ 'TRUNCATE|DELETE|CREATE OR REPLACE|CALL|CASCADE|TRIGGER' THEN
            RETURN NEXT format(E'round %s: neither\n%s\n%s\n%s\n%s\nbetween:\n%s\nbefore:\n%s\nwithout:\n%s\n', n, form, trigger, statement, ddl, between, before, without);
        ELSIF between ~ '^XX' AND before !~ '^XX'
            -- the server complains so of its own
            AND trial.run(form, '', CASE WHEN statement LIKE 'UPDATE%' THEN rows || ' ON CONFLICT DO NOTHING' ELSE '' END || ';', statement, ddl, turn, '') !~ '^XX' THEN
            RETURN NEXT format(E'round %s: internal error\n%s\n%s\n%s\n%s\nbetween:\n%s\nbefore:\n%s\n', n, form, trigger, statement, ddl, between, before);
        END IF;
    END LOOP;
END $$;
END

my $failures = 0;
for (my $first = 1; $first <= $rounds && $failures < 5; $first += $batch) {
    my $last = $first + $batch - 1;
    $last = $rounds if $last > $rounds;
    my ($out, $err);
    my $salt = ($seed % 997 + 1) / 1000;
    my $rc = $node->psql('postgres',
        "SET trial.salt = '$salt'; SELECT setseed(($seed % 10007) / 10008.0 * .9 + $first / 1e7); SELECT * FROM trial.go($first, $last)",
        stdout => \$out, stderr => \$err);
    $out =~ s/\A\s+//;
    if ($rc != 0 || $out ne '') {
        $failures++;
        diag("SIMHASH_SEED=$seed, rounds $first to $last: $err\n$out");
        last if $rc != 0;
    }
}
is($failures, 0, "$rounds statements with DDL between two rows");
my $done = $node->safe_psql('postgres',
    "SELECT outcome ~ '^[0-9A-Z]{5}\$' AND outcome !~ '^[0-9]+\$|\\|', count(*) FROM trial.seen GROUP BY 1 ORDER BY 1");
note($done);
$node->stop;
done_testing();
