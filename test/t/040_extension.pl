# The extension as an object: scripts that lead to the newest version, a
# library older than the script, another schema, what is planted there, DROP EXTENSION.

use strict;
use warnings;

use IPC::Run qw(start);
use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('extension');
$node->init(extra => [ '-E', 'UTF8', '--locale=C' ]);
$node->append_conf('postgresql.conf', "fsync = off\n");

# Run commands, a line each, in single-user mode.
sub run_alone
{
	my ($database, $commands) = @_;
	my ($out, $err);

	IPC::Run::run([ 'postgres', '--single', '-D', $node->data_dir, $database ],
		'<', \$commands, '>', \$out, '2>', \$err) or die $err;
	unlike($err, qr/ERROR/, "single-user mode in $database");
}

# Before a server has ever run, what is made in single-user mode has numbers
# below those of usual objects.
run_alone('postgres', "CREATE DATABASE alone TEMPLATE template0\n");
run_alone('alone', <<'END');
CREATE EXTENSION simhash;
CREATE TABLE docs (id int, fp bigint);
INSERT INTO docs SELECT i, i FROM generate_series(1, 1000) AS i;
CREATE INDEX docs_fp ON docs USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON docs FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'skip', '0')
INSERT INTO docs VALUES (1001, 7)
END
$node->start;
is( $node->safe_psql(
		'alone', <<'END'), "t\n1000\n45", 'what was made in single-user mode');
SELECT bool_and(oid < 16384) FROM pg_proc WHERE proname = 'simhash';
SELECT count(*) FROM docs;
SET enable_seqscan = off;
SELECT count(*) FROM docs WHERE fp <@ (5, 2) AND fp < 512;
END

my $directory = $node->config_data('--sharedir') . '/extension';

# A new database of the name.
sub new_database
{
	my ($name) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $name TEMPLATE template0");
	return $name;
}

sub contents { return extension_contents($node, $_[0]) }

# Does the extension of a database consist of what a new one does?
sub is_as_new
{
	my ($database, $name) = @_;

	is_deeply([ contents($database) ], [ contents('fresh') ], $name);
}

new_database('fresh');
$node->safe_psql('fresh', 'CREATE EXTENSION simhash');
my $newest = $node->safe_psql('fresh',
	"SELECT extversion FROM pg_extension WHERE extname = 'simhash'");
is( scalar(grep { /^ALTER EXTENSION simhash ADD/m } contents('fresh')),
	$node->safe_psql('fresh', "SELECT count(*) FROM pg_depend
		WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
		AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'simhash')
		AND objid NOT IN (SELECT typarray FROM pg_type)"),
	'all objects are compared');

# --- from each older script to the newest -----------------------------------

my @older = split /\n/, $node->safe_psql('fresh',
	"SELECT version FROM pg_available_extension_versions v
	JOIN pg_extension_update_paths('simhash') p
		ON source = version AND target = '$newest'
	WHERE name = 'simhash' AND version !~ 'frozen' AND path IS NOT NULL ORDER BY 1");
foreach my $version (@older)
{
	my $database = new_database('from_' . $version =~ s/\W/_/gr);

	$node->safe_psql($database, "CREATE EXTENSION simhash VERSION '$version'");
	$node->safe_psql($database, 'ALTER EXTENSION simhash UPDATE');
	is_as_new($database, "$version updated to $newest");
}

# --- the same for scripts of this test --------------------------------------

SKIP:
{
	skip "$directory cannot be written", 6 unless -w $directory;

	# An older version that lacks the last function, and the way from there:
	# complete, and without the comment.
	my $script = slurp_file("$directory/simhash--$newest.sql");
	my ($before, $function, $comment) =
		$script =~ /\A(.*)^(CREATE FUNCTION .*?;\n)(COMMENT .*?;\n)\s*\z/ms;
	my $echo = "\\echo Use \"ALTER EXTENSION\" \\quit\n";

	plant("$directory/simhash--0.older.sql", $before);
	plant("$directory/simhash--0.older--$newest.sql", "$echo$function$comment");
	plant("$directory/simhash--0.poor.sql", $before);
	plant("$directory/simhash--0.poor--$newest.sql", "$echo$function");
	foreach my $version ('0.older', '0.poor')
	{
		my $database = new_database('from_' . $version =~ s/\W/_/gr);

		$node->safe_psql($database, "CREATE EXTENSION simhash VERSION '$version';
			CREATE TABLE docs (fp bigint);
			CREATE INDEX ON docs USING hamming (fp);
			INSERT INTO docs VALUES (5);
			ALTER EXTENSION simhash UPDATE");
		is($node->safe_psql($database, "SELECT fp FROM docs WHERE fp ~= 4"), '5',
			"$version: what was made before is there");
		$node->safe_psql($database, 'DROP TABLE docs');
	}
	is_as_new('from_0_older', 'a complete script leads to the same objects');
	isnt(join('', contents('from_0_poor')), join('', contents('fresh')),
		'one that forgets a comment does not');

	# A script that is newer than the library.
	plant("$directory/simhash--$newest--9.newer.sql", $echo . <<'END');
CREATE FUNCTION simhash_of_the_future() RETURNS int
AS 'MODULE_PATHNAME', 'simhash_of_the_future' LANGUAGE C;
END
	my ($code, $out, $err) =
		$node->psql('fresh', "ALTER EXTENSION simhash UPDATE TO '9.newer'");
	like($err, qr/could not find function "simhash_of_the_future" in file ".*simhash/,
		'a library older than the script is named');
	is($node->safe_psql('fresh',
			"SELECT extversion, hamming(1, 2) FROM pg_extension WHERE extname = 'simhash'"),
		"$newest|2", 'and the extension stays as it was');
}

# --- another schema ---------------------------------------------------------

# Tables that use the extension in every way in which its schema plays a part.
my $tables = <<'END';
CREATE TABLE docs (id int PRIMARY KEY, site text, body text,
    fp bigint GENERATED ALWAYS AS (ext.simhash(body)) STORED,
    CONSTRAINT alone EXCLUDE USING hamming (site WITH =, fp WITH OPERATOR(ext.~=)));
CREATE INDEX docs_ball ON docs USING hamming (ext.hamming_ball(fp, 8));
CREATE INDEX docs_body ON docs USING hamming (ext.minhash(body));
CREATE TABLE guarded (id int PRIMARY KEY, body text,
    fp bigint GENERATED ALWAYS AS (ext.minhash(body)) STORED);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON guarded FOR EACH ROW
    EXECUTE FUNCTION ext.simhash_guard('fp', 'reject', '3');
SELECT ext.simhash_add_keys('guarded', 'fp');
CREATE TABLE images (id int, hash bit(96));
CREATE INDEX images_hash ON images USING hamming (hash);
CREATE TABLE weights AS SELECT ext.simhash_idf_agg('word ' || n % 7, 'word-1') AS idf
    FROM generate_series(1, 50) AS n;
CREATE VIEW near AS SELECT a.id AS one, b.id AS other FROM docs a, docs b
    WHERE a.fp OPERATOR(ext.~=) b.fp AND a.id < b.id;
CREATE FUNCTION of_images(n int) RETURNS bit(96) LANGUAGE sql
    AS $$ SELECT repeat(('x' || md5(n::text))::bit(32)::text, 3)::bit(96) $$;
INSERT INTO docs SELECT n, 'site ' || n, 'a text of words that are ' || n / 2
    FROM generate_series(1, 400) AS n;
INSERT INTO images SELECT n, of_images(n) FROM generate_series(1, 400) AS n;
INSERT INTO guarded VALUES (1, 'a text that nobody else may bring in here once more');
END

# Questions about them to an extension in the schema.
sub questions
{
	my ($schema) = @_;
	my $questions = <<'END';
SET enable_seqscan = off;
SELECT count(*) FROM near;
SELECT count(*), max(id) FROM docs
    WHERE fp OPERATOR(ext.~=) ext.simhash('a text of words that are 7');
SELECT count(*), max(id) FROM docs WHERE ext.minhash(body)
    OPERATOR(ext.<@) ext.hamming_ball(ext.minhash('a text of words that are 7'), 3);
SELECT count(*) FROM guarded WHERE fp OPERATOR(ext.~=)
    ext.minhash('A text that nobody else may bring in here, once more!');
SELECT id FROM images WHERE hash OPERATOR(ext.<@) ext.hamming_bit_ball(of_images(5), 3);
SELECT fp OPERATOR(ext.<~>) ext.simhash('a text of words') FROM docs ORDER BY 1 LIMIT 3;
SELECT ext.simhash_tfidf('word 5', idf) FROM weights;
SELECT count(*) FROM ext.simhash_pairs('SELECT id, fp FROM public.docs');
SELECT count(*) FROM ext.simhash_clusters('SELECT id, fp FROM public.docs');
SELECT item, value FROM ext.simhash_report('docs', 'fp') WHERE section <> 'sample';
SELECT ext.simhash_dedup_sql('docs', 'fp');
SELECT * FROM ext.simhash_dedup_plan('docs', 'coalesce(fp, ext.simhash(body))', condition => 'id < 20',
    moment => 'to_timestamp(id)', near_in => '5 seconds', within => '{"left(site, 4)"}');
SELECT ext.hamming_index_check('alone', true), ext.hamming_index_check('docs_ball', true),
    ext.hamming_index_check('images_hash', true);
INSERT INTO docs VALUES (500, 'site 14', 'a text of words that are 7') ON CONFLICT DO NOTHING;
INSERT INTO guarded SELECT 2, 'A text that nobody else may bring in here, once more!'
    WHERE current_setting('my.try', true) = 'guard';
END
	return $questions =~ s/\bext\./$schema./gr;
}

# The server's answers, without the name of the schema.
sub answers
{
	my ($database, $schema) = @_;

	return $node->safe_psql($database, questions($schema)) =~ s/\Q$schema\E\.//gr;
}

new_database('moved');
$node->safe_psql('moved', 'CREATE SCHEMA ext; CREATE EXTENSION simhash SCHEMA ext');
$node->safe_psql('moved', $tables);
my $answers = answers('moved', 'ext');
like($answers, qr/\A259\n2\|15\n2\|15\n1\n5\n/, 'the answers in the first schema');

my $move = 'CREATE SCHEMA "My ext"; ALTER EXTENSION simhash SET SCHEMA "My ext";
	DROP SCHEMA ext;';
my $both = $node->safe_psql('moved', questions('ext') . "$move\n" . questions('"My ext"'));
is($both =~ s/(?:"My ext"|ext)\.//gr, "$answers\n$answers",
	'a session that is there when the extension moves');
is(answers('moved', '"My ext"'), $answers, 'a new session');
my ($code, $out, $err) = $node->psql('moved',
	"SET my.try = 'guard';\n" . questions('"My ext"'));
like($err, qr/near-duplicate of another in table "guarded"/, 'the guard');

$node->safe_psql('postgres', 'CREATE DATABASE restored TEMPLATE template0');
my $dump = PostgreSQL::Test::Utils::tempdir . '/moved.sql';
command_ok([ 'pg_dump', '-d', $node->connstr('moved'), '-f', $dump ], 'a dump');
command_ok(
	[
		'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1',
		'-d', $node->connstr('restored'), '-f', $dump
	],
	'and its restoration');
is(answers('restored', '"My ext"'), $answers, 'what was restored');

# Sessions begin, and insert, while it moves to and fro.
new_database('moving');
$node->safe_psql('moving', <<'END');
CREATE EXTENSION simhash;
CREATE SCHEMA ext;
CREATE TABLE docs (id serial PRIMARY KEY, fp bigint);
CREATE INDEX ON docs USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON docs
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'skip', '3');
END
my $dir = PostgreSQL::Test::Utils::tempdir;
append_to_file("$dir/insert",
	'INSERT INTO docs (fp) VALUES (hashint8extended((random() * 1e9)::bigint, 1));');
append_to_file("$dir/move", <<'END');
ALTER EXTENSION simhash SET SCHEMA ext;
ALTER EXTENSION simhash SET SCHEMA public;
END
my $mover = start(
	[ 'pgbench', '-n', '-T', 6, '-f', "$dir/move", $node->connstr('moving') ],
	'>', \my $moved, '2>', \my $trouble);
command_ok(
	[
		'pgbench', '-n', '-C', '-c', 3, '-T', 5, '-f', "$dir/insert",
		$node->connstr('moving')
	],
	'a guard while the extension moves');
ok($mover->finish, 'and it can move') or diag($trouble);

# --- DROP EXTENSION ---------------------------------------------------------

($code, $out, $err) = $node->psql('moved', 'DROP EXTENSION simhash');
like($err, qr/cannot drop extension simhash because other objects depend on it/,
	'DROP EXTENSION is refused');
foreach my $object ('index images_hash', 'trigger guard', 'view near',
	'column fp of table docs', 'column k0 of table guarded',
	'column idf of table weights')
{
	like($err, qr/\b$object\b.* depends on /, "for the sake of $object");
}

# Somebody who may create the extension, and whom those who use it need not trust, has
# put functions and operators into its schema that fit better than those that are meant.
my @planted = split /^;\n/m, <<'END';
DO $$
DECLARE
    types text[] := '{bigint,integer,smallint,double precision,oid,name,text,boolean,numeric}';
    a text;
    b text;
    o text;
BEGIN
    FOREACH a IN ARRAY types LOOP FOREACH b IN ARRAY types LOOP
        EXECUTE format('CREATE FUNCTION compare(%s, %s) RETURNS boolean RETURN true', a, b);
        EXECUTE format('CREATE FUNCTION compute(%1$s, %2$s) RETURNS %1$s RETURN $1', a, b);
        FOREACH o IN ARRAY '{=,<>,<,>,<=,>=,+,-,*,/,&,>>,<<}'::text[] LOOP
            CONTINUE WHEN EXISTS (SELECT FROM pg_operator WHERE oprname = o
                AND oprleft = a::regtype AND oprright = b::regtype);
            EXECUTE format('CREATE OPERATOR %s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = %s)', o, a, b,
                CASE WHEN o ~ '[=<>]$' AND o !~ '<<|>>' THEN 'compare' ELSE 'compute' END);
        END LOOP;
    END LOOP; END LOOP;
END $$
;
CREATE FUNCTION unnest(text[]) RETURNS SETOF text BEGIN ATOMIC SELECT 'planted'; END
;
CREATE FUNCTION quote_literal(bigint) RETURNS text RETURN 'planted';
CREATE FUNCTION format(text, text) RETURNS text RETURN 'planted'
;
CREATE FUNCTION round(double precision, integer) RETURNS numeric RETURN 1;
CREATE FUNCTION string_agg_state(text, text, text) RETURNS text RETURN 'planted';
CREATE AGGREGATE string_agg(text, text) (SFUNC = string_agg_state, STYPE = text);
CREATE FUNCTION array_length(text[], integer) RETURNS integer RETURN 0;
CREATE FUNCTION cardinality(text[]) RETURNS integer RETURN 0;
CREATE FUNCTION row_number() RETURNS bigint RETURN 0;
CREATE FUNCTION generate_series(bigint, integer) RETURNS SETOF bigint BEGIN ATOMIC SELECT 1::bigint; END
;
CREATE FUNCTION overlap(integer[], integer[]) RETURNS boolean RETURN true; -- as intarray has it
CREATE OPERATOR && (LEFTARG = integer[], RIGHTARG = integer[], FUNCTION = overlap)
END
new_database('planted');
$node->safe_psql('planted', 'CREATE ROLE planter; GRANT CREATE ON DATABASE planted TO planter');
for my $objects (@planted, '')
{
	my ($status, $out, $err) = $node->psql('planted', <<"END", on_error_stop => 1);
SET ROLE planter;
DROP SCHEMA IF EXISTS made CASCADE;
CREATE SCHEMA made;
SET search_path = made;
$objects;
CREATE EXTENSION simhash;
RESET ROLE;
SELECT count(*) FROM pg_depend AS d JOIN pg_proc AS p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
WHERE p.proowner <> 'planter'::regrole AND d.refclassid IN ('pg_operator'::regclass, 'pg_proc'::regclass)
    AND d.refobjid IN (SELECT oid FROM pg_operator WHERE oprowner = 'planter'::regrole
        UNION SELECT oid FROM pg_proc WHERE proowner = 'planter'::regrole);
END
	my $what = $objects =~ /(CREATE .*|DO)/ ? $1 : 'nothing';

	ok( $status == 0 ? $out eq '0' && $objects !~ /^DO|unnest/ :
		  $err =~ /^psql:<stdin>:\d+: ERROR:  extension "simhash" would call (operator|function) made\./m,
		"beside what fits better: $what") or diag("$out\n$err");
	note($err);
	$node->safe_psql('planted', 'DROP EXTENSION IF EXISTS simhash');
}

# What is put there later fits no call better that is made for a DBA.
is( $node->safe_psql('planted', <<'END'), "0\n2\n1\n3", 'a removal by a superuser calls what is meant');
SET client_min_messages = warning;
SET ROLE planter;
CREATE EXTENSION simhash SCHEMA made;
CREATE TABLE made.ran (who text);
CREATE FUNCTION made.simhash_dedup_plan(relation text, fingerprint text, document text) RETURNS TABLE (gone text[], kept text[],
    distance int, similarity float8, needed float8, doubt text) LANGUAGE sql AS 'INSERT INTO made.ran SELECT current_user;
    SELECT NULL::text[], NULL::text[], 0, 0::float8, 0::float8, NULL::text';
CREATE FUNCTION made._simhash_hash_row(anyelement) RETURNS bigint LANGUAGE sql AS 'INSERT INTO made.ran SELECT current_user; SELECT 0::bigint';
CREATE FUNCTION made._simhash_removal_columns(oid, OUT every text[]) LANGUAGE sql AS 'INSERT INTO made.ran SELECT current_user; SELECT NULL::text[]';
CREATE FUNCTION made._simhash_removal_keys(text, OUT oid oid) LANGUAGE sql AS 'INSERT INTO made.ran SELECT current_user; SELECT 0::oid';
RESET ROLE;
CREATE TABLE docs (id int PRIMARY KEY, body text, fp bigint GENERATED ALWAYS AS (made.minhash(body)) STORED);
INSERT INTO docs SELECT n, 'the same long text of fourteen words in each of its two rows again ' || CASE WHEN n > 2 THEN md5(n::text) END FROM generate_series(1, 2) AS n;
INSERT INTO docs SELECT n, 'the same long text of fourteen words in each of its three rows, again' FROM generate_series(3, 5) AS n;
CREATE TABLE plan AS SELECT * FROM made.simhash_dedup_plan('docs'::regclass, 'fp'::text, document => 'body'::text);
CALL made.simhash_dedup_apply('docs', 'plan', log => 'gone_plan');
SELECT count(*) FROM made.ran;
SELECT count(*) FROM plan;
SELECT count(*) FROM docs WHERE id > 2;
CALL made.simhash_dedup_undo('docs', log => 'gone_plan');
SELECT count(*) FROM docs WHERE id > 2;
END

# Nor is the name of the schema, which its owner may change, anything but a name.
is( $node->safe_psql('planted', <<'END'), "3\n0\n2\n1\n0", 'commands and texts in a schema of any name');
SET client_min_messages = warning;
SET ROLE planter;
ALTER SCHEMA made RENAME TO "'""$simhash$ %s &S;";
RESET ROLE;
SET search_path = "'""$simhash$ %s &S;", public;
TRUNCATE docs;
CREATE INDEX ON docs USING hamming (fp);
INSERT INTO docs SELECT n, 'the same long text of fourteen words in each of its three rows, again' FROM generate_series(1, 3) AS n;
CALL simhash_add_clusters('docs', 'fp', similarity => 'alike');
CALL simhash_add_clusters('docs', 'fp', kind => 'connected', "column" => 'story', indexed => true);
SELECT simhash_add_keys('docs', 'fp') \gset
SET search_path = public;
SELECT count(*) FROM "'""$simhash$ %s &S;".simhash_report('docs', 'fp') WHERE section = 'distances' OR section = 'largest clusters' OR item = 'redundant rows';
UPDATE docs SET body = body || ' and all over again, as ever before' WHERE id = 3;
CALL "'""$simhash$ %s &S;".simhash_mend_clusters('docs', anew => 'true');
CALL "'""$simhash$ %s &S;".simhash_split_clusters('docs', 'story');
CALL "'""$simhash$ %s &S;".simhash_trim_clusters('docs');
CALL "'""$simhash$ %s &S;".simhash_trim_clusters('docs', 'story');
SELECT count(*) FROM (SELECT FROM "'""$simhash$ %s &S;".simhash_check_clusters('docs')
    UNION ALL SELECT FROM "'""$simhash$ %s &S;".simhash_check_clusters('docs', 'story')) AS f;
CREATE TABLE plan_2 AS SELECT * FROM "'""$simhash$ %s &S;".simhash_dedup_plan('docs', 'fp');
CALL "'""$simhash$ %s &S;".simhash_dedup_apply('docs', 'plan_2', log => 'gone');
SELECT count(*) FROM docs;
CALL "'""$simhash$ %s &S;".simhash_dedup_undo('docs', log => 'gone');
SELECT "'""$simhash$ %s &S;".simhash_dedup_sql('docs', 'fp') \gexec
SELECT count(*) - 1 FROM docs;
SELECT "'""$simhash$ %s &S;".simhash_drop_keys('docs') \gset
CALL "'""$simhash$ %s &S;".simhash_drop_clusters('docs');
CALL "'""$simhash$ %s &S;".simhash_drop_clusters('docs', 'story');
SELECT count(*) FROM pg_trigger WHERE tgrelid = 'docs'::regclass;
END

# With CASCADE the tables stay, without what needs the extension; also in a
# session that has used it all.
is( $node->safe_psql(
		'moved', questions('"My ext"') . <<'END') =~ s/.*\ndropped\n//sr,
SET client_min_messages = warning;
DROP EXTENSION simhash CASCADE;
SELECT 'dropped';
INSERT INTO docs VALUES (600, 'site 14', 'a text of words that are 7');
INSERT INTO guarded (id, body) VALUES (2, 'A text that nobody else may bring in here, once more!');
INSERT INTO images SELECT id, hash FROM images;
SELECT count(*) FROM docs;
SELECT count(*) FROM guarded WHERE id < 5;
SELECT count(*) FROM images;
SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute
WHERE attrelid = 'guarded'::regclass AND attnum > 0 AND NOT attisdropped;
SELECT count(*) FROM pg_am WHERE amname = 'hamming';
CREATE EXTENSION simhash SCHEMA public;
CREATE INDEX ON images USING hamming (hash);
SET enable_seqscan = off;
SELECT count(*) FROM images WHERE hash <@ hamming_bit_ball(of_images(5), 3);
END
	"401\n2\n800\nid body\n0\n2",
	'DROP EXTENSION CASCADE, and CREATE EXTENSION');

$node->stop;
done_testing();
