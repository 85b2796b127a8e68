# What becomes of clusters in a dump: plain, as an archive, and of the data alone;
# restored for the same owner, or for another one.  Tables, columns and schemas have
# names that want quotes, and have been renamed since the clusters were made, or
# have changed places with others.  Ids stay, rows join the clusters of before, and
# what the clusters need is not dropped.  A set-up that was stopped goes on.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('restore');
$node->init(extra => [ '-E', 'UTF8', '--locale=C' ]);
$node->append_conf('postgresql.conf', "fsync = off\njit = off\n");
$node->start;
$node->safe_psql('postgres', <<'END');
CREATE ROLE keeper LOGIN;
CREATE ROLE other LOGIN;
CREATE ROLE writer;
CREATE DATABASE origin OWNER keeper;
END

# --- what there is -----------------------------------------------------------

# A table of stars, of which there are two editions.
sub edition
{
	my ($name) = @_;

	return <<"END";
CREATE TABLE $name (id int PRIMARY KEY, site varchar(9), body text,
    fp bigint GENERATED ALWAYS AS (CASE WHEN site IN ('x', 'y') THEN 0 ELSE minhash(body) END) STORED);
INSERT INTO $name VALUES (2, 'a', 'Tea is served at five.'), (3, 'b', 'Tea is served at five.'),
    (1, 'a', 'one two three four five six seven eight nine ten eleven twelve');
CALL simhash_add_clusters('$name', 'fp', 8, since => 'since', within => '{site}',
    document => 'body', similarity => 'jaccard', at_least => 0.5);
INSERT INTO $name VALUES (4, 'a', 'Tea is served at five!');
END
}

my $connected = <<'END';
CREATE SCHEMA kept;
CREATE TABLE bugs (id int, part int, fp bit(64)) PARTITION BY LIST (part);
CREATE TABLE bugs_1 PARTITION OF bugs FOR VALUES IN (1);
CREATE TABLE bugs_2 (fp bit(64), part int, id int);
ALTER TABLE bugs ATTACH PARTITION bugs_2 FOR VALUES IN (2);
CREATE INDEX ON bugs USING hamming (fp);
INSERT INTO bugs SELECT i, 1 + i % 2, v::bit(64)
FROM unnest('{0,63,-1}'::bigint[]) WITH ORDINALITY AS u (v, i);
CALL simhash_add_clusters('bugs', 'fp', 3, 'connected', schema => 'kept');
INSERT INTO bugs VALUES (4, 2, 7::bigint::bit(64));
END

# A set-up that does not come to its end, as rows cannot be filled in.
my $stopped = <<'END';
CREATE TABLE "Half done" (id int PRIMARY KEY, fp bigint);
INSERT INTO "Half done" SELECT i, hashint8extended(i / 3, 1) FROM generate_series(3, 11) AS i;
CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'stop'; END$$;
CREATE TRIGGER stop BEFORE UPDATE ON "Half done" FOR EACH ROW EXECUTE FUNCTION stop();
END

my $moves = <<'END';
ALTER TABLE news RENAME TO between;
ALTER TABLE news_next RENAME TO news;
ALTER TABLE between RENAME TO "News ""of"" before";
ALTER TABLE news_clusters RENAME TO between;
ALTER TABLE news_next_clusters RENAME TO news_clusters;
ALTER TABLE between RENAME TO news_next_clusters;
ALTER TABLE news RENAME body TO "The text";
ALTER TABLE news RENAME fp TO body;
ALTER TABLE news RENAME cluster TO "Cluster's";
ALTER TABLE news_clusters RENAME fp TO "f p";
ALTER TABLE news_clusters RENAME body TO fp;
ALTER TABLE news_clusters RENAME cluster TO id;
ALTER TABLE news_clusters RENAME made TO "made at";
ALTER TABLE news_clusters RENAME copy_of TO made;
ALTER TABLE news_clusters SET SCHEMA kept;
ALTER TABLE bugs RENAME fp TO "F.P.";
ALTER TABLE kept.bugs_clusters RENAME TO "Bugs' clusters";
ALTER TABLE kept."Bugs' clusters" RENAME copy_of TO "is now";
ALTER TABLE "Half done_clusters" RENAME TO "Half";
ALTER TABLE "Half done_clusters_fill" RENAME TO "Half""s work";
ALTER SCHEMA kept RENAME TO "It's ""kept""";
ALTER SCHEMA first RENAME TO "The first";
CREATE SCHEMA first;
CREATE TABLE first.news_clusters ();
GRANT USAGE ON SCHEMA "The first" TO writer;
GRANT SELECT, INSERT, UPDATE ON "The first".news, "The first".bugs TO writer;
END

my $as_keeper = "SET ROLE keeper; SET search_path = first, ext;\n";
$node->safe_psql('origin', 'CREATE SCHEMA ext; GRANT USAGE ON SCHEMA ext TO PUBLIC;
	CREATE EXTENSION simhash SCHEMA ext; CREATE SCHEMA first AUTHORIZATION keeper;
	GRANT CREATE ON DATABASE origin TO keeper;');
$node->safe_psql('origin', "$as_keeper $_")
  for edition('news'), edition('news_next'), $connected, $stopped;
my (undef, undef, $stderr) = $node->psql('origin',
	qq{$as_keeper CALL simhash_add_clusters('"Half done"', 'fp', 3, indexed => false)});
like($stderr, qr/ERROR:  stop/, 'a set-up is stopped');
$node->safe_psql('origin', "$as_keeper $moves");

# The clusters: of each row, and what is known of them.
my $names = qq{SET search_path = "The first", "It's ""kept""", ext;\n};
my $clusters = $names . <<'END';
SELECT id, site, body, "Cluster's", since FROM news ORDER BY id;
SELECT * FROM "It's ""kept""".news_clusters ORDER BY id;
SELECT * FROM "News ""of"" before" ORDER BY id;
SELECT * FROM news_next_clusters ORDER BY cluster;
SELECT *, simhash_current_cluster('bugs', cluster) FROM bugs ORDER BY id;
SELECT * FROM "Bugs' clusters" ORDER BY cluster;
SELECT * FROM "Half done" ORDER BY id;
SELECT * FROM "Half" ORDER BY cluster;
END
my $before = $node->safe_psql('origin', $clusters);

# The lines of the definitions in a dump, with how many there are of each.  Of one
# expression two dumps say the same in other words.
sub definitions
{
	my ($database) = @_;
	my ($out, $err) = run_command([ 'pg_dump', '-s', $node->connstr($database) ]);
	my %lines;

	$out =~ s/\(ARRAY\[('x'\S+ varying), ('y'\S+ varying)\]\)::text\[\]/ARRAY[($1)::text, ($2)::text]/g;
	$lines{$_}++ for grep { !/^\\(un)?restrict / } split /\n/, $out;
	return \%lines;
}

# --- what holds of each copy -------------------------------------------------

# What is refused without CASCADE.
my @refused = (
	'DROP TABLE news_clusters', 'DROP TABLE "Bugs\' clusters"',
	'ALTER TABLE news DROP "Cluster\'s"', 'ALTER TABLE news DROP body',
	'ALTER TABLE news DROP site', 'ALTER TABLE news_clusters DROP fp',
	'ALTER TABLE news_clusters DROP made', 'ALTER TABLE "Bugs\' clusters" DROP merged_at',
	'ALTER TABLE bugs DROP "F.P."', 'ALTER TABLE "Half done" DROP cluster');

sub in_order
{
	my ($database, $owner) = @_;
	my $as_owner = "SET ROLE $owner; $names";

	is($node->safe_psql($database, $clusters), $before, "$database: the ids are kept");
	is($node->safe_psql($database, q{SELECT DISTINCT relowner::regrole FROM pg_class
		WHERE relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname ~ 'kept|The first')}),
		$owner, "$database: the owner");

	# whoever writes, rows join the clusters of before, or new ones
	is($node->safe_psql($database, <<"END"), '2 1 2 4 4 1', "$database: stars");
SET ROLE writer;
$names
INSERT INTO news (id, site, "The text") VALUES (10, 'b', 'Tea is served at FIVE'),
    (11, 'a', 'Tea is served at FIVE'), (12, 'b', 'tea is served at five'),
    (13, 'c', 'Tea is served at five.'), (14, 'c', 'Tea is served at five;'),
    (15, 'a', 'Tea is served at five');
UPDATE news SET "Cluster's" = 4, since = NULL WHERE id = 15;
SELECT string_agg("Cluster's"::text, ' ' ORDER BY id) FROM news WHERE id >= 10;
END
	is($node->safe_psql($database, <<"END"), "3 4 5 4 1\n5>4", "$database: connected");
SET ROLE writer;
$names
INSERT INTO bugs (id, part, "F.P.") VALUES (10, 1, (-8::bigint)::bit(64)),
    (11, 2, 4042322160::bigint::bit(64)), (12, 1, (4042322160 # 63::bigint)::bit(64));
INSERT INTO bugs (id, part, "F.P.") VALUES (13, 2, (4042322160 # 7::bigint)::bit(64)),
    (14, 1, 62::bigint::bit(64));
SELECT string_agg(cluster::text, ' ' ORDER BY id) FROM bugs WHERE id >= 10;
RESET ROLE;
SELECT cluster || '>' || merged_into FROM "Bugs' clusters" WHERE cluster > 2 AND merged_into > 0;
END
	for my $command (@refused)
	{
		my (undef, undef, $err) = $node->psql($database, "BEGIN; $names $command; ROLLBACK");

		like($err, qr/ERROR:  cannot drop .* because other objects depend on (it|them)\n/,
			"$database: $command");
	}

	# the set-up goes on, and the rest is known as what it is
	is($node->safe_psql($database, <<"END"), "1 1 1 2 2 2 3 3 3 1\n0", "$database: the set-up goes on");
$as_owner
DROP TRIGGER stop ON "Half done";
CALL simhash_add_clusters('"Half done"', 'fp', 3, indexed => false);
INSERT INTO "Half done" SELECT 20, fp # 1 FROM "Half done" WHERE id = 3;
WITH first AS (SELECT *, min(id) OVER (PARTITION BY cluster) AS first FROM "Half done")
SELECT string_agg((first / 3)::text, ' ' ORDER BY id) FROM first;
SELECT count(*) FROM pg_class WHERE relname ~ 'work|fill';
END
	for my $call (q{'news', 'body', 8, 'star', 'Cluster''s', 'since', '{site}', 'The text',
			similarity => 'jaccard', at_least => 0.5}, q{'bugs', 'F.P.', 3, 'connected'})
	{
		my (undef, undef, $err) = $node->psql($database, "$as_owner CALL simhash_add_clusters($call)");

		like($err, qr/^psql\S+ NOTICE:  clusters are kept in column "cluster('s)?" of "\w+" already\z/i,
			"$database: known again");
	}
	is($node->safe_psql($database, <<"END"), '10|11', "$database: split");
$as_owner
DELETE FROM bugs WHERE id = 13;
CALL simhash_split_clusters('bugs');
SELECT a.id, b.id FROM bugs AS a JOIN bugs AS b ON a.id = 10 AND b.id = 11 AND a.cluster <> b.cluster;
END
	is($node->safe_psql($database, <<"END"), '0|0|0', "$database: nothing is left");
$as_owner
CALL simhash_drop_clusters('news', 'Cluster''s');
CALL simhash_drop_clusters('"News ""of"" before"');
CALL simhash_drop_clusters('bugs');
CALL simhash_drop_clusters('"Half done"');
SELECT (SELECT count(*) FROM pg_policy), (SELECT count(*) FROM pg_trigger WHERE tgrelid >= 16384),
    (SELECT count(*) FROM pg_class WHERE relname ~ 'clusters|Half\$' AND relnamespace <> 'first'::regnamespace);
END
	return;
}

# --- dump and restore --------------------------------------------------------

my $definitions = definitions('origin');
my $dumps = PostgreSQL::Test::Utils::tempdir;
my @psql = ('psql', '-X', '-q', '-o', '/dev/null', '-v', 'ON_ERROR_STOP=1', '-f');

sub make_copy
{
	my ($database, $owner, @commands) = @_;
	my $template = $database =~ /template|clean/ ? 'origin' : 'template0';

	$node->safe_psql('postgres', "CREATE DATABASE $database OWNER $owner TEMPLATE $template");
	$node->command_ok($_, "$database: $_->[0]") for @commands;
	is_deeply(definitions($database), $definitions, "$database: the definitions")
	  if $owner eq 'keeper';
	return;
}

# Of the owner's, by a superuser; the archive by several at once.  These begin with
# triggers of a partitioned table as soon as that is there, so its data comes first.
my $origin = $node->connstr('origin');
make_copy('plain', 'keeper', [ 'pg_dump', '-f', "$dumps/plain", $origin ],
	[ @psql, "$dumps/plain", $node->connstr('plain') ]);
make_copy('archive', 'keeper', [ 'pg_dump', '-Fc', '-f', "$dumps/archive", $origin ],
	[ 'pg_restore', '-e', '-j', '3', '--section=pre-data', '--section=data',
		'-d', $node->connstr('archive'), "$dumps/archive" ],
	[ 'pg_restore', '-e', '-j', '3', '--section=post-data',
		'-d', $node->connstr('archive'), "$dumps/archive" ]);
make_copy('data', 'keeper', [ 'pg_dump', '-s', '-f', "$dumps/schema", $origin ],
	[ @psql, "$dumps/schema", $node->connstr('data') ],
	[ 'pg_dump', '-a', '--disable-triggers', '-f', "$dumps/data", $origin ],
	[ @psql, "$dumps/data", $node->connstr('data') ]);

# Of the data alone, where triggers fire, nothing gets into the tables of clusters.
$node->safe_psql('postgres', 'CREATE DATABASE bare TEMPLATE template0');
$node->command_ok([ @psql, "$dumps/schema", $node->connstr('bare') ], 'bare: psql');
$node->command_fails_like(
	[ 'pg_restore', '-e', '-a', '-d', $node->connstr('bare'), "$dumps/archive" ],
	qr/ERROR:  only simhash may write to table ".*" of clusters/, 'bare: refused');

# A copy of the files, and the archive in its place.
make_copy('template', 'keeper');
make_copy('clean', 'keeper', [ 'pg_restore', '-e', '--clean', '-d', $node->connstr('clean'),
		"$dumps/archive" ]);

# By somebody else, who comes to be the owner.
make_copy('another', 'other', [ 'pg_restore', '-e', '--no-owner', '-U', 'other', '-d',
		$node->connstr('another'), "$dumps/archive" ]);

for my $copy ('plain', 'archive', 'data', 'template', 'clean', 'another', 'origin')
{
	my (undef, undef, $err) = $node->psql($copy, "BEGIN; $names DROP TABLE news; SELECT * FROM news_clusters");

	# a dump does not say that one table is nothing without the other
	like($err, $copy =~ /origin|template/ ? qr/relation "news_clusters" does not exist/ :
		  qr/ERROR:  cannot drop table news because other objects depend on it/, "$copy: DROP TABLE");
	in_order($copy, $copy eq 'another' ? 'other' : 'keeper');
}

# Where the owners differ, rows are refused until they do not.
for my $owner ('keeper', 'other')
{
	my (undef, $out, $err) = $node->psql('plain', <<"END", on_error_stop => 0);
CREATE SCHEMA mine_$owner AUTHORIZATION other;
SET search_path = mine_$owner, ext;
CREATE TABLE mine (id int, fp bigint);
ALTER TABLE mine OWNER TO other;
CALL simhash_add_clusters('mine', 'fp', 3);
ALTER TABLE mine_clusters OWNER TO $owner;
INSERT INTO mine VALUES (1, 1) RETURNING cluster;
END
	is($out, $owner eq 'other' ? '1' : '', "clusters of a table of other's, the table ${owner}'s");
	like($err, $owner eq 'other' ? qr/\A\z/ : qr/tables "mine_clusters" and "mine" have different owners/,
		"the table ${owner}'s");
}

$node->stop;
done_testing();
