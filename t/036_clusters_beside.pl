# What keeps house, trim, split and mend, beside six writers: no row is left
# without its cluster, and no writer waits (test/clusters_beside.py has them,
# and the model that judges).
#
# SIMHASH_SEED repeats what is drawn.  SIMHASH_SECONDS is how long each kind
# takes: from 30 on there are 100,000 rows at first, and a writer that is kept
# for .2 s is a fault.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $python = $ENV{PYTHON} || 'python3';
my $seed = $ENV{SIMHASH_SEED} // int(rand(2**31));
my $seconds = $ENV{SIMHASH_SECONDS} // 4;
my ($rows, $bar) = $seconds >= 30 ? (100000, 0.2) : (3000, 0);
diag("SIMHASH_SEED=$seed");

plan skip_all => 'no Python with psycopg'
  if system("$python -c 'import psycopg' 2>/dev/null") != 0;

my $node = PostgreSQL::Test::Cluster->new('beside');
$node->init(extra => [ '-E', 'UTF8', '--locale=C' ]);
$node->append_conf('postgresql.conf', <<'END');
fsync = off
jit = off
client_min_messages = error
END
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION simhash');

for my $kind (qw(star connected split))
{
	my $out = '';
	my $good = IPC::Run::run(
		[ $python, 'test/clusters_beside.py', $node->connstr('postgres'),
			$seed, $kind, $rows, $seconds, $bar ],
		'<', \undef, '>', \$out, '2>&1');

	ok($good, "$kind, $rows rows, $seconds seconds") or diag($out);
	$bar > 0 ? diag($out) : note($out) if $good;
}
$node->stop;
done_testing();
