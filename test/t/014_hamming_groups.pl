# Groups in a hamming index: many clients, and a standby.
#
# Eight clients insert near-duplicates of each other into eleven groups under
# an exclusion constraint, and move rows from group to group.  Afterwards no two
# rows of a group may be near each other, and whoever was turned away must have
# met a row.  What the index finds is compared with what plain SQL finds, on the
# primary and on a standby; and with NULLs in every column, by random queries,
# for SIMHASH_SECONDS (5).  SIMHASH_SEED repeats these.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $seed = seed();
my $seconds = seconds(3);

my $node = new_node('groups', <<'END', allows_streaming => 1);
autovacuum_naptime = 1s
END

sub sql { return $node->safe_psql('postgres', $_[0]) }

# Neighbours of a few centers: those within 3 bits of each other are common.
sql(<<'SQL');
CREATE TABLE kept (id bigserial PRIMARY KEY, tenant bigint, site text, fp bigint,
    EXCLUDE USING hamming (tenant WITH =, fp WITH ~=));
CREATE TABLE refused (tenant bigint, fp bigint);
CREATE INDEX kept_site ON kept USING hamming (site, fp);
CREATE FUNCTION any_fp() RETURNS bigint LANGUAGE sql VOLATILE AS
$$ SELECT hashint8extended((random() * 60)::int, 1)
   # (1::bigint << (random() * 63)::int) # (1::bigint << (random() * 63)::int) $$;
CREATE FUNCTION keep(tenant bigint, fp bigint) RETURNS void LANGUAGE plpgsql AS
$$
BEGIN
    INSERT INTO kept (tenant, site, fp) VALUES (keep.tenant, 's' || keep.tenant % 3, keep.fp)
    ON CONFLICT DO NOTHING;
    IF NOT found THEN INSERT INTO refused VALUES (keep.tenant, keep.fp); END IF;
END
$$;
SQL

my $insert = PostgreSQL::Test::Utils::tempdir . '/insert.sql';
append_to_file($insert, "SELECT keep(nullif((random() * 11)::int, 11), any_fp());\n");
command_ok(
	[ 'pgbench', '-n', '-c', 8, '-j', 2, '-t', 1000, '-f', $insert, '-d',
		$node->connstr('postgres') ],
	'eight clients insert');

my $near = 'bit_count((a.fp # b.fp)::bit(64)) <= 3';
cmp_ok(sql('SELECT count(*) FROM refused'), '>', 500, 'some were refused');
is( sql("SELECT count(*) FROM kept a JOIN kept b ON a.id < b.id
		AND a.tenant = b.tenant AND $near"),
	0, 'none were let in that ought not to be');
is( sql("SELECT count(*) FROM refused a WHERE NOT EXISTS
		(SELECT FROM kept b WHERE a.tenant = b.tenant AND $near)"),
	0, 'none were refused that ought to be let in');
cmp_ok(sql('SELECT count(*) FROM kept WHERE tenant IS NULL'),
	'>', 200, 'those of no group are no concern');

# Deletions and moves leave the constraint as it is.
my $move = PostgreSQL::Test::Utils::tempdir . '/move.sql';
append_to_file($move, <<'END');
\set id random(1, 8000)
DELETE FROM kept WHERE id = :id;
SELECT keep((random() * 10)::int, any_fp());
UPDATE kept a SET tenant = 20 + id % 5, site = 'moved' WHERE id = :id + 1
AND NOT EXISTS (SELECT FROM kept b WHERE b.tenant IN (20, 21, 22, 23, 24) AND a.fp ~= b.fp);
END
$node->psql('postgres', 'VACUUM ANALYZE kept');
command_ok(
	[ 'pgbench', '-n', '-c', 1, '-t', 2000, '-f', $move, '-d',
		$node->connstr('postgres') ],
	'rows are moved');
is( sql("SELECT count(*) FROM kept a JOIN kept b ON a.id < b.id
		AND a.tenant = b.tenant AND $near"),
	0, 'and are as far from each other as before');

# A standby, and indexes on several columns.
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
sql(<<'END');
CREATE TABLE docs AS SELECT n AS id, n % 100 AS tenant, 'l' || n % 3 AS lang,
    hashint8extended(n / 200, 1) # (1::bigint << n % 64) AS fp
FROM generate_series(1, 60000) AS n;
CREATE INDEX docs_tenant ON docs USING hamming (tenant, fp);
CREATE INDEX docs_lang ON docs USING hamming (lang, tenant, fp);
INSERT INTO docs SELECT id + 60000, tenant, lang, ~fp FROM docs WHERE id % 3 = 0;
DELETE FROM docs WHERE id % 5 = 0;
VACUUM ANALYZE docs;
END
my $search = 'SELECT count(*), sum(b.id) FROM docs a JOIN docs b
	ON a.tenant = b.tenant AND %s WHERE a.id < 2000';
my $truth = sql(sprintf($search, 'bit_count((a.fp # b.fp)::bit(64)) <= 2'));
my $query = sprintf($search, 'b.fp <@ (a.fp, 2)');
my $loop = 'SET enable_hashjoin = off; SET enable_mergejoin = off;
	SET enable_seqscan = off; SET enable_bitmapscan = off;';
my $checks = "SELECT hamming_index_check(i, true) FROM unnest('{kept_tenant_fp_excl,
	kept_site,docs_tenant,docs_lang}'::regclass[]) AS i";
$node->wait_for_catchup($standby);
for my $server ($node, $standby)
{
	my $name = $server->name;

	like($server->safe_psql('postgres', "$loop EXPLAIN $query"),
		qr/Index Scan using docs_tenant/, "$name: plan");
	is($server->safe_psql('postgres', "$loop $query"), $truth, "$name: search");
	is($server->safe_psql('postgres', $checks), "\n\n\n", "$name: checks");
}

# NULLs in every column: whatever is asked, by whatever index, and whether that
# knows the group or not.  Fingerprints are near each other, or all ones.
sql(<<'SQL');
CREATE TABLE sparse (id serial, site int, lang text, live bool, fp bigint, wide bit(256));
CREATE FUNCTION word(n int, seed int) RETURNS bit(64) LANGUAGE sql VOLATILE AS
$$ SELECT (CASE n WHEN 0 THEN -1 ELSE hashint8extended(n, seed) END
           # (1::bigint << (random() * 63)::int))::bit(64) $$;
CREATE FUNCTION wide(n int) RETURNS bit(256) LANGUAGE sql VOLATILE AS
$$ SELECT (word(n, 1) || word(n, 2) || word(n, 3) || word(n, 4))::bit(256) $$;
CREATE FUNCTION maybe(anyelement) RETURNS anyelement LANGUAGE sql VOLATILE AS
$$ SELECT CASE WHEN random() < .75 THEN $1 END $$;
CREATE FUNCTION fill(rows int) RETURNS void LANGUAGE sql AS
$$ INSERT INTO sparse (site, lang, live, fp, wide)
   SELECT maybe((random() * 5)::int), maybe('l' || (random() * 2)::int), maybe(random() < .5),
       maybe(word((random() * 20)::int, 0)::bigint), maybe(wide((random() * 20)::int))
   FROM generate_series(1, rows) $$;

CREATE FUNCTION answer(query text, indexed bool, OUT answer text, OUT plan text) LANGUAGE plpgsql AS
$$
BEGIN
    PERFORM set_config(s, CASE WHEN indexed THEN 'off' ELSE 'on' END, true) FROM unnest('{enable_seqscan,enable_sort}'::text[]) AS s;
    PERFORM set_config(s, CASE WHEN indexed AND (s <> 'enable_bitmapscan' OR random() < .3) THEN 'on' ELSE 'off' END, true)
    FROM unnest('{enable_indexscan,enable_bitmapscan,enable_indexonlyscan}'::text[]) AS s;
    EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
    plan := CASE WHEN plan ~ 'sparse_some' THEN substring(plan, '"Node Type": "([^"]*(?:Index|Seq)[^"]*)"') ELSE 'none' END;
    EXECUTE query INTO answer;
END
$$;
CREATE TABLE asked (query text, index text, plan text, same bool);
CREATE FUNCTION ask(index text, partial text) RETURNS void LANGUAGE plpgsql AS
$$
DECLARE
    is_wide bool := index ~ 'wide' OR index !~ 'fp' AND random() < .5;
    col text := CASE WHEN is_wide THEN 'wide' ELSE 'fp' END;
    center text := CASE WHEN is_wide THEN format('%L::bit(256)', wide((random() * 25)::int))
                        ELSE format('%s::bigint', word((random() * 25)::int, 0)::bigint) END;
    conditions text[] := ARRAY[partial];
    ordered text := format('%s %s %s', col, CASE WHEN is_wide THEN '<~~>' ELSE '<~>' END, center);
    query text;
    by_index record;
    by_table record;
BEGIN
    IF random() < .5 THEN conditions := conditions || ('site = ' || (random() * 5)::int); END IF;
    IF random() < .5 THEN conditions := conditions || format('lang = %L', 'l' || (random() * 2)::int); END IF;
    IF random() < .5 THEN
        conditions := conditions || format('%s <@ (%s, %s)', col, center,
                                           CASE WHEN is_wide THEN (random() ^ 3 * 256)::int ELSE (random() ^ 3 * 64)::int END);
    END IF;
    query := format('FROM sparse WHERE %s', array_to_string(conditions, ' AND '));
    CASE (random() * 2)::int
        WHEN 0 THEN query := 'SELECT array_agg(id ORDER BY id) ' || query;
        WHEN 1 THEN query := 'SELECT count(*) ' || query;
        ELSE query := format('SELECT array_agg(d) FROM (SELECT %s AS d %s ORDER BY %s LIMIT %s) AS s',
                             ordered, query, ordered, (random() ^ 3 * 4000)::int);
    END CASE;
    by_index := answer(query, true);
    by_table := answer(query, false);
    INSERT INTO asked VALUES (query, index, by_index.plan, by_index.answer IS NOT DISTINCT FROM by_table.answer);
END
$$;
SELECT fill(3000);
SQL
sql("SELECT setseed(" . ($seed % 1000003) / 1000003 . "); SELECT fill(100)");

my @columns = (
	'fp', 'site, fp', 'fp, lang', 'site, fp, lang', 'wide', 'site, wide',
	'wide, lang, site', '(site + 1), fp', '(site + 1), wide');
my $end = time + $seconds;
my $round = 0;
do
{
	my $columns = $columns[ $round % @columns ];
	my $partial = $round % 4 == 3 ? 'live' : 'true';
	my $memory = $round % 3 == 1 ? '64kB' : '4MB';
	my $start = ($seed + $round++) % 1000003 / 1000003;

	sql(<<"SQL");
SET client_min_messages = warning; SET work_mem = '$memory';
SELECT setseed($start);
DROP INDEX IF EXISTS sparse_some;
TRUNCATE sparse; SELECT fill((random() * 3000)::int);
CREATE INDEX sparse_some ON sparse USING hamming ($columns) WHERE $partial;
SELECT fill(300);
UPDATE sparse SET fp = NULL WHERE id % 11 = 0;
UPDATE sparse SET site = NULL WHERE id % 13 = 0;
UPDATE sparse SET fp = id, wide = wide(id % 7) WHERE id % 17 = 0;
DELETE FROM sparse WHERE id % 19 = 0;
SQL
	sql("VACUUM ANALYZE sparse") if $round % 2;
	sql("SELECT setseed($start); SET work_mem = '$memory'; SELECT fill(50);
		SELECT ask('$columns', '$partial') FROM generate_series(1, 40)");
	sql("SELECT hamming_index_check('sparse_some', true)");
} while ($round < 2 * @columns || time < $end);
note(sql('SELECT plan, count(*) FROM asked GROUP BY 1 ORDER BY 1'));
is(sql("SELECT index, plan, query FROM asked WHERE NOT same LIMIT 3"),
	'', "NULLs in every column: $round indexes");
cmp_ok(sql("SELECT count(*) FROM asked WHERE plan ~ 'Index'"),
	'>', 10 * $round, 'most queries go by the index');

$standby->stop;
$node->stop;
done_testing();
