# Marks beneath sessions at random: they insert rows near those of others, alone and by
# fours, edit originals, delete, roll back, at every isolation level.  At the end no mark
# leads to a row with a mark, but for an original that an update has made a copy, or one
# whose own mark leads to a row that has gone; and none leads to its own row, or in a
# circle.
#
# SIMHASH_SEED repeats a run; SIMHASH_SECONDS sets how long it lasts.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $seconds = seconds(6);
my $seed = seed();

my $node = new_node('marks', <<'END');
deadlock_timeout = 20ms
log_min_messages = fatal
END
$node->safe_psql('postgres', <<'END');
-- steps away from one of a few fingerprints, so that chains come about
CREATE FUNCTION some_print() RETURNS bigint LANGUAGE sql AS $$
    SELECT hashint8extended((random() * 12)::int8, 7) # ((1::bigint << (random() * 12)::int) - 1) $$;
CREATE FUNCTION act(changes boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    one bigint := (SELECT id FROM docs WHERE id >= random() * (SELECT max(id) FROM docs) ORDER BY id LIMIT 1);
    dice float8 := random();
BEGIN
    IF dice < .5 OR NOT changes THEN
        INSERT INTO docs (fp) SELECT some_print() FROM generate_series(1, CASE WHEN random() < .3 THEN 4 ELSE 1 END);
    ELSIF dice < .7 THEN
        UPDATE docs SET note = note + 1 WHERE id = one;
    ELSIF dice < .9 THEN
        UPDATE docs SET fp = some_print(), moved = true WHERE id = one;
    ELSE
        DELETE FROM docs WHERE id BETWEEN one AND one + 3;
    END IF;
END $$;
CREATE FUNCTION work(seed int, changes boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM setseed(seed / 1e9);
    FOR i IN 1 .. 1 + random() * 2 LOOP
        BEGIN
            PERFORM act(changes);
            IF random() < .15 THEN RAISE SQLSTATE 'UNDO0'; END IF;
        EXCEPTION WHEN SQLSTATE 'UNDO0' THEN NULL;
        END;
    END LOOP;
END $$;
-- widens the gap between the guard and the index
CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF random() < .3 THEN PERFORM pg_sleep(random() * .003); END IF;
    RETURN new;
END $$;
END

my $file = PostgreSQL::Test::Utils::tempdir() . '/marks.sql';
append_to_file($file, drawn_transaction('SELECT work(:seed, :changes);', 3,
		'ROLLBACK;', ('COMMIT;') x 4));

sub count_rows
{
	return $node->safe_psql('postgres', "SELECT count(*) FROM docs AS d $_[0]");
}

for my $changes ('false', 'true')
{
	$node->safe_psql('postgres', <<'END');
DROP TABLE IF EXISTS docs;
CREATE TABLE docs (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, fp bigint, twin bigint,
    note int NOT NULL DEFAULT 0, moved boolean NOT NULL DEFAULT false);
CREATE INDEX ON docs USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON docs FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'mark', '3', 'mark=twin');
CREATE TRIGGER later BEFORE INSERT OR UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION pause();
INSERT INTO docs (fp) SELECT some_print() FROM generate_series(1, 20);
END
	my ($out, $err) = ('', '');
	my $ok = run_log([
			'pgbench', '--no-vacuum', '--client=8', '--time=' . int($seconds / 2),
			'--max-tries=1000', "--define=changes=$changes", "--random-seed=$seed",
			"--file=$file", $node->connstr('postgres') ],
		'>', \$out, '2>', \$err);
	$out =~ /actually processed: (\d+)/;
	my $done = $1 // 0;
	ok($ok && $done > 20, "$done transactions") or diag("$out\n$err");

	is(count_rows('JOIN docs AS e ON e.id < d.id AND hamming(d.fp, e.fp) <= 3
		WHERE d.twin IS NULL AND e.twin IS NULL'), '0', 'of two near rows one has a mark');
	is(count_rows('JOIN docs AS o ON o.id = d.twin JOIN docs AS x ON x.id = o.twin
		WHERE NOT o.moved'), '0', 'no mark leads to a row with a mark');
	is(count_rows('WHERE twin = id'), '0', 'none leads to its own row');
	is($node->safe_psql('postgres', <<'END'), '0', 'none in a circle');
WITH RECURSIVE walk AS (
    SELECT id, twin, 1 AS steps FROM docs WHERE twin IS NOT NULL
    UNION
    SELECT w.id, o.twin, steps + 1 FROM walk AS w JOIN docs AS o ON o.id = w.twin
    WHERE o.twin IS NOT NULL AND steps < 100)
SELECT count(*) FROM walk WHERE steps = 100
END
	note count_rows('WHERE true') . ' rows, ' . count_rows('WHERE twin IS NOT NULL') . ' marked';
}

$node->stop;
done_testing();
