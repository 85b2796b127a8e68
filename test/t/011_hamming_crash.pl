# The hamming index after crashes, and on a standby.
#
# Rounds of concurrent inserts, updates, deletes and vacuum, each ended by
# kill -9 of the server.  After recovery hamming_index_check() must be content
# and searches must find what a sequential scan finds; the standby, which has
# followed by streaming, must find the same, also while vacuum on the primary
# takes rows away beneath it.  The exclusion constraint must have held.
# SIMHASH_ROUNDS sets the number of rounds, SIMHASH_SEED repeats the data.

use strict;
use warnings;

use IPC::Run qw(start finish timeout);
use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $seed = seed();
my $rounds = rounds(2, 4);

my $primary = new_node('primary', <<'END', allows_streaming => 1);
autovacuum = off
shared_buffers = 4MB
max_wal_senders = 4
checkpoint_timeout = 30s
wal_keep_size = 512MB
restart_after_crash = off
END
$primary->safe_psql('postgres', <<"END");
CREATE FUNCTION some_fp() RETURNS bigint LANGUAGE sql VOLATILE AS
\$\$ SELECT CASE WHEN random() < .9 THEN hashint8extended((random() * 3000)::int, $seed)
	# (1::bigint << (random() * 63)::int) END \$\$;
CREATE TABLE docs (id serial PRIMARY KEY, fp bigint);
INSERT INTO docs (fp) SELECT some_fp() FROM generate_series(1, 20000);
CREATE INDEX docs_fp ON docs USING hamming (fp);
CREATE TABLE alone (id serial PRIMARY KEY, fp bigint, EXCLUDE USING hamming (fp WITH ~=));
CREATE UNLOGGED TABLE fleeting (id int, fp bigint);
CREATE INDEX fleeting_fp ON fleeting USING hamming (fp);
END

$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf',
	"max_standby_streaming_delay = 20s\nhot_standby_feedback = off\n");
$standby->start;

# What the clients do.
my $dir = PostgreSQL::Test::Utils::tempdir;
my %script = (
	write => <<'END',
\set n random(1, 10)
INSERT INTO docs (fp) SELECT some_fp() FROM generate_series(1, :n);
UPDATE docs SET fp = some_fp() WHERE id = (random() * 20000)::int;
DELETE FROM docs WHERE id IN (SELECT id FROM docs WHERE fp ~= some_fp() LIMIT 5);
INSERT INTO alone (fp) VALUES (some_fp()) ON CONFLICT DO NOTHING;
DELETE FROM alone WHERE id % 10 = 0 AND fp <@ (some_fp(), 8);
END
	vacuum => "VACUUM docs;\nVACUUM alone;\nSELECT pg_sleep(0.05);\n",
	read => <<'END',
SELECT count(*) FROM docs WHERE fp <@ (some_fp(), 9);
SELECT id FROM docs ORDER BY fp <~> some_fp() LIMIT 10;
SELECT count(*) FROM (SELECT FROM docs ORDER BY fp <~> 7) AS s;
END
);
append_to_file("$dir/$_.sql", $script{$_}) for keys %script;

sub clients
{
	my ($node, $seconds, @what) = @_;
	my ($out, $err) = ('', '');
	my $run = start(
		[
			'pgbench', '-n', '-c', scalar(@what), '-j', '1', '-T', $seconds,
			'-h', $node->host, '-p', $node->port,
			(map { ('-f', "$dir/$_.sql") } @what), 'postgres'
		],
		'<', \undef, '>', \$out, '2>', \$err, timeout(180));

	return [ $run, \$out, \$err ];
}

# Searches give on both ways what the other gives.
my $index = 'SET enable_seqscan = off; SET enable_bitmapscan = off;
	SET enable_material = off;';
my $plain = 'SET enable_indexscan = off; SET enable_bitmapscan = off;';

sub same_answers
{
	my ($node, $name) = @_;
	my $query = <<"END";
SELECT k, count(*), sum(hashint8extended(d.id, k))
FROM generate_series(0, 10, 2) AS k,
     (SELECT hashint8extended(n, $seed) AS q FROM generate_series(1, 3000, 300) AS n) q,
     LATERAL (SELECT id FROM docs WHERE fp <@ (q, k)) d
GROUP BY k ORDER BY k
END
	my $plan = $node->safe_psql('postgres', "$index EXPLAIN $query");

	like($plan, qr/Index Scan using docs_fp/, "$name: plan");
	my $all = 'SELECT count(*), count(fp), sum(hashint8extended(id, 0))
		FROM (SELECT * FROM docs ORDER BY fp <~> 7) AS s';
	my $sorted = 'SET enable_indexscan = off;';
	is( $node->safe_psql('postgres', "SET enable_sort = off; $index $all"),
		$node->safe_psql('postgres', "$sorted $all"),
		"$name: all rows, with those without a fingerprint");
	is( $node->safe_psql('postgres', "$index $query"),
		$node->safe_psql('postgres', "$plain $query"),
		"$name: answers");
}

# Kill the server.  A dead process whose parent is gone is reaped by process 1;
# in some containers that reaps none, and the next server would take the zombie
# for a running one by its lock files, so these are taken away.  That does not
# hide children that still run: the next server finds the shared memory in use.
sub crash
{
	my ($node) = @_;
	my $pidfile = $node->data_dir . '/postmaster.pid';
	my ($pid) = slurp_file($pidfile) =~ /^(\d+)/;

	$node->kill9;
	while (kill 0, $pid)
	{
		if (-e "/proc/$pid/status"
			&& slurp_file("/proc/$pid/status") =~ /^State:\s+Z/m)
		{
			unlink $pidfile,
			  $node->host . '/.s.PGSQL.' . $node->port . '.lock';
			last;
		}
		select(undef, undef, undef, 0.1);
	}
}

for my $round (1 .. $rounds)
{
	my $writers = clients($primary, 60, qw(write write vacuum read));
	my $readers = clients($standby, 4, qw(read));

	sleep(1 + $round % 3);
	crash($primary);
	$writers->[0]->finish;
	$readers->[0]->finish;
	unlike(${ $readers->[2] }, qr/ERROR(?!.*conflict with recovery)/,
		"round $round: standby reads");

	# The children of the dead server have to be gone first.
	for my $try (1 .. 100)
	{
		last if $primary->start(fail_ok => 1);
		$primary->stop('fast', fail_ok => 1);
		select(undef, undef, undef, 0.2);
	}
	$primary->safe_psql('postgres', $_)
	  for "SELECT hamming_index_check('docs_fp', true)",
	  "SELECT hamming_index_check('alone_fp_excl', true)";
	pass("round $round: indexes are in order");
	is( $primary->safe_psql('postgres', "$index
			SELECT count(*) FROM fleeting WHERE fp <@ (0, 64);
			INSERT INTO fleeting SELECT n, n FROM generate_series(1, 3000) AS n;
			SELECT count(*) FROM fleeting WHERE fp ~= 0;
			SELECT hamming_index_check('fleeting_fp', true)"),
		"0\n287\n", "round $round: an unlogged index begins anew");
	note($primary->safe_psql('postgres',
			'SELECT count(*), max(id) FROM docs'));
	same_answers($primary, "round $round: primary");
	is( $primary->safe_psql('postgres', "$plain
			SELECT count(*) FROM alone a JOIN alone b
			ON a.id < b.id AND hamming(a.fp, b.fp) <= 3"),
		'0', "round $round: the constraint has held");

	$primary->wait_for_catchup($standby, 'replay', $primary->lsn('write'));
	$standby->safe_psql('postgres',
		"SELECT hamming_index_check('docs_fp', true)");
	same_answers($standby, "round $round: standby");
}

# Vacuum on the primary while the standby reads.
my $both = clients($primary, 5, qw(write vacuum));
for my $i (1 .. 5)
{
	my ($code, $out, $err) =
	  $standby->psql('postgres', "BEGIN ISOLATION LEVEL REPEATABLE READ;
		$index SELECT count(*) FROM docs WHERE fp <@ (4711, 64);
		SELECT pg_sleep(0.3);
		$plain SELECT count(fp) FROM docs; COMMIT");
	my @counts = $out =~ /(\d+)/g;

	ok($code != 0 && $err =~ /conflict with recovery/
		|| @counts && $counts[0] == $counts[-1],
		"standby reads beside vacuum ($i)");
}
$both->[0]->finish;

$standby->stop;
$primary->stop;
done_testing();
