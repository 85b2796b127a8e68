# Guarded partitions under updates, MERGE and ON CONFLICT that move rows, with
# rows near each other since before the guard, beside a model that compares by
# brute force: no row is lost, none is refused or left where it was that changes
# nothing which is compared, and what changes is judged once.
# SIMHASH_SEED repeats a run; SIMHASH_ROUNDS is how many operations there are.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $seed = seed();
my $operations = rounds(300, 1000);
my $batch = 500;

my $node = new_node('moved');

$node->safe_psql('postgres', <<'END');
CREATE TABLE m (part int, id int, fp bigint, site int, twin text,
    PRIMARY KEY (part, id)) PARTITION BY LIST (part);
CREATE TABLE m0 PARTITION OF m FOR VALUES IN (0);
CREATE TABLE m1 PARTITION OF m FOR VALUES IN (1) PARTITION BY RANGE (id);
CREATE TABLE m1a PARTITION OF m1 FOR VALUES FROM (0) TO (20);
CREATE TABLE m1b PARTITION OF m1 FOR VALUES FROM (20) TO (1000000);
CREATE TABLE m2 (id int NOT NULL, gone text, twin text, fp bigint, site int,
    part int NOT NULL);
ALTER TABLE m2 DROP COLUMN gone;
ALTER TABLE m ATTACH PARTITION m2 FOR VALUES IN (2);
CREATE INDEX ON m USING hamming (fp);

-- a fingerprint of few values, so that many are near, and now and then none
CREATE FUNCTION some_fp() RETURNS bigint LANGUAGE sql AS
$$ SELECT CASE WHEN random() < .95 THEN (random() * 1023)::bigint * 1048577 END $$;
-- the nearest other row, by brute force
CREATE FUNCTION nearest(q bigint, its_site int, self int) RETURNS int LANGUAGE sql AS
$$ SELECT min(hamming(fp, q)) FROM m WHERE id <> self AND site = its_site
   AND hamming(fp, q) <= 3 $$;

CREATE TABLE before AS SELECT * FROM m;
CREATE FUNCTION run(action text, first int, last int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    kind int; victim m; new m; near int; number int; how int; merged int := 0; moves int := 0;
    refused boolean; other int; judged int := 0;
BEGIN
    FOR n IN first .. last LOOP
        DELETE FROM before;
        INSERT INTO before SELECT * FROM m;
        kind := floor(random() * 9);
        SELECT * INTO victim FROM m ORDER BY random() LIMIT 1;
        new := victim;
        refused := false;
        IF kind = 0 OR victim IS NULL OR (SELECT count(*) FROM m) < 8 THEN
            -- rows from before the guard
            SET LOCAL session_replication_role = replica;
            INSERT INTO m SELECT floor(random() * 3), n * 10 + i, some_fp(), floor(random() * 2)
            FROM generate_series(0, 2) AS i;
            SET LOCAL session_replication_role = origin;
            CONTINUE;
        ELSIF kind = 1 THEN
            DELETE FROM m WHERE id IN (SELECT id FROM m ORDER BY random() LIMIT 4)
            AND (SELECT count(*) FROM m) > 30;
            CONTINUE;
        ELSIF kind IN (2, 3) THEN
            -- many rows move, and nothing compared changes
            how := floor(random() * 3);
            BEGIN
                IF kind = 2 THEN
                    UPDATE m SET part = how WHERE id % 2 = n % 2;
                ELSE
                    MERGE INTO m USING (SELECT id FROM before WHERE id % 2 = n % 2
                        UNION ALL SELECT n * 10 + 5) AS s ON m.id = s.id
                    WHEN MATCHED THEN UPDATE SET part = how
                    WHEN NOT MATCHED THEN INSERT (part, id, fp, site)
                        VALUES (how, s.id, (1::bigint << 62) - n, 77);
                    merged := merged + 1;
                END IF;
            EXCEPTION WHEN OTHERS THEN
                RETURN NEXT format('%s %s: moving alone ended in: %s', n, kind, SQLERRM);
            END;
            SELECT count(*) INTO number FROM before LEFT JOIN m USING (id)
            WHERE m.id IS NULL OR (m.fp, m.site, m.twin) IS DISTINCT FROM
                (before.fp, before.site, before.twin)
                OR m.part <> CASE WHEN id % 2 = n % 2 THEN how ELSE before.part END;
            IF number > 0 THEN
                RETURN NEXT format('%s %s: %s rows are not what they were', n, kind, number);
            END IF;
            IF kind = 3 AND NOT EXISTS (SELECT FROM m WHERE id = n * 10 + 5) THEN
                RETURN NEXT format('%s: the row that MERGE inserts is missing', n);
            END IF;
            DELETE FROM m WHERE site = 77;
            moves := moves + 1;
            CONTINUE;
        ELSIF kind IN (4, 5, 6) THEN
            -- one row changes, and perhaps moves
            IF random() < .7 THEN new.fp := some_fp(); END IF;
            IF random() < .3 THEN new.site := floor(random() * 2); END IF;
            IF random() < .7 THEN new.part := floor(random() * 3); END IF;
            BEGIN
                IF kind = 6 THEN
                    MERGE INTO m USING (SELECT victim.id) AS s ON m.id = s.id
                    WHEN MATCHED THEN UPDATE SET part = new.part, fp = new.fp, site = new.site;
                ELSE
                    UPDATE m SET part = new.part, fp = new.fp, site = new.site
                    WHERE id = victim.id;
                END IF;
            EXCEPTION WHEN SQLSTATE '23P01' THEN refused := true;
            END;
            near := CASE WHEN (new.fp, new.site) IS DISTINCT FROM (victim.fp, victim.site)
                THEN nearest(new.fp, new.site, victim.id) END;
        ELSIF kind = 7 THEN
            -- one row arrives
            new := (floor(random() * 3), n * 10, some_fp(), floor(random() * 2), NULL);
            near := nearest(new.fp, new.site, new.id);
            BEGIN
                INSERT INTO m (part, id, fp, site) VALUES (new.part, new.id, new.fp, new.site);
            EXCEPTION WHEN SQLSTATE '23P01' THEN refused := true;
            END;
            victim := NULL;
        ELSE
            -- a row is updated in its place, and one like it inserted, at once
            new := (victim.part, n * 10, victim.fp, victim.site, NULL);
            near := nearest(new.fp, new.site, new.id);
            BEGIN
                INSERT INTO m (part, id, fp, site)
                VALUES (victim.part, victim.id, victim.fp, victim.site),
                    (new.part, new.id, new.fp, new.site)
                ON CONFLICT (part, id) DO UPDATE SET twin = m.twin;
            EXCEPTION WHEN SQLSTATE '23P01' THEN refused := true;
            END;
            victim := NULL;
        END IF;

        -- the one row that changed, by its model; all others as they were
        judged := judged + 1;
        SELECT count(*) INTO number FROM before LEFT JOIN m USING (id)
        WHERE id <> new.id AND (m.id IS NULL OR (m.part, m.fp, m.site, m.twin)
            IS DISTINCT FROM (before.part, before.fp, before.site, before.twin));
        IF number > 0 THEN
            RETURN NEXT format('%s %s: %s other rows are not what they were', n, kind, number);
        END IF;
        IF refused AND action <> 'reject' THEN
            RETURN NEXT format('%s %s: refused by %s', n, kind, action);
        END IF;
        IF action <> 'mark' AND near IS NOT NULL THEN
            IF action = 'reject' AND NOT refused THEN
                RETURN NEXT format('%s %s: let in at %s', n, kind, near);
            END IF;
            new := victim;
        ELSIF refused AND kind <> 8 THEN
            RETURN NEXT format('%s %s: refused, though near none', n, kind);
        END IF;
        -- an INSERT ... ON CONFLICT of a row near others is refused for them
        IF kind = 8 AND action <> 'mark' THEN
            CONTINUE;
        END IF;
        SELECT count(*) INTO number FROM m
        WHERE id = new.id AND (part, fp, site) IS NOT DISTINCT FROM (new.part, new.fp, new.site);
        IF number <> (new.id IS NOT NULL)::int THEN
            RETURN NEXT format('%s %s: the row is not what it was to be, near %s', n, kind, near);
        END IF;
        IF action = 'mark' AND kind = 7 AND (near IS NULL) <>
            ((SELECT twin FROM m WHERE id = new.id) IS NULL) THEN
            RETURN NEXT format('%s: marked wrongly, near %s', n, near);
        END IF;
    END LOOP;
    IF judged = 0 OR moves = 0 OR merged = 0 THEN
        RETURN NEXT 'not all kinds were tried';
    END IF;
END $$;
END

for my $action ('skip', 'reject', 'mark')
{
	my $option = $action eq 'mark' ? ", 'mark=twin'" : '';
	my $faults = '';

	$node->safe_psql('postgres', <<"END");
SET client_min_messages = warning;
TRUNCATE m;
DROP TRIGGER IF EXISTS guard ON m;
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON m
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', '$action', '3', 'within=site'$option);
END
	for (my $first = 1; $first <= $operations && $faults eq ''; $first += $batch)
	{
		my $last = $first + $batch - 1;

		# A vacuum in between, or every search meets all that was deleted.
		$faults = $node->safe_psql('postgres', <<"END");
\\o /dev/null
SELECT setseed((($seed + $first) % 1000003) / 1000003.0);
\\o
SELECT * FROM run('$action', $first, $last) LIMIT 10;
VACUUM m, before;
END
	}
	is($faults, '', "$operations operations under $action");
	$node->safe_psql('postgres',
		"SELECT hamming_index_check(indexrelid, heapallindexed => true)
		FROM pg_index AS i JOIN pg_class AS c ON c.oid = indexrelid
		WHERE c.relkind = 'i' AND relam = (SELECT oid FROM pg_am WHERE amname = 'hamming')");
}

$node->stop;
done_testing();
