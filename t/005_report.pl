# Reports: progress is seen from another session, and a cancel is heeded.

use strict;
use warnings;

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('report');
$node->init(extra => [ '-E', 'UTF8', '--locale=C' ]);
$node->append_conf('postgresql.conf', "fsync = off\njit = off\n");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION simhash');

# What takes long enough to be looked at, and then what the session is called.
my $rows = 'SELECT n, hashint8extended(n, 1) FROM generate_series(1, 1000000) AS n';
my ($out, $err) = ('', '');
my $script = $node->basedir . '/long.sql';
append_to_file($script, <<"END");
SET application_name = 'nightly';
SET simhash.progress = notice;
SELECT count(*) FROM simhash_pairs('$rows', 16);
SELECT application_name FROM pg_stat_activity WHERE pid = pg_backend_pid();
SELECT count(*) FROM simhash_pairs('VALUES (1, 1::bigint), (2, 0)');
END
my $long = IPC::Run::start(
	[ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-f', $script ],
	'>', \$out, '2>', \$err);
ok($node->poll_query_until('postgres', <<'END'), 'progress is shown');
SELECT EXISTS (SELECT FROM pg_stat_activity
	WHERE application_name ~ '^simhash_pairs \d+ %, \d+ s left$')
END
is($node->safe_psql('postgres', <<'END'), 't', 'the session is cancelled');
SELECT pg_cancel_backend(pid) FROM pg_stat_activity
WHERE application_name ~ '^simhash_pairs'
END
$long->finish;
like($err, qr/NOTICE:  simhash_pairs \d+ %, \d+ s left/, 'notices');
like($err, qr/canceling statement due to user request/, 'cancel is heeded');
is($out, "nightly\n1\n", 'the name is put back, the session goes on');

# Three thousand equal fingerprints: many pairs, but not many bytes of memory.
SKIP:
{
	skip 'no /proc', 1 unless -r '/proc/self/status';
	my $peak = q{
		(substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s+(\d+)'))::int};
	my $growth = $node->safe_psql('postgres', <<"END");
SELECT count(*) FROM simhash_pairs('VALUES (1, 1::bigint), (2, 0)') \\gset
SELECT $peak AS before \\gset
SELECT count(*) FROM simhash_pairs('SELECT n, 1::bigint FROM generate_series(1, 3000) n') \\gset
SELECT $peak - :before;
END
	cmp_ok($growth, '<', 32 * 1024, 'millions of pairs: memory is bounded');
}

$node->stop;
done_testing();
