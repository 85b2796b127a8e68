# share/plain.sql on a server without the extension: searches find what a sequential
# scan finds, by plans without one, for whoever may read the table.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $seed = seed();
my $node = new_plain_node('plain', 'plain_owner', 'plain_reader');

sub as_owner { return $node->safe_psql('postgres', $_[0], extra_params => [ '-U', 'plain_owner' ]) }

sub fails
{
	my ($sql, $like, $name, $role) = @_;
	my (undef, undef, $err) = $node->psql('postgres', $sql,
		extra_params => [ '-U', $role // 'plain_owner' ]);

	like($err, $like, $name);
	return;
}

# A schema of that name is there already, in which anybody may make functions: all of
# the file is undone.
$node->safe_psql('postgres', 'CREATE SCHEMA plain; GRANT ALL ON SCHEMA plain TO PUBLIC');
$node->command_ok([ 'psql', '-X', '-q', '-U', 'plain_owner', '-d', $node->connstr('postgres'),
		'-f', 'share/plain.sql' ], 'plain.sql beside a schema of its name');
is($node->safe_psql('postgres', <<'END'), '0', 'which is not used');
SELECT count(*) FROM pg_proc WHERE pronamespace = 'plain'::regnamespace;
DROP SCHEMA plain CASCADE
END

# Another's operators on integers, where pg_catalog has none of exactly their types.
$node->safe_psql('postgres', <<'END');
CREATE SCHEMA hostile;
GRANT USAGE ON SCHEMA hostile TO plain_owner;
DO $$
DECLARE
	o record;
BEGIN
	FOR o IN SELECT * FROM unnest('{&,|,#,<<,>>,+,-,*,/,%,<,<=,>,>=,=}'::text[]) AS op,
		unnest('{smallint,integer,bigint}'::regtype[]) AS l,
		unnest('{smallint,integer,bigint}'::regtype[]) AS r
		WHERE NOT EXISTS (SELECT FROM pg_operator WHERE oprname = op AND oprleft = l AND oprright = r)
	LOOP
		EXECUTE format('CREATE OR REPLACE FUNCTION hostile.f(%1$s, %2$s) RETURNS bigint LANGUAGE plpgsql
			IMMUTABLE AS %4$L; CREATE OPERATOR hostile.%3$s (FUNCTION = hostile.f, LEFTARG = %1$s,
			RIGHTARG = %2$s)', o.l, o.r, o.op, $f$BEGIN RAISE 'hostile'; END$f$);
	END LOOP;
END $$;
ALTER ROLE plain_owner SET search_path = app, hostile;
END

# Random rows, ends of the range, NULLs, and rows at up to 14 bits from others.
$node->command_ok(
	[ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-U', 'plain_owner',
		'-d', $node->connstr('postgres'), '-f', 'share/plain.sql' ],
	'plain.sql by an ordinary role');
as_owner(<<"END");
SET search_path = app;
CREATE TABLE docs ("the id" int PRIMARY KEY, q text, "the fp" bigint);
INSERT INTO docs SELECT n, 'text ' || n, hashint8extended(n, $seed)
FROM generate_series(1, 20000) AS n;
INSERT INTO docs VALUES (0, 'none', NULL), (-1, 'least', -9223372036854775808),
	(-2, 'most', 9223372036854775807), (-3, 'ones', -1), (-4, 'zeros', 0);
CREATE TABLE asked AS SELECT n, (SELECT coalesce("the fp", 7) # coalesce(bit_or(1::bigint
		<< (hashint8extended(n * 20 + i, $seed + 1) & 63)::int), 0)
	FROM generate_series(1, n % 15) AS i) AS q
FROM generate_series(-4, 120) AS n JOIN docs ON "the id" = n;
CREATE TABLE near AS SELECT * FROM (
	SELECT n, "the id", "the fp", length(replace(("the fp" # asked.q)::bit(64)::text, '0', ''))
		AS distance FROM asked, docs) AS s WHERE distance <= 11;
SET search_path = app, hostile;
CALL plain.add_keys('docs', 'the id', 'the fp');
GRANT SELECT ON docs, asked TO plain_reader;
END
$node->safe_psql('postgres', 'VACUUM ANALYZE docs, asked');
is(as_owner('SELECT count(*) FROM docs_near((SELECT 0::bigint), 8)'), '2', 'no operator of others');
$node->safe_psql('postgres', 'ALTER ROLE plain_owner RESET search_path');

for my $k (-1, 0 .. 11)
{
	is(as_owner(<<"END"), '0|t', "the rows within $k");
WITH found AS MATERIALIZED (SELECT n, s.* FROM asked, docs_near(asked.q, $k) AS s),
slowly AS (SELECT * FROM near WHERE distance <= $k)
SELECT (SELECT count(*) FROM ((TABLE found EXCEPT ALL TABLE slowly)
		UNION ALL (TABLE slowly EXCEPT ALL TABLE found)) AS s),
	(SELECT count(*) FROM found) >= ($k + 1) * 6;
END
}
is(as_owner('SELECT count(*) FROM docs_near(NULL, 3)'), '0', 'near NULL');
is(as_owner('SELECT count(*) FROM docs_near(17, NULL)'), '0', 'within NULL');
fails('SELECT * FROM docs_near(17, 12)', qr/distance 12 is more than 11/, 'beyond 11');
is(as_owner(<<'END'), '0', 'keys are those that the columns have');
SELECT count(*) FROM docs WHERE ROW(k0) IS DISTINCT FROM ROW((plain.keys("the fp", 0, 3))[1])
	OR ROW(k1, k2, k3) IS DISTINCT FROM ROW((plain.keys("the fp", 1, 3))[1],
	(plain.keys("the fp", 2, 3))[1], (plain.keys("the fp", 3, 3))[1])
END

# What the planner makes of it: index-only scans, and no call of the function.  A
# function that it calls, for a sub-select as the argument, has these plans inside.
my $prepare = "SET plan_cache_mode = force_generic_plan; PREPARE p (bigint, int) AS";
for my $k (3, 8)
{
	my %plan = (
		constant => "EXPLAIN SELECT * FROM docs_near(17, $k)",
		generic => "$prepare SELECT * FROM docs_near(\$1, \$2); EXPLAIN EXECUTE p(17, $k)",
		join => "EXPLAIN SELECT * FROM docs AS a JOIN docs_near(a.\"the fp\", $k) AS b"
		  . ' ON a."the id" < b.id WHERE a."the id" < 100',
		lateral => "EXPLAIN SELECT * FROM asked, LATERAL (SELECT count(*)"
		  . " FROM docs_near(asked.q, $k) AS n JOIN docs ON \"the id\" = n.id) AS s",
		exists => "EXPLAIN SELECT * FROM docs AS d WHERE \"the id\" < 100 AND EXISTS"
		  . " (SELECT FROM docs_near(d.\"the fp\", $k) AS n WHERE n.id < d.\"the id\")");

	for my $name (sort keys %plan)
	{
		my $plan = as_owner($plan{$name});
		my $scans = () = $plan =~ /Index Only Scan using "docs_k\d/g;

		is($scans, 4, "four index-only scans within $k, $name") or diag($plan);
		unlike($plan, qr/Seq Scan on docs|docs_near/, "no other within $k, $name");
	}
	is(as_owner(<<"END"), "t\n0", "a sub-select within $k");
SELECT count(*) >= 1 FROM docs_near((SELECT q FROM asked WHERE n = 15), $k);
SELECT seq_scan FROM pg_stat_xact_user_tables WHERE relname = 'docs'
END
}

# Whoever may not read the table finds nothing; under row security, the rows that the
# role may see, by the same indexes.
fails('SELECT * FROM docs_near(17)', qr/permission denied for table docs/,
	'a role without rights', 'plain_reader')
  if as_owner('REVOKE ALL ON docs FROM plain_reader; SELECT true');
as_owner(<<'END');
GRANT SELECT ON docs TO plain_reader;
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY texts ON docs FOR SELECT TO plain_reader USING (q LIKE 'text %');
END
$node->safe_psql('postgres', 'ANALYZE docs');
my $reader = [ '-U', 'plain_reader' ];
is($node->safe_psql('postgres', 'SELECT string_agg(id::text, $$ $$) FROM docs_near(-2, 8)',
		extra_params => $reader), '', 'row security hides rows');
is(as_owner('SELECT string_agg(id::text, $$ $$ ORDER BY id) FROM docs_near(-2, 8)'), '-3 -2',
	'which are there');
my $plan = $node->safe_psql('postgres', 'EXPLAIN SELECT * FROM docs_near(17, 8)',
	extra_params => $reader);
unlike($plan, qr/Seq Scan/, 'keys serve under row security') or diag($plan);
is($node->safe_psql('postgres', <<'END', extra_params => $reader), "t\n0", 'and so in a join');
SELECT count(*) > 50 FROM asked, docs_near((SELECT asked.q), 8);
SELECT seq_scan FROM pg_stat_xact_user_tables WHERE relname = 'docs'
END

# A search is bound to the table, the columns and the functions, whatever their names.
as_owner(<<'END');
ALTER TABLE docs RENAME TO papers;
ALTER TABLE papers RENAME "the fp" TO print;
ALTER TABLE papers RENAME k0 TO first;
CREATE TABLE docs (LIKE papers);
END
is(as_owner('SELECT id, fp, distance FROM docs_near(-2, 1)'), '-3|-1|1', 'all renamed');

$node->stop;
done_testing();
