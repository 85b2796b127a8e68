# What keeps house, trim, split and mend, beside six writers: no row is left
# without its cluster, and no writer waits (test/random/clusters_beside.py has them,
# and the model that judges).
#
# SIMHASH_SEED repeats what is drawn.  SIMHASH_SECONDS is how long each kind
# takes: from 30 on there are 100,000 rows at first, and a writer that is kept
# for .2 s is a fault.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $seed = seed();
my $seconds = seconds(2);
my ($rows, $bar) = $seconds >= 30 ? (100000, 0.2) : (3000, 0);

needs_psycopg();

my $node = new_node('beside', "client_min_messages = error\n");

by_python($node, 'clusters_beside.py', "$_, $rows rows, $seconds seconds",
	$seed, $_, $rows, $seconds, $bar)
  for qw(star connected split);
$node->stop;
done_testing();
