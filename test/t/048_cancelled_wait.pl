# A wait for a lock of the guard that is cancelled in the very moment in which the
# lock is granted: the session lets go of it as it rolls back to a savepoint.  So that
# both happen at once, the session is stopped by a signal while it waits.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $node = new_node('cancelled');

$node->safe_psql('postgres', <<'END');
CREATE TABLE docs (id int, fp bigint);
CREATE INDEX ON docs USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON docs FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'skip', '8');
-- the first session holds the locks of its row until the last lets it go on
CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(1);
    RETURN new;
END $$;
CREATE TRIGGER later BEFORE INSERT ON docs FOR EACH ROW WHEN (new.id = 1)
    EXECUTE FUNCTION pause();
END

my $gate = $node->background_psql('postgres');
my $first = $node->background_psql('postgres');
my $second = $node->background_psql('postgres', on_error_stop => 0);
my $pid = $second->query_safe('SELECT pg_backend_pid()');
$pid =~ s/\D//g;

sub wait_until
{
    my ($what, $condition) = @_;
    ok($node->poll_query_until('postgres', "SELECT $condition"), $what);
}

$gate->query_safe('SELECT pg_advisory_lock(1)');
$first->query_until(qr/began/, "\\echo began\nINSERT INTO docs VALUES (1, 0);\n");
wait_until('the first session holds its locks',
    "count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND NOT granted");
$second->query_until(qr/began/, "BEGIN;\nSAVEPOINT s;\n\\echo began\nINSERT INTO docs VALUES (2, 1);\n");
wait_until('the second waits for them',
    "count(*) = 1 FROM pg_locks WHERE pid = $pid AND locktype = 'advisory' AND NOT granted");

kill STOP => $pid;
$node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
$gate->query_safe('SELECT pg_advisory_unlock(1)');
wait_until('the lock is granted',
    "count(*) = 1 FROM pg_locks WHERE pid = $pid AND locktype = 'advisory' AND granted");
kill CONT => $pid;

# What it is told by now is that the statement was cancelled.
$second->query('ROLLBACK TO s');
my $held = $second->query("SELECT count(*) FROM pg_locks WHERE pid = $pid AND locktype = 'advisory'");
is($held, '0', 'the second session holds no lock');
$second->query('ROLLBACK');
is($node->safe_psql('postgres', 'SELECT count(*) FROM docs'), '1', 'its row is not there');
$_->quit foreach ($gate, $first, $second);

done_testing();
