# The hamming index finds exactly what a sequential scan finds.
#
# 60,000 fingerprints: random, in clusters, and in hostile shapes; in an index
# that was built, one that grew by insertion and lived through deletions and
# vacuum, and one that is both partial and on an expression.  Every radius from
# 0 to 16 and some beyond, as constants, as parameters of a join, by index and
# by bitmap scans; nearest neighbours, few and all; and 120,000 fingerprints in
# crowds.  The plans are checked too, so that nothing is compared with itself.
# SIMHASH_SEED repeats a run.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $seed = seed();

my $node = new_node('hamming', <<'END');
autovacuum = off
max_parallel_workers_per_gather = 0
END

sub sql { return $node->safe_psql('postgres', $_[0]) }

sql(<<"END");
CREATE FUNCTION flip(seed bigint, bits int) RETURNS bigint LANGUAGE sql
IMMUTABLE AS
\$\$ SELECT coalesce(bit_or(1::bigint << (hashint8extended(i, seed) & 63)::int), 0)
   FROM generate_series(1, bits) AS i \$\$;

-- Half are random, a quarter lies within 16 bits of one of 100 centers, the
-- others use the low 32 bits alone, share a block, or are all the same.
CREATE TABLE docs (id int, fp bigint);
INSERT INTO docs
SELECT n, CASE
    WHEN n % 16 < 8 THEN hashint8extended(n, $seed)
    WHEN n % 16 < 12 THEN hashint8extended(n % 100, $seed)
                          # flip(hashint8extended(n, ${seed}::bigint + 1), n % 17)
    WHEN n % 16 < 13 THEN hashint8extended(n, $seed) & 4294967295
    WHEN n % 16 < 14 THEN hashint8extended(n, $seed) & ~(65535::bigint << 32)
    WHEN n % 16 < 15 THEN 4711
    END
FROM generate_series(1, 30000) AS n;
CREATE INDEX docs_fp ON docs USING hamming (fp);
INSERT INTO docs
SELECT id + 30000, fp # flip(hashint8extended(id, ${seed}::bigint + 2), id % 5) FROM docs;
DELETE FROM docs WHERE id % 5 = 0;
VACUUM docs;
DELETE FROM docs WHERE id % 7 = 0;
INSERT INTO docs
SELECT id + 60000, fp # 1 FROM docs WHERE id % 11 = 0;
VACUUM ANALYZE docs;

CREATE TABLE queries AS
SELECT id, fp # flip(id + ${seed}::bigint, id % 6) AS q FROM docs
WHERE id % 1500 < 2 AND fp IS NOT NULL AND fp <> 4711;
INSERT INTO queries
SELECT -n, hashint8extended(-n, $seed) FROM generate_series(1, 20) AS n;
ANALYZE queries;
END

my $index = 'SET enable_seqscan = off; SET enable_bitmapscan = off;
	SET enable_material = off; SET enable_memoize = off;';
my $bitmap = 'SET enable_seqscan = off; SET enable_indexscan = off;
	SET enable_material = off; SET enable_memoize = off;';
my $plain = 'SET enable_indexscan = off; SET enable_bitmapscan = off;';

# Run a query one way, seeing to it that the plan says so.
sub run_as
{
	my ($way, $pattern, $query) = @_;
	my $plan = sql("$way EXPLAIN (COSTS OFF) $query");

	like($plan, $pattern, 'plan') or diag($query);
	return sql("$way $query");
}

my @radii = (0 .. 16, 20, 28, 40, 64);
my $summary = 'count(*), sum(hashint8extended(d.id, q.id))';

# What is true, for all radii at once.
my %truth;
for (split /\n/, sql(<<"END"))
$plain
SELECT k, sum(pairs), sum(which) FROM unnest('{@{[join ',', @radii]}}'::int[]) AS k, (
	SELECT hamming(d.fp, q.q) AS distance, count(*) AS pairs,
		sum(hashint8extended(d.id, q.id)) AS which
	FROM queries q, docs d GROUP BY 1) AS s
WHERE distance <= k GROUP BY k
END
{
	my ($k, $result) = /^(\d+)\|(.*)$/;
	$truth{$k} = $result;
}

for my $k (@radii)
{
	my $query = "SELECT $summary FROM queries q, docs d WHERE d.fp <@ (q.q, $k)";
	my $truth = $truth{$k} // '0|';

	is(run_as($index, qr/Index Scan using docs_fp/, $query),
		$truth, "index scan within $k");
	is(run_as($bitmap, qr/Bitmap Index Scan on docs_fp/, $query),
		$truth, "bitmap scan within $k");
}
is( run_as($index, qr/Index Scan using docs_fp/,
		"SELECT $summary FROM queries q, docs d WHERE d.fp ~= q.q"),
	$truth{3}, '~=');

# Two conditions, and a condition with an order.
my $both = 'SELECT count(*), sum(id) FROM docs
	WHERE fp <@ (4711, 30) AND fp <@ (4712, 29)';
is( run_as($index, qr/Index Cond: .*AND/, $both),
	sql("$plain $both"), 'two conditions');

# Nearest first: the distances are those of a sort, and the rows are different
# ones.
for my $limit (1, 10, 1000, 'ALL')
{
	my $few = $limit eq 'ALL' ? 'id IN (-1, -2)' : 'true';
	my $query = <<"END";
SELECT q.id, md5(string_agg(s.d::text, ',' ORDER BY s.n)), count(DISTINCT s.id)
FROM (SELECT * FROM queries WHERE $few ORDER BY id LIMIT 40) q,
     LATERAL (SELECT id, d, row_number() OVER () AS n FROM
                (SELECT d.id, d.fp <~> q.q AS d FROM docs d
                 ORDER BY d.fp <~> q.q LIMIT $limit) t) s
GROUP BY q.id ORDER BY q.id
END

	is( run_as("$index SET work_mem = '64kB';", qr/Order By: \(fp <~> /, $query),
		sql("$plain $query"), "nearest $limit");
}
my $within = 'SELECT array_agg(d) FROM (SELECT fp <~> 99 AS d FROM docs
	WHERE fp <@ (4711, 12) ORDER BY fp <~> 99 LIMIT 500) s';
is( run_as($index, qr/Order By: \(fp <~> /, $within),
	sql("$plain $within"), 'nearest within a ball');

# Part of the table, by an expression.
sql('CREATE INDEX docs_part ON docs USING hamming ((fp # 255)) WHERE id > 1000;
	ANALYZE docs');
my $part = 'SELECT count(*), sum(id) FROM docs
	WHERE (fp # 255) <@ (4711, 9) AND id > 1000';
is(run_as($index, qr/using docs_part/, $part),
	sql("$plain $part"), 'expression, partial');

is(sql("SELECT hamming_index_check('docs_fp', true),
	hamming_index_check('docs_part', true)"),
	'|', 'indexes are in order');

# Crowds, which a search goes round: a block that a third of the rows share,
# fingerprints of 32 bits, and a large cluster, which is what is sought.
sql(<<"END");
CREATE TABLE crowds (id int, fp bigint);
INSERT INTO crowds
SELECT n, CASE n % 3
    WHEN 0 THEN hashint8extended(n, $seed) & ~(65535::bigint << 32)
    WHEN 1 THEN hashint8extended(n, $seed) & 4294967295
    WHEN 2 THEN 4711 # flip(hashint8extended(n, $seed), n % 7) END
FROM generate_series(1, 120000) AS n;
CREATE INDEX crowds_fp ON crowds USING hamming (fp);
CREATE TABLE seekers AS
SELECT id, fp # flip(id + ${seed}::bigint, id % 4) AS q FROM crowds WHERE id <= 12;
ANALYZE crowds; ANALYZE seekers;
END
for my $k (0, 1, 2, 3, 4, 5, 8, 12)
{
	my $query = "SELECT $summary FROM seekers q, crowds d WHERE d.fp <@ (q.q, $k)";

	is( run_as($index, qr/Index Scan using crowds_fp/, $query),
		sql("$plain $query"), "crowds within $k");
}
my $nearest = 'SELECT q.id, array_agg(s.d) FROM seekers q, LATERAL
	(SELECT fp <~> q AS d FROM crowds ORDER BY fp <~> q LIMIT 20) s
	GROUP BY q.id ORDER BY q.id';
is( run_as($index, qr/Order By: \(fp <~> /, $nearest),
	sql("$plain $nearest"), 'nearest among crowds');

# More pages than buffers, be the disk asked for several at a time or for one.
$node->adjust_conf('postgresql.conf', 'shared_buffers', '1MB');
$node->restart;
for my $asks (0, 1, 100)
{
	my $way = "$index SET effective_io_concurrency = $asks;";

	for my $k (3, 8, 16)
	{
		my $query = "SELECT $summary FROM queries q, docs d WHERE d.fp <@ (q.q, $k)";

		is(run_as($way, qr/Index Scan using docs_fp/, $query),
			$truth{$k} // '0|', "within $k, asking for $asks");
	}
	is( run_as($way, qr/Order By: \(fp <~> /, $nearest),
		sql("$plain $nearest"), "nearest, asking for $asks");
}

# Pages that are damaged on disk.
my $path = $node->data_dir . '/' . sql("SELECT pg_relation_filepath('docs_fp')");
for my $damage ([ 2 * 8192 + 4000, 64, 'a leaf page' ], [ 8192, 24, 'a header' ],
	[ 24, 8, 'the metapage' ])
{
	my ($at, $length, $what) = @$damage;

	$node->stop;
	open(my $file, '+<:raw', $path) or die "$path: $!";
	sysseek($file, $at, 0);
	sysread($file, my $saved, $length);
	sysseek($file, $at, 0);
	syswrite($file, join('', map { chr(85 + $_ % 7) } 1 .. $length));
	close($file);
	$node->start;
	my ($code, $out, $err) =
	  $node->psql('postgres', "SELECT hamming_index_check('docs_fp', true)");
	isnt($code, 0, "damage to $what is found");
	like($err, qr/(damaged at block|does not agree|invalid page)/, 'and named');
	$node->psql('postgres', "$index SELECT count(*) FROM docs WHERE fp <@ (0, 64)");
	is(sql('SELECT 1'), '1', 'the server is well');

	$node->stop;
	open($file, '+<:raw', $path) or die "$path: $!";
	sysseek($file, $at, 0);
	syswrite($file, $saved);
	close($file);
	$node->start;
}
is(sql("SELECT hamming_index_check('docs_fp', true)"), '', 'restored');

$node->stop;
done_testing();
