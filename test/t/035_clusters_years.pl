# Months of a crawler's table that keeps clusters: partitions that come and go,
# upserts, deletes, and each month the trim and the check of clusters.md
# (test/random/clusters_years.py writes, and has the model that judges).
#
# SIMHASH_SEED repeats what is drawn.  SIMHASH_ROUNDS is how many pages a day:
# from 1000 on it is two years, of which six months are kept.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $seed = seed();
my $rows = rounds(60, 200);
my ($months, $kept) = $rows >= 1000 ? (24, 6) : ($rows >= 200 ? 6 : 4, 2);

needs_psycopg();

my $node = new_node('years', "client_min_messages = error\n");

by_python($node, 'clusters_years.py', "$_, $months months of $rows pages a day",
	$seed, $_, $months, $rows, $kept)
  for qw(star connected verified);
$node->stop;
done_testing();
