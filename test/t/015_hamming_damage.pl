# Pages of the hamming index that are damaged at random.
#
# Rounds: some indexes of several kinds are built, the server is stopped, each
# file is changed in some place, and the server started again.  Whatever the
# damage, no search brings the server down or goes on for ever; and where
# hamming_index_check() finds nothing wrong, searches find what is there.
# SIMHASH_SEED repeats a run; SIMHASH_SECONDS sets how long it lasts.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;
use Time::HiRes qw(time);

my $seed = seed();
my $seconds = seconds(4);
my $indexes = 24;

# Checksums would find nearly all of it first.
my $node = new_node('damage', <<'END', no_checksums => 1);
autovacuum = off
max_parallel_workers_per_gather = 0
statement_timeout = 60s
END

# The kinds of indexes: type of the fingerprint, columns, how to search.
my @kinds = (
	{
		type => 'bigint', columns => 'fp',
		value => '(hashint8extended(n % 400, 1) # (1::bigint << n % 64))',
		searches => [
			'fp <@ (hashint8extended(3, 1), 3)',
			'fp <@ (hashint8extended(5, 1), 9)',
			'fp ~= ANY (ARRAY[hashint8extended(7, 1), hashint8extended(8, 1)])',
			'fp <@ (0, 64)'
		],
		order => 'fp <~> hashint8extended(9, 1)'
	},
	{
		type => 'bigint', columns => 'g, fp',
		value => '(hashint8extended(n % 400, 1) # (1::bigint << n % 64))',
		searches => [
			'g = 3 AND fp <@ (hashint8extended(3, 1), 5)',
			'g = 3 AND fp <@ (0, 64)'
		],
		order => 'fp <~> hashint8extended(9, 1)', where => 'g = 4'
	},
	{
		type => 'bit(128)', columns => 'fp',
		value => '(hashint8extended(n % 400, 1)::bit(64) ||
			(hashint8extended(n % 400, 2) # (1::bigint << n % 64))::bit(64))::bit(128)',
		searches => [
			'fp <@ ((SELECT fp FROM whole WHERE id = 11), 12)',
			'fp <@ (0::bit(128), 128)'
		],
		order => 'fp <~~> (SELECT fp FROM whole WHERE id = 12)'
	});

$node->safe_psql('postgres', <<'END');
-- what a query says, or how it fails
CREATE FUNCTION attempt(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE query INTO result;
    RETURN result;
EXCEPTION WHEN OTHERS OR query_canceled THEN
    RETURN SQLSTATE;
END $$;
END

# Make the table of an index, of some 1,500 rows: three levels of pages.
sub create
{
	my ($i) = @_;
	my $kind = $kinds[ $i % @kinds ];

	return <<"END";
DROP TABLE IF EXISTS docs$i;
CREATE TABLE docs$i (id int, g int, fp $kind->{type});
INSERT INTO docs$i SELECT n, n % 7, $kind->{value} FROM generate_series(1, 1500) n;
CREATE INDEX docs${i}_fp ON docs$i USING hamming ($kind->{columns}) WITH (fillfactor = 10);
END
}

# The searches of an index, as queries.
sub searches
{
	my ($i) = @_;
	my $kind = $kinds[ $i % @kinds ];
	my @result = map {
		my $where = s/whole/docs$i/gr;
		"SELECT string_agg(id::text, ' ' ORDER BY id) FROM docs$i WHERE $where"
	} @{ $kind->{searches} };
	my $order = $kind->{order} =~ s/whole/docs$i/gr;
	my $where = $kind->{where} // 'true';

	# Of those equally far any may come first: only how far they are is told.
	push @result,
	  "SELECT string_agg(d::text, ' ') FROM (SELECT $order AS d FROM docs$i
		WHERE $where ORDER BY $order LIMIT 20) AS nearest";
	return @result;
}

my $plain = 'SET enable_indexscan = off; SET enable_bitmapscan = off;';
my $index = 'SET enable_seqscan = off; SET enable_sort = off;';

# What queries say, or how they fail; less if the server does not answer.
sub results
{
	my ($settings, @queries) = @_;
	my ($code, $out) = $node->psql('postgres', "$settings\n" . join('',
			map { "SELECT coalesce(attempt(\$q\$$_\$q\$), '');\n" } @queries));

	return split(/\n/, $out, -1);
}

# Change a file in some place; says how.
sub damage
{
	my ($path) = @_;
	my $pages = (-s $path) / 8192;
	my $page = rand() < 0.2 ? int(rand(4)) % $pages : int(rand($pages));
	my ($at, $bytes);
	my $how = int(rand(8));
	my $content;

	open(my $file, '+<:raw', $path) or die "$path: $!";
	sysseek($file, $page * 8192, 0);
	sysread($file, $content, 8192);
	if ($how == 0)
	{
		($at, $bytes) = (int(rand(8192)), chr(rand(256)));
	}
	elsif ($how == 1)
	{
		# the header, with what the free space is between
		$at = int(rand(24));
		$bytes = pack('v', rand(8400));
	}
	elsif ($how == 2)
	{
		# the special space: neighbours, level, flags; or one of the flags alone
		$at = 8192 - 16 + 4 * int(rand(4));
		$bytes = pack('V', rand() < 0.5 ? rand($pages + 2) : rand(2**32));
		($at, $bytes) = (8188,
			pack('v', unpack('v', substr($content, 8188, 2)) ^ 1 << int(rand(9))))
		  if rand() < 0.5;
	}
	elsif ($how == 3)
	{
		# a line pointer
		$at = 24 + 4 * int(rand(30));
		$bytes = pack('V', rand() < 0.5 ? rand(2**32) :
			unpack('V', substr($content, $at, 4)) ^ 1 << int(rand(32)));
	}
	elsif ($how == 4)
	{
		# an item: its place and its key
		my $pointer = unpack('V', substr($content, 24 + 4 * int(rand(30)), 4));

		$at = ($pointer & 0x7fff) + int(rand(16));
		$at = $at % 8190;
		$bytes = pack('v', rand(2**16));
	}
	elsif ($how == 5)
	{
		# another page
		sysseek($file, int(rand($pages)) * 8192, 0);
		sysread($file, $bytes, 8192);
		$at = 0;
	}
	elsif ($how == 6)
	{
		($at, $bytes) = (0, chr(rand() < 0.5 ? 0 : 255) x 8192);
	}
	else
	{
		# many bytes
		$at = int(rand(8000));
		$bytes = join('', map { chr(rand(256)) } 1 .. 1 + rand(190));
	}
	$at = 8192 - length($bytes) if $at + length($bytes) > 8192;
	sysseek($file, $page * 8192 + $at, 0);
	syswrite($file, $bytes);
	close($file);
	return "page $page of $pages, " . length($bytes) . " bytes at $at ($how)";
}

# Leaf pages that say they have more entries than fit on one: all between their
# lower and their upper bound, the numbers at bytes 12 and 14, is line pointers.
sub overfill
{
	my ($path) = @_;
	my $page;

	open(my $file, '+<:raw', $path) or die "$path: $!";
	for (my $at = 0; sysread($file, $page, 8192); $at += 8192)
	{
		next if !(unpack('v', substr($page, 8188, 2)) & 1);
		substr($page, 12, 2) = substr($page, 14, 2);
		sysseek($file, $at, 0);
		syswrite($file, $page);
	}
	close($file);
}

# Where the file of an index is.
sub path
{
	my ($i) = @_;

	return $node->data_dir . '/' . $node->safe_psql('postgres',
		"SELECT pg_relation_filepath('docs${i}_fp')");
}

$node->safe_psql('postgres', create($_)) for 1 .. @kinds;
my @overfull = map { path($_) } 1 .. @kinds;
$node->stop;
overfill($_) for @overfull;
$node->start;
is_deeply([ results($index, searches($_)) ], [ map { 'XX002' } searches($_) ],
	"pages with more entries than fit, $_")
  for 1 .. @kinds;

my $start = time;
my ($damaged, $noticed) = (0, 0);
my %states;
my %right;						# what the searches of a kind find

do
{
	my %how;

	$node->safe_psql('postgres', join('', map { create($_) } 1 .. $indexes));
	$right{ $_ % @kinds } //= [ results($plain, searches($_)) ] for 1 .. @kinds;
	my %path = map { $_ => path($_) } 1 .. $indexes;
	$node->stop;
	$how{$_} = damage($path{$_}) for 1 .. $indexes;
	$node->start;

	for my $i (1 .. $indexes)
	{
		my @queries = ("SELECT 'fine ' || hamming_index_check('docs${i}_fp', true)",
			searches($i));
		my ($check, @found) = results($index, @queries);

		$damaged++;
		is(scalar @found, $#queries, "the server stays up: $how{$i}");
		$states{$check}++;
		$noticed++ if $check !~ /^fine/;
		ok(!grep({ $_ eq '57014' } $check, @found), "it comes to an end: $how{$i}");
		like($check, qr/^(fine ?|XX00[012])$/, "the check says so: $how{$i}");
		is_deeply(\@found, $right{ $i % @kinds }, "nothing is missed: $how{$i}")
		  if $check =~ /^fine/;
	}
} while (time - $start < $seconds);

diag("$damaged damaged, $noticed noticed: "
	  . join(', ', map { "$_ $states{$_}" } sort keys %states));
cmp_ok($noticed, '>', $damaged / 4, 'much of it is noticed');
unlike(slurp_file($node->logfile), qr/was terminated by signal|PANIC:|TRAP:/,
	'no server process came down');
$node->stop;
done_testing();
