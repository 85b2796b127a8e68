# Citus: a coordinator and two workers.  Run by make citus CITUS=dir, which
# builds it; skipped where Citus is not installed.

use strict;
use warnings;

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'Citus is not installed; make citus CITUS=dir builds it'
  unless -e slurp_pg_config('sharedir') . '/extension/citus.control';

sub slurp_pg_config
{
	my ($what) = @_;
	my ($stdout, $stderr) = run_command([ 'pg_config', "--$what" ]);

	return $stdout;
}

# Citus reaches its nodes by host and port.
my @nodes;
for my $name ('coordinator', 'worker1', 'worker2')
{
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(extra => [ '-E', 'UTF8', '--locale=C' ]);
	$node->append_conf('postgresql.conf', <<'END');
fsync = off
jit = off
listen_addresses = '127.0.0.1'
shared_preload_libraries = 'citus'
citus.node_conninfo = 'sslmode=prefer'
citus.shard_count = 4
max_prepared_transactions = 100
END
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION citus; CREATE EXTENSION simhash');
	push @nodes, $node;
}
my ($main, @workers) = @nodes;
$main->safe_psql('postgres', join ';',
	sprintf("SELECT citus_set_coordinator_host('127.0.0.1', %d)", $main->port),
	map { sprintf "SELECT citus_add_node('127.0.0.1', %d)", $_->port } @workers);

# One result, and one error.
sub ask { return $main->safe_psql('postgres', "SET client_min_messages = error; $_[0]"); }

sub fails
{
	my ($code, $out, $err) = $main->psql('postgres', $_[0]);

	return $err;
}

ask(<<'END');
CREATE TABLE here (id bigint PRIMARY KEY, fp bigint, body text);
INSERT INTO here SELECT n, hashint8extended(n % 9000, 1) # (1::bigint << n % 3),
	'the text of number ' || n % 1000 || ' and its end'
FROM generate_series(0, 9999) AS n;
INSERT INTO here VALUES (-1, NULL, 'none');
CREATE TABLE docs (LIKE here, PRIMARY KEY (id));
CREATE INDEX docs_fp ON docs USING hamming (fp);
SELECT create_distributed_table('docs', 'id');
INSERT INTO docs SELECT * FROM here;
ANALYZE docs;
END

# Searches go to the shards, and are served by their indexes.
my $search = 'SELECT array_agg(id ORDER BY id) FROM %s WHERE fp <@ (hashint8extended(77, 1), 3)';
is(ask(sprintf $search, 'docs'), ask(sprintf $search, 'here'), 'search');
like(ask('EXPLAIN (COSTS OFF) SELECT id FROM docs WHERE fp ~= 42'),
	qr/Task Count: 4.*docs_fp_\d+/s, 'by the index of each shard');
my $nearest = 'SELECT array_agg(d) FROM (SELECT fp <~> 42 AS d FROM %s ORDER BY fp <~> 42 LIMIT 10) AS s';
is(ask(sprintf $nearest, 'docs'), ask(sprintf $nearest, 'here'), 'ten nearest');
like(ask('EXPLAIN (COSTS OFF) SELECT id FROM docs ORDER BY fp <~> 42 LIMIT 10'),
	qr/Limit\s+->  Index Scan using docs_fp_\d+/, 'each shard gives its ten');

# The report is that of a local table, and so is what its DELETE leaves.
my $report = "SELECT section, item, CASE WHEN item <> 'bytes of redundant rows'
	AND section <> 'advice' THEN value END FROM simhash_report('%s', 'fp')
	WHERE section <> 'largest clusters'";
is(ask(sprintf $report, 'docs'), ask(sprintf $report, 'here'), 'report');
is(ask("SELECT count(*) FROM simhash_report('docs', 'fp')
		WHERE section = 'largest clusters' AND value ~ '^\\(\\d+,-?\\d+,\"the text'"),
	'5', 'rows of the largest clusters');
like(ask("SELECT value FROM simhash_report('docs', 'fp') WHERE item = 'delete'"),
	qr/simhash_dedup_sql\('public.docs', 'fp', 3\)/, 'the DELETE is offered');
like(fails("CREATE TABLE bare (id int, fp bigint);
		SELECT create_distributed_table('bare', 'id');
		SELECT simhash_dedup_sql('bare', 'fp')"),
	qr/bare.* has rows on other servers that no primary key.*delete by a column/s,
	'without a primary key there is none');
my $left = 'BEGIN; %s; SELECT count(*), sum(id) FROM %s; ROLLBACK';
for my $options ('', ", keep => 'id DESC'", ", kind => 'connected'")
{
	my @left = map
	{
		ask(sprintf $left, ask("SELECT simhash_dedup_sql('$_', 'fp'$options)"), $_)
	} 'docs', 'here';

	is($left[0], $left[1], "rows that stay$options");
	isnt($left[0], ask('SELECT count(*), sum(id) FROM here'), 'others are gone');
}
ask(<<'END');
CREATE TABLE keys (site text, id uuid, n int, fp bigint, PRIMARY KEY (site, id));
SELECT create_distributed_table('keys', 'site');
INSERT INTO keys SELECT 'it''s ' || n % 7, md5(n::text)::uuid, n, (n / 10)::bigint << 20
FROM generate_series(1, 200) AS n;
END
ask(ask("SELECT simhash_dedup_sql('keys', 'fp', 0, keep => 'n')"));
is(ask('SELECT array_agg(n ORDER BY n) FROM keys'),
	'{1,' . join(',', map { $_ * 10 } 1 .. 20) . '}', 'a key of several columns');

# What is learnt from each shard adds up to what is learnt from all rows.
is(ask("SELECT (SELECT simhash_idf_agg(result::simhash_idf)::text
		FROM run_command_on_shards('docs', 'SELECT simhash_idf_agg(body) FROM %s'))
		= (SELECT simhash_idf_agg(body)::text FROM here)"),
	't', 'idf of the shards');

# The other aggregate: over all rows, and of groups that are in one shard.
for my $sum ('SELECT simhash_agg(fp, 1.5) FROM %s',
	'SELECT sum(hashint8extended(s, 1) / 1000000) FROM
	(SELECT id, simhash_agg(fp + n, n) AS s FROM %s, generate_series(1, 5) AS n GROUP BY id) AS t')
{
	is(ask(sprintf $sum, 'docs'), ask(sprintf $sum, 'here'), 'simhash_agg');
}

# All pairs, by a table of block keys that is joined with itself.
ask(<<'END');
CREATE TABLE blocks (block int, key smallint, id bigint, fp bigint);
SELECT create_distributed_table('blocks', 'key');
INSERT INTO blocks SELECT block, simhash_key(fp, block), id, fp
FROM docs CROSS JOIN generate_series(0, 3) AS block WHERE fp IS NOT NULL;
END
my $pairs = "SELECT count(*), sum(hashint8extended(a, b) / 1000000 * (d + 1)) FROM (%s) AS p (a, b, d)";
is(ask(sprintf $pairs, 'SELECT DISTINCT a.id, b.id, a.fp <~> b.fp FROM blocks AS a
		JOIN blocks AS b ON a.key = b.key AND a.block = b.block AND a.id < b.id
		WHERE a.fp ~= b.fp'),
	ask(sprintf $pairs, "SELECT * FROM simhash_pairs('SELECT id, fp FROM here')"),
	'all pairs by block keys');

# Groups: an exclusion constraint with the distribution column.
ask(<<'END');
CREATE TABLE sites (site int, id bigint, fp bigint, PRIMARY KEY (site, id),
	EXCLUDE USING hamming (site WITH =, fp WITH ~=));
SELECT create_distributed_table('sites', 'site');
INSERT INTO sites VALUES (1, 1, 7), (2, 2, 7);
END
like(fails('INSERT INTO sites VALUES (2, 3, 6)'),
	qr/violates exclusion constraint/, 'exclusion within a site');

# A guard sees one shard: it is refused, but where that is enough.
my $guard = 'SET citus.enable_unsafe_triggers = on; CREATE TRIGGER guard
	BEFORE INSERT ON %s FOR EACH ROW EXECUTE FUNCTION simhash_guard(%s)';
ask(<<'END');
CREATE TABLE guarded (site int, id bigint, fp bigint, PRIMARY KEY (site, id));
CREATE INDEX ON guarded USING hamming (fp);
SELECT create_distributed_table('guarded', 'site');
CREATE TABLE single (id bigint PRIMARY KEY, fp bigint);
CREATE INDEX ON single USING hamming (fp);
SELECT create_distributed_table('single', 'id', shard_count => 1, colocate_with => 'none');
END
ask(sprintf $guard, 'guarded', "'fp', 'reject', '3'");
like(fails('INSERT INTO guarded VALUES (1, 1, 7)'),
	qr/would see only the rows of shard "guarded_\d+".*within=site/s,
	'a guard of one shard of several');
ask('SET citus.enable_unsafe_triggers = on; DROP TRIGGER guard ON guarded');
ask(sprintf $guard, 'guarded', "'fp', 'reject', '3', 'within=site'");
ask('INSERT INTO guarded VALUES (1, 1, 7), (2, 2, 7)');
like(fails('INSERT INTO guarded VALUES (2, 3, 6)'), qr/near-duplicate of another/,
	'a guard within the distribution column');
ask(sprintf $guard, 'single', "'fp', 'reject', '3'");
ask('INSERT INTO single VALUES (1, 7)');
like(fails('INSERT INTO single VALUES (2, 6)'), qr/near-duplicate of another/,
	'a guard of the only shard');

# All rows guarded together, by the SQL of docs/scale.md: what it runs on one
# server, and what it leaves out there.
my $page = slurp_file('docs/scale.md');
$page =~ s/^.*\n### Keeping near-duplicates out\n//s;
my @recipe = $page =~ /^```sql\n(.*?)^```/msg;
ask(<<'END');
DROP TABLE docs;
CREATE TABLE docs (id bigint PRIMARY KEY, fp bigint, body text);
SELECT create_distributed_table('docs', 'id');
INSERT INTO docs VALUES (-1, 12345), (-2, 12344), (-3, NULL);
END
ask(join "\n", @recipe[0 .. 2]);
like(fails('SELECT docs_claim(1, 12347)'),
	qr/near-duplicate of another in table "docs_guard_\d+".*\(id, block, key\)=\(-[12], 0, 0\)/s,
	'rows that were there are known');
ask('SELECT docs_claim(1, 12344 # 240), docs_claim(2, NULL)');
like(fails('SELECT docs_claim(3, 12344 # 240)'), qr/near-duplicate/,
	'and those that came');
ask('DELETE FROM docs_guard WHERE id = 1');
ask('SELECT docs_claim(3, 12344 # 240)');
is(ask("SELECT string_agg(id || ' ' || n, ', ' ORDER BY id)
	FROM (SELECT id, count(*) AS n FROM docs_guard GROUP BY id) AS g"),
	'-2 4, -1 4, 3 4', 'those given back make room');
ask('DELETE FROM docs; DELETE FROM docs_guard');
$main->append_conf('postgresql.conf', 'log_min_messages = fatal');
$main->reload;
my $script = $main->basedir . '/guard.sql';
append_to_file($script, <<"END");
\\set c random(1, 60)
\\set x random(0, 63)
\\set y random(0, 63)
\\set id random(1, 1000000000)
SELECT hashint8extended(:c, 7) # (1::bigint << :x) # (1::bigint << :y) AS fp \\gset
BEGIN;
INSERT INTO docs VALUES (:id, :fp);
SELECT docs_claim(:id, :fp);
COMMIT;
END
for (1 .. 30)
{
	# A client stops at the first row that is refused: each of six goes on
	# with the next.
	my @clients = map
	{
		IPC::Run::start([ 'pgbench', '-n', '-t', '10', '-f', $script,
				$main->connstr('postgres') ], '>', '/dev/null', '2>', '/dev/null')
	} 1 .. 6;
	$_->finish foreach @clients;
}
is(ask("SELECT count(*) FROM simhash_pairs('SELECT id, fp FROM docs')"), '0',
	'no near-duplicates in all shards');
cmp_ok(ask('SELECT count(*) FROM docs'), '>=', 40, 'other rows stay');
is(ask('SELECT count(*) FROM (SELECT id, fp FROM docs
		EXCEPT SELECT id, fp FROM docs_guard WHERE block = 3) AS s'),
	'0', 'and have their places');

$_->stop foreach reverse @nodes;
done_testing();
