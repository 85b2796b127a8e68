# Kinds of texts of which rows would go that a person would keep, and real duplicates
# among them (test/random/kinds.py says which, and what is asked).
#
# SIMHASH_SEED repeats what is drawn, SIMHASH_ROUNDS sets the number of rounds.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

needs_psycopg();

my $seed = seed();
my $node = new_node('kinds');

by_python($node, 'kinds.py', 'kinds of texts', $seed + $_) for 0 .. rounds(1, 2) - 1;

$node->stop;
done_testing();
