# The hamming index where recovery ends between two records of the btree's.
#
# Some changes of a tree take several records of the log: the split of a page
# is followed by the downlink to its new half, that of the root by a new root,
# and the deletion of a page has two steps.  A server that crashes in between
# leaves the tree as the first record made it, for good or until some insertion
# or vacuum finishes the work.  Here recovery is told to end right after such
# records, of each kind the last one and one at random; what the index then
# answers has to be right during recovery, after promotion, and after more
# rows have come.
#
# SIMHASH_SEED repeats a run; with SIMHASH_SECONDS it goes on for so long with
# records at random.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;
use Time::HiRes qw(time);

my $seed = seed();
my $seconds = seconds(0);

my $primary = new_node('primary', <<'END', has_archiving => 1, allows_streaming => 1);
autovacuum = off
statement_timeout = 20s
END

# "small" has a leaf page as root, "large" an inner page that is nearly full.
my @tables = qw(small large pairs);
my $fp = "hashint8extended(n, $seed)";
$primary->safe_psql('postgres', <<"END");
CREATE TABLE small (id int, fp bigint, EXCLUDE USING hamming (fp WITH ~=));
CREATE TABLE large (id int, fp bigint);
INSERT INTO large SELECT n, $fp FROM generate_series(1, 22000) AS n;
ALTER TABLE large ADD EXCLUDE USING hamming (fp WITH ~=);
CREATE TABLE pairs (id int, fp bit(128));
CREATE INDEX pairs_fp_excl ON pairs USING hamming (fp);
END
$primary->backup('base');
my $start = $primary->lsn('insert');

# The trees grow, and shrink to almost nothing.
$primary->safe_psql('postgres', $_)
  for (
	(map { "INSERT INTO small SELECT n, $fp FROM generate_series($_, $_ + 9) AS n" }
		map { $_ * 10 } 1 .. 14),
	(map { "INSERT INTO large SELECT n, $fp FROM generate_series($_, $_ + 499) AS n" }
		map { 40000 + $_ * 500 } 1 .. 12),
	(map { "INSERT INTO pairs SELECT n, ($fp ::bit(64) || hashint8extended(n, 1)::bit(64))::bit(128)
		FROM generate_series($_, $_ + 5) AS n" }
		map { $_ * 6 } 1 .. 10),
	'DELETE FROM large WHERE fp < 7e18',
	'VACUUM large', 'VACUUM large');
my $end = $primary->lsn('insert');
my %file = map {
	my $path = $primary->safe_psql('postgres',
		"SELECT pg_relation_filepath('${_}_fp_excl')");
	$path =~ s{^base/}{}r => $_
} @tables;
$primary->safe_psql('postgres', 'SELECT pg_switch_wal()');
$primary->stop;

# The btree's records of our indexes: where, what, of which table and block.
my @records;
my ($log) = run_command(
	[ 'pg_waldump', '-p', $primary->archive_dir, '-r', 'Btree',
		'-s', $start, '-e', $end ]);
for (split(/\n/, $log))
{
	next unless m{lsn: (\S+), .* desc: (\w+)(.*?), blkref #0: rel \d+/(\d+/\d+) };
	my ($lsn, $what, $table) = ($1, $2, $file{$4});

	$what .= " of level $1" if $3 =~ /\blev(?:el)?:? (\d+)/;
	push @records, { lsn => $lsn, what => $what, table => $table }
	  if defined $table;
}

# A split of the root is what comes before a new root.
for my $i (1 .. $#records)
{
	next unless $records[$i]{what} =~ /^NEWROOT/;
	my ($split) = grep {
		$_->{table} eq $records[$i]{table} && $_->{what} =~ /^SPLIT/
	} reverse @records[ 0 .. $i - 1 ];
	$split->{what} =~ s/^SPLIT_./split of the root/ if $split;
}

my %seen;
$seen{"$_->{what}, $_->{table}"}++ for @records;
note("$seen{$_} $_") for sort keys %seen;
ok($seen{"split of the root of level $_->[0], $_->[1]"},
	"the root of level $_->[0] of $_->[1] is split")
  for ([ 0, 'small' ], [ 1, 'large' ], [ 0, 'pairs' ]);
ok(scalar(grep { /^$_/ } keys %seen), "$_ happens")
  for qw(SPLIT_L SPLIT_R MARK_PAGE_HALFDEAD UNLINK_PAGE);

my $index = 'SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off;';
my $plain = 'SET enable_indexscan = off; SET enable_bitmapscan = off;';

# Searches of a table, which give its rows in the order of their ids.
sub searches
{
	my ($table) = @_;
	my $wide = $table eq 'pairs';
	my $q = $wide ? '(SELECT fp FROM pairs ORDER BY id LIMIT 1)' : 'q';
	my $near = $wide ? '<~~>' : '<~>';
	my $within = join(' UNION ALL ', map {
			my $what = $_;
			"SELECT k, count(*), sum(id) FROM generate_series(0, 24, 8) AS k,
			(SELECT hashint8extended(n, $seed) AS q
			FROM generate_series(10, 46000, 5000) AS n) AS q,
			LATERAL (SELECT id FROM $table WHERE $what) AS d GROUP BY k"
		} "fp <@ ($q, k::int)", $wide ? () : 'fp ~= q');

	return ("SELECT * FROM ($within) AS s ORDER BY 1, 2",
		"SELECT string_agg(d::text, ' ' ORDER BY d) FROM (SELECT fp $near $q AS d
			FROM $table, (SELECT hashint8extended(77, $seed) AS q) AS q
			ORDER BY fp $near $q LIMIT 30) AS s");
}

# What a query gives, or how it fails.
sub answer
{
	my ($node, $query) = @_;
	my ($code, $out, $err) = $node->psql('postgres', $query);

	return $out . $err;
}

# Do the index's answers agree with the table's?
sub agree
{
	my ($node, $table, $name) = @_;

	my ($check, @found) = answers($node, "SELECT hamming_index_check('${table}_fp_excl', true)",
		map { ("$index $_", "$plain $_") } searches($table));

	is($check, '', "$name: the index agrees with its table");
	while (my ($by_index, $by_table) = splice(@found, 0, 2))
	{
		is($by_index, $by_table, "$name: what a search finds");
	}
}

# Recovery up to a record, then promotion.
my $stops = 0;

sub stop_after
{
	my ($record) = @_;
	my $node = PostgreSQL::Test::Cluster->new('stop' . ++$stops);
	my $table = $record->{table};
	my $name = "after $record->{what} of $table at $record->{lsn}";

	$node->init_from_backup($primary, 'base', has_restoring => 1, standby => 0);
	$node->append_conf('postgresql.conf', <<"END");
archive_mode = off
recovery_target_lsn = '$record->{lsn}'
recovery_target_inclusive = on
recovery_target_action = pause
recovery_target_timeline = current
END
	$node->start;
	$node->poll_query_until('postgres',
		"SELECT pg_get_wal_replay_pause_state() = 'paused'");
	agree($node, $table, "$name, in recovery");
	$node->safe_psql('postgres', 'SELECT pg_wal_replay_resume()');
	$node->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()');
	agree($node, $table, "$name, promoted");

	# What the constraint forbids, and more rows, which finish the split.
	my $own = "SELECT -id, fp FROM $table ORDER BY id LIMIT 50";
	is(answer($node, "INSERT INTO $table $own ON CONFLICT DO NOTHING RETURNING id"),
		'', "$name: the constraint holds")
	  if $table ne 'pairs';
	is(answer($node, $table eq 'pairs' ? "INSERT INTO pairs $own" :
			"INSERT INTO $table SELECT n, $fp FROM generate_series(70001, 71000) AS n"),
		'', "$name: more rows");
	agree($node, $table, "$name, with more rows");
	$node->safe_psql('postgres', "DELETE FROM $table WHERE id % 3 > 0; VACUUM $table");
	agree($node, $table, "$name, vacuumed");
	$node->clean_node;
}

# The rare ones first.
my @roots = grep { $_->{what} =~ /of the root/ } @records;
my @others = map {
	my $kind = $_;
	my @all = grep { "$_->{what}, $_->{table}" =~ /^$kind/ } @records;
	$all[ rand @all ]
} 'SPLIT_. of level 0, large', 'MARK_PAGE_HALFDEAD', 'UNLINK_PAGE';

my $begin = time;
stop_after($_) for @roots, @others;
stop_after($records[ rand @records ]) while time - $begin < $seconds;
diag("recovery ended after $stops records") if $seconds;
done_testing();
