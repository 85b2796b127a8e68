# A character cut short at the end of a text is an error, and an end is found.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('encoding');
$node->init(extra => [ '-E', 'EUC_CN', '--locale=C' ]);
$node->append_conf('postgresql.conf',
	"fsync = off\njit = off\nstatement_timeout = '60s'\n");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION simhash');

# No client can send such a text.  A cast that looks at nothing makes one, as
# a damaged page or a file name from pg_ls_dir may.
$node->safe_psql('postgres', 'CREATE CAST (bytea AS text) WITHOUT FUNCTION');
for my $bytes ('c8', '6162c8', 'b1b1c8')
{
	for my $call ('simhash(d)', 'simhash_features(d)')
	{
		my (undef, undef, $stderr) = $node->psql('postgres',
			"SELECT $call FROM (SELECT '\\x$bytes'::bytea::text) AS t(d)");
		like($stderr, qr/invalid byte sequence for encoding "EUC_CN"/,
			"$call of $bytes");
	}
}

$node->stop;
done_testing();
