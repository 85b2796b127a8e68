# Saves of objects, as frameworks write them, in tables that keep clusters: all
# columns, with clusters and times that were read a while ago, or never were
# (test/clusters_saved.py draws them, and has the model that judges).
#
# SIMHASH_SEED repeats what is drawn; SIMHASH_ROUNDS says how many saves.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $python = $ENV{PYTHON} || 'python3';
my $seed = $ENV{SIMHASH_SEED} // int(rand(2**31));
my $saves = $ENV{SIMHASH_ROUNDS} // 9000;
my $rounds = 6;
diag("SIMHASH_SEED=$seed");

plan skip_all => 'no Python with psycopg'
  if system("$python -c 'import psycopg' 2>/dev/null") != 0;

my $node = PostgreSQL::Test::Cluster->new('saved');
$node->init(extra => [ '-E', 'UTF8', '--locale=C' ]);
$node->append_conf('postgresql.conf', <<'END');
fsync = off
jit = off
timezone = UTC
client_min_messages = error
END
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION simhash');

for my $round (0 .. $rounds - 1)
{
	my $out = '';
	my $good = IPC::Run::run(
		[ $python, 'test/clusters_saved.py', $node->connstr('postgres'),
			$seed, $round, int($saves / $rounds) ],
		'<', \undef, '>', \$out, '2>&1');
	my ($name) = $out =~ /^(round .*)$/m;

	ok($good, $name // "round $round") or diag($out);
	note($out) if $good;
}
$node->stop;
done_testing();
