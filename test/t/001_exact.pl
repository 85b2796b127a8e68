# Key columns find exactly what a sequential scan finds.
#
# 100,000 fingerprints, random, in clusters and in hostile shapes; searches at
# every radius from 0 to 8, as constants, as parameters of a generic plan and
# as a join, by plain indexes and by covering ones.  The plan of each is
# checked too, so that nothing is compared with itself.  SIMHASH_SEED repeats a run.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $seed = seed();

my $node = new_node('exact');

# Half are random; a quarter lies within 12 bits of one of 500 centers; an
# eighth uses the low 32 bits alone, an eighth shares the key of block 1.
$node->safe_psql('postgres', <<"END");
CREATE FUNCTION flip(seed bigint, bits int) RETURNS bigint LANGUAGE sql
IMMUTABLE AS
\$\$ SELECT coalesce(bit_or(1::bigint << (hashint8extended(i, seed) & 63)::int), 0)
   FROM generate_series(1, bits) AS i \$\$;
CREATE TABLE docs AS
SELECT n AS id, CASE
    WHEN n % 8 < 4 THEN hashint8extended(n, $seed)
    WHEN n % 8 < 6 THEN hashint8extended(n % 500, $seed)
                        # flip(hashint8extended(n, ${seed}::bigint + 1), n % 13)
    WHEN n % 8 < 7 THEN hashint8extended(n, $seed) & 4294967295
    ELSE hashint8extended(n, $seed) & ~(65535::bigint << 32) | 7::bigint << 32
    END AS fp
FROM generate_series(1, 100000) AS n;
CREATE TABLE queries AS
SELECT id, fp # flip(id + ${seed}::bigint, id % 5) AS q
FROM docs WHERE id % 4000 < 8 AND id < 50000;
ANALYZE queries;
END

# What a sequential scan finds: for each radius the number of pairs, and a sum
# that tells which they are.
my $summary = 'count(*), sum(hashint8extended(d.id, q.id))';
my %truth;
for (split /\n/, $node->safe_psql('postgres', <<"END"))
SELECT k, sum(pairs), sum(which) FROM generate_series(0, 8) AS k, (
    SELECT hamming(d.fp, q.q) AS distance, count(*) AS pairs,
        sum(hashint8extended(d.id, q.id)) AS which
    FROM queries q, docs d GROUP BY 1) AS s
WHERE distance <= k GROUP BY k
END
{
	my ($k, $result) = /^(\d+)\|(.*)$/;
	$truth{$k} = $result;
}
is(scalar(keys %truth), 9, 'truth at each radius');

sub check
{
	my ($name, $settings, $query, $expected, $plan) = @_;

	like($node->safe_psql('postgres', "$settings EXPLAIN $query"),
		$plan, "$name: plan");
	is($node->safe_psql('postgres', "$settings $query"),
		$expected, "$name: rows");
}

for my $covering ('false', 'true')
{
	$node->safe_psql('postgres', <<"END");
SELECT simhash_add_keys('docs', 'fp', covering => $covering);
VACUUM ANALYZE docs;
END
	my $uses_keys = $covering eq 'true'
	  ? qr/Custom Scan.*Filter: .*(?:~=|<@|@>).*docs_k0_fp_idx/s
	  : qr/Filter: .*(?:~=|<@|@>).*BitmapOr.*docs_k0_idx/s;

	for my $k (0 .. 8)
	{
		# A radius of 0 needs one index, without a BitmapOr.
		my $plan = $k ? $uses_keys : qr/Filter: .*(?:<@|@>).*docs_k0_(?:fp_)?idx/s;

		check("join at $k", 'SET enable_seqscan = off;', <<"END", $truth{$k}, $plan);
SELECT $summary FROM queries q JOIN docs d ON d.fp <@ (q.q, $k)
END
		check("lateral at $k", 'SET enable_seqscan = off;', <<"END", $truth{$k}, $plan);
SELECT $summary FROM queries q,
    LATERAL (SELECT id FROM docs WHERE hamming_ball(q.q, $k) @> fp OFFSET 0) AS d
END

		# Constants and parameters: one search after another.
		for my $mode ('constant', 'generic')
		{
			my $prepare = $mode eq 'constant' ? '' : <<"END";
SET plan_cache_mode = force_generic_plan;
PREPARE search(bigint, int) AS SELECT id FROM docs WHERE fp <@ (\$1, \$2);
END
			my $search = $mode eq 'constant'
			  ? "'SELECT id FROM docs WHERE fp <@ (' || q || ', $k)'"
			  : "'EXECUTE search(' || q || ', $k)'";
			my $sql = <<"END";
SET enable_seqscan = off;
$prepare
CREATE TEMP TABLE found (qid int, id int);
DO \$\$
DECLARE
    one record;
    line text;
    hit int;
    uses boolean := false;
BEGIN
    FOR one IN SELECT id, $search AS search FROM queries LOOP
        FOR line IN EXECUTE 'EXPLAIN ' || one.search LOOP
            uses := uses OR line LIKE '%docs_k0_%idx%';
        END LOOP;
        FOR hit IN EXECUTE one.search LOOP
            INSERT INTO found VALUES (one.id, hit);
        END LOOP;
    END LOOP;
    IF NOT uses THEN RAISE 'keys not used'; END IF;
END \$\$;
SELECT count(*), sum(hashint8extended(id, qid)) FROM found;
END
			is($node->safe_psql('postgres', $sql),
				$truth{$k}, "$mode at $k: rows");
		}
	}

	check('~= join', 'SET enable_seqscan = off;',
		"SELECT $summary FROM queries q JOIN docs d ON q.q ~= d.fp",
		$truth{3}, $uses_keys);
	check('partial parallel', <<"END", "SELECT count(*) FROM docs WHERE fp ~= 42",
SET enable_seqscan = off; SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
END
		$node->safe_psql('postgres',
			'SELECT count(*) FROM docs WHERE hamming(fp, 42) <= 3'),
		qr/docs_k0_(?:fp_)?idx/);

	# The same for a radius that is only known when the query runs, up to 64.
	for my $k (9, 12, 15, 20, 63, 64)
	{
		is( $node->safe_psql('postgres', <<"END"),
SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan;
PREPARE search(bigint, int) AS SELECT count(*), sum(id) FROM docs
WHERE fp <@ (\$1, \$2);
EXECUTE search(42, $k);
END
			$node->safe_psql('postgres',
				"SELECT count(*), sum(id) FROM docs WHERE hamming(fp, 42) <= $k"),
			"parameter at $k: rows");
	}
	$node->safe_psql('postgres', "SELECT simhash_drop_keys('docs')");
}

$node->stop;
done_testing();
