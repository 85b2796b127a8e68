# Groups in a hamming index: many clients, parallel builds and a standby.
#
# Eight clients insert near-duplicates of each other into eleven groups under
# an exclusion constraint, and move rows from group to group.  Afterwards no two
# rows of a group may be near each other, and whoever was turned away must have
# met a row.  What the index finds is compared with what plain SQL finds, on the
# primary and on a standby.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('groups');
$node->init(
	allows_streaming => 1,
	extra => [ '-E', 'UTF8', '--locale=C' ]);
$node->append_conf('postgresql.conf', <<'END');
fsync = off
jit = off
autovacuum_naptime = 1s
min_parallel_table_scan_size = 0
END
$node->start;

sub sql { return $node->safe_psql('postgres', $_[0]) }

# Neighbours of a few centers: those within 3 bits of each other are common.
sql(<<'SQL');
CREATE EXTENSION simhash;
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

# A standby, and indexes that parallel workers build.
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
sql(<<'END');
CREATE TABLE docs AS SELECT n AS id, n % 100 AS tenant, 'l' || n % 3 AS lang,
    hashint8extended(n / 200, 1) # (1::bigint << n % 64) AS fp
FROM generate_series(1, 60000) AS n;
SET max_parallel_maintenance_workers = 2;
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

$standby->stop;
$node->stop;
done_testing();
