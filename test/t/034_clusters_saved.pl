# Saves of objects, as frameworks write them, in tables that keep clusters: all
# columns, with clusters and times that were read a while ago, or never were
# (test/random/clusters_saved.py draws them, and has the model that judges).
#
# SIMHASH_SEED repeats what is drawn; SIMHASH_ROUNDS says how many saves.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $seed = seed();
my $saves = rounds(1500, 9000);
my $rounds = 6;

needs_psycopg();

my $node = new_node('saved', <<'END');
timezone = UTC
client_min_messages = error
END

by_python($node, 'clusters_saved.py', "round $_", $seed, $_, int($saves / $rounds))
  for 0 .. $rounds - 1;
$node->stop;
done_testing();
