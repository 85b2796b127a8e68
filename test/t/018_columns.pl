# Indexes of 1 to 32 columns, in databases of several encodings, under names at
# random: inserted into, vacuumed, built and rebuilt, they answer as a
# sequential scan does.  The btree code must not take what belongs to other
# columns, such as their names, for what it looks for.
# SIMHASH_SEED repeats a run.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $seed = seed();

my $node = new_node('columns', "autovacuum = off\n");

my @encodings = ([ 'UTF8', 'C' ], [ 'LATIN1', 'C' ], [ 'SQL_ASCII', 'C' ],
	[ 'EUC_JP', 'C' ]);
my $version = $node->safe_psql('postgres', 'SHOW server_version_num');
push @encodings, [ 'UTF8', 'C.UTF-8', 'builtin' ] if $version >= 170000;
push @encodings, [ 'UTF8', 'PG_UNICODE_FAST', 'builtin' ]
  if $version >= 180000;

# Types of the columns that are compared by =, and a value of row n.
my @types = (
	[ 'int', '(n % 3)' ],
	[ 'text', q{repeat('x', n % 3 * 50)} ],
	[ 'smallint', '(n % 3)' ],
	[ 'boolean', '(n % 3 = 0)' ],
	[ 'uuid', q{md5((n % 3)::text)::uuid} ],
	[ 'timestamptz', q{('2026-01-01Z'::timestamptz + n % 3 * interval '1 day')} ],
	[ 'date', q{('2026-01-01'::date + n % 3)} ],
	[ 'char(9)', q{(n % 3)::text::char(9)} ],
	[ 'varchar', q{(n % 3)::text} ]);

# The longest of names, one of few bytes, or one of random bytes that are
# letters in every encoding of one byte.
sub name
{
	my ($number, $bytes) = @_;
	my $kind = int(rand(3));

	return sprintf('c%02d', $number) if $kind == 0;
	return sprintf('%02d', $number) . 'z' x 61 if $kind == 1;
	return sprintf('%02d', $number)
	  . join('', map { chr($bytes ? 128 + rand(128) : 97 + rand(26)) } 1 .. 61);
}

my $database = 0;

for my $encoding (@encodings)
{
	my ($name, $locale, $provider) = @$encoding;
	my $db = 'db' . $database++;
	my $how = defined $provider ?
	  "LOCALE_PROVIDER builtin BUILTIN_LOCALE '$locale' LOCALE 'C'" :
	  "LOCALE '$locale'";

	$node->safe_psql('postgres',
		"CREATE DATABASE $db TEMPLATE template0 ENCODING '$name' $how");
	my $client = $name =~ /LATIN1|SQL_ASCII/ ? $name : 'UTF8';
	my $psql = sub {
		return $node->safe_psql($db, "SET client_encoding = '$client';\n" . $_[0]);
	};
	$psql->('CREATE EXTENSION simhash');

	for my $columns (1, 2, 3, 10, 31, 32, 1 + int(rand(32)))
	{
		my $fingerprint = int(rand($columns));
		my (@definitions, @indexed, @values, @conditions);

		for my $i (0 .. $columns - 1)
		{
			my $column = name($i, $client ne 'UTF8');

			if ($i == $fingerprint)
			{
				push @definitions, "\"$column\" bigint";
				push @values, "CASE WHEN n % 17 > 0 THEN hashint8extended(n % 500, 1) # (n % 4) END";
				push @conditions, "\"$column\" ~= hashint8extended(7, 1)";
			}
			else
			{
				my ($type, $value) = @{ $types[ int(rand(@types)) ] };

				push @definitions, "\"$column\" $type";
				push @values, $value;
				push @conditions, "\"$column\" = " . ($value =~ s/\bn\b/1/gr);
			}
			push @indexed, "\"$column\"";
		}
		my $all = join(' AND ', @conditions);
		my $ask = sub {
			my ($index) = @_;
			my $other = $index eq 'on' ? 'off' : 'on';

			return $psql->("SET enable_seqscan = $other; SET enable_indexscan = $index;
				SET enable_bitmapscan = $index;
				SELECT coalesce(string_agg(number::text, ',' ORDER BY number), 'none')
				FROM t WHERE $all");
		};
		my $insert = 'INSERT INTO t SELECT n, ' . join(', ', @values)
		  . ' FROM generate_series(%d, %d) AS n';

		$psql->('DROP TABLE IF EXISTS t; CREATE TABLE t (number int, '
			  . join(', ', @definitions) . ');');
		$psql->('CREATE INDEX t_index ON t USING hamming (' . join(', ', @indexed) . ')');
		$psql->(sprintf($insert, 1, 2000));
		my @answers = ($ask->('on'), $ask->('off'));
		is($answers[0], $answers[1], "$name $locale, $columns columns, inserted");
		like($answers[1], qr/\b7\b/, 'row 7 is among them');
		$psql->('DELETE FROM t WHERE number % 3 = 0');
		$psql->('VACUUM t');
		$psql->(sprintf($insert, 2001, 3000));
		@answers = ($ask->('on'), $ask->('off'));
		is($answers[0], $answers[1], "$name $locale, $columns columns, vacuumed");
		$psql->("SELECT hamming_index_check('t_index', heapallindexed => true)");
		$psql->('REINDEX INDEX CONCURRENTLY t_index');
		$psql->('SET maintenance_work_mem = \'1MB\'; REINDEX INDEX t_index');
		$psql->(sprintf($insert, 3001, 3500));
		@answers = ($ask->('on'), $ask->('off'));
		is($answers[0], $answers[1], "$name $locale, $columns columns, rebuilt");
		$psql->("SELECT hamming_index_check('t_index', heapallindexed => true)");
	}
}

# The longest names of the highest bytes.
$node->safe_psql('db1', <<'END');
CREATE TABLE high (id int, x int, fp bigint);
DO $$ BEGIN
    EXECUTE format('ALTER TABLE high RENAME x TO %I', repeat(chr(255), 63));
    EXECUTE format('CREATE INDEX ON high USING hamming (%I, fp)', repeat(chr(255), 63));
END $$;
INSERT INTO high SELECT n, n % 2, n FROM generate_series(1, 2000) AS n;
DELETE FROM high WHERE id % 2 = 0;
VACUUM high;
END
is($node->safe_psql('db1', 'SELECT count(*) FROM high'), 1000,
	'names of the highest bytes');

$node->stop;
done_testing();
