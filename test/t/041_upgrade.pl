# From one PostgreSQL to another: dump and restore, logical replication in both
# directions, and pg_upgrade, which takes the files of the indexes over as they
# are.  Both are of this version unless OLD_INSTALL says where an older one lies
# (make staged-test OLD_PG_CONFIG=...).

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# A new cluster; initdb has different ideas of checksums in different versions.
sub new_cluster
{
	my ($name, %where) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name, %where);

	$node->init(extra => [ '-E', 'UTF8', '--locale=C', '-k' ]);
	$node->append_conf('postgresql.conf', <<'END');
wal_level = logical
max_wal_senders = 10
fsync = off
autovacuum = off
wal_retrieve_retry_interval = 100ms
END
	return $node;
}

# Columns of every type by which an index divides rows into groups, and what the
# values are made of; several are equal in spite of their looks.
my %kinds = (
	k_smallint => [ 'smallint', 'n % 9' ],
	k_int => [ 'int', 'n % 9' ],
	k_bigint => [ 'bigint', 'n % 9' ],
	k_text => [ 'text', '$s' ],
	k_varchar => [ 'varchar(9)', '$s' ],
	k_char => [ 'char(9)', '$s' ],
	k_name => [ 'name', '$s' ],
	k_text_c => [ 'text COLLATE "C"', '$s' ],
	k_text_icu => [ 'text COLLATE "de-x-icu"', '$s' ],
	k_text_ci => [ 'text COLLATE ext.ci', '$s' ],
	k_varchar_ci => [ 'varchar(9) COLLATE ext.ci', '$s' ],
	k_char_ci => [ 'char(9) COLLATE ext.ci', '$s' ],
	k_bpchar_ci => [ 'bpchar COLLATE ext.ci', '$s' ],
	k_name_ci => [ 'name COLLATE ext.ci', '$s' ],
	k_letter => [ '"char"', q{chr(65 + n % 9)} ],
	k_uuid => [ 'uuid', q{md5((n % 9)::text)::uuid} ],
	k_bool => [ 'boolean', 'n % 3 = 1' ],
	k_date => [ 'date', q{date '2000-01-01' + n % 9} ],
	k_timestamp => [ 'timestamp', q{timestamp '2000-01-01' + n % 9 * interval '1 hour'} ],
	k_timestamptz => [ 'timestamptz', q{timestamptz '2000-01-01 00:00+01' + n % 9 * interval '1 hour'} ],
	k_bytea => [ 'bytea', 'int4send(n % 9)' ],
	k_oid => [ 'oid', '(n % 9)::oid' ],
	k_numeric => [ 'numeric', q{CASE n % 2 WHEN 0 THEN 1.50 ELSE 1.5 END * (n % 9)} ],
	k_mood => [ 'mood', q{(enum_range(NULL::mood))[1 + n % 2]} ]);
my $spelling = q{CASE n % 4 WHEN 0 THEN 'Site ' WHEN 1 THEN 'site ' WHEN 2 THEN 'SITE ' ELSE 'site ' END
	|| n % 9 || CASE n % 5 WHEN 0 THEN '  ' ELSE '' END};

my $old = new_cluster('old',
	$ENV{OLD_INSTALL} ? (install_path => $ENV{OLD_INSTALL}) : ());
my $new = new_cluster('new');
$old->start;
$new->start;
foreach my $node ($old, $new)
{
	note($node->name . ': ' . $node->safe_psql('postgres', 'SELECT version()'));
}

# --- what there is to take over ---------------------------------------------

$old->safe_psql('postgres', <<'END');
CREATE SCHEMA ext;
CREATE EXTENSION simhash SCHEMA ext;
CREATE COLLATION ext.ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
ALTER DATABASE postgres SET search_path = public, ext;
END
$old->safe_psql('postgres', <<'END');
-- indexes on one column, of an expression, partial, with options
CREATE TABLE docs (id int PRIMARY KEY, fp bigint);
INSERT INTO docs SELECT n, hashint8extended(n, 1) FROM generate_series(1, 20000) AS n;
CREATE INDEX docs_fp ON docs USING hamming (fp) WITH (fillfactor = 70);
INSERT INTO docs SELECT id + 20000, fp # 1 FROM docs WHERE id <= 5000;
CREATE INDEX docs_expression ON docs USING hamming ((fp # 255)) WHERE id % 2 = 0;

-- exclusion constraints: balls, and within groups; on several columns
CREATE TABLE texts (id int, body text, fp bigint GENERATED ALWAYS AS (simhash(body)) STORED,
    CONSTRAINT texts_alone
        EXCLUDE USING hamming (hamming_ball(simhash(body), 8) WITH ~=));
INSERT INTO texts VALUES (1, 'a text that nobody else may bring in once more');
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE TABLE groups (id int, site text, mood mood, tenant bigint, fp bigint,
    CONSTRAINT groups_alone EXCLUDE USING hamming (tenant WITH =, fp WITH ~=));
INSERT INTO groups SELECT n, 'site ' || n % 7, (enum_range(NULL::mood))[1 + n % 2],
    n % 11, hashint8extended(n / 11, 1) FROM generate_series(1, 20000) AS n;
CREATE INDEX groups_site ON groups USING hamming (site, fp, mood);
CREATE INDEX groups_tenant ON groups USING hamming (tenant int8_equal_ops, fp);

-- bit strings
CREATE TABLE images (id int PRIMARY KEY, hash bit(256));
INSERT INTO images
SELECT n, (a || a || a || a)::bit(256)
FROM generate_series(1, 5000) AS n, LATERAL (SELECT hashint8extended(n / 2, 1)::bit(64)::text) AS t(a);
CREATE INDEX images_hash ON images USING hamming (hash);
CREATE DOMAIN print AS bit(128);
CREATE TABLE prints (id int PRIMARY KEY, site int, print print,
    CONSTRAINT prints_alone EXCLUDE USING hamming (site WITH =, hamming_bit_ball(print, 9) WITH ~=));
CREATE INDEX prints_print ON prints USING hamming (print);
CREATE TRIGGER prints_guard BEFORE INSERT OR UPDATE ON prints FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('print', 'reject', '6');
INSERT INTO prints SELECT n, n % 3, (a || a)::bit(128)
FROM generate_series(1, 500) AS n, LATERAL (SELECT hashint8extended(n, 1)::bit(64)::text) AS t(a);

-- partitions
CREATE TABLE parts (id int, fp bigint) PARTITION BY HASH (id);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE INDEX parts_fp ON parts USING hamming (fp);
INSERT INTO parts SELECT * FROM docs;

-- key columns, also within a site, and guards by them and by an index
CREATE TABLE keyed (id int PRIMARY KEY, site text, fp bigint);
SELECT simhash_add_keys('keyed', 'fp', within => '{site}');
INSERT INTO keyed SELECT n, 'site ' || n % 7, hashint8extended(n / 7, 1)
FROM generate_series(1, 7000) AS n;
CREATE TRIGGER keyed_guard BEFORE INSERT OR UPDATE ON keyed FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '3', 'within=site');
CREATE TABLE guarded (id int PRIMARY KEY, body text,
    fp bigint GENERATED ALWAYS AS (minhash(body)) STORED, twin int);
CREATE INDEX guarded_fp ON guarded USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON guarded FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'mark', '8', 'mark=twin',
        'document=body', 'similarity=jaccard', 'at_least=0.5');
INSERT INTO guarded VALUES (1, 'a text that nobody else may bring in once more');

-- clusters that keep themselves, where names have changed
CREATE TABLE stars (id int PRIMARY KEY, site text, body text,
    fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO stars VALUES (1, 'a', 'a text that nobody else may bring in once more');
CREATE TABLE connected (id int PRIMARY KEY, fp bigint);
CREATE INDEX ON connected USING hamming (fp);
INSERT INTO connected VALUES (1, 0), (2, 63);
CREATE TABLE halfway (id int PRIMARY KEY, fp bigint);
INSERT INTO halfway SELECT n, hashint8extended(n / 3, 1) FROM generate_series(3, 11) AS n;
CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'stop'; END$$;
CREATE TRIGGER stop BEFORE UPDATE ON halfway FOR EACH ROW EXECUTE FUNCTION stop();
CALL simhash_add_clusters('stars', 'fp', 8, since => 'since', within => '{site}');
CALL simhash_add_clusters('connected', 'fp', 3, 'connected');
ALTER TABLE stars RENAME body TO "The text";
ALTER TABLE stars RENAME cluster TO story;
ALTER TABLE stars_clusters RENAME fp TO "f p";
ALTER TABLE stars_clusters SET SCHEMA ext;
ALTER TABLE connected_clusters RENAME TO merges;

-- values of the types of the extension, and views
CREATE TABLE learned AS
    SELECT simhash_idf_agg('word ' || n % 7 || ' of ' || n, 'word-1') AS idf,
        hamming_ball(5, 3) AS ball, hamming_bit_ball(B'0110', 2) AS bits
    FROM generate_series(1, 50) AS n;
CREATE VIEW near AS SELECT a.id AS one, b.id AS other
    FROM docs AS a JOIN docs AS b ON a.fp ~= b.fp AND a.id < b.id;
END

my $tables = '';
foreach my $kind (sort keys %kinds)
{
	my ($type, $made) = @{ $kinds{$kind} };
	my $class = $type eq 'bigint' ? 'int8_equal_ops' : '';

	$made =~ s/\$s/$spelling/;
	$tables .= <<"END";
CREATE TABLE $kind (id int, g $type, fp bigint);
INSERT INTO $kind SELECT n, $made, hashint8extended(n / 40, 1) # (1::bigint << n % 50)
FROM generate_series(1, 2000) AS n;
CREATE INDEX ${kind}_index ON $kind USING hamming (g $class, fp);
END
}
$old->safe_psql('postgres', $tables);

my (undef, undef, $stopped) = $old->psql('postgres', "CALL simhash_add_clusters('halfway', 'fp', 3)");
like($stopped, qr/ERROR:  stop/, 'a set-up of clusters is stopped');

# What it answers.
my $questions = <<'END';
SET enable_seqscan = off;
SELECT count(*), sum(hashint8extended(d.id, q)) FROM generate_series(1, 20) AS q, docs d
WHERE d.fp <@ (hashint8extended(q, 1), 8);
SELECT count(*), sum(hashint8extended(d.id, q)) FROM generate_series(1, 20) AS q, docs d
WHERE (d.fp # 255) <@ (hashint8extended(q, 1) # 255, 6) AND d.id % 2 = 0;
SELECT count(*), sum(hashint8extended(d.id, q)) FROM generate_series(1, 1000) AS q, groups d
WHERE d.site = 'site ' || q % 7 AND d.mood = 'happy' AND d.fp <@ (hashint8extended(q, 1), 8);
SELECT count(*), sum(hashint8extended(d.id, q)) FROM generate_series(1, 1000) AS q, keyed d
WHERE d.site = 'site ' || q % 7 AND d.fp ~= hashint8extended(q, 1);
SELECT count(*), sum(hashint8extended(d.id, q)) FROM generate_series(1, 20) AS q, parts d
WHERE d.fp ~= hashint8extended(q, 1);
SELECT count(*), sum(hashint8extended(d.id, q.id)) FROM images q, images d
WHERE q.id <= 20 AND d.hash <@ hamming_bit_ball(q.hash, 5);
SELECT id FROM docs ORDER BY fp <~> hashint8extended(77, 1) LIMIT 2;
SELECT count(*) FROM near WHERE one <= 100;
SELECT simhash_tfidf('word 5', idf), (simhash_idf_stats(idf)).*, ball, bits FROM learned;
SELECT id, fp, simhash('Tom & Jerry'), minhash('Tom & Jerry') FROM texts;
SELECT count(*) FROM simhash_pairs('SELECT id, fp FROM docs');
END

# What rows of each of those types an index finds is what there are.
$questions .= join '', map { <<"END" } sort keys %kinds;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT '$_', count(*) = (SELECT count(*) FROM $_ q, $_ d
	WHERE q.id % 97 = 1 AND d.g = q.g AND bit_count((d.fp # q.fp)::bit(64)) <= 3) AS same, count(*) > 21 AS many
FROM $_ q, $_ d WHERE q.id % 97 = 1 AND d.g = q.g AND d.fp <@ (q.fp, 3);
END

# The plans that give the answers, as the names of the indexes in them.
my @searches = (
	[ 'docs_fp', 'SELECT FROM docs WHERE fp ~= 5' ],
	[ 'groups_site', q{SELECT FROM groups WHERE fp ~= 5 AND site = 'x' AND mood = 'sad'} ],
	[ 'images_hash', 'SELECT FROM images WHERE hash <@ hamming_bit_ball(repeat(\'0\', 256)::bit(256), 5)' ],
	[ 'keyed_site_k0', q{SELECT FROM keyed WHERE fp ~= 5 AND site = 'site 3'} ],
	[ 'parts_0_fp', 'SELECT FROM parts WHERE fp ~= 5' ],
	map { [ "${_}_index", "SELECT FROM $_ q, $_ d WHERE q.id = 1 AND d.g = q.g AND d.fp <@ (q.fp, 3)" ] } sort keys %kinds);

my $truth = $old->safe_psql('postgres', $questions);
is(scalar(my @right = $truth =~ /^k_\w+\|t\|t$/mg),
	scalar(keys %kinds), 'each type is looked up rightly');

# What holds of each copy.
sub in_order
{
	my ($node, $database, $name) = @_;

	is($node->safe_psql($database, $questions), $truth, "$name: answers");
	my $plans = $node->safe_psql($database, join '', "SET enable_seqscan = off;\n",
		map { "\\echo plan $_->[0]\nEXPLAIN $_->[1];\n" } @searches);
	my %plan = $plans =~ /^plan (\w+)\n(.*?)(?=^plan|\z)/msg;
	like($plan{ $_->[0] }, qr/\b$_->[0]/, "$name: $_->[0]") foreach @searches;
	is($node->safe_psql($database, <<'END'), 15 + keys %kinds, "$name: check of the indexes");
SELECT count(hamming_index_check(i.oid, true))
FROM pg_class AS i JOIN pg_am AS a ON a.oid = relam
WHERE amname = 'hamming' AND relkind = 'i'
END
	is( $node->safe_psql($database,
			"SELECT reloptions FROM pg_class WHERE relname = 'docs_fp'"),
		'{fillfactor=70}', "$name: options");

	my %refused = (
		'constraint "texts_alone"' => q{INSERT INTO texts
			VALUES (2, 'A text that nobody else may bring in, once more')},
		'constraint "groups_alone"' => 'INSERT INTO groups (tenant, fp)
			SELECT tenant, fp # 1 FROM groups WHERE id = 5',
		'near-duplicate of another in table "keyed"' => 'INSERT INTO keyed
			SELECT -1, site, fp # 1 FROM keyed WHERE id = 5',
		'constraint "prints_alone"' => q{INSERT INTO prints
			SELECT -1, site, print # ('x' || repeat('0', 31) || 'f')::bit(128) # B'1111'::bit(128)
			FROM prints WHERE id = 5},
		'near-duplicate of another in table "prints"' => 'INSERT INTO prints
			SELECT -1, site + 1, set_bit(print, 7, 1 - get_bit(print, 7)) FROM prints WHERE id = 5');
	my (undef, undef, $errors) = $node->psql($database,
		join(";\n", map { $refused{$_} } sort keys %refused), on_error_stop => 0);
	like($errors, qr/$_/, "$name: $_") foreach sort keys %refused;
	is($node->safe_psql($database, <<'END'), '1', "$name: a guard that marks");
INSERT INTO guarded VALUES (2, 'A text that nobody else may bring in, once more');
DELETE FROM guarded WHERE id = 2 RETURNING twin;
END
	is($node->safe_psql($database, <<'END'), "1|t\n1|2|1", "$name: clusters");
INSERT INTO stars VALUES (2, 'a', 'A text that nobody else may bring in, once more');
DELETE FROM stars WHERE id = 2 RETURNING story, since IS NOT NULL;
BEGIN;
INSERT INTO connected VALUES (3, 7);
SELECT c.cluster, m.cluster, m.merged_into FROM connected AS c, merges AS m
WHERE c.id = 3 AND m.merged_into > 0;
ROLLBACK;
END
}

# The set-up of clusters that was stopped goes on.
sub goes_on
{
	my ($node, $database, $name) = @_;

	is($node->safe_psql($database, <<'END'), "1 1 1 2 2 2 3 3 3\n0", "$name: a set-up goes on");
DROP TRIGGER stop ON halfway;
CALL simhash_add_clusters('halfway', 'fp', 3);
SELECT string_agg((first / 3)::text, ' ' ORDER BY id)
FROM (SELECT id, min(id) OVER (PARTITION BY cluster) AS first FROM halfway) AS h;
SELECT count(*) FROM pg_class WHERE relname ~ 'fill';
END
	return;
}

in_order($old, 'postgres', 'original');

# --- dump and restore -------------------------------------------------------

# As is recommended, by the newer pg_dump.
my $dump = PostgreSQL::Test::Utils::tempdir . '/dump.sql';
command_ok([ 'pg_dump', '-C', '-d', $old->connstr('postgres'), '-f', $dump ],
	'pg_dump');
my $text = slurp_file($dump) =~ s/\b(DATABASE|connect) postgres\b/$1 restored/gr;
unlink $dump;
append_to_file($dump, $text);
command_ok(
	[
		'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1',
		'-d', $new->connstr('postgres'), '-f', $dump
	],
	'restore');
in_order($new, 'restored', 'restored');
goes_on($new, 'restored', 'restored');

# --- logical replication ----------------------------------------------------

# From a node to another and its database, and back, as text and in binary.
sub replicate
{
	my ($from, $to, $binary) = @_;
	my $name = $from->name . '_to_' . $to->name . ($binary ? '_binary' : '');
	my $where = $from->connstr . ' dbname=copies';

	$_->safe_psql('postgres', 'CREATE DATABASE copies') foreach $from, $to;
	$_->safe_psql('copies', <<'END') foreach $from, $to;
CREATE EXTENSION simhash;
CREATE TABLE docs (id int PRIMARY KEY, fp bigint, hash bit(64), ball hamming_ball,
    idf simhash_idf, body text, own bigint GENERATED ALWAYS AS (simhash(body)) STORED);
CREATE INDEX ON docs USING hamming (fp);
CREATE INDEX ON docs USING hamming (hash);
CREATE INDEX ON docs USING hamming (ball);
CREATE INDEX ON docs USING hamming (own);
END
	$from->safe_psql('copies', <<'END');
INSERT INTO docs SELECT n, hashint8extended(n, 1), hashint8extended(n, 2)::bit(64),
    hamming_ball(hashint8extended(n, 3), 3), (SELECT simhash_idf_agg(w, 'word-1') FROM (VALUES ('word ' || n)) AS v (w)),
    'the text ' || n FROM generate_series(1, 500) AS n;
CREATE PUBLICATION pub FOR TABLE docs;
END
	$to->safe_psql('copies', "CREATE SUBSCRIPTION $name CONNECTION '$where'
		PUBLICATION pub WITH (binary = " . ($binary ? 'true' : 'false') . ')');
	$to->wait_for_subscription_sync($from, $name, 'copies');
	$from->safe_psql('copies', <<'END');
UPDATE docs SET fp = fp # 1, hash = ~hash, body = 'again ' || body WHERE id % 3 = 0;
DELETE FROM docs WHERE id % 5 = 0;
INSERT INTO docs SELECT id + 1000, fp, hash, ball, idf, body FROM docs;
END
	$from->wait_for_catchup($name);

	my $all = 'SELECT count(*), sum(hashtext(docs::text)) FROM docs;
		SET enable_seqscan = off;
		SELECT id FROM docs WHERE fp ~= (hashint8extended(3, 1) # 1) ORDER BY id;
		SELECT id FROM docs WHERE own <@ (simhash(\'again the text 3\'), 0) ORDER BY id';
	my $rows = $from->safe_psql('copies', $all);
	like($rows, qr/\A800\|.*\n3\n1003\n/, "$name: rows");
	is($to->safe_psql('copies', $all), $rows, "$name: the same on the subscriber");
	is( $to->safe_psql('copies', "SELECT count(hamming_index_check(oid, true))
			FROM pg_class WHERE relam = (SELECT oid FROM pg_am WHERE amname = 'hamming')"),
		4, "$name: check of the indexes");

	$to->safe_psql('copies', "DROP SUBSCRIPTION $name");
	$_->safe_psql('postgres', 'DROP DATABASE copies') foreach $from, $to;
}

replicate($old, $new, 0);
replicate($old, $new, 1);
replicate($new, $old, 0);
replicate($new, $old, 1);

# --- pg_upgrade -------------------------------------------------------------

my $upgraded = new_cluster('upgraded');
$old->stop;
chdir PostgreSQL::Test::Utils::tempdir;
command_ok(
	[
		'pg_upgrade', '-d', $old->data_dir, '-D', $upgraded->data_dir,
		'-b', $old->config_data('--bindir'),
		'-B', $upgraded->config_data('--bindir'),
		'-s', $upgraded->host, '-p', $old->port, '-P', $upgraded->port
	],
	'pg_upgrade');
$upgraded->start;
in_order($upgraded, 'postgres', 'upgraded');
goes_on($upgraded, 'postgres', 'upgraded');
$upgraded->safe_psql('postgres', 'REINDEX DATABASE postgres; VACUUM; ANALYZE');
in_order($upgraded, 'postgres', 'rebuilt');
$_->stop foreach $new, $upgraded;

done_testing();
