# Clusters of a generated fingerprint know by which expression they were made,
# after renames, for whoever writes, and after a dump and restore.  They refuse
# rows of a column that is not generated any more, or by another expression.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $node = new_node('expression');

$node->safe_psql('postgres', <<'END');
CREATE SCHEMA other;
CREATE FUNCTION other.words(t text, n int DEFAULT 3) RETURNS text LANGUAGE sql IMMUTABLE
RETURN upper(left(t, 1000 + n));
CREATE DOMAIN other.short AS varchar(200);
CREATE ROLE writer;
ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO writer;
END

# The expressions, and another one for each.
my @expressions = (
	[ 'minhash(body)', 'simhash(body)' ],
	[ q{simhash(coalesce(title, '') || ' ' || body, 'word-1')},
		q{simhash(coalesce(title, '') || ' ' || body, 'char-3')} ],
	[ q{CASE WHEN lang IN ('zh', 'ja') THEN minhash(body) ELSE simhash(lower(body) COLLATE "C") END},
		q{CASE WHEN lang IN ('zh', 'ko') THEN minhash(body) ELSE simhash(lower(body) COLLATE "C") END} ],
	[ 'simhash(other.words(body))', 'simhash(other.words(body, 4))' ],
	# what a dump has of these is read as another expression
	[ q{CASE WHEN title IN ('a', 'b') THEN minhash(body) ELSE simhash(other.words(body)) END},
		q{CASE WHEN title IN ('a', 'c') THEN minhash(body) ELSE simhash(other.words(body)) END} ],
	[ q{minhash(note -> 'text' ->> 0)}, q{minhash(note -> 'text' ->> 1)} ],
	[ q{simhash(brief) # 1}, q{simhash(brief) # 2} ],
	[ q{hashtext(brief::text COLLATE "C")}, q{hashtext(brief::text COLLATE "POSIX")} ],
	[ q{(number::float8 * 2.5)::int8}, q{(number::float4 * 2.5)::int8} ],
	[ q{number * 2.5}, q{number * 3.5} ]);

my $columns = 'title varchar(80), body text, lang char(2), note jsonb,
	brief other.short, number int';
my $values = q{'A title', 'one two three four five six seven eight nine ten', 'de',
	'{"text": ["some words in a text"]}', 'a brief note', 4711};
my $set = $node->safe_psql('postgres', 'SHOW server_version_num') >= 170000;

for my $i (0 .. $#expressions)
{
	for my $kind ('star', 'connected')
	{
		my $name = "t${i}_$kind";
		my ($first, $second) = @{ $expressions[$i] };

		$node->safe_psql('postgres', <<"END");
CREATE TABLE $name (id int PRIMARY KEY, $columns,
    fp bigint GENERATED ALWAYS AS ($first) STORED);
CREATE INDEX ON $name USING hamming (fp);
INSERT INTO $name VALUES (1, $values);
CALL simhash_add_clusters('$name', 'fp', 3, '$kind');
INSERT INTO $name VALUES (2, $values);
ALTER TABLE $name RENAME body TO "The Body";
ALTER TABLE $name RENAME brief TO b2;
SET ROLE writer;
INSERT INTO $name VALUES (3, $values);
END
		is($node->safe_psql('postgres', "SELECT count(DISTINCT cluster), count(cluster) FROM $name"),
			'1|3', "$kind, $first");
	}
}

# Groups as well, whatever their types and collations are.
$node->safe_psql('postgres', <<"END");
CREATE TABLE grouped (id int PRIMARY KEY, $columns, fp bigint,
    c text COLLATE "C" GENERATED ALWAYS AS (lower(title) COLLATE "C") STORED,
    posix text COLLATE "POSIX" GENERATED ALWAYS AS (lower(title) COLLATE "POSIX") STORED,
    start varchar(12) GENERATED ALWAYS AS (title || 'abc') STORED,
    half numeric(5,1) GENERATED ALWAYS AS (number::numeric / 2) STORED,
    same char(5) GENERATED ALWAYS AS ('abc') STORED);
CALL simhash_add_clusters('grouped', 'fp', 3, within => '{c,posix,start,half,same}');
INSERT INTO grouped VALUES (1, $values), (2, $values);
UPDATE grouped SET fp = 1;
END
is($node->safe_psql('postgres', 'SELECT count(DISTINCT cluster), count(cluster) FROM grouped'),
	'1|2', 'groups');

# From a dump, before anything is changed.
command_ok([ 'pg_dump', '-f', $node->basedir . '/dump.sql',
		$node->connstr('postgres') ], 'dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f',
		$node->basedir . '/dump.sql', $node->connstr('restored') ], 'restore');

for my $i (0 .. $#expressions)
{
	for my $name ("t${i}_star", "t${i}_connected")
	{
		$node->safe_psql('restored', "INSERT INTO $name VALUES (4, $values)");
		is($node->safe_psql('restored', "SELECT count(DISTINCT cluster), count(cluster) FROM $name"),
			'1|4', "restored, $name");
	}
}

is($node->safe_psql('restored', "INSERT INTO grouped VALUES (4, $values, 1);
		SELECT count(DISTINCT cluster), count(cluster) FROM grouped"),
	'1|3', 'restored, groups');

# A column that is generated no more.
for my $case ('t0_star fp', 't0_connected fp', 'grouped half')
{
	my ($name, $column) = split / /, $case;
	my (undef, undef, $stderr) = $node->psql('restored', "ALTER TABLE $name ALTER $column DROP EXPRESSION;
		INSERT INTO $name VALUES (5, $values)");

	like($stderr, qr/"$column" of relation "$name" is not generated as it was/,
		"$name, by no expression");
}

# By another expression.  ALTER COLUMN ... SET EXPRESSION came with PostgreSQL 17;
# before, that of another table takes its place.
my %freed;
sub set_expression
{
	my ($name, $expression) = @_;

	if ($set)
	{
		# connected clusters need the index, which that would make anew
		if ($name =~ /connected/)
		{
			my (undef, undef, $stderr) = $node->psql('postgres',
				"ALTER TABLE $name ALTER fp SET EXPRESSION AS ($expression)");

			like($stderr, qr/cannot drop index .* because other objects depend on it/,
				"$name, refused") if !$freed{$name}++;
			$node->safe_psql('postgres', "DELETE FROM pg_depend WHERE classid = 'pg_trigger'::regclass
				AND refobjid = '${name}_fp_idx'::regclass");
		}
		$node->safe_psql('postgres', "ALTER TABLE $name ALTER fp SET EXPRESSION AS ($expression)");
		return;
	}
	$node->safe_psql('postgres', <<"END");
CREATE TABLE another (id int, $columns, fp bigint);
ALTER TABLE another RENAME body TO "The Body";
ALTER TABLE another RENAME brief TO b2;
ALTER TABLE another DROP fp, ADD fp bigint GENERATED ALWAYS AS ($expression) STORED;
SET allow_system_table_mods = on;
UPDATE pg_attrdef SET adbin = (SELECT adbin FROM pg_attrdef WHERE adrelid = 'another'::regclass)
WHERE adrelid = '$name'::regclass;
DROP TABLE another;
END
	return;
}

for my $i (0 .. $#expressions)
{
	my ($first, $second) = map { s/\bbody\b/"The Body"/gr =~ s/\bbrief\b/b2/gr }
	  @{ $expressions[$i] };

	for my $name ("t${i}_star", "t${i}_connected")
	{
		set_expression($name, $second);
		for my $statement ("INSERT INTO $name VALUES (5, $values)",
			"UPDATE $name SET number = 1")
		{
			my (undef, undef, $stderr) = $node->psql('postgres', $statement);

			like($stderr, qr/"fp" of relation "$name" is not generated as it was/,
				"$name by another expression");
		}
		set_expression($name, $first);
		$node->safe_psql('postgres', "INSERT INTO $name VALUES (6, $values)");
		pass("$name by its own again");
	}
}
set_expression('t0_star', 'simhash("The Body")');
$node->safe_psql('postgres', "CALL simhash_drop_clusters('t0_star')");
$node->safe_psql('postgres', "CALL simhash_add_clusters('t0_star', 'fp', 3, 'star')");
$node->safe_psql('postgres', "INSERT INTO t0_star VALUES (7, $values)");
pass('made anew');

$node->stop;
done_testing();
