# INSERT ... ON CONFLICT under a guard with the action 'conflict': six clients insert
# texts of some families, at READ COMMITTED and at REPEATABLE READ, while none, or
# another one, deletes and edits rows.  Each insert has an answer, the key of a row;
# it is new once; what has been found has been counted; no two rows are near.
#
# SIMHASH_SEED repeats what is drawn, SIMHASH_ROUNDS sets the number of rows.

use strict;
use warnings;

use IPC::Run qw(start);
use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $seed = seed();
my $rows = rounds(600, 5000);
my $node = new_node('door', "deadlock_timeout = 50ms\n");
my $dir = PostgreSQL::Test::Utils::tempdir;

sub sql { return $node->safe_psql('postgres', @_); }

# One insert, whose answer is noted.
my $insert = <<'END';
\set family random(1, 400)
\set form random(1, 4)
BEGIN ISOLATION LEVEL :level;
WITH a AS (INSERT INTO docs (body) VALUES (words(:family, :form))
    ON CONFLICT (id) DO UPDATE SET seen = docs.seen + 1 RETURNING id, seen, fp)
INSERT INTO answers SELECT :client_id, :family, id, seen = 1, fp ~= minhash(words(:family, :form)) FROM a;
END;
END
my $trouble = "SELECT trouble();\n";
append_to_file("$dir/insert", $insert);
append_to_file("$dir/trouble", $trouble);

sub bench
{
	my ($out, @options) = @_;

	return start(
		[ 'pgbench', '-n', '-h', $node->host, '-p', $node->port, '--max-tries=10000',
			"--random-seed=$seed", @options, 'postgres' ], '<', \undef, '>', $out, '2>&1');
}

for my $level ('READ COMMITTED', 'REPEATABLE READ')
{
	for my $verified ('', ", 'similarity=alike'")
	{
		my $also = $verified && 'AND simhash_alike(a.body, b.body)';

		for my $with ('', ' with deletes and updates')
		{
			my $what = lc($level) . ($verified && ', verified') . $with;
			my $each = int($rows / 6);
			my ($out, $more, $other) = ('', '');

			sql(<<"END");
DROP TABLE IF EXISTS docs, answers, troubles;
CREATE OR REPLACE FUNCTION words(family int, form int) RETURNS text LANGUAGE sql IMMUTABLE AS \$\$
SELECT string_agg(md5(family || '.' || i), ' ') || CASE WHEN form > 2 THEN ' and ' || (ARRAY['', '', 'one more', 'then no more'])[form] ELSE repeat('!', form) END
FROM generate_series(1, 60) AS i \$\$;
CREATE TABLE docs (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text, seen int DEFAULT 1,
	fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
CREATE INDEX ON docs USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON docs
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'conflict', '3'$verified);
CREATE TABLE answers (client int, family int, id bigint, is_new boolean, near boolean);
CREATE TABLE troubles (what text, n bigint);
CREATE OR REPLACE FUNCTION trouble() RETURNS void LANGUAGE plpgsql AS \$\$
DECLARE
	place int := random() * 99;
	n bigint;
BEGIN
	DELETE FROM docs WHERE id = (SELECT id FROM docs OFFSET place LIMIT 1);
	GET DIAGNOSTICS n = ROW_COUNT;
	INSERT INTO troubles VALUES ('deleted', n);
	UPDATE docs SET body = words((random() * 400)::int, 1) WHERE id = (SELECT id FROM docs OFFSET place LIMIT 1);
	GET DIAGNOSTICS n = ROW_COUNT;
	INSERT INTO troubles VALUES ('changed', n);
EXCEPTION WHEN exclusion_violation THEN
	INSERT INTO troubles VALUES ('refused', 1);
END \$\$;
END
			$other = bench(\$more, '-c', '1', '-T', '60', '-f', "$dir/trouble") if $with;
			my $run = bench(\$out, '-c', '6', '-j', '2', '-t', $each, '-D', "level=$level",
				'-f', "$dir/insert");
			ok($run->finish, "$what: no client fails") or diag($out);
			$other->kill_kill if $with;
			my ($retried) = $out =~ /number of transactions retried: (\d+)/;
			note("$what: " . sql('SELECT count(*) FROM docs') . ' rows, transactions tried again: '
				  . ($retried // 'none'));
			is(sql('SELECT count(*) FROM answers'), 6 * $each, "$what: every insert has an answer");
			is(sql("SELECT count(*) FROM docs AS a JOIN docs AS b ON b.fp ~= a.fp AND b.id > a.id $also"),
				'0', "$what: no two rows are near");
			is(sql('SELECT count(*) FROM answers WHERE NOT near'), '0',
				"$what: each answer is a row that is near");
			if ($with)
			{
				my $troubles = sql("SELECT string_agg(format('%s %s', what, n), ', ' ORDER BY what)
					FROM (SELECT what, sum(n) AS n FROM troubles GROUP BY what) AS t");

				note("$what: rows $troubles");
				like($troubles, qr/changed [1-9].*deleted [1-9].*refused [1-9]/, "$what: which are many");
				next;
			}
			is(sql("SELECT count(*) FROM (SELECT id FROM answers GROUP BY id
					HAVING count(*) FILTER (WHERE is_new) <> 1 OR count(DISTINCT family) > 1) AS a"),
				'0', "$what: each row was new once, and found for its own family");
			is(sql("SELECT count(*) FROM docs AS d
					WHERE seen <> (SELECT count(*) FROM answers WHERE id = d.id)"),
				'0', "$what: it was counted each time");
		}
	}
}

$node->stop;
done_testing();
