# The extension in a directory of its own, as an image of an extension has it: from
# PostgreSQL 18 on a server is told where its control file and its library are.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('control_path');
plan skip_all => 'needs PostgreSQL 18' if $node->pg_version < 18;
plan skip_all => 'simhash is not built here' unless -e 'simhash.so';

# What the make that runs this was given is none of this one's business.
my $directory = PostgreSQL::Test::Utils::tempdir;
{
	delete local @ENV{qw(MAKEFLAGS MAKELEVEL MAKEOVERRIDES MFLAGS)};
	command_ok(
		[
			'make', '-s', 'PG_CONFIG=' . $node->config_data('--bindir') . '/pg_config',
			"datadir=$directory/share", "pkglibdir=$directory/lib", 'install'
		],
		'make install');
}

# The server's own directories may have a simhash, too: what comes first is found.
$node->init(extra => [ '-E', 'UTF8', '--locale=C' ]);
$node->append_conf('postgresql.conf', <<"END");
fsync = off
extension_control_path = '$directory/share:\$system'
dynamic_library_path = '$directory/lib:\$libdir'
END
$node->start;

# The files called simhash.so that a session of the database has, after a command.
sub libraries
{
	my ($command) = @_;
	my $maps = $node->safe_psql('postgres', "$command;
		SELECT pg_read_file('/proc/' || pg_backend_pid() || '/maps')");
	my %files = map { $_ => 1 } $maps =~ m{ (/\S*/simhash\.so)$}mg;

	return join ' ', sort keys %files;
}

$node->safe_psql('postgres', 'CREATE EXTENSION simhash');
SKIP:
{
	skip 'no /proc', 1 unless -r "/proc/$$/maps";
	is(libraries("SELECT simhash('one two')"), "$directory/lib/simhash.so", 'the library');
}

$node->safe_psql('postgres', <<'END');
CREATE TABLE docs (id int PRIMARY KEY, body text,
    fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO docs SELECT n, 'a text of words of which there are few, and the number ' || n / 2
FROM generate_series(1, 100) AS n;
CREATE INDEX docs_fp ON docs USING hamming (fp);
CREATE TABLE guarded (LIKE docs INCLUDING ALL);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON guarded FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '8', 'similarity=alike');
INSERT INTO guarded SELECT id, body FROM docs WHERE id = 1;
END
$node->safe_psql('postgres', "CALL simhash_add_clusters('docs', 'fp', 8)");

# What a database answers, also by processes that begin with nothing.
sub serves
{
	my ($database, $name) = @_;

	is($node->safe_psql($database, <<'END'), "t\nt\nt", "$name: searches and clusters");
SET enable_seqscan = off;
SELECT count(*) = (SELECT count(*) FROM docs AS a, docs AS b WHERE bit_count((a.fp # b.fp)::bit(64)) <= 3)
FROM docs AS a JOIN docs AS b ON a.fp ~= b.fp;
RESET enable_seqscan;
SET debug_parallel_query = on;
SELECT count(*) = 2 FROM docs WHERE minhash(body) = (SELECT minhash(body) FROM docs WHERE id = 7);
SELECT count(*) = 0 FROM simhash_check_clusters('docs');
END
	my ($code, $out, $err) = $node->psql($database,
		"INSERT INTO guarded SELECT 2, upper(body) FROM guarded WHERE id = 1");
	like($err, qr/near-duplicate of another in table "guarded"/, "$name: a guard");
	return;
}

serves('postgres', 'original');

my $dump = "$directory/dump.sql";
command_ok([ 'pg_dump', '-d', $node->connstr('postgres'), '-f', $dump ], 'a dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored TEMPLATE template0');
command_ok(
	[
		'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1',
		'-d', $node->connstr('restored'), '-f', $dump
	],
	'and its restoration');
serves('restored', 'restored');

# Loaded at the start it is found by its bare name.
$node->append_conf('postgresql.conf', 'shared_preload_libraries = simhash');
$node->restart;
serves('postgres', 'preloaded');
SKIP:
{
	skip 'no /proc', 1 unless -r "/proc/$$/maps";
	is(libraries("SELECT simhash('one two')"), "$directory/lib/simhash.so",
		'the library is there once');
}

done_testing();
