# Reports with parallel workers: the same result as without, and nothing is left
# when a search is cancelled, fails, or loses a worker.

use strict;
use warnings;

use IPC::Run;
use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $node = new_node('parallel', <<'END');
log_min_messages = debug1
dynamic_shared_memory_type = mmap
max_worker_processes = 8
max_parallel_workers_per_gather = 2
parallel_setup_cost = 0
maintenance_work_mem = '1GB'
END
$node->safe_psql('postgres', <<'END');
-- random ones, some with copies; and crowds, for clusters
CREATE TABLE docs AS
SELECT n AS id, n % 3 AS g, CASE WHEN n % 10 > 0 THEN hashint8extended(n, 1)
	ELSE hashint8extended(n - n % 7 - 1, 1) # (1::bigint << n % 64)
		# (1::bigint << n * 7 % 64) END AS fp
FROM generate_series(1, 60000) AS n;
INSERT INTO docs
SELECT n + 60000, n % 3, hashint8extended(n % 4, 1) # (hashint8extended(n, 3)
	& hashint8extended(n, 4) & hashint8extended(n, 5) & hashint8extended(n, 6))
FROM generate_series(1, 8000) AS n;
CREATE VIEW left_over AS
SELECT (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'parallel worker') AS workers,
	(SELECT count(*) FROM pg_ls_dir('pg_dynshmem')) AS segments,
	(SELECT count(*) FROM pg_ls_tmpdir()) AS files,
	(SELECT count(*) FROM pg_locks WHERE pid <> pg_backend_pid() AND locktype = 'relation') AS locks;
END
my $before = $node->safe_psql('postgres', 'TABLE left_over');

# How many workers a piece of the server's log tells of.
sub workers_of
{
	my $log = slurp_file($node->logfile, shift);

	return scalar(() = $log =~ /starting background worker process "parallel worker/g);
}

sub clean
{
	my $what = shift;

	ok($node->poll_query_until('postgres',
			"SELECT (l.*)::text = '(' || replace('$before', '|', ',') || ')' FROM left_over AS l"),
		"$what: nothing is left");
}

my $sum = 'count(*), sum(hashint8extended(a, b)), sum(distance)';
# three words, each of them searched with two workers
my $wide = 'fp::bit(64) || hashint8extended(id / 2, 2)::bit(64) || (fp # 5)::bit(64)';
my $members = 'count(*), sum(hashint8extended(id, cluster + representative)), sum(distance + size)';
foreach my $call (
	[ $sum, "simhash_pairs('SELECT id, fp FROM docs', 3)" ],
	[ $sum, "simhash_pairs('SELECT id, fp FROM docs', 7)" ],
	[ $sum, "simhash_pairs('SELECT id, fp, g FROM docs', 7)" ],
	[ $sum, "simhash_pairs_as(NULL::tid, 'SELECT ctid, fp FROM docs', 4)", 'a::text || b' ],
	[ $sum, "simhash_pairs('SELECT id, fp::bit(40) FROM docs', 5)" ],
	[ $sum, "simhash_pairs('SELECT id, $wide FROM docs', 21)", undef, 6 ],
	[ $sum, "simhash_pairs('SELECT id, $wide, g FROM docs', 23)", undef, 6 ],
	[ $members, "simhash_clusters('SELECT id, $wide, g FROM docs', 20, 'star')", undef, 6 ],
	[ $members, "simhash_clusters('SELECT id, fp FROM docs', 6)" ],
	[ $members, "simhash_clusters('SELECT id, fp, g FROM docs', 7)" ],
	[ $members, "simhash_clusters('SELECT id, fp, g FROM docs', 6, 'star')" ],
	[ $members, "simhash_clusters('SELECT id, fp, g, ''word '' || id / 3 AS body FROM docs', 6, 'star', document => 'body')" ],
	[ $sum, "simhash_pairs('SELECT id, fp, ''word '' || id % 3 AS body FROM docs', 5, 'body')" ],
	[ $members, "simhash_clusters('SELECT id, fp FROM docs ORDER BY -id', 5, 'star', 'first', 1)" ])
{
	my ($list, $from, $text, $workers) = @$call;

	$list = "count(*), sum(hashtextextended($text, 0))" if $text;
	my $alone = $node->safe_psql('postgres',
		"SET max_parallel_workers_per_gather = 0; SELECT $list FROM $from");
	my $start = -s $node->logfile;
	is($node->safe_psql('postgres', "SELECT $list FROM $from"), $alone, "$from: the same");
	is(workers_of($start), $workers // 2, "$from: by workers");
}
is($node->safe_psql('postgres', <<'END'), 't', 'and against brute force');
SELECT (SELECT count(*) FROM simhash_pairs('SELECT id, fp FROM docs WHERE id % 20 = 0', 5)) =
	(SELECT count(*) FROM docs AS x JOIN docs AS y ON x.id < y.id AND x.fp <~> y.fp <= 5
	 WHERE x.id % 20 = 0 AND y.id % 20 = 0)
END
clean('searches');

# When there are none, or no room for them.
my $alone = $node->safe_psql('postgres', "SELECT $sum FROM simhash_pairs('SELECT id, fp FROM docs', 5)");
foreach my $setting ('max_parallel_workers = 0', "maintenance_work_mem = '4MB'",
	'parallel_setup_cost = 1e10', 'max_parallel_workers_per_gather = 0')
{
	my $start = -s $node->logfile;
	is($node->safe_psql('postgres', "SET $setting; SELECT $sum FROM simhash_pairs('SELECT id, fp FROM docs', 5)"),
		$alone, "$setting: the same");
	is(workers_of($start), 0, "$setting: alone");
}
# Read-only, serializable, in a function, twice in a query, one in another
is($node->safe_psql('postgres', <<"END"), "$alone\n2|1", 'in other places');
BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY;
SELECT $sum FROM simhash_pairs('SELECT id, fp FROM docs', 5);
COMMIT;
SELECT count(*), count(DISTINCT c) FROM generate_series(1, 2) AS n, LATERAL (
	SELECT count(*) AS c FROM simhash_clusters('SELECT id, fp + 0 * (SELECT count(*)
		FROM simhash_pairs(''SELECT id, fp FROM docs'', 4)) * ' || n || ' FROM docs', 4)) AS c;
END
clean('places');

# A search that takes long, and what may happen to it.
my $long = "SELECT count(*) FROM simhash_pairs('SELECT n, hashint8extended(n, 1)
	FROM generate_series(1, 400000) AS n', 16)";
my $searching = <<'END';
SELECT count(*) > 1 FROM pg_stat_activity WHERE backend_type = 'parallel worker'
END
foreach my $end (
	[ 'pg_cancel_backend', "backend_type = 'client backend' AND query ~ '^SELECT count.*, 16'",
		qr/canceling statement due to user request/ ],
	[ 'pg_terminate_backend', "backend_type = 'parallel worker'",
		qr/terminating (connection|background worker)|lost connection to parallel worker/ ],
	[ 'pg_terminate_backend', "backend_type = 'client backend' AND query ~ '^SELECT count.*, 16'",
		qr/terminating connection/ ])
{
	my ($function, $who, $message) = @$end;
	my ($out, $err) = ('', '');
	my $run = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', $long ],
		'>', \$out, '2>', \$err, IPC::Run::timeout(180));

	ok($node->poll_query_until('postgres', $searching), "$function: workers search");
	$node->safe_psql('postgres', "SELECT $function(pid) FROM pg_stat_activity WHERE $who LIMIT 1");
	$run->finish;
	like($err, $message, "$function: the call ends");
	clean($function);
}
# no room on the disk for the result; caught, and again
is($node->safe_psql('postgres', <<'END'), "3\n68000", 'a full disk');
SET temp_file_limit = '100kB';
SET work_mem = '64kB';
CREATE FUNCTION caught() RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	n int := 0;
BEGIN
	FOR i IN 1..3 LOOP
		BEGIN
			PERFORM count(*) FROM simhash_pairs('SELECT id, fp FROM docs', 7);
		EXCEPTION WHEN configuration_limit_exceeded THEN
			n := n + 1;
		END;
	END LOOP;
	RETURN n;
END $$;
SELECT caught();
RESET temp_file_limit;
SELECT count(*) FROM simhash_clusters('SELECT id, fp FROM docs', 7, min_size => 1);
END
clean('a full disk');

$node->stop;
done_testing();
