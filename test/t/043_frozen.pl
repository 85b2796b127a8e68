# What released versions left behind at their users, which tools/freeze keeps in
# test/frozen: a dump, files of indexes, the script.  The library in hand has to serve
# all of it, as theirs did.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my @versions = map { s{.*/}{}r } sort grep { -d } glob 'test/frozen/*';
cmp_ok(scalar @versions, '>', 0, 'something was kept');

# Files of indexes are from a cluster without checksums.
my $node = new_node('frozen', "autovacuum = off\n", no_checksums => 1);
my $directory = $node->config_data('--sharedir') . '/extension';

# What was kept of a version under a name.
sub kept
{
	my ($version, $name) = @_;
	my $bytes;

	IPC::Run::run([ 'xz', '-dc', "test/frozen/$version/$name.xz" ], '>', \$bytes)
	  or die "$name of $version: $?";
	return $bytes;
}

# --- the dump ---------------------------------------------------------------

my %plans = (
	'by indexes' => 'SET enable_seqscan = off',
	'without indexes' =>
	  'SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off');

# Does a database answer each question as is stated there?
sub answers
{
	my ($database, $name) = @_;

	foreach my $plans (sort keys %plans)
	{
		is($node->safe_psql($database, <<"END"), '', "$name: answers $plans");
$plans{$plans};
SELECT format(E'%s\\nis %s, and was %s', query, ask(query), answer)
FROM questions WHERE ask(query) IS DISTINCT FROM answer ORDER BY n;
END
	}
	return;
}

# Does each index agree with its table?
sub indexes_agree
{
	my ($database, $name) = @_;
	my ($code, $out, $err) = $node->psql($database, <<'END');
SELECT count(hamming_index_check(i.oid, true)) > 10
FROM pg_class AS i JOIN pg_am AS a ON a.oid = relam
WHERE amname = 'hamming' AND relkind = 'i'
END
	is("$out$err", 't', "$name: check of the indexes");
	return;
}

foreach my $version (@versions)
{
	my $database = "dump_$version";
	my $dump = PostgreSQL::Test::Utils::tempdir . "/$version.sql";

	append_to_file($dump, kept($version, 'dump.sql'));
	# All is owned by the superuser that it was made by, whom an undo names, too.
	my %owners = map { $_ => 1 } slurp_file($dump) =~ /^ALTER .* OWNER TO (\w+);$/mg;
	$node->safe_psql('postgres', <<"END") foreach sort keys %owners;
SELECT 'CREATE ROLE $_ SUPERUSER'
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '$_') \\gexec
END
	$node->safe_psql('postgres', "CREATE DATABASE \"$database\" TEMPLATE template0");
	command_ok(
		[
			'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1',
			'-d', $node->connstr($database), '-f', $dump
		],
		"$version: restored");
	cmp_ok($node->safe_psql($database, 'SELECT count(*) FROM questions'), '>', 40,
		"$version: questions");
	answers($database, $version);
	indexes_agree($database, $version);
}

# --- files of indexes -------------------------------------------------------

# On what the form of a file depends, as pg_controldata has it.
my ($control) = run_command([ 'pg_controldata', $node->data_dir ]);
my $form = join '', map { s/: +/: /r . "\n" }
  grep { /^(Maximum data alignment|Database block size|Float8 argument passing):/ }
  split /\n/, $control;

foreach my $version (@versions)
{
	my $database = "dump_$version";
	my %files = map { /index_(\w+)\.xz$/ ? ($1 => kept($version, "index_$1")) : () }
	  glob "test/frozen/$version/*";
	# A page has its size in its header, in the byte order of the machine.
	my ($size) = map { unpack('x18 S', $_) & 0xff00 } values %files;

	SKIP:
	{
		skip "$version: files have another form here", 7
		  if $form ne slurp_file("test/frozen/$version/form")
		  || $size != $node->safe_psql('postgres', 'SHOW block_size');

		is($node->safe_psql($database, <<'END'), '0', "$version: rows are in their places");
SELECT count(*) FROM places FULL JOIN (
    SELECT tableoid::regclass::text AS relation, id, ctid AS place FROM paged_64
    UNION ALL SELECT tableoid::regclass::text, id, ctid FROM paged_128
    UNION ALL SELECT tableoid::regclass::text, id, ctid FROM paged_256) AS rows
    USING (relation, id, place)
WHERE places IS NULL OR rows IS NULL
END
		my %paths = map { $_ => $node->data_dir . '/'
			  . $node->safe_psql($database, "SELECT pg_relation_filepath('$_')") } keys %files;
		$node->stop;
		foreach my $index (sort keys %files)
		{
			unlink $paths{$index};
			append_to_file($paths{$index}, $files{$index});
		}
		$node->start;
		answers($database, "files of $version");
		indexes_agree($database, "files of $version");

		# They go on to be written to.
		$node->safe_psql($database, <<'END');
UPDATE paged_64 SET fp = fp # 9 WHERE id % 3 = 0;
DELETE FROM paged_128 WHERE id % 3 = 0;
INSERT INTO paged_256 SELECT id + 500, fp FROM paged_256;
VACUUM paged_64, paged_128, paged_256;
UPDATE questions SET answer = coalesce(ask(brute), '') WHERE query ~ 'paged';
END
		answers($database, "files of $version that were written to");
		indexes_agree($database, "files of $version that were written to");
	}
}

# --- the script -------------------------------------------------------------

# It is put beside those of the server as a version of its own, and so are copies of
# the scripts that lead on from it, or one that does nothing.

# The objects of the extension of a database, by what they are called.
sub objects
{
	return map { (/^-- Name: (.*?; Type: [A-Z ]+)/m ? $1 : '', $_) } extension_contents($node, $_[0]);
}

$node->safe_psql('postgres', 'CREATE DATABASE fresh TEMPLATE template0');
$node->safe_psql('fresh', 'CREATE EXTENSION simhash');
my $newest = $node->safe_psql('fresh',
	"SELECT extversion FROM pg_extension WHERE extname = 'simhash'");
my %fresh = objects('fresh');

foreach my $version (@versions)
{
	my ($script) = map { /simhash--(.*)\.sql\.xz$/ } glob "test/frozen/$version/*";
	my $frozen = "frozen.$version";

	SKIP:
	{
		skip "$directory cannot be written", 2 unless -w $directory;

		plant("$directory/simhash--$frozen.sql", kept($version, "simhash--$script.sql"));
		plant("$directory/simhash--$frozen--$newest.sql", "-- nothing\n") if $script eq $newest;
		foreach my $way (glob "$directory/simhash--$script--*.sql")
		{
			plant("$directory/simhash--$frozen--$1.sql", slurp_file($way)) if $way =~ /--([\d.]+)\.sql$/;
		}
		$node->safe_psql('postgres', "CREATE DATABASE \"$frozen\" TEMPLATE template0");
		$node->safe_psql($frozen, "CREATE EXTENSION simhash VERSION '$frozen'");
		$node->safe_psql($frozen, "ALTER EXTENSION simhash UPDATE TO '$newest'");

		my %frozen = objects($frozen);
		cmp_ok(scalar(keys %frozen), '>', 200, "$version: objects of the script");
		my @differ = grep { ($frozen{$_} // '') ne ($fresh{$_} // '') }
		  sort keys %{ { %frozen, %fresh } };
		is(join("\n", @differ), '', "$version: its objects become those of $newest")
		  or diag('Other objects are another default_version, with a script that leads '
			  . "there; only while $version is not tagged, tools/freeze keeps it anew.");
	}
}

done_testing();
