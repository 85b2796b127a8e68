# Clusters that keep themselves: rounds of six writers at once, judged by a model
# (test/random/clusters.py says what they do and what is asked of them), in most of which
# the tables, their columns and schemas are renamed, moved and swapped meanwhile,
# and in some of which the server is stopped at once and comes back; and what
# becomes of the clusters in a dump, on a subscriber, and on a standby.
#
# SIMHASH_SEED repeats what is drawn, SIMHASH_ROUNDS sets the number of rounds,
# or says which by FIRST-LAST.

use strict;
use warnings;

use IPC::Run qw(start timeout);
use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $python = $ENV{PYTHON} || 'python3';
my $seed = seed();
my $rounds = rounds(4, 12);
my ($first, $last) = $rounds =~ /^(\d+)-(\d+)$/ ? ($1, $2) : (0, $rounds - 1);

my $node = new_node('clusters', <<'END', allows_streaming => 'logical');
deadlock_timeout = 50ms
max_prepared_transactions = 100
autovacuum_naptime = 1s
restart_after_crash = on
END

# --- writers at once ---------------------------------------------------------

# A round; it says itself when it is time for the server to be stopped.
sub race
{
	my ($round) = @_;
	my $out = '';
	my $run = start(
		[ $python, 'test/random/clusters.py', $node->connstr('postgres'), $seed, $round ],
		'<', \undef, '>', \$out, '2>&1', timeout(300));

	while ($run->pumpable)
	{
		$run->pump;
		next if $out !~ s/^crash\n//m;
		$node->stop('immediate');
		$node->start;
	}
	my $good = $run->finish;
	my ($name) = $out =~ /^(round .*)$/m;
	ok($good, $name // "round $round") or diag($out);
	note($out) if $good;
	return;
}

SKIP:
{
	skip 'no Python with psycopg', 1
	  if system("$python -c 'import psycopg' 2>/dev/null") != 0;
	race($_) for $first .. $last;
}

# --- rows that do not get in ---------------------------------------------------

# However many stars one statement starts in vain, none is left.
$node->safe_psql('postgres', 'CREATE DATABASE crowd');
is( $node->safe_psql(
		'crowd', <<'END'), '0', 'as many rows as a crawler sends, all there already');
SET client_min_messages = warning;
CREATE EXTENSION simhash;
CREATE TABLE crowd (id int PRIMARY KEY, fp bigint);
CALL simhash_add_clusters('crowd', 'fp', 0);
ALTER TABLE crowd DISABLE TRIGGER USER;
INSERT INTO crowd VALUES (1, 0);
ALTER TABLE crowd ENABLE TRIGGER USER;
INSERT INTO crowd SELECT 1, i * 7919::bigint FROM generate_series(1, 66000) AS i
ON CONFLICT DO NOTHING;
SELECT count(*) FROM crowd_clusters;
END
$node->safe_psql('postgres', 'DROP DATABASE crowd');

# --- dump, subscriber, standby -----------------------------------------------

# Tables of each kind.
my $make = <<"END";
CREATE TABLE star (id bigint PRIMARY KEY, fp bigint);
CREATE TABLE connected (id bigint PRIMARY KEY, fp bigint);
CREATE INDEX ON connected USING hamming (fp);
CALL simhash_add_clusters('star', 'fp', 3);
CALL simhash_add_clusters('connected', 'fp', 3, 'connected');
END

# Forty fingerprints near ten, which the seed says.
sub insert
{
	my ($table, $from, $seed) = @_;

	return "INSERT INTO $table (id, fp)
		SELECT n, hashint8extended(n % 10, $seed) # (1::bigint << n % 4)
		FROM generate_series($from, $from + 39) AS n;\n";
}

# The two ends of a chain, and the row that connects them.
my %joins = (
	ends => 'INSERT INTO %s (id, fp) VALUES (%d, 7), (%d, 511);',
	middle => 'INSERT INTO %s (id, fp) VALUES (%d, 63);');

# The clusters of a server: of each row, and what is known of them.
sub clusters
{
	my ($server, $database) = @_;

	return $server->safe_psql($database // 'postgres', <<'END');
SELECT 'star', id, fp, cluster FROM star ORDER BY id;
SELECT 'connected', id, fp, cluster FROM connected ORDER BY id;
SELECT * FROM star_clusters ORDER BY 1;
SELECT * FROM connected_clusters ORDER BY 1;
END
}

# Rows that join clusters of before get the ids of these; rows that do not get
# ids that no row has had.
sub goes_on
{
	my ($server, $database, $name) = @_;
	my $sql = '';

	for my $table (qw(star connected))
	{
		$sql .= "SELECT 'greatest', max(cluster) FROM $table;\n"
		  . insert($table, 200, 1) . insert($table, 300, 2)
		  . "SELECT count(*), count(DISTINCT a.cluster) FROM $table AS a
			JOIN $table AS b ON b.id = a.id - 200 AND b.cluster = a.cluster
			WHERE a.id BETWEEN 200 AND 239;
			SELECT 'least', min(cluster) FROM $table WHERE id BETWEEN 300 AND 339;\n";
	}
	my @lines = split(/\n/, $server->safe_psql($database, $sql));
	for my $table (qw(star connected))
	{
		my ($greatest, $joined, $least) = splice(@lines, 0, 3);

		is($joined, '40|10', "$name: $table, rows join the clusters of before");
		cmp_ok($least =~ s/.*\|//r, '>', $greatest =~ s/.*\|//r,
			"$name: $table, ids are new");
	}
	$server->safe_psql($database, sprintf($joins{middle}, 'connected', 402));
	is($server->safe_psql($database, <<'END'), '1', "$name: clusters are merged");
SELECT count(*) FROM connected_clusters AS c
JOIN connected AS a ON a.id = 400 AND c.merged_into = a.cluster
JOIN connected AS b ON b.id = 401 AND c.cluster = b.cluster
END
	return;
}

$node->safe_psql('postgres', $make);
for my $table (qw(star connected))
{
	$node->safe_psql('postgres', insert($table, 0, 1)
		  . sprintf($joins{ends}, $table, 400, 401));
}
my $before = clusters($node);

$node->safe_psql('postgres', 'CREATE DATABASE restored TEMPLATE template0');
my $dump = PostgreSQL::Test::Utils::tempdir . '/dump.sql';
command_ok([ 'pg_dump', '-f', $dump, '-d', $node->connstr('postgres') ], 'dump');
$node->command_ok(
	[ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d',
		$node->connstr('restored') ],
	'restore');
is(clusters($node, 'restored'), $before, 'restored: the ids are kept');
goes_on($node, 'restored', 'restored');

# The subscriber has the triggers; they do not fire for what comes from there.
my $subscriber = PostgreSQL::Test::Cluster->new('subscriber');
$subscriber->init(extra => [ '-E', 'UTF8', '--locale=C' ]);
$subscriber->start;
$subscriber->safe_psql('postgres', "CREATE EXTENSION simhash; $make");
$node->safe_psql('postgres', 'CREATE PUBLICATION pub FOR TABLE
	star, star_clusters, connected, connected_clusters;');
my $where = $node->connstr . ' dbname=postgres';
$subscriber->safe_psql('postgres',
	"CREATE SUBSCRIPTION sub CONNECTION '$where' PUBLICATION pub");
$subscriber->wait_for_subscription_sync($node, 'sub');
is(clusters($subscriber), $before, 'subscriber: the ids of the first copy');

# A standby, which goes on where the primary was.
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;

goes_on($node, 'postgres', 'publisher');
$node->wait_for_catchup('sub');
is(clusters($subscriber), clusters($node), 'subscriber: the ids that were applied');
$subscriber->safe_psql('postgres', 'DROP SUBSCRIPTION sub');

# It takes over: not before its sequences, which nobody has replicated, are set.  From 19
# on they can be published.
$subscriber->safe_psql('postgres', "DELETE FROM $_ WHERE id BETWEEN 200 AND 399 OR id = 402")
  for qw(star connected);
for my $table (qw(star connected))
{
	my (undef, undef, $err) = $subscriber->psql('postgres', insert($table, 300, 3));

	like($err, qr/ERROR:  the ids of the clusters of "$table" would be given twice/,
		"subscriber: $table, its sequence is behind");
	$subscriber->safe_psql('postgres', "SELECT setval('${table}_clusters_cluster_seq', " .
		  $node->safe_psql('postgres', "SELECT last_value FROM ${table}_clusters_cluster_seq") . ')')
	  if $node->pg_version < 19;
}
if ($node->pg_version >= 19)
{
	$node->safe_psql('postgres', 'CREATE PUBLICATION ids FOR ALL SEQUENCES');
	$subscriber->safe_psql('postgres',
		"CREATE SUBSCRIPTION sub CONNECTION '$where' PUBLICATION ids");
	$subscriber->wait_for_subscription_sync($node, 'sub');
	$subscriber->safe_psql('postgres', 'DROP SUBSCRIPTION sub');
}
goes_on($subscriber, 'postgres', 'subscriber');
$subscriber->stop;

$node->safe_psql('postgres',
	'TRUNCATE star, connected');
for my $table (qw(star connected))
{
	$node->safe_psql('postgres', insert($table, 0, 1)
		  . sprintf($joins{ends}, $table, 400, 401));
}
$node->wait_for_catchup($standby);
is(clusters($standby), clusters($node), 'standby: the ids');
$node->stop('immediate');
$standby->promote;
goes_on($standby, 'postgres', 'promoted');
$standby->stop;
done_testing();
