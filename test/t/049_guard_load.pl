# simhash_guard_load: the rows of tables drawn at random, in an order drawn at random,
# are those that the guard lets in one by one, whatever its options, and what is left out
# is near to what is named.  And beside six sessions that insert, at every isolation
# level, with rollbacks: no two near rows are ever committed, and none is refused that
# is near to no row.
#
# SIMHASH_SEED repeats a run; SIMHASH_ROUNDS sets how many there are.

use strict;
use warnings;

use IPC::Run qw(start);
use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $seed = seed();
my $rounds = rounds(10, 300);
my $node = new_node('load', "deadlock_timeout = 50ms\n");
my $dir = PostgreSQL::Test::Utils::tempdir;

sub sql { return $node->safe_psql('postgres', @_); }

sub pick { return $_[ rand @_ ]; }

sql(<<'END');
-- thirty words of a family, some of them replaced
CREATE FUNCTION words(family int, changes float8) RETURNS text LANGUAGE sql VOLATILE AS $$
    SELECT string_agg(CASE WHEN random() * 30 < changes THEN (random() * 999)::int::text
        ELSE 'w' || hashint4extended(family * 100 + n, 5) % 5000 END, ' ' ORDER BY n)
    FROM generate_series(1, 30) AS n $$;

-- rows of some families, in no order
CREATE FUNCTION draw(rows int, families int, first int) RETURNS TABLE (id int, site text, at date, body text)
LANGUAGE sql VOLATILE AS $$
    SELECT first + row_number() OVER (ORDER BY random())::int,
        (ARRAY['a', 'b', NULL])[1 + (random() * 2.1)::int],
        CASE WHEN random() < 0.9 THEN date '2026-01-01' + (random() * 20)::int END,
        CASE WHEN random() < 0.97 THEN words((random() * families)::int, random() * 3) END
    FROM generate_series(1, rows) $$;

-- changes what comes
CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF new.id % 50 = 0 THEN
        new.body := words((new.id / 50) % 30, 0);
    ELSIF new.id % 51 = 0 THEN
        new.site := 'b';
    ELSIF new.id % 52 = 0 THEN
        RETURN NULL;
    END IF;
    RETURN new;
END $$;
END

# --- as row by row ---------------------------------------------------------

for my $round (1 .. $rounds)
{
	my $k = int(rand(12));
	my %option;

	$option{within} = 'site' if rand() < 0.4;
	@option{qw(time for)} = ('at', pick('0 days', '4 days')) if rand() < 0.3;
	$option{similarity} = pick(qw(alike jaccard cosine containment alike-words)) if rand() < 0.5;
	$option{at_least} = pick(0.5, 0.8) if $option{similarity} && rand() < 0.5;
	my $options = join('', map { ", '$_=$option{$_}'" } sort keys %option);
	my $when = rand() < 0.3 ? 'WHEN (new.id % 7 > 0)' : '';
	my $split = $when eq '' && rand() < 0.4 ? 'PARTITION BY HASH (id)' : '';
	my $action = pick(qw(reject skip conflict));
	my $index = $option{within} && rand() < 0.5 ? 'site, fp' : 'fp';
	my $meddle = rand() < 0.3;
	my ($there, $coming, $families) = (int(rand(400)), int(rand(600)), int(rand(200)) + 1);
	my $name = "round $round: $there and $coming rows of $families families, within $k$options $when $action ($index) $split"
	  . ($meddle ? ' meddled with' : '');

	my $dice = int(rand(1e9));
	my $make = <<"END";
SET client_min_messages = warning;
DROP TABLE IF EXISTS one, all_at_once, staging, rows_there, left_out;
SELECT setseed($dice / 1e9);
CREATE TABLE rows_there AS SELECT * FROM draw($there, $families, 0);
CREATE TABLE staging AS SELECT *, random() AS place FROM draw($coming, $families, $there);
END
	for my $table ('one', 'all_at_once')
	{
		my $does = $table eq 'one' ? 'skip' : $action;
		my $parts = $split && join('', map {
			"CREATE TABLE ${table}_$_ PARTITION OF $table FOR VALUES WITH (MODULUS 3, REMAINDER $_);\n"
		} 0 .. 2);

		$make .= <<"END";
CREATE TABLE $table (id int PRIMARY KEY, site text, at date, body text,
	fp bigint GENERATED ALWAYS AS (minhash(body)) STORED) $split;
$parts
CREATE INDEX ON $table USING hamming ($index);
INSERT INTO $table SELECT * FROM rows_there;
CREATE TRIGGER z_guard BEFORE INSERT OR UPDATE ON $table FOR EACH ROW $when
	EXECUTE FUNCTION simhash_guard('fp', '$does', '$k'$options);
END
		$make .= "CREATE TRIGGER meddles BEFORE INSERT ON $table FOR EACH ROW EXECUTE FUNCTION meddle();\n"
		  if $meddle;
	}
	sql(<<"END");
$make
INSERT INTO one SELECT id, site, at, body FROM staging ORDER BY place;
CREATE TABLE left_out AS SELECT * FROM simhash_guard_load('all_at_once',
	'SELECT id, site, at, body, minhash(body) AS fp FROM staging ORDER BY place');
END
	is(sql('SELECT (SELECT count(*) FROM (SELECT * FROM one EXCEPT SELECT * FROM all_at_once) AS a),
		(SELECT count(*) FROM (SELECT * FROM all_at_once EXCEPT SELECT * FROM one) AS a)'), '0|0', $name) or last;
	next if $meddle;
	is(sql("SELECT (SELECT count(*) FROM staging AS s WHERE EXISTS (SELECT FROM left_out AS l WHERE l.id::int = s.id)
			= EXISTS (SELECT FROM all_at_once AS a WHERE a.id = s.id)),
		(SELECT count(*) FROM left_out AS l LEFT JOIN staging AS s ON s.id = l.id::int
			LEFT JOIN all_at_once AS t ON t.id = l.near::int
			WHERE (hamming(minhash(s.body), t.fp) = l.distance AND l.distance <= $k) IS NOT TRUE
			@{[ $option{within} ? 'OR s.site IS DISTINCT FROM t.site' : '' ]})"), '0|0',
		'what is left out is not in, but near to what is named') or last;
}

# --- beside others ---------------------------------------------------------

# What a session has tried to insert is in "tried", whether it was let in or not; it
# must be near to a row, which may be itself.
my @ends = ('ROLLBACK;', ('COMMIT;') x 4);
append_to_file("$dir/insert", drawn_transaction('SELECT try(:seed);', 3, @ends));
append_to_file("$dir/load", drawn_transaction('SELECT load(:seed);', 2, @ends));

for my $verified ('', ", 'similarity=alike'")
{
	my $also = $verified && 'AND simhash_alike(a.body, b.body)';
	my $what = $verified ? 'verified' : 'not verified';

	sql(<<"END");
DROP TABLE IF EXISTS docs, tried;
CREATE TABLE docs (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text,
	fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
CREATE TABLE tried (body text, fp bigint);
CREATE INDEX ON docs USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON docs FOR EACH ROW
	EXECUTE FUNCTION simhash_guard('fp', 'skip', '8'$verified);
CREATE OR REPLACE FUNCTION try(seed int) RETURNS void LANGUAGE plpgsql AS \$\$
DECLARE
	text text;
BEGIN
	PERFORM setseed(seed / 1e9);
	FOR i IN 0 .. random() * 3 LOOP
		text := words((random() * 3000)::int, random() * 3);
		INSERT INTO docs (body) VALUES (text);
		INSERT INTO tried VALUES (text, minhash(text));
	END LOOP;
END \$\$;
CREATE OR REPLACE FUNCTION load(seed int) RETURNS void LANGUAGE plpgsql AS \$\$
BEGIN
	PERFORM setseed(seed / 1e9);
	CREATE TEMP TABLE staging ON COMMIT DROP AS
		SELECT n, words((random() * 3000)::int, random() * 3) AS body FROM generate_series(1, 200) AS n;
	PERFORM simhash_guard_load('docs', 'SELECT n, body, minhash(body) AS fp FROM staging ORDER BY n');
	INSERT INTO tried SELECT body, minhash(body) FROM staging;
END \$\$;
END
	my ($out, $err) = ('', '');
	my @bench = ('pgbench', '-n', '-h', $node->host, '-p', $node->port,
		'--max-tries=10000', "--random-seed=$seed", '-T', seconds(2), 'postgres');
	my $writers = start([ @bench, '-c', 6, '-f', "$dir/insert" ], '<', \undef, '>', \$out, '2>&1');
	my $loader = start([ @bench, '-c', 2, '-f', "$dir/load" ], '<', \undef, '>', \$err, '2>&1');
	ok($writers->finish, "$what: sessions insert") or diag($out);
	ok($loader->finish, "$what: others load") or diag($err);
	note(join "\n", grep { /transactions actually|retried/ } split /\n/, "$out\n$err");
	is(sql("SET enable_seqscan = off; SELECT count(*) FROM docs AS a JOIN docs AS b
		ON b.fp <@ hamming_ball(a.fp, 8) AND b.id > a.id $also"), 0, "$what: no two are near");
	is(sql("SET enable_seqscan = off; SELECT count(*) FROM tried AS a WHERE NOT EXISTS (
		SELECT FROM docs AS b WHERE b.fp <@ hamming_ball(a.fp, 8)
		@{[ $verified && 'AND (a.body = b.body OR simhash_alike(b.body, a.body))' ]})"), 0, "$what: none is refused for nothing");
	note("$what: " . sql("SELECT count(*) FROM docs") . " rows of " . sql("SELECT count(*) FROM tried"));
}

# --- another table of its name ---------------------------------------------

# Who owns a schema renames it and puts one with a table and a trigger of its own in its
# place, while a load looks for what is near.
sql(<<'END');
CREATE SCHEMA a;
CREATE TABLE a.docs (id int PRIMARY KEY, fp bigint);
INSERT INTO a.docs SELECT n, hashint8extended(n, 3) FROM generate_series(1, 100000) AS n;
CREATE INDEX ON a.docs USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON a.docs FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'skip', '8');
CREATE SCHEMA c;
CREATE TABLE c.docs (id int, fp bigint);
CREATE SEQUENCE called;
CREATE FUNCTION call() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM nextval('called'); RETURN NULL; END $$;
CREATE TRIGGER call BEFORE INSERT ON c.docs EXECUTE FUNCTION call();
END
append_to_file("$dir/rename", <<'END');
BEGIN\; ALTER SCHEMA a RENAME TO b\; ALTER SCHEMA c RENAME TO a\; COMMIT;
\sleep 50 ms
BEGIN\; ALTER SCHEMA a RENAME TO c\; ALTER SCHEMA b RENAME TO a\; COMMIT;
\sleep 50 ms
END
{
	my ($out, $err) = ('', '');
	my $renames = start([ 'pgbench', '-n', '-h', $node->host, '-p', $node->port,
		'-T', seconds(4), '-f', "$dir/rename", 'postgres' ], '<', \undef, '>', \$out, '2>&1');
	my $load = join "\n", map { "SELECT pg_sleep(.03); SELECT count(*) FROM simhash_guard_load('a.docs',
		'SELECT n, 1000000 * $_ + n AS id, hashint8extended(n, $_) AS fp FROM generate_series(1, 5000) AS n');" } 10 .. 60;

	$node->psql('postgres', $load, stderr => \$err, on_error_stop => 0);
	ok($renames->finish, 'a schema is renamed and put back') or diag($out);
	is(sql('SELECT is_called FROM called'), 'f', 'nothing is inserted into the table that has the name');
	note(scalar(() = $err =~ /has been renamed/g) . ' loads refused');
}

$node->stop;
done_testing();
