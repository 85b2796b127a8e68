# Nothing is lost or left behind when work is cancelled, ended, or short of
# memory or disk.
#
# Everything that can take long is begun again and again, and
#
#   cancelled		after a time at random, as by a client or a timeout
#   ended			likewise, by pg_terminate_backend()
#   run out of memory	in a server that may have no more than so much
#   run out of disk		in one that may write no file longer than so much
#
# Afterwards the server is up, every index agrees with its table, what the
# constraint and the guard forbid is not there, and no lock, temporary file or
# worker is left.  It is told how long a cancelled command took at most to end.
# SIMHASH_SEED repeats a run; SIMHASH_SECONDS sets how long the first two last.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;
use Time::HiRes qw(time);

my $seed = seed();
my $seconds = seconds(5);
my $patience = 60;    # seconds for a command to end

my $node = new_node('faults', <<'END', extra => [ '--wal-segsize=1' ]);
autovacuum = off
shared_buffers = 16MB
max_wal_size = 1GB
maintenance_work_mem = 8MB
max_parallel_maintenance_workers = 2
max_parallel_workers_per_gather = 2
min_parallel_table_scan_size = 0
parallel_setup_cost = 0
parallel_tuple_cost = 0
END

sub sql { return $node->safe_psql('postgres', $_[0]) }

sql(<<"END");
CREATE FUNCTION some_fp(n bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS
\$\$ SELECT hashint8extended(n % 30000, $seed) # (1::bigint << (n % 64)::int) \$\$;
-- cancel or end what the session "victim" is at, when it has been at it for so long
CREATE PROCEDURE interrupt(how text, after float8) LANGUAGE plpgsql AS \$\$
DECLARE
    victim int;
BEGIN
    FOR i IN 1 .. 500 LOOP
        SELECT pid INTO victim FROM pg_stat_activity
        WHERE application_name = 'victim' AND backend_type = 'client backend'
              AND xact_start IS NOT NULL AND query !~ '^(SET|BEGIN)';
        EXIT WHEN victim IS NOT NULL;
        PERFORM pg_sleep(0.005), pg_stat_clear_snapshot();
    END LOOP;
    IF victim IS NOT NULL THEN
        PERFORM pg_sleep(after);
        EXECUTE format('SELECT %I(%s)', how, victim);
    END IF;
END \$\$;
CREATE TABLE docs AS
SELECT n AS id, n % 50 AS g, some_fp(n) AS fp,
       (some_fp(n)::bit(64) || some_fp(n + 1)::bit(64))::bit(128) AS wide
FROM generate_series(1, 60000) AS n;
CREATE INDEX docs_fp ON docs USING hamming (fp);
CREATE TABLE texts AS
SELECT n AS id, (SELECT string_agg(md5((n / 2 * 100 + i)::text), ' ')
                 FROM generate_series(1, 60) AS i) AS body
FROM generate_series(1, 3000) AS n;
CREATE TABLE long (body text);
INSERT INTO long SELECT string_agg(md5(i::text), ' ') FROM generate_series(1, 300000) AS i;
CREATE TABLE learnt AS SELECT simhash_idf_agg(body) AS idf FROM texts;
CREATE TABLE alone (id int, fp bigint, EXCLUDE USING hamming (fp WITH ~=));
CREATE TABLE guarded (id int, fp bigint);
CREATE INDEX guarded_fp ON guarded USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON guarded
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'skip', '3');
CREATE TABLE changing (id int, fp bigint);
CREATE INDEX changing_fp ON changing USING hamming (id, fp);
END

my $rows = 'generate_series(1, 20000) AS n';
my @work = (
	'CREATE INDEX again ON docs USING hamming (fp)',
	'CREATE INDEX again ON docs USING hamming (g, fp)',
	'CREATE INDEX again ON docs USING hamming (wide)',
	'REINDEX INDEX docs_fp',
	"SELECT hamming_index_check('docs_fp', true)",
	'SELECT count(*) FROM docs a JOIN docs b ON b.fp <@ (a.fp, 4) WHERE a.id < 5000',
	'SELECT count(*) FROM docs WHERE fp <@ (0, 30)',
	'SET work_mem = 64; SELECT count(*) FROM docs a, LATERAL (SELECT FROM docs b
		ORDER BY b.fp <~> a.fp LIMIT 10) AS nearest WHERE a.id < 300',
	"SELECT count(*) FROM simhash_pairs('SELECT id, fp FROM docs', 10)",
	"SELECT count(*) FROM simhash_pairs('SELECT id, fp, g FROM docs', 10)",
	"SELECT count(*) FROM simhash_clusters('SELECT id, fp FROM docs', 8, 'connected')",
	"SELECT count(*) FROM simhash_clusters('SELECT id, fp FROM docs', 6, 'star')",
	"SELECT count(*) FROM simhash_report('docs', 'fp', 5)",
	"SELECT count(*) FROM simhash_components('SELECT a.id, b.id FROM docs a, docs b WHERE a.id < 200 AND b.id < 2000')",
	"SELECT * FROM simhash_tune('SELECT body FROM texts')",
	'SELECT simhash_idf_agg(body) FROM texts',
	'SELECT count(simhash_tfidf(body, idf)), count(feature)
		FROM texts, learnt, simhash_keywords(body, idf, 5)',
	'SELECT count(DISTINCT simhash(body, p)), count(DISTINCT minhash(body, p))
		FROM texts, (VALUES (\'word-3\'), (\'char-5\')) AS v (p)',
	'SELECT simhash(body), minhash(body), simhash_bits(body, 1024) FROM long',
	'SELECT simhash_jaccard(body, body || \' x\'), simhash_cosine(body, \'x \' || body, \'char-4\') FROM long',
	'SELECT count(*) FROM long, simhash_features(body)',
	'SELECT count(*) FROM long, unnest(simhash_segment(body)) AS word',
	'SELECT simhash_hashbits(string_to_array(body, \' \'), 512) FROM long',
	'SELECT simhash_agg(body, id) OVER (ORDER BY id ROWS 50 PRECEDING) FROM texts',
	"INSERT INTO alone SELECT n, some_fp(n + (random() * 1e6)::int) FROM $rows ON CONFLICT DO NOTHING",
	"INSERT INTO guarded SELECT n, hashint8extended(n, (random() * 1e9)::int) FROM $rows",
	"INSERT INTO changing SELECT n, some_fp(n) FROM $rows",
	'UPDATE changing SET fp = fp # 1',
	'DELETE FROM changing WHERE id % 3 = 0; VACUUM changing');

# What is left behind by those that are gone, once they are: a client does not
# wait for the end of its backend.
sub is_clean
{
	my ($when) = @_;

	ok($node->poll_query_until('postgres', <<'END', '0|0|0'), "nothing is left behind when $when");
SELECT (SELECT count(*) FROM pg_ls_tmpdir()),
       (SELECT count(*) FROM pg_locks WHERE pid <> pg_backend_pid()),
       (SELECT count(*) FROM pg_stat_activity
        WHERE pid <> pg_backend_pid() AND backend_type IN ('client backend', 'parallel worker'))
END
	is(sql(<<'END'), 't|t', "the constraint and the guard have held when $when");
SELECT NOT EXISTS (SELECT FROM simhash_pairs('SELECT row_number() OVER (), fp FROM alone', 3)),
       NOT EXISTS (SELECT FROM simhash_pairs('SELECT row_number() OVER (), fp FROM guarded', 3))
END
	is( sql("SELECT hamming_index_check(c.oid, true) FROM pg_class c JOIN pg_am a
		ON a.oid = relam JOIN pg_index i ON indexrelid = c.oid
		WHERE amname = 'hamming' AND indisvalid") =~ s/\n//gr,
		'', "indexes agree with their tables when $when");
}

# A command that is ended in some way at some time; how long it took after that.
sub interrupt
{
	my ($work, $how, $after) = @_;
	my $script = PostgreSQL::Test::Utils::tempdir . '/victim.sql';
	my ($out, $err) = ('', '');
	my ($run, $start);

	append_to_file($script, "SET application_name = 'victim';\nBEGIN;\n$work;\nROLLBACK;\n");
	$run = IPC::Run::start(
		[ 'psql', '-X', '-q', '-d', $node->connstr('postgres'), '-v', 'ON_ERROR_STOP=1',
			'-v', 'VERBOSITY=sqlstate', '-f', $script ],
		'<', \undef, '>', \$out, '2>', \$err, IPC::Run::timeout($patience + 60));
	sql("CALL interrupt('$how', $after)");
	$start = time;
	$run->finish;
	return (time - $start, $err);
}

# VACUUM is for itself; it and what is committed are cancelled by a timeout.
my ($longest, $slowest) = (0, '');
my %ends;
my $begin = time;
my $round = 0;

while (time - $begin < $seconds)
{
	my $work = $work[ $round++ % @work ];
	my $how = rand() < 0.5 ? 'pg_cancel_backend' : 'pg_terminate_backend';
	my ($took, $err);

	if ($work =~ /INSERT|VACUUM/ && rand() < 0.7)
	{
		my $timeout = 1 + int(rand(800));
		my $start = time;

		# without BEGIN, so that what is finished before stays
		(undef, undef, $err) = $node->psql('postgres',
			"SET statement_timeout = $timeout; \\set VERBOSITY sqlstate\n$work;");
		$took = time - $start - $timeout / 1000;
		$how = 'statement_timeout';
	}
	else
	{
		next if $work =~ /VACUUM/;
		($took, $err) = interrupt($work, $how, rand() * rand() * 0.5);
	}
	$ends{ $err =~ /57014/ ? 'cancelled' : $err =~ /57P01|terminat/ ? 'ended'
		: $err =~ /ERROR/ ? 'another error' : 'finished' }++;
	fail("$work: $err") if $err =~ /ERROR/ && $err !~ /57014|57P01|23P01|23505/;
	($longest, $slowest) = ($took, "$how: $work") if $took > $longest;
}
cmp_ok($longest, '<', $patience, 'what is cancelled comes to an end');
is_clean('cancelled');
diag("$round commands: " . join(', ', map { "$ends{$_} $_" } sort keys %ends)
	  . sprintf('; the longest took %.2f s to end: %s', $longest, $slowest));

# Limits of the operating system are those of this process when the server is
# started, and its own again afterwards.
sub restart_with
{
	my ($resource, $limit) = @_;

	$node->stop;
	system('prlimit', '--pid', $$, "--$resource=$limit:") == 0 or die 'prlimit';
	$node->start;
	system('prlimit', '--pid', $$, "--$resource=unlimited:") == 0 or die 'prlimit';
}

# All of the work, with less and less of something; how often it has failed.
sub work_with
{
	my ($state, $settings) = @_;
	my %failed;

	for my $work (@work)
	{
		my ($code, $out, $err) = $node->psql('postgres',
			"\\set VERBOSITY sqlstate\nSET statement_timeout = '60s'; $settings
			DROP INDEX IF EXISTS again;\n$work;\n");

		if ($err =~ /ERROR: +(\w+)/)
		{
			my $found = $1;

			$failed{$found}++;
			like($found, qr/^($state|57014|23P01|23505)$/, "$found: $work");
		}
		isnt($code, 2, "the server is up after: $work") or diag($err);
	}
	return join(', ', map { "$failed{$_} $_" } sort keys %failed);
}

SKIP:
{
	skip('prlimit is not here', 1)
	  if system('prlimit --version >/dev/null 2>&1') != 0;

	# One of them, or all in a long run; none with sanitizers, which take more
	# room than there is of addresses.
	my @sizes = $ENV{SANITIZE} ? () : (180, 230, 300);
	@sizes = ($sizes[ rand @sizes ]) if @sizes && !$ENV{SIMHASH_SECONDS};
	for my $megabytes (@sizes)
	{
		restart_with('as', $megabytes * 1024 * 1024);
		diag("$megabytes MB of memory: "
			  . work_with('53200', "SET maintenance_work_mem = '1GB'; SET work_mem = '1GB';"));
		restart_with('as', 'unlimited');
		is_clean("out of memory at $megabytes MB");
	}

	# A segment of the log takes 1 MB.  For files too long there is no SQLSTATE;
	# with little memory some of the work ends by saying so.
	restart_with('fsize', 3 * 1024 * 1024);
	diag('files of 3 MB: '
		  . work_with('XX000|53100|53200', "SET work_mem = '64kB'; SET maintenance_work_mem = '1MB';"));
	restart_with('fsize', 'unlimited');
	is_clean('out of disk');
}

unlike(slurp_file($node->logfile), qr/was terminated by signal|PANIC:|TRAP:/,
	'no server process came down');
$node->stop;
done_testing();
