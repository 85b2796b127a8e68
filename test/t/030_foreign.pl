# Foreign tables: two servers behind a third, by postgres_fdw.  What a search
# asks of them, that it finds what a local table gives, reports, and what is
# said where something cannot be done.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

sub start_node
{
	my ($name) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(extra => [ '-E', 'UTF8', '--locale=C' ]);
	$node->append_conf('postgresql.conf', "fsync = off\njit = off\n");
	$node->start;
	return $node;
}

my $main = start_node('main');
plan skip_all => 'postgres_fdw is not installed'
  unless $main->safe_psql('postgres', <<'END') eq '1';
SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'
END
$main->safe_psql('postgres', <<'END');
CREATE EXTENSION simhash;
CREATE EXTENSION postgres_fdw;
CREATE TABLE here (id bigint PRIMARY KEY, fp bigint, body text);
INSERT INTO here SELECT n, hashint8extended(n % 19000, 1)
	# (1::bigint << n % 3), 'text ' || n FROM generate_series(0, 19999) AS n;
INSERT INTO here VALUES (-1, NULL, 'none');
CREATE INDEX ON here USING hamming (fp);
CREATE TABLE docs (id bigint, fp bigint, body text) PARTITION BY RANGE (id);
END

my @far;
for my $n (0, 1)
{
	my $node = start_node("far$n");
	my ($from, $to) = ($n * 10000 - 1, $n * 10001 + 9999);

	push @far, $node;
	$node->safe_psql('postgres', <<'END');
CREATE EXTENSION simhash;
CREATE TABLE docs (id bigint PRIMARY KEY, fp bigint, body text);
CREATE INDEX docs_fp ON docs USING hamming (fp);
END
	my ($host, $port) = ($node->host, $node->port);
	$main->safe_psql('postgres', <<"END");
CREATE SERVER far$n FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host',
	port '$port', dbname 'postgres', extensions 'simhash', async_capable 'on');
CREATE USER MAPPING FOR CURRENT_USER SERVER far$n;
CREATE FOREIGN TABLE docs_$n PARTITION OF docs FOR VALUES FROM ($from) TO ($to)
	SERVER far$n OPTIONS (table_name 'docs');
END
}
$main->safe_psql('postgres', 'INSERT INTO docs SELECT * FROM here');
$_->safe_psql('postgres', 'ANALYZE docs') foreach @far;
$main->safe_psql('postgres', 'ANALYZE here, docs');

# What the servers are asked for: each remote query, without the columns.
sub remote
{
	my ($before, $query) = @_;
	my $plan = $main->safe_psql('postgres',
		"$before; EXPLAIN (VERBOSE, COSTS OFF) $query");

	return join "\n", map { s/.* FROM public\.docs ?//r } $plan =~ /Remote SQL: (.*)/g;
}

my $generic = 'SET plan_cache_mode = force_generic_plan';
my $within = 'WHERE ((fp OPERATOR(public.<@) public.hamming_ball(%s)))';

# A ball is asked for, however it is written.
for my $case (
	[ 'fp <@ ($1, $2)', 'bigint, bigint', '$1::bigint, $2::bigint' ],
	[ 'fp <@ ($1, $2)', 'bigint, int', '$1::bigint, $2::integer' ],
	[ 'fp <@ ROW($1, 5)', 'bigint', '$1::bigint, 5::bigint' ],
	[ 'fp <@ ($1, $2)::hamming_ball', 'bigint, bigint', '$1::bigint, $2::bigint' ],
	[ 'fp <@ hamming_ball($1, 5)', 'bigint', '$1::bigint, 5::bigint' ])
{
	my ($condition, $types, $args) = @$case;
	my $values = $types =~ /,/ ? '42, 5' : '42';
	my $asked = sprintf $within, $args;

	is( remote("$generic; PREPARE q($types) AS SELECT id FROM docs WHERE $condition",
			"EXECUTE q($values)"),
		"$asked\n$asked", "$condition is sent");
}
is( remote("$generic; PREPARE q(bigint, int) AS SELECT id FROM docs WHERE ROW(\$1, \$2)::hamming_ball @> fp",
		'EXECUTE q(42, 5)'),
	join("\n", ('WHERE ((public.hamming_ball($1::bigint, $2::integer) OPERATOR(public.@>) fp))') x 2),
	'@> is sent');
is( remote('', 'SELECT b.id FROM here AS a, LATERAL (SELECT id FROM docs
		WHERE fp <@ (a.fp, 5) OFFSET 0) AS b WHERE a.id = 1'),
	join("\n", (sprintf $within, '$1::bigint, 5::bigint') x 2),
	'a ball of another row is sent, in a sub-select');
like( remote('', 'SELECT a.id FROM docs_0 AS a JOIN docs_0 AS b ON b.fp <@ (a.fp, 5)'),
	qr/hamming_ball\(r1\.fp, 5::bigint\)/, 'so is a join on one server');

# The other servers use their indexes.
is( $far[0]->safe_psql('postgres', 'PREPARE q(bigint, int) AS
		SELECT id FROM docs WHERE fp <@ hamming_ball($1, $2);
		SET plan_cache_mode = force_generic_plan;
		EXPLAIN (COSTS OFF) EXECUTE q(42, 5)') =~ /Index.* docs_fp/ ? 1 : 0,
	1, 'the index serves what is sent');

# The same rows as here, NULLs and bad radiuses included.
is( $main->safe_psql('postgres', <<'END'), '1000|0', 'the same rows');
SET plan_cache_mode = force_generic_plan;
SET client_min_messages = warning;
CREATE FUNCTION near_here(q bigint, k bigint) RETURNS bigint[] LANGUAGE plpgsql AS $$
BEGIN RETURN array(SELECT id FROM here WHERE fp <@ (q, k) ORDER BY 1); END $$;
CREATE FUNCTION near_there(q bigint, k bigint) RETURNS bigint[] LANGUAGE plpgsql AS $$
BEGIN RETURN array(SELECT id FROM docs WHERE fp <@ (q, k) ORDER BY 1); END $$;
SELECT count(*), count(*) FILTER (WHERE near_here(q, k) <> near_there(q, k)
	OR cardinality(near_here(q, k)) = 0 AND q IS NOT NULL AND k IS NOT NULL)
FROM (SELECT CASE WHEN n > 5 THEN hashint8extended(n * 18, 1) END AS q,
	nullif(n % 6 + 1, 6) AS k FROM generate_series(1, 1000) AS n) AS s;
END
my ($code, $out, $err) = $main->psql('postgres', 'SELECT near_there(1, 65)');
like($err, qr/argument "radius" is 65/, 'a bad radius is an error');

# The ten nearest, by the query of docs/scale.md.
my $nearest = <<'END';
PREPARE nearest(bigint) AS
WITH near AS MATERIALIZED (
	(SELECT id, fp <~> $1 AS d FROM docs_0 ORDER BY fp <~> $1 LIMIT 10)
	UNION ALL
	(SELECT id, fp <~> $1 FROM docs_1 ORDER BY fp <~> $1 LIMIT 10))
SELECT * FROM near ORDER BY d LIMIT 10
END
my $limit = 'ORDER BY (fp OPERATOR(public.<~>) $1::bigint) ASC NULLS LAST LIMIT 10::bigint';
is(remote("$generic; $nearest", 'EXECUTE nearest(42)'), "$limit\n$limit",
	'each server is asked for its ten nearest');
is( $main->safe_psql('postgres', <<"END"), 't', 'the ten nearest');
$generic; $nearest;
CREATE TEMP TABLE found AS EXECUTE nearest(42);
SELECT (SELECT array_agg(d ORDER BY d) FROM found)
	= (SELECT array_agg(d) FROM (SELECT fp <~> 42 AS d FROM here ORDER BY 1 LIMIT 10) AS s)
END

# A report reads the rows once, and counts them.  It shows none, and does not know
# how large they are, since nothing tells them apart, so that none of them can go.
my $report = "SELECT section, item, CASE WHEN section = 'largest clusters'
	OR section = 'advice' THEN '' ELSE value END FROM simhash_report('%s', 'fp')
	WHERE item NOT IN ('bytes of redundant rows', 'to have a plan', 'to carry it out')
	ORDER BY 1, 2, 3";
$_->safe_psql('postgres', "ALTER SYSTEM SET log_statement = 'all'") foreach @far;
$_->reload foreach @far;
my @logs = map { -s $_->logfile } @far;
is( $main->safe_psql('postgres', sprintf $report, 'docs'),
	$main->safe_psql('postgres', sprintf $report, 'here'),
	'report as of a local table');
for my $n (0, 1)
{
	my $log = substr(slurp_file($far[$n]->logfile), $logs[$n]);
	my @all = $log =~ /DECLARE c\d+ CURSOR FOR\s+SELECT [^\n]*\bfp\b[^\n]* FROM public\.docs/mg;

	is(scalar @all, 1, "server $n is read once");
}
is( $main->safe_psql('postgres', "SELECT count(*), count(value) FROM simhash_report('docs', 'fp')
	WHERE section = 'largest clusters'"), '5|0', 'the largest clusters');

# Groups go along.
my $groups = "SELECT section, item, value FROM simhash_report('%s', 'fp', 3, within => '{site}')
	WHERE section IN ('table', 'sizes')";
$main->safe_psql('postgres', "CREATE TABLE sites AS SELECT id, id % 7 AS site, fp FROM here");
$far[0]->safe_psql('postgres',
	'CREATE VIEW sites AS SELECT id, id % 7 AS site, fp FROM docs');
$main->safe_psql('postgres', "CREATE FOREIGN TABLE far_sites (id bigint, site bigint,
	fp bigint) SERVER far0 OPTIONS (table_name 'sites');
	DELETE FROM sites WHERE id > 9998");
is($main->safe_psql('postgres', sprintf $groups, 'far_sites'),
	$main->safe_psql('postgres', sprintf $groups, 'sites'), 'report within groups');

# An operator that fits a domain better than ours, planted where ours is, is not
# called for a row that is shown.
is($main->safe_psql('postgres', <<'END'), "5\n5", 'a planted operator');
CREATE DOMAIN finger AS bigint;
CREATE FUNCTION trap(finger, bigint) RETURNS boolean LANGUAGE plpgsql AS
	$$ BEGIN RAISE 'trapped'; END $$;
CREATE OPERATOR public.~= (FUNCTION = trap, LEFTARG = finger, RIGHTARG = bigint);
CREATE OPERATOR public.= (FUNCTION = trap, LEFTARG = finger, RIGHTARG = bigint);
CREATE FOREIGN TABLE far_fingers (id bigint, fp finger, body text) SERVER far0
	OPTIONS (table_name 'docs');
SELECT count(*) FROM simhash_report('far_fingers', 'fp', 16) WHERE section = 'largest clusters';
SET search_path = public, pg_catalog;
SELECT count(*) FROM simhash_report('far_fingers', 'fp', 16) WHERE section = 'largest clusters';
END

# What cannot be done is refused, with a way that works.
($code, $out, $err) = $main->psql('postgres', "SELECT simhash_dedup_sql('docs', 'fp')");
like($err, qr/docs has rows on other servers/, 'no DELETE is written');
$main->safe_psql('postgres', "SET client_min_messages = error; DELETE FROM docs WHERE id IN (
	SELECT id FROM simhash_clusters('SELECT id, fp FROM docs', 3) WHERE id <> representative)");
is( $main->safe_psql('postgres', "SELECT count(*), (SELECT count(*) FROM
		simhash_pairs('SELECT id, fp FROM docs WHERE fp IS NOT NULL')) FROM docs"),
	'19001|0', 'one by the clusters works');
$main->safe_psql('postgres', "CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON docs
	FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'skip', '3')");
($code, $out, $err) = $main->psql('postgres', 'INSERT INTO docs VALUES (-1, 1)');
like($err, qr/cannot search foreign table "docs_0".*Create a guard on each server/s,
	'a guard says what to do instead');

$_->stop foreach @far, $main;
done_testing();
