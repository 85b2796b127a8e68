# Crashes of every kind, under everything at once.
#
# Rows come, change and go while indexes are built, by workers and one process,
# plainly and CONCURRENTLY, made anew, and vacuumed; rows are kept apart by a
# constraint and by guards.  In the middle of that
#
#	backend		one process, of a client or of the server's own, is killed by
#				kill -9, which has the server start anew by itself
#	postmaster	the postmaster is killed, or all processes at once.  Of pages
#				that the log will restore some are torn meanwhile: only their
#				first or their last part stays what it was
#	promote		the standby is promoted; the primary that was is killed, goes
#				back by pg_rewind and becomes the standby
#	power		the file system goes away at once, with all that was not yet
#				synced: with tools/power only, which needs root
#
# Afterwards every index agrees with its table and finds what a sequential scan
# finds, the constraint and the guards have held, and no lock or temporary file
# is left; the standby, whose readers are held up and cancelled by conflicts,
# must have the same and have read nothing else.
#
# SIMHASH_SEED repeats the choices; SIMHASH_SECONDS sets how long it lasts.

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Copy qw(copy);
use IPC::Run qw(start timeout);
use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;
use Time::HiRes qw(time sleep);

my $seed = seed();
my $seconds = seconds(0);
my $power = $ENV{SIMHASH_POWER};    # a directory on the disk to be cut off
my @kinds = $power ? qw(power) : qw(postmaster promote backend);

my $primary = PostgreSQL::Test::Cluster->new('one');
$primary->init(
	allows_streaming => 1,
	extra => [ '-k', '-E', 'UTF8', '--locale=C' ]);
$primary->append_conf('postgresql.conf', <<'END');
fsync = on
log_statement = none
full_page_writes = on
restart_after_crash = on
jit = off
autovacuum_naptime = 1s
shared_buffers = 8MB
max_wal_size = 64MB
checkpoint_timeout = 30s
checkpoint_completion_target = 0.5
wal_keep_size = 1GB
max_wal_senders = 4
max_worker_processes = 16
max_parallel_maintenance_workers = 2
min_parallel_table_scan_size = 0
min_parallel_index_scan_size = 0
maintenance_work_mem = 2MB
deadlock_timeout = 100ms
max_standby_streaming_delay = 300ms
END
if ($power)
{
	system_or_bail('mv', $primary->data_dir, "$power/data");
	symlink("$power/data", $primary->data_dir) or die "$power: $!";
	system_or_bail('sync');    # initdb did not
}
$primary->start;
$primary->safe_psql('postgres', <<'END');
CREATE EXTENSION simhash;
CREATE FUNCTION some_fp() RETURNS bigint LANGUAGE sql VOLATILE AS
$$ SELECT hashint8extended((random() * 3000)::int, 5)
	# (1::bigint << (random() * 63)::int) $$;
CREATE TABLE docs (id serial PRIMARY KEY, g int DEFAULT random() * 5,
	fp bigint DEFAULT some_fp(), wide bit(128) DEFAULT (some_fp()::bit(64) || some_fp()::bit(64))::bit(128));
INSERT INTO docs SELECT FROM generate_series(1, 15000);
CREATE INDEX docs_fp ON docs USING hamming (fp);
CREATE INDEX docs_group ON docs USING hamming (g, fp);
CREATE INDEX docs_wide ON docs USING hamming (wide);
CREATE TABLE alone (id serial PRIMARY KEY, fp bigint DEFAULT some_fp(), EXCLUDE USING hamming (fp WITH ~=));
CREATE TABLE guarded (id serial PRIMARY KEY, fp bigint DEFAULT some_fp());
CREATE INDEX guarded_fp ON guarded USING hamming (fp);
CREATE TABLE keyed (id serial PRIMARY KEY, fp bigint DEFAULT some_fp());
SELECT simhash_add_keys('keyed', 'fp');
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON guarded
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'skip', '5');
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON keyed
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'skip', '3');

-- A slow scan of an index sees the rows that its snapshot sees.
CREATE FUNCTION long_scan(find text, compare text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	n bigint := 0;
	others bigint;
	one record;
BEGIN
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_bitmapscan = off;
	SET LOCAL enable_sort = off;
	FOR one IN EXECUTE find LOOP
		n := n + 1;
		IF n % 3000 = 1 THEN PERFORM pg_sleep(0.1); END IF;
	END LOOP;
	SET LOCAL enable_indexscan = off;
	SET LOCAL enable_seqscan = on;
	EXECUTE compare INTO others;
	IF n <> others THEN
		RAISE EXCEPTION 'the index has % rows, the table %: %', n, others, find;
	END IF;
END $$;
END

# --- what the clients do ---------------------------------------------------

my $dir = PostgreSQL::Test::Utils::tempdir;
my %script = (
	write => <<'END',
\set n random(1, 8)
INSERT INTO docs SELECT FROM generate_series(1, :n);
UPDATE docs SET fp = some_fp() WHERE id = (random() * 15000)::int;
UPDATE docs SET g = g + 1, wide = wide # (1::bit(128) << 9) WHERE id = (random() * 15000)::int;
DELETE FROM docs WHERE id IN (SELECT id FROM docs WHERE fp ~= some_fp() LIMIT 8);
INSERT INTO alone SELECT FROM generate_series(1, 2) ON CONFLICT DO NOTHING;
INSERT INTO guarded SELECT FROM generate_series(1, 2);
INSERT INTO keyed SELECT FROM generate_series(1, 2);
DELETE FROM alone WHERE fp <@ (some_fp(), 6);
DELETE FROM guarded WHERE fp <@ (some_fp(), 6);
DELETE FROM keyed WHERE id % 50 = :n;
END
	build => <<'END' x 50,
CREATE INDEX again ON docs USING hamming (fp);
DROP INDEX again;
CREATE INDEX again ON docs USING hamming (g, wide);
REINDEX INDEX again;
DROP INDEX again;
REINDEX INDEX guarded_fp;
END
	concurrently => <<'END' x 50,
CREATE INDEX CONCURRENTLY beside ON docs USING hamming (wide);
REINDEX INDEX CONCURRENTLY docs_group;
DROP INDEX CONCURRENTLY beside;
REINDEX INDEX CONCURRENTLY guarded_fp;
END
	vacuum => <<'END' x 100,
VACUUM docs;
VACUUM (PARALLEL 2) docs;
VACUUM alone, guarded;
VACUUM keyed;
END
	read => <<'END' x 50);
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT long_scan('SELECT FROM docs WHERE fp <@ (0, 64)', 'SELECT count(*) FROM docs');
COMMIT;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT long_scan('SELECT FROM docs WHERE g = 2 ORDER BY fp <~> 77', 'SELECT count(*) FROM docs WHERE g = 2');
COMMIT;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT long_scan('SELECT FROM docs WHERE wide <@ (0::bit(128), 60)', 'SELECT count(*) FROM docs WHERE wide <@ (0::bit(128), 60)');
COMMIT;
END
append_to_file("$dir/$_.sql", $script{$_}) for keys %script;

# A client that goes on until the server is gone; errors of one command do not
# end it.
sub client
{
	my ($node, $what) = @_;
	my $err = '';
	my @command = $what eq 'write'
	  ? ('pgbench', '-n', '-c', '3', '-T', '60', '--max-tries=1000', '-f')
	  : ('psql', '-X', '-q', '-f');
	my @to = $what eq 'write' ? $node->connstr('postgres') : ('-d', $node->connstr('postgres'));

	return { what => $what, err => \$err,
		run => start([ @command, "$dir/$what.sql", @to ],
			'<', \undef, '>', '/dev/null', '2>', \$err, timeout(120)) };
}

# All of them are to end; what they complain of is as it should be.
my $fine = join('|',
	'deadlock detected', 'conflict with recovery', 'could not serialize',
	'terminating connection', 'lost connection to parallel worker',
	'postmaster exit', 'shutting down',
	'starting up', 'in recovery mode', 'relation "(again|beside)" already exists',
	'"\w+" does not exist', 'could not open relation with OID',
	$power ? ('Input/output error', 'Read-only file system', 'pg_wal') : ());
my %complaints;

sub finish_clients
{
	my ($name, @clients) = @_;

	for my $client (@clients)
	{
		$client->{run}->kill_kill(grace => 5) if $client->{what} eq 'read';
		$client->{run}->finish if $client->{what} ne 'read';
		for (split(/\n/, ${ $client->{err} }))
		{
			next unless s/.*(?:ERROR|FATAL|PANIC): +//;
			s/\d+/N/g;
			$complaints{"$client->{what}: $_"}++;
			fail("$name: $client->{what} is told: $_") if !/$fine/;
		}
	}
}

# --- what happens to servers -----------------------------------------------

# The processes of a server: those at home in its data directory.  A zombie,
# which stays where nobody reaps orphans, is nowhere.
sub processes
{
	my ($node) = @_;
	my $home = abs_path($node->data_dir);

	return map { m{^/proc/(\d+)/} }
	  grep { (readlink($_) // '') eq $home } glob('/proc/[0-9]*/cwd');
}

# Take away what the next server might take for the lock files of a running one,
# as its process is a zombie, or its number that of another one by now.
sub unlink_locks
{
	my ($node) = @_;

	unlink($node->data_dir . '/postmaster.pid',
		$node->host . '/.s.PGSQL.' . $node->port . '.lock');
}

# Kill a server for good: all processes, or the postmaster and wait for the
# others to notice.
sub crash
{
	my ($node, $all) = @_;

	$node->kill9;
	for (1 .. 600)
	{
		my @left = processes($node) or last;
		kill(9, @left) if $all;
		sleep(0.05);
	}
	unlink_locks($node);
}

# Tear pages of a server that is down: such as have been logged whole since the
# last checkpoint began, before anything else about them.
sub tear
{
	my ($node) = @_;
	my $data = $node->data_dir;
	my ($control) = run_command([ 'pg_controldata', $data ]);
	my ($redo) = $control =~ /REDO location: +(\S+)/;
	my ($log) = run_command([ 'pg_waldump', '-p', "$data/pg_wal", '-s', $redo ]);
	my (%whole, $torn);

	while ($log =~ /blkref #\d+: rel \d+\/(\d+\/\d+) (fork \w+ )?blk (\d+)( FPW)?/g)
	{
		$whole{"base/$1 $3"} //= $4 ? 1 : 0 if !$2;
	}
	for (sort grep { $whole{$_} } keys %whole)
	{
		my ($file, $block) = split(/ /);
		my $at = 512 * (1 + int(rand(15)));
		my $garbage = rand() < 0.5 ? "\0" x 8192
		  : join('', map { pack('V', rand(2**32)) } 1 .. 2048);

		next if rand() < 0.4 || !-e "$data/$file" || -s "$data/$file" < ($block + 1) * 8192;
		open(my $page, '+<:raw', "$data/$file") or die "$file: $!";
		my ($from, $bytes) = rand() < 0.5 ? (0, $at) : ($at, 8192 - $at);
		sysseek($page, $block * 8192 + $from, 0);
		syswrite($page, $garbage, $bytes);
		close($page);
		$torn++;
	}
	return $torn // 0;
}

my $standby;

# A server whose load is running goes down in some way; afterwards $primary is
# up.  Returns what there is to say of it.
my %fault = (
	backend => sub {
		my $any = "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()
				AND backend_type <> 'walsender' ORDER BY random() LIMIT 1";

		# A worker may have ended by itself by now: then another one.
		1 while !kill(9, $primary->safe_psql('postgres', $any));
		return '';
	},
	postmaster => sub {
		crash($primary, rand() < 0.5);
		my $torn = tear($primary);
		$primary->start;
		return $torn;
	},
	promote => sub {
		my $old = $primary;
		my $conf = $old->data_dir . '/postgresql.conf';

		$standby->promote;
		sleep(0.3);
		crash($old, 1);
		$primary = $standby;
		$standby = $old;
		copy($conf, "$dir/conf");

		# pg_rewind goes by the last checkpoint of the one that it copies from,
		# and first has the other one recover by itself.
		$primary->safe_psql('postgres', 'CHECKPOINT');
		command_checks_all(
			[ 'pg_rewind', '-D', $old->data_dir, '--source-server',
				$primary->connstr('postgres') ],
			0, [qr/^/], [qr/rewinding from last common checkpoint/],
			'the primary that was goes back');
		copy("$dir/conf", $conf);
		unlink($old->data_dir . '/standby.signal');
		$old->enable_streaming($primary);
		$old->start;
		return '';
	},
	power => sub {
		my $cut = "$power.cut";

		# Some of what is written reaches the disk of its own accord.
		for (glob("$power/data/base/*/[0-9]*"))
		{
			next if rand() < 0.7;
			open(my $file, '<', $_) or next;
			$file->sync;
		}
		append_to_file($cut, '');
		sleep(0.1) while -s $cut == 0;
		crash($primary, 1);
		rename($cut, "$power.gone") or die "$cut: $!";
		sleep(0.1) while -e "$power.gone";
		unlink_locks($primary);
		$primary->start;
		return '';
	});

# --- what is to be right afterwards ----------------------------------------

my $index = 'SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_material = off;';
my $plain = 'SET enable_indexscan = off; SET enable_bitmapscan = off;';

# Every index agrees with its table, and searches with a sequential scan.
sub agree
{
	my ($node, $name) = @_;

	my @scripts = (<<'END', <<'END');
SELECT hamming_index_check(c.oid, true) FROM pg_class c JOIN pg_am a ON a.oid = relam
JOIN pg_index i ON indexrelid = c.oid WHERE amname = 'hamming' AND indisvalid
END
SELECT (SELECT count(*) FROM pg_ls_tmpdir()),
	(SELECT count(*) FROM pg_locks WHERE locktype = 'advisory')
END
	my @apart = ([ 'alone', 3 ], [ 'guarded', 5 ], [ 'keyed', 3 ]);

	push @scripts, map { "SELECT count(*) FROM simhash_pairs('SELECT id, fp FROM $_->[0]', $_->[1])" } @apart;
	for my $what ('fp <@ (q, k)', 'g = 3 AND fp <@ (q, k)',
		'wide <@ ((q::bit(64) || q::bit(64))::bit(128), 40 + k)')
	{
		my $query = "SELECT k, count(*), sum(hashint8extended(d.id, k))
			FROM generate_series(0, 8, 4) AS k, (SELECT hashint8extended(n, 5) AS q
			FROM generate_series(1, 3000, 600) AS n) q,
			LATERAL (SELECT id FROM docs WHERE $what) d GROUP BY k ORDER BY k";

		push @scripts, "$index $query", "$plain $query";
	}
	my ($check, $left, @found) = answers($node, @scripts);

	is($check =~ s/\n//gr, '', "$name: every index agrees with its table");
	is($left, '0|0', "$name: nothing is left behind");
	is(shift @found, '0', "$name: no pairs among rows that are $_->[0]") for @apart;
	while (my ($by_index, $by_table) = splice(@found, 0, 2))
	{
		is($by_index, $by_table, "$name: what searches find");
	}
}

# Begin with a standby, then one round after another.
if (!$power)
{
	$primary->backup('base');
	$standby = PostgreSQL::Test::Cluster->new('two');
	$standby->init_from_backup($primary, 'base', has_streaming => 1);
	$standby->start;
}
my $begin = time;
my ($round, $torn) = (0, 0);
my %rounds;

do
{
	my $kind = $kinds[ $round++ % @kinds ];
	my $name = "round $round, $kind";
	my $rows = $primary->safe_psql('postgres', 'SELECT last_value FROM docs_id_seq');
	my @clients =
	  map { client($primary, $_) } qw(write build concurrently vacuum);

	push @clients, client($standby, 'read') if $standby;
	$primary->poll_query_until('postgres', "SELECT last_value > $rows + 20 FROM docs_id_seq")
	  or die "$name: no rows come";
	sleep(1 + ($seconds ? rand(4) : 0.5));
	$torn += $fault{$kind}->() || 0;
	$rounds{$kind}++;
	finish_clients($name, @clients);

	# A server that starts anew by itself has noticed by now that it has to, as
	# its clients are gone.  While it turns away psql before that has read
	# anything, writing to it may fail.
	my $up;
	until (defined $up)
	{
		$up = eval {
			$primary->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()')
		};
		die $@ if $@ && $@ !~ /Broken pipe/;
		sleep(0.1);
	}
	die "$name: the server does not come up" if !$up;

	# What a crash has left of builds is not to be used, and in the way.
	my @unfinished = split(/\n/, $primary->safe_psql('postgres', <<'END'));
SELECT indexrelid::regclass FROM pg_index WHERE NOT indisvalid
UNION SELECT oid::regclass FROM pg_class WHERE relname IN ('again', 'beside')
	OR relname ~ '_ccnew|_ccold'
END
	$primary->safe_psql('postgres', "DROP INDEX $_") for @unfinished;
	agree($primary, $name);
	if ($standby)
	{
		$primary->wait_for_catchup($standby, 'replay', $primary->lsn('write'));
		agree($standby, "$name, standby");
	}
} while ($round < @kinds || time - $begin < $seconds);

ok($torn > 0, "pages were torn") if $rounds{postmaster};
note("$complaints{$_} $_") for sort keys %complaints;
diag(join(', ', map { "$rounds{$_} $_" } sort keys %rounds) . ", $torn pages torn")
  if $seconds;
$standby->stop if $standby;
$primary->stop;
done_testing();
