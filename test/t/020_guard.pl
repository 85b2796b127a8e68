# simhash_guard under load: eight sessions that insert at the same time leave
# no near-duplicates, and those with unrelated rows do not get in each other's
# way.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $node = new_node('guard');

# Make the table anew, with that index and distance.
sub make_table
{
	my ($index, $k) = @_;

	$node->safe_psql('postgres', <<"END");
DROP TABLE IF EXISTS docs;
CREATE TABLE docs (id serial PRIMARY KEY, fp bigint);
DO \$\$ BEGIN $index; END \$\$;
CREATE TRIGGER guard BEFORE INSERT ON docs
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'skip', '$k');
END
	return;
}

# Run a script of pgbench by eight clients.
sub load_table
{
	my ($name, $transactions, $script) = @_;

	$node->pgbench("--no-vacuum --client=8 --transactions=$transactions",
		0, [qr/actually processed/], [qr/^$/], $name,
		{ "020_guard_$name" => $script });
	return;
}

my %index = (
	hamming => 'CREATE INDEX ON docs USING hamming (fp)',
	keys => "PERFORM simhash_add_keys('docs', 'fp')");

# Rows within a few bits of one of fifty fingerprints.
for my $case ([ 'hamming', 0 ], [ 'hamming', 3 ], [ 'keys', 3 ],
	[ 'hamming', 8 ], [ 'hamming', 12 ])
{
	my ($index, $k) = @$case;

	make_table($index{$index}, $k);
	load_table("near_${index}_$k", 150, <<'END');
\set center random(1, 50)
\set bit random(0, 63)
\set other random(0, 63)
INSERT INTO docs (fp) VALUES (hashint8extended(:center, 7)
	# (1::bigint << :bit) # (1::bigint << :other));
END
	my $pairs = $node->safe_psql('postgres',
		"SELECT count(*) FROM simhash_pairs('SELECT id, fp FROM docs', $k)");
	is($pairs, '0', "no pair within $k, $index");
	cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM docs'),
		'>=', 45, "rows within $k, $index");
}

# Unrelated rows, many to a transaction: none waits in vain for another.  (The
# hash of an integer would have but 32 bits' worth of different values.)
make_table($index{hamming}, 3);
load_table('unrelated', 20, <<'END');
BEGIN;
INSERT INTO docs (fp) SELECT hashtextextended(random()::text, 5)
FROM generate_series(1, 50);
INSERT INTO docs (fp) SELECT hashtextextended(random()::text, 5)
FROM generate_series(1, 50);
COMMIT;
END
is($node->safe_psql('postgres', 'SELECT count(*) FROM docs'),
	'16000', 'all unrelated rows are in');

# COPY by the extended protocol, as drivers have it, leaves no locks behind in
# its transaction, though the portal that has run it lives on.
make_table($index{keys}, 3);
my $rows = $node->basedir . '/rows';
append_to_file($rows, "1\n");
my $script = $node->basedir . '/copy.sql';
append_to_file($script,
	"BEGIN;\nCOPY docs (fp) FROM '$rows';\n\\sleep 3 s\nEND;\n");
my $pgbench = IPC::Run::start(
	[ 'pgbench', '--no-vacuum', '--protocol=extended', '--transactions=1',
		"--file=$script", $node->connstr('postgres') ],
	'>', \my $out, '2>&1');
$node->poll_query_until('postgres',
	"SELECT count(*) = 1 FROM pg_stat_activity
	WHERE state = 'idle in transaction' AND query LIKE 'COPY%'");
is($node->safe_psql('postgres',
		'SELECT count(*) FROM pg_locks WHERE objsubid = 21320'),
	'0', 'no locks after COPY');
ok($pgbench->finish, 'rows are copied') or diag($out);

$node->stop;
done_testing();
