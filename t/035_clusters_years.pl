# Months of a crawler's table that keeps clusters: partitions that come and go,
# upserts, deletes, and each month the trim and the check of clusters.md
# (test/clusters_years.py writes, and has the model that judges).
#
# SIMHASH_SEED repeats what is drawn.  SIMHASH_ROUNDS is how many pages a day:
# from 1000 on it is two years, of which six months are kept.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $python = $ENV{PYTHON} || 'python3';
my $seed = $ENV{SIMHASH_SEED} // int(rand(2**31));
my $rows = $ENV{SIMHASH_ROUNDS} // 200;
my ($months, $kept) = $rows >= 1000 ? (24, 6) : (6, 2);
diag("SIMHASH_SEED=$seed");

plan skip_all => 'no Python with psycopg'
  if system("$python -c 'import psycopg' 2>/dev/null") != 0;

my $node = PostgreSQL::Test::Cluster->new('years');
$node->init(extra => [ '-E', 'UTF8', '--locale=C' ]);
$node->append_conf('postgresql.conf', <<'END');
fsync = off
jit = off
client_min_messages = error
END
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION simhash');

for my $kind (qw(star connected verified))
{
	my $out = '';
	my $good = IPC::Run::run(
		[ $python, 'test/clusters_years.py', $node->connstr('postgres'),
			$seed, $kind, $months, $rows, $kept ],
		'<', \undef, '>', \$out, '2>&1');

	ok($good, "$kind, $months months of $rows pages a day") or diag($out);
	$rows >= 1000 ? diag($out) : note($out) if $good;
}
$node->stop;
done_testing();
