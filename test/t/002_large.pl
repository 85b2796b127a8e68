# Very long documents: bounded memory, and a cancel that is heeded.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $node = new_node('large');

# A thousand words, and two million distinct ones: every feature is a new one.
my $words = q{
	(SELECT string_agg(md5(n::text), ' ') FROM generate_series(1, 1000) AS n)};
my $hard = q{
	(SELECT string_agg(n || ' ' || md5(n::text), ' ')
	 FROM generate_series(1, 1000000) AS n)};

# The most memory that a session has had, in kB, and what the query adds.
my $peak = q{
	(substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s+(\d+)'))::int};

$node->safe_psql('postgres', <<"END");
CREATE TABLE hard AS SELECT NULL::text AS body LIMIT 0;
ALTER TABLE hard ALTER body SET STORAGE EXTERNAL;
INSERT INTO hard SELECT $hard;
END

SKIP:
{
	# Sanitizers keep for a while what has been freed.
	skip 'no /proc, or a sanitizer', 2
		if $ENV{SANITIZE} || !-r '/proc/self/status';
	for my $profile ('word-1-2', 'char-5')
	{
		my $growth = $node->safe_psql('postgres', <<"END");
SELECT md5(body) FROM hard \\gset
SELECT $peak AS before \\gset
SELECT simhash(body, '$profile') AS fp FROM hard \\gset
SELECT $peak - :before;
END
		# The text itself has been read before.  A table of a million features
		# has 2^21 slots of 12 bytes, the one it replaced half as many.
		cmp_ok($growth, '<', 80 * 1024, "$profile: memory is bounded");
	}
}

# The longest text that there can be.
my $longest = "SELECT repeat(w, 1073741000 / length(w)) FROM ($words) AS t(w)";

# A timeout in the middle of one is heeded.  A session that looked for
# interrupts only in the end would have gone through all of it; so would one
# that did not read the text at all.
my ($status, $stdout, $stderr) = $node->psql(
	'postgres', <<"END",
SELECT simhash('some words') AS before \\gset
\\timing on
SELECT length(body), simhash(body) FROM ($longest) AS t(body);
SET statement_timeout = '2s';
SELECT length(body), simhash(body, 'char-5') FROM ($longest) AS t(body);
RESET statement_timeout;
\\timing off
SELECT simhash('some words') = :before;
SELECT simhash('other words') = bit_or(CASE WHEN total > 0
    THEN 1::bigint << bit ELSE 0 END)
FROM (SELECT bit, sum(CASE WHEN hash & (1::bigint << bit) <> 0
                           THEN weight ELSE -weight END) AS total
      FROM simhash_features('other words'), generate_series(0, 63) AS bit
      GROUP BY bit) AS s;
END
	on_error_stop => 0);
note("$stdout$stderr");
like($stdout, qr/^107\d{7}\|-?\d+$/m, 'the longest text has a fingerprint');
like($stderr, qr/canceling statement due to statement timeout/,
	'a timeout is heeded');
like($stdout, qr/^t\nt$/m, 'the session goes on unharmed');

# A document of two megabytes is not read again for every row.
($status, $stdout, $stderr) = $node->psql(
	'postgres', <<"END", timeout => 120);
SELECT string_agg(md5(n::text), ' ') AS body FROM generate_series(1, 60000) AS n \\gset
SET plan_cache_mode = force_generic_plan;
PREPARE near(text) AS
SELECT count(*) FROM generate_series(1, 2000) AS n WHERE n ~= simhash(\$1);
SET statement_timeout = '20s';
EXECUTE near(:'body');
END
is($status, 0, 'a long parameter is remembered');

$node->stop;
done_testing();
