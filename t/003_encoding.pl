# A character cut short at the end of a text is an error, and an end is found.
# Edited copies are the same in every encoding, and keep bytes that are none.

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
	for my $call ('simhash(d)', 'simhash_features(d)',
		'simhash_edits(d)')
	{
		my (undef, undef, $stderr) = $node->psql('postgres',
			"SELECT $call FROM (SELECT '\\x$bytes'::bytea::text) AS t(d)");
		like($stderr, qr/invalid byte sequence for encoding "EUC_CN"/,
			"$call of $bytes");
	}
}

# The same documents, edited alike and found alike.
my %results;
for my $encoding ('EUC_CN', 'UTF8')
{
	$node->safe_psql('postgres',
		"CREATE DATABASE \"$encoding\" ENCODING '$encoding' TEMPLATE template0");
	$results{$encoding} = $node->safe_psql($encoding, <<'END');
SET client_encoding = 'UTF8';
CREATE EXTENSION simhash;
CREATE TABLE docs AS
SELECT string_agg('天地玄黄' || n * i || '，宇宙洪荒。and words ' || md5((n * i)::text), ' ') AS body
FROM generate_series(1, 20) AS n, generate_series(1, 30) AS i GROUP BY n;
SELECT count(DISTINCT body), bool_or(octet_length(body) > length(body)) FROM docs;
SELECT md5(string_agg(encode(convert_to(edited, 'UTF8'), 'hex'), ' '
                      ORDER BY length(body), edit))
FROM docs, simhash_edits(body, '日月盈昃，辰宿列张。寒来暑往，秋收冬藏。');
SELECT * FROM simhash_tune_edits('SELECT body FROM docs') WHERE k IN (3, 8, 16);
END
}
is($results{EUC_CN}, $results{UTF8}, 'edits in EUC_CN and in UTF8');
like($results{UTF8}, qr/^20\|t\n/, 'documents of more bytes than characters');

# Where texts are bytes, those that are no UTF-8 stay what they are.
$node->safe_psql('postgres',
	"CREATE DATABASE bytes ENCODING 'SQL_ASCII' TEMPLATE template0");
is( $node->safe_psql('bytes', <<'END'), "advert\ndrop\nsource\n0", 'bytes');
CREATE EXTENSION simhash;
CREATE TABLE docs (body text);
COPY docs FROM stdin;
\xc8\xff. The \xe5\xa4. A\x80 \xf5
\.
SELECT edit FROM docs, simhash_edits(body)
WHERE edit IN ('source', 'advert') AND position(body IN edited) > 0 OR
      edit = 'drop' AND octet_length(edited) < octet_length(body)
ORDER BY 1;
SELECT count(*) FROM docs, simhash_edits(body)
WHERE edit <> 'characters' AND
      translate(edited, E'\xc8\xff\xe5\xa4\x80\xf5', '') ~ '[^ -~\n]';
END

$node->stop;
done_testing();
