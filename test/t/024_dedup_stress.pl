# The DELETE of simhash_dedup_sql by several sessions at once, which keep now the
# first row of a cluster and now the last, at every isolation level, while others
# insert, edit and delete rows: each of them locks a row that stays before it
# takes one away, so the DELETE alone could take the last of a cluster.
use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $seconds = seconds(3);
my $seed = seed();

my $node = new_node('dedup', <<'END');
deadlock_timeout = 100ms
max_prepared_transactions = 0
END

for my $partitions ('', 'PARTITION BY HASH (c)')
{
	$node->safe_psql('postgres', <<"END");
DROP EXTENSION IF EXISTS simhash CASCADE;
DROP TABLE IF EXISTS docs;
DROP FUNCTION IF EXISTS dedup, take;
CREATE EXTENSION simhash;
CREATE TABLE docs (id bigint GENERATED ALWAYS AS IDENTITY, c int, fp bigint) $partitions;
END
	$node->safe_psql('postgres', <<'END') if $partitions;
CREATE TABLE docs_0 PARTITION OF docs FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE docs_1 PARTITION OF docs FOR VALUES WITH (MODULUS 2, REMAINDER 1);
END
	$node->safe_psql('postgres', <<'END');
INSERT INTO docs (c, fp) SELECT n % 20, hashint8extended(n % 20, 1) FROM generate_series(1, 100) AS n;
CREATE FUNCTION dedup(keep text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN EXECUTE simhash_dedup_sql('docs', 'fp', keep => keep); END $$;
-- one row of a cluster away, or edited to be near to nothing, while another stays
CREATE FUNCTION take(cluster int, edit boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    stays bigint;
    goes bigint;
BEGIN
    SELECT id INTO stays FROM docs
    WHERE c = cluster AND fp = hashint8extended(cluster, 1) ORDER BY random() LIMIT 1 FOR UPDATE;
    SELECT id INTO goes FROM docs
    WHERE c = cluster AND fp = hashint8extended(cluster, 1) AND id <> stays ORDER BY random() LIMIT 1;
    IF goes IS NULL THEN
        RETURN;
    ELSIF edit THEN
        UPDATE docs SET fp = hashint8extended(goes, 2) WHERE id = goes AND c = cluster;
    ELSE
        DELETE FROM docs WHERE id = goes AND c = cluster;
    END IF;
    PERFORM pg_sleep(random() / 100);
    IF random() < 0.3 THEN
        RAISE serialization_failure;    -- tried again
    END IF;
END $$;
END

	my $dir = PostgreSQL::Test::Utils::tempdir;
	my %scripts = (
		'first@2' => "SELECT dedup('id');",
		'last@2' => "BEGIN ISOLATION LEVEL REPEATABLE READ;\nSELECT dedup('id DESC');\nCOMMIT;",
		'any@1' => "BEGIN ISOLATION LEVEL SERIALIZABLE;\nSELECT dedup(NULL);\nCOMMIT;",
		'put@8' => "\\set c random(0, 19)\nINSERT INTO docs (c, fp) SELECT :c, hashint8extended(:c, 1) FROM generate_series(1, 3);",
		'take@6' => "\\set c random(0, 19)\nSELECT take(:c, false);",
		'edit@4' => "\\set c random(0, 19)\nSELECT take(:c, true);");
	my @files = weighted_files($dir, %scripts);
	my ($out, $err);
	my $ok = IPC::Run::run([ 'pgbench', '-n', '-c', '6', '-j', '2', '-T', $seconds,
			'--max-tries=50', "--random-seed=$seed", '-h', $node->host, '-p', $node->port,
			@files, 'postgres' ], '>', \$out, '2>', \$err);

	diag($err =~ s/.*?(ERROR.*?)\n.*/$1/sr) if $err =~ /ERROR/;
	ok($ok, 'all that is left undone is tried again') or diag($err);
	like($out, qr/number of transactions actually processed: [1-9]\d\d/, 'much was done')
	  or diag($out);
	is( $node->safe_psql('postgres',
			'SELECT count(DISTINCT c) FROM docs WHERE fp = hashint8extended(c, 1)'),
		'20', "a row of each cluster is left $partitions");
	$node->safe_psql('postgres', 'SELECT dedup(NULL)');
	is( $node->safe_psql('postgres',
			'SELECT count(*) FROM docs WHERE fp = hashint8extended(c, 1)'),
		'20', 'and one alone when nobody interferes');
}
$node->stop;
done_testing();
