# simhash_guard beside updates that leave the fingerprint alone.  Such an update
# is not examined, but it moves the row to another place in the index, perhaps
# to where a search has been already, which finds the old version dead.  The
# guard must find the row all the same.
#
# SIMHASH_SECONDS sets how long it lasts.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

# Of all rounds together; a longer run finds more.
my $seconds = seconds(2);

my $node = new_node('update', "autovacuum = off\n");

# The row that is updated, among many that a search has to look at, as the
# index does not know the two bits that set them apart.
$node->safe_psql('postgres', <<'END');
CREATE TABLE docs (id int PRIMARY KEY, fp bigint, note int, pad text);
INSERT INTO docs
SELECT row_number() OVER () + 10,
    1234567890123456000 # 3 # (1 << a) # (1 << b) # (1 << c), 0, repeat('x', 2000)
FROM generate_series(2, 15) AS a, generate_series(2, 15) AS b,
    generate_series(2, 15) AS c
WHERE a < b AND b < c;
INSERT INTO docs VALUES (1, 1234567890123456000, 0, '');
CREATE INDEX ON docs (note);
CREATE TRIGGER guard BEFORE INSERT ON docs
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'skip', '3');
CREATE TABLE passed (id int);
END

my $update = $node->basedir . '/update.sql';
append_to_file($update, 'UPDATE docs SET note = note + 1 WHERE id = 1;');
my $insert = $node->basedir . '/insert.sql';
append_to_file($insert, <<'END');
WITH new AS (INSERT INTO docs VALUES (2, 1234567890123456001, 5) RETURNING id)
INSERT INTO passed SELECT id FROM new;
DELETE FROM docs WHERE id = 2;
END

# Both at the same time; returns how many rows were let in.
sub run_round
{
	my ($done, $log) = ('', '');
	my @pgbench = ('pgbench', '--no-vacuum', '--time=' . int($seconds / 2),
		$node->connstr('postgres'));
	my $updates = IPC::Run::start(
		[ @pgbench, '--client=2', "--file=$update" ], '>', \my $out, '2>&1');

	ok(run_log([ @pgbench, "--file=$insert" ], '>', \$done, '2>', \$log) &&
		$done =~ /actually processed: [1-9]/, 'rows are inserted')
	  or diag("$done\n$log");
	ok($updates->finish, 'while another is updated') or diag($out);
	return $node->safe_psql('postgres', 'SELECT count(*) FROM passed');
}

$node->safe_psql('postgres', 'CREATE INDEX docs_fp ON docs USING hamming (fp)');
is(run_round(), 0, 'a hamming index finds the row');
$node->safe_psql('postgres', <<'END');
DROP INDEX docs_fp;
SELECT simhash_add_keys('docs', 'fp');
END
is(run_round(), 0, 'key indexes find the row');
$node->stop;
done_testing();
