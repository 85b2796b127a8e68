# A character cut short at the end of a text is an error, and an end is found.
# Edited copies are the same in every encoding, and keep bytes that are none.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $node = new_node('encoding', "statement_timeout = '60s'\n",
	extra => [ '-E', 'EUC_CN' ]);

# No client can send such a text.  A cast that looks at nothing makes one, as
# a damaged page or a file name from pg_ls_dir may.
$node->safe_psql('postgres', 'CREATE CAST (bytea AS text) WITHOUT FUNCTION');
for my $bytes ('c8', '6162c8', 'b1b1c8')
{
	for my $call ('simhash(d)', 'simhash_features(d)', 'simhash_passages(d)',
		"simhash_shared('a', d)", "simhash_containment(d, 'a')", "simhash_alike('a', d)")
	{
		my (undef, undef, $stderr) = $node->psql('postgres',
			"SELECT $call FROM (SELECT '\\x$bytes'::bytea::text) AS t(d)");
		like($stderr, qr/invalid byte sequence for encoding "EUC_CN"/,
			"$call of $bytes");
	}
}

# The same documents have the same fingerprints.
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
SELECT simhash(body), minhash(body), simhash_jaccard(body, '天地玄黄'),
	simhash_containment('天地玄黄，宇宙', body), simhash_alike(body, translate(body, '，。', '  ')),
	simhash_alike(body, replace(body, '宇宙', '$ 宇宙')), simhash_alike(body, body || body)
FROM docs ORDER BY 1, 2;
SELECT count(*) FILTER (WHERE simhash_alike(a.body, b.body, at_least => 0.3)),
	count(*) FILTER (WHERE NOT simhash_alike(a.body, b.body, at_least => 0.3)) FROM docs AS a, docs AS b;
SELECT p.* FROM docs, simhash_passages(body) AS p ORDER BY 1, 2, 3, 4;
SELECT s.* FROM docs AS a, docs AS b, simhash_shared(a.body, b.body) AS s
WHERE simhash(a.body) < simhash(b.body) ORDER BY 1, 2, 3, 4;
END
}
is($results{EUC_CN}, $results{UTF8}, 'fingerprints in EUC_CN and in UTF8');
like($results{UTF8}, qr/^20\|t\n/, 'documents of more bytes than characters');
like($results{UTF8}, qr/\|t\|f\|f\n/, 'alike but for punctuation, not symbols or repetition');

# A terminal obeys bytes that are letters elsewhere.  Of a key all characters that it
# would obey, or not show, are shown as bytes, and so are bytes of which nobody knows.
for my $key ([ 'LATIN1', '619b35e9ad', 'a\x9B5é\xAD' ], [ 'WIN1251', 'e998', 'й\x98' ],
	[ 'EUC_KR', 'a1a9b0a1', '\xA1\xA9가' ], [ 'SQL_ASCII', 'c3a961', '\xC3\xA9a' ])
{
	my ($encoding, $bytes, $shown) = @$key;

	local $ENV{PGCLIENTENCODING} = 'UTF8';
	$node->safe_psql('postgres',
		"CREATE DATABASE \"key $encoding\" ENCODING '$encoding' TEMPLATE template0");
	my (undef, undef, $stderr) = $node->psql("key $encoding", <<"END");
CREATE EXTENSION simhash;
CREATE TABLE keys (id text PRIMARY KEY, fp bigint);
CREATE INDEX ON keys USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON keys
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'reject', '3');
INSERT INTO keys VALUES (convert_from('\\x$bytes', '$encoding'), 1);
INSERT INTO keys VALUES ('another', 1);
END
	like($stderr, qr/\(id\)=\(\Q$shown\E\) is/, "a key in $encoding");
}

$node->stop;
done_testing();
