# Statements of the server's own version on tables with guards, clusters, keys and
# indexes (test/random/statements.py says which, and what is asked).
#
# SIMHASH_SEED repeats what is drawn, SIMHASH_SECONDS sets how long it lasts.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

needs_psycopg();

my $seed = seed();
my $node = new_node('statements');

by_python($node, 'statements.py', 'statements', $seed, seconds(5));

$node->stop;
done_testing();
