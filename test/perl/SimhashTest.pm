# What the tests of whole servers in t/ share.
# SPDX-License-Identifier: PostgreSQL

package SimhashTest;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT =
  qw(seed seconds rounds new_node new_plain_node extension_contents plant needs_psycopg by_python
  weighted_files drawn_transaction answers);

# The seed of what is drawn at random: SIMHASH_SEED, or another each time.
sub seed
{
	my $seed = $ENV{SIMHASH_SEED} // int(rand(2**31));

	note("SIMHASH_SEED=$seed");
	srand($seed);
	return $seed;
}

# How many seconds a test at random lasts: SIMHASH_SECONDS, or this many.
sub seconds
{
	my ($short) = @_;

	return $ENV{SIMHASH_SECONDS} || $short;
}

# How many rounds one has that goes by rounds: SIMHASH_ROUNDS, or as many as take
# seconds; the second number where SIMHASH_SECONDS asks for a long run.
sub rounds
{
	my ($short, $long) = @_;

	return $ENV{SIMHASH_ROUNDS} // ($ENV{SIMHASH_SECONDS} ? $long : $short);
}

# A script of pgbench that does a piece of work, with a :seed, in a transaction: at one
# of the first so many isolation levels, and ended in one of some ways, drawn at random.
# It is flat: older pgbench runs the \else of an \if within an \elif that it skips.
sub drawn_transaction
{
	my ($work, $levels, @ends) = @_;
	my @begins = map { "BEGIN$_;" } ('', ' ISOLATION LEVEL REPEATABLE READ',
		' ISOLATION LEVEL SERIALIZABLE')[ 0 .. $levels - 1 ];
	my %drawn = (level => \@begins, end => \@ends);
	my $script = "\\set seed random(0, 999999999)\n";

	for my $name ('level', 'end')
	{
		my $ways = $drawn{$name};

		$script .= "\\set $name random(0, $#$ways)\n";
		$script .= "\\if :$name = $_\n$ways->[$_]\n\\endif\n" for 0 .. $#$ways;
		$script .= "$work\n" if $name eq 'level';
	}
	return $script;
}

# A server that runs, with the extension in the database postgres.  The settings
# are lines of its configuration, the options those of init(), and no_checksums:
# from 18 on a cluster has them unless it is told.
sub new_node
{
	my ($name, $settings, %options) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	my @extra = ('-E', 'UTF8', '--locale=C');

	push @extra, '--no-data-checksums'
	  if delete $options{no_checksums} && $node->pg_version >= 18;
	$options{extra} = [ @extra, @{ $options{extra} // [] } ];
	$node->init(%options);
	$node->append_conf('postgresql.conf',
		"fsync = off\njit = off\n" . ($settings // ''));
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION simhash');
	return $node;
}

# A node without the extension, for share/plain.sql: an ordinary role, which owns the
# schema app, and another one, which may use that.
sub new_plain_node
{
	my ($name, $owner, $other) = @_;
	my $node = new_node($name);

	$node->safe_psql('postgres', <<"END");
DROP EXTENSION simhash;
CREATE ROLE $owner LOGIN;
CREATE ROLE $other LOGIN;
GRANT CREATE ON DATABASE postgres TO $owner;
CREATE SCHEMA app AUTHORIZATION $owner;
GRANT USAGE ON SCHEMA app TO $other;
ALTER DATABASE postgres SET search_path = app;
END
	return $node;
}

# All that the extension of a database consists of, with its properties, rights
# and comments: pg_dump writes that out when it is asked to for an upgrade.
# Neither the order of creation counts, nor the numbers of the objects.
sub extension_contents
{
	my ($node, $database) = @_;
	my ($out, $err);

	IPC::Run::run(
		[
			'pg_dump', '--binary-upgrade', '--schema-only',
			'-d', $node->connstr($database)
		],
		'>', \$out, '2>', \$err) or die $err;
	$out =~ s/^(?:SET|SELECT pg_catalog\.binary_upgrade_set_|\\).*//gm;
	my @objects = sort split /\n+--\n(?=-- Name: )/, $out;
	return @objects;
}

# Put a script of an extension beside those of the server until the test ends.
my @planted;
END { unlink @planted }

sub plant
{
	my ($path, $text) = @_;

	push @planted, $path;
	append_to_file($path, $text);
	return;
}

sub python { return $ENV{PYTHON} || 'python3' }

# What scripts give, or how they fail: each with the settings of a new session, but all
# in one, as beginning one takes longer than most queries.
sub answers
{
	my ($node, @scripts) = @_;
	my (undef, $out, $err) = $node->psql('postgres',
		join("\\echo --\n\\warn --\n", map { "RESET ALL;\n$_;\n" } @scripts), on_error_stop => 0);
	my @out = split /^--$/m, $out, -1;
	my @err = split /^--$/m, $err =~ s/^psql:<stdin>:\d+: //gmr, -1;

	return map { (($out[$_] // '') . ($err[$_] // 'no answer')) =~ s/^\n|\n$//gr } 0 .. $#scripts;
}

# Skip a whole test where there is no Python that knows PostgreSQL.
sub needs_psycopg
{
	my $python = python();

	plan skip_all => 'no Python with psycopg'
	  if system("$python -c 'import psycopg' 2>/dev/null") != 0;
	return;
}

# Run a judge of test/random on a server; what it prints is shown if it finds a
# fault.  A line of it that begins with "round" is the name of the test.
sub by_python
{
	my ($node, $script, $name, @arguments) = @_;
	my $out = '';
	my $good = IPC::Run::run(
		[ python(), "test/random/$script", $node->connstr('postgres'), @arguments ],
		'<', \undef, '>', \$out, '2>&1');

	$name = $1 if $out =~ /^(round .*)$/m;
	ok($good, $name) or diag($out);
	note($out) if $good;
	return;
}

# Write scripts for pgbench, named NAME@WEIGHT, to a folder; returns its options for them.
sub weighted_files
{
	my ($dir, %scripts) = @_;
	my @files;

	for my $name (sort keys %scripts)
	{
		my ($file, $weight) = split '@', $name;

		append_to_file("$dir/$file", "$scripts{$name}\n");
		push @files, '-f', "$dir/$file\@$weight";
	}
	return @files;
}

1;
