# A hamming index is built by several processes: which build may have them, and
# what remains where it comes to no good end.
#
# An index expression tells the leader from a worker.  It shows whether there
# was a worker, holds builds up where they are to be interrupted, and fails in
# a worker when asked to.  Shared memory is in files here (mmap), so what is
# left of it can be seen.  hamming_build.sql compares what is written.

use strict;
use warnings;

use IPC::Run qw(start finish timeout);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('parallel');
$node->init(extra => [ '-E', 'UTF8', '--locale=C' ]);
$node->append_conf('postgresql.conf', <<'END');
fsync = off
jit = off
autovacuum = off
wal_level = minimal
max_wal_senders = 0
dynamic_shared_memory_type = mmap
max_parallel_maintenance_workers = 2
min_parallel_table_scan_size = 0
restart_after_crash = off
END
$node->start;

sub sql { return $node->safe_psql('postgres', $_[0]) }

# seen(fp) is fp.  In a worker it fails or waits, as the setting test.worker
# says; in the leader it is slow enough for workers to get their share of rows.
sql(<<'END');
CREATE EXTENSION simhash;
CREATE FUNCTION seen(fp bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
	IF pg_backend_pid()::text = current_setting('test.leader') THEN
		PERFORM pg_sleep(0.02) WHERE fp % 500 = 0;
	ELSIF current_setting('test.worker') = 'fail' THEN
		RAISE EXCEPTION 'a worker has got a row';
	ELSIF current_setting('test.worker') = 'wait' THEN
		PERFORM pg_sleep(60);
	END IF;
	RETURN fp;
END $$;
CREATE FUNCTION unsafe(fp bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL UNSAFE AS 'SELECT seen(fp)';
ALTER FUNCTION unsafe SET search_path = public;
CREATE TABLE docs AS SELECT n AS id, n::bigint AS fp FROM generate_series(1, 20000) AS n;
CREATE TABLE large AS SELECT n AS id, hashint8extended(n, 1) AS fp
FROM generate_series(1, 400000) AS n;
END

# A session that says who the leader is, and what workers shall do.
sub told
{
	my ($worker, $statements) = @_;

	return "SELECT set_config('test.leader', pg_backend_pid()::text, false);
		SET test.worker = '$worker'; $statements";
}

# What a build must not leave: temporary files, workers, locks, an index.
sub left
{
	my @files = glob($node->data_dir . '/base/pgsql_tmp/pgsql_tmp*');

	return join(' ', @files) . sql(<<'END');
SELECT string_agg(backend_type, ' ') FROM pg_stat_activity
WHERE backend_type = 'parallel worker' OR query LIKE 'CREATE INDEX%';
SELECT string_agg(l::text, ' ') FROM pg_locks l
WHERE relation IN ('docs'::regclass, 'large'::regclass);
SELECT string_agg(relname, ' ') FROM pg_class
WHERE relkind = 'i' AND relname ~ '^(docs|large)';
END
}

my $nothing = left();

# Is nothing left?  A backend whose client is gone takes a moment to go.
sub nothing_is_left
{
	my ($name) = @_;
	my $left;

	for my $try (1 .. 300)
	{
		$left = left();
		last if $left eq $nothing;
		select(undef, undef, undef, 0.1);
	}
	is($left, $nothing, $name);
}

# Segments of shared memory; the server has some by itself, and now and then
# one more.
sub segments
{
	my @segments = glob($node->data_dir . '/pg_dynshmem/*');

	return scalar @segments;
}

my $segments = segments();

# --- who gets workers ---------------------------------------------------------

# Does a build have a worker?  One that has fails, as the worker is told to.
sub has_worker
{
	my ($statements) = @_;
	my ($code, $out, $err) =
	  $node->psql('postgres', told('fail', $statements));

	return 0 if $code == 0;
	return 1 if $err =~ /a worker has got a row/;
	return $err;
}

my $create = 'CREATE INDEX ON docs USING hamming (seen(fp))';
is(has_worker("$create"), 1, 'a build has workers');
nothing_is_left('an error in a worker leaves nothing');
is(has_worker("CREATE INDEX CONCURRENTLY docs_seen ON docs USING hamming (seen(fp))"),
	1, 'a concurrent build has workers');
sql('DROP INDEX docs_seen');
nothing_is_left('which leave nothing either');
for my $level ('READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE')
{
	is(has_worker("BEGIN ISOLATION LEVEL $level; $create; ROLLBACK"),
		1, "in a transaction, $level");
}
is(has_worker("BEGIN; SAVEPOINT a; $create; ROLLBACK"),
	1, 'in a subtransaction');
is(has_worker("BEGIN; CREATE TABLE fresh AS TABLE docs;
		CREATE INDEX ON fresh USING hamming (seen(fp)); ROLLBACK"),
	1, 'on a table of the same transaction');
for my $alone (
	[ 'max_parallel_maintenance_workers = 0', 'none allowed' ],
	[ 'max_parallel_workers = 0', 'none to be had' ],
	[ "min_parallel_table_scan_size = '100GB'", 'a table too small' ],
	[ "maintenance_work_mem = '40MB'", 'too little memory' ])
{
	is(has_worker("SET $alone->[0]; BEGIN; $create; ROLLBACK"),
		0, "no workers: $alone->[1]");
}
is(has_worker("CREATE TEMP TABLE mine AS TABLE docs;
		CREATE INDEX ON mine USING hamming (seen(fp))"),
	0, 'no workers: temporary table');
is(has_worker("BEGIN; CREATE INDEX ON docs USING hamming (unsafe(fp)); ROLLBACK"),
	0, 'no workers: expression not safe for them');
is( has_worker("BEGIN; CREATE INDEX ON docs USING hamming (seen(fp))
		WHERE unsafe(fp) > 0; ROLLBACK"),
	0, 'no workers: predicate not safe for them');
is( has_worker("ALTER TABLE docs SET (parallel_workers = 0);
		BEGIN; $create; ROLLBACK"),
	0, 'no workers: parallel_workers = 0');
is( has_worker("ALTER TABLE docs SET (parallel_workers = 1);
		SET min_parallel_table_scan_size = '100GB'; $create"),
	1, 'workers: parallel_workers = 1');
sql('ALTER TABLE docs RESET (parallel_workers)');
nothing_is_left('nothing is left');

# --- ends before its time -----------------------------------------------------

# Run statements in the background.
sub background
{
	my (@statements) = @_;
	my ($out, $err) = ('', '');
	my $run = start(
		[
			'psql', '-X', '-h', $node->host, '-p', $node->port,
			'-v', 'ON_ERROR_STOP=1', (map { ('-c', $_) } @statements),
			'postgres'
		],
		'<', \undef, '>', \$out, '2>', \$err, timeout(180));

	return [ $run, \$err ];
}

# Do something as soon as a build has come so far; false if it never did.
sub when
{
	my ($condition, $action) = @_;

	return sql(<<"END") ne '';
CREATE FUNCTION pg_temp.wait() RETURNS text LANGUAGE plpgsql AS \$\$
BEGIN
	FOR i IN 1 .. 20000 LOOP
		PERFORM pg_stat_clear_snapshot();
		IF EXISTS (SELECT FROM pg_stat_activity AS a
			JOIN pg_stat_progress_create_index AS p USING (pid)
			WHERE $condition) THEN
			RETURN (SELECT string_agg(($action)::text, ' ')
				FROM pg_stat_activity
				JOIN pg_stat_progress_create_index USING (pid));
		END IF;
		IF i > 500 AND NOT EXISTS (SELECT FROM pg_stat_progress_create_index) THEN
			RETURN '';
		END IF;
		PERFORM pg_sleep(0.002);
	END LOOP;
	RETURN '';
END \$\$;
SELECT pg_temp.wait();
END
}

# Interrupt a build at a certain point; where it comes to its end before that,
# try again.
sub interrupted
{
	my ($name, $statement, $condition, $action, $error) = @_;
	my $message = 'it always came to its end before';

	for my $try (1 .. 20)
	{
		my $build = background(told('wait', ''), $statement);

		when($condition, $action);
		$build->[0]->finish;
		$message = ${ $build->[1] };
		last if $message =~ /ERROR|FATAL/;
		sql('DROP INDEX IF EXISTS large_fp_idx');
	}
	like($message, $error, $name);
	sql('DROP INDEX IF EXISTS large_fp_idx, docs_seen_idx');
	nothing_is_left("$name: nothing is left");
}

my $waiting = "a.wait_event = 'ParallelCreateIndexScan'";
my $loading = "p.phase ~ 'loading entries' AND p.tuples_done > 1000";
my $cancel = 'pg_cancel_backend(pid)';
my $terminate = 'pg_terminate_backend(pid)';
my $kill_worker = "(SELECT count(pg_terminate_backend(pid))
	FROM pg_stat_activity WHERE backend_type = 'parallel worker')";
my $canceled = qr/canceling statement due to user request/;
my $terminated = qr/terminating .* due to administrator command/;
my $large = 'CREATE INDEX ON large USING hamming (fp)';

interrupted('cancel while workers scan', $create, $waiting, $cancel,
	$canceled);
interrupted('termination while workers scan',
	$create, $waiting, $terminate, $terminated);
interrupted('termination of a scanning worker',
	$create, $waiting, $kill_worker, $terminated);
interrupted('cancel while all load', $large, $loading, $cancel, $canceled);
interrupted('termination while all load',
	$large, $loading, $terminate, $terminated);
interrupted('termination of a loading worker',
	$large, $loading, $kill_worker, $terminated);
interrupted(
	'cancel of a concurrent build',
	'CREATE INDEX CONCURRENTLY ON large USING hamming (fp)',
	$loading, $cancel, $canceled);

my ($code, $out, $err) = $node->psql('postgres',
	told('wait', "SET statement_timeout = '2s'; $create"));
like($err, qr/canceling statement due to statement timeout/,
	'statement_timeout is heeded');
nothing_is_left('statement_timeout: nothing is left');

($code, $out, $err) =
  $node->psql('postgres', "SET temp_file_limit = '2MB'; $large");
like($err, qr/temporary file size exceeds "?temp_file_limit/,
	'temp_file_limit is heeded');
nothing_is_left('temp_file_limit: nothing is left');

cmp_ok(segments(), '<', $segments + 5,
	'twenty builds that failed leave no shared memory');

# --- what was built lasts -----------------------------------------------------

# Build while others write.
my $writers = background(<<'END');
DO $$ BEGIN
	FOR i IN 1 .. 3000 LOOP
		INSERT INTO large VALUES (-i, hashint8extended(i, 2));
		DELETE FROM large WHERE ctid = ('(' || i % 1000 || ',1)')::tid;
		COMMIT;
	END LOOP;
END $$
END
sql('CREATE INDEX CONCURRENTLY large_fp ON large USING hamming (fp)');
sql('REINDEX INDEX CONCURRENTLY large_fp');
$writers->[0]->finish;
is(${ $writers->[1] }, '', 'others write during a concurrent build');
sql("SELECT hamming_index_check('large_fp', true)");

# Without write-ahead log, as far as the server does without, and with it.
for my $wal_level ('minimal', 'replica')
{
	$node->append_conf('postgresql.conf', "wal_level = $wal_level\n");
	$node->restart;
	sql(<<"END");
BEGIN;
CREATE TABLE $wal_level AS TABLE large;
CREATE INDEX ${wal_level}_same ON $wal_level USING hamming (fp);
COMMIT;
CREATE INDEX ${wal_level}_later ON $wal_level USING hamming (fp);
REINDEX INDEX large_fp;
END
	$node->stop('immediate');
	$node->start;
	sql("SELECT hamming_index_check('$_', true)")
	  for "${wal_level}_same", "${wal_level}_later", 'large_fp';
	pass("wal_level = $wal_level: indexes are in order after a crash");
}

# --- what workers do is counted -----------------------------------------------

SKIP:
{
	skip 'no pg_stat_statements', 1
	  if sql("SELECT count(*) FROM pg_available_extensions
		WHERE name = 'pg_stat_statements'") eq '0';
	$node->append_conf('postgresql.conf',
		"shared_preload_libraries = 'pg_stat_statements'\n");
	$node->restart;
	sql('CREATE EXTENSION pg_stat_statements');
	sql('CREATE INDEX large_counted ON large USING hamming (fp)');
	is( sql(<<'END'), 't|t', 'pages read and logged by workers are counted');
SELECT wal_fpi >= pg_relation_size('large_counted') / 8192,
       shared_blks_hit + shared_blks_read >= pg_relation_size('large') / 8192
FROM pg_stat_statements WHERE query ~ '^CREATE INDEX large_counted'
END
}

$node->stop;
done_testing();
