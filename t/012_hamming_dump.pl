# The hamming index and its constraints through pg_dump and pg_upgrade.
#
# A dump restored into another database, then pg_upgrade to a new cluster,
# which takes the files of the indexes over as they are.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my @init = (extra => [ '-E', 'UTF8', '--locale=C' ]);
my $old = PostgreSQL::Test::Cluster->new('old');
$old->init(@init);
$old->append_conf('postgresql.conf', "fsync = off\nautovacuum = off\n");
$old->start;
$old->safe_psql('postgres', <<'END');
CREATE EXTENSION simhash;
CREATE TABLE docs (id int, fp bigint);
INSERT INTO docs SELECT n, hashint8extended(n, 1) FROM generate_series(1, 20000) AS n;
CREATE INDEX docs_fp ON docs USING hamming (fp) WITH (fillfactor = 70);
INSERT INTO docs SELECT n + 20000, fp # 1 FROM (SELECT id AS n, fp FROM docs LIMIT 5000) s;
CREATE TABLE texts (id int, body text, CONSTRAINT texts_alone
    EXCLUDE USING hamming (hamming_ball(simhash(body), 8) WITH ~=));
INSERT INTO texts VALUES (1, 'a text that nobody else may bring in once more');
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE TABLE groups (id int, site text, mood mood, tenant bigint, fp bigint,
    CONSTRAINT groups_alone EXCLUDE USING hamming (tenant WITH =, fp WITH ~=));
INSERT INTO groups SELECT n, 'site ' || n % 7, (enum_range(NULL::mood))[1 + n % 2],
    n % 11, hashint8extended(n / 11, 1) FROM generate_series(1, 20000) AS n;
CREATE INDEX groups_site ON groups USING hamming (site, fp, mood);
CREATE INDEX groups_tenant ON groups USING hamming (tenant int8_equal_ops, fp);
END

my $search = <<'END';
SET enable_seqscan = off;
SELECT count(*), sum(hashint8extended(d.id, q))
FROM generate_series(1, 20) AS q, docs d
WHERE d.fp <@ (hashint8extended(q, 1), 8);
SELECT count(*), sum(hashint8extended(d.id, q))
FROM generate_series(1, 1000) AS q, groups d
WHERE d.site = 'site ' || q % 7 AND d.mood = 'happy'
    AND d.fp <@ (hashint8extended(q, 1), 8);
END
my $truth = $old->safe_psql('postgres', $search);

# What holds of each copy.
sub in_order
{
	my ($node, $database, $name) = @_;

	is($node->safe_psql($database, $search), $truth, "$name: search");
	is( $node->safe_psql($database, "SELECT hamming_index_check('docs_fp', true),
			hamming_index_check('texts_alone', true),
			hamming_index_check('groups_alone', true),
			hamming_index_check('groups_site', true),
			hamming_index_check('groups_tenant', true)"),
		'||||', "$name: check");
	is( $node->safe_psql($database,
			"SELECT reloptions FROM pg_class WHERE relname = 'docs_fp'"),
		'{fillfactor=70}', "$name: options");
	my ($code, $out, $err) = $node->psql($database, "INSERT INTO texts
		VALUES (2, 'A text that nobody else may bring in, once more')");
	like($err, qr/violates exclusion constraint "texts_alone"/,
		"$name: constraint");
	($code, $out, $err) = $node->psql($database, "INSERT INTO groups (tenant, fp)
		SELECT tenant, fp # 1 FROM groups WHERE id = 5");
	like($err, qr/violates exclusion constraint "groups_alone"/,
		"$name: constraint within groups");
}

in_order($old, 'postgres', 'original');

my $dump = PostgreSQL::Test::Utils::tempdir . '/dump.sql';
$old->safe_psql('postgres', 'CREATE DATABASE restored');
command_ok([ 'pg_dump', '-d', $old->connstr('postgres'), '-f', $dump ],
	'pg_dump');
command_ok(
	[
		'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1',
		'-d', $old->connstr('restored'), '-f', $dump
	],
	'restore');
in_order($old, 'restored', 'restored');

my $new = PostgreSQL::Test::Cluster->new('new');
$new->init(@init);
$old->stop;
my $bin = $old->config_data('--bindir');
chdir PostgreSQL::Test::Utils::tempdir;
command_ok(
	[
		'pg_upgrade', '-d', $old->data_dir, '-D', $new->data_dir,
		'-b', $bin, '-B', $bin, '-s', $new->host,
		'-p', $old->port, '-P', $new->port
	],
	'pg_upgrade');
$new->start;
in_order($new, 'postgres', 'upgraded');
$new->stop;

done_testing();
