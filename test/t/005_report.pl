# Reports: progress is seen from another session, and a cancel is heeded, at
# each stage.

use strict;
use warnings;

use IPC::Run;
use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $node = new_node('report', "temp_file_limit = 8GB\n");

# What takes long enough to be looked at at each stage, and then what the
# session is called.
my $many = 'SELECT n, hashint8extended(n, 1) FROM generate_series(1, 1000000) AS n';
my $equal = 'SELECT n, 1::bigint FROM generate_series(1, 20000) AS n';
my $texts = 'SELECT n, n / 2, repeat(md5(n::text), 30) AS body FROM generate_series(1, 200000::bigint) AS n';
my $alike = "SELECT n, 1::bigint, ''one two three '' || n AS body FROM generate_series(1, 100000) AS n";
my $endless = 'SELECT n, n FROM (SELECT generate_series(1, 1e12::bigint) AS n) AS s
	WHERE n > (SELECT count(*) FROM simhash_pairs(\'\'VALUES (1, 1::bigint), (2, 1)\'\')) AND md5(n::text) <> \'\'\'\'';
my @stages = (
	[ 'reading', "simhash_clusters('$endless')", 'simhash_clusters reading, \d+ rows' ],
	[ 'searching', "simhash_pairs('$many', 16)", 'simhash_pairs searching \d+ %' ],
	[ 'connecting', "simhash_clusters('$many', 16, 'connected')", 'simhash_clusters searching \d+ %' ],
	[ 'making stars', "simhash_clusters('$many', 16, 'star')",
		'simhash_clusters searching \d+ %' ],
	[ 'documents', "simhash_clusters('$texts', 0, document => 'body', profile => 'char-8')",
		'simhash_clusters reading documents \d+ %' ],
	[ 'comparing', "simhash_pairs('$alike', document => 'body', similarity => 'cosine', at_least => .9)",
		'simhash_pairs verifying \d+ %' ],
	[ 'listing', "simhash_pairs('$equal')", 'simhash_pairs listing, \d+ rows' ]);
my $script = $node->basedir . '/long.sql';
foreach my $stage (@stages)
{
	my ($what, $call, $name) = @$stage;
	my ($out, $err) = ('', '');

	unlink $script;
	append_to_file($script, <<"END");
SET application_name = 'nightly';
SET simhash.progress = notice;
SET maintenance_work_mem = '1GB';
SET statement_timeout = '180s';
SELECT count(*) FROM $call;
SELECT application_name FROM pg_stat_activity WHERE pid = pg_backend_pid();
SELECT count(*) FROM simhash_pairs('VALUES (1, 1::bigint), (2, 0)');
SELECT count(*) FROM pg_ls_tmpdir();
END
	my $long = IPC::Run::start(
		[ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-f', $script ],
		'>', \$out, '2>', \$err);
	ok($node->poll_query_until('postgres', <<"END"), "$what is shown");
SELECT EXISTS (SELECT FROM pg_stat_activity WHERE application_name ~ '^$name\$')
END
	is($node->safe_psql('postgres', <<"END"), 't', 'the session is cancelled');
SELECT pg_cancel_backend(pid) FROM pg_stat_activity
WHERE application_name ~ '^simhash_'
END
	$long->finish;
	like($err, qr/NOTICE:  $name/, "$what: notices");
	like($err, qr/canceling statement due to user request/, "$what: cancel is heeded");
	unlike($err, qr/WARNING/, "$what: no warning");
	is($out, "nightly\n1\n0\n", "$what: the name is put back, no file is left");
}

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

# Nothing is shown, nor said, unless it is asked for: the last row of the query is
# near the first one, and its id is what the session is called meanwhile.
my $named = q{SELECT CASE n WHEN 1 THEN ''first'' || pg_sleep(1.5)::text
		WHEN 70000 THEN (SELECT application_name FROM pg_stat_activity
			WHERE pid = pg_backend_pid() AND n > 0) ELSE n::text END,
	CASE WHEN n IN (1, 70000) THEN 0 ELSE n END FROM generate_series(1::bigint, 70000) AS n};
foreach my $mode ([ 'off', qr/^nightly$/, qr/^$/ ], [ 'activity', qr/^simhash_pairs reading/, qr/^$/ ],
	[ 'notice', qr/^simhash_pairs reading/, qr/NOTICE:  simhash_pairs reading/ ])
{
	my ($setting, $name, $notices) = @$mode;
	my ($ret, $out, $err) = $node->psql('postgres', <<"END");
SET application_name = 'nightly';
SET simhash.progress = $setting;
SELECT b FROM simhash_pairs_as(NULL::text, '$named', 0);
END
	like($out, $name, "$setting: the name of the session");
	like($err, $notices, "$setting: notices");
}

# The setting before and after the library is loaded.
my ($status, $shown, $complaint) = $node->psql('postgres', 'SHOW simhash.progress');
like($complaint, qr/unrecognized configuration parameter/, 'not known before it is loaded');
is($node->safe_psql('postgres', <<'END'), "\nnotice\noff\nactivity", 'but afterwards');
SELECT current_setting('simhash.progress', true);
SET simhash.progress = 'notice';
SELECT simhash('a') \gset
SHOW simhash.progress;
RESET simhash.progress;
SHOW simhash.progress;
ALTER ROLE CURRENT_USER SET simhash.progress = 'activity';
ALTER ROLE CURRENT_USER SET session_preload_libraries = 'simhash';
\c
SHOW simhash.progress;
END

$node->stop;
done_testing();
