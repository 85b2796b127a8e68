# simhash_guard under transactions drawn at random: eight sessions insert,
# update and delete rows of few fingerprints at every isolation level, with
# savepoints, rollbacks and prepared transactions, and attach and detach a
# partition on the way.  Whatever they do, no two unmarked rows within the
# distance are ever committed, nor, with the option "within", two of one group.
# Some rounds have bit strings of 256 bits.
#
# SIMHASH_SEED repeats a run; SIMHASH_SECONDS sets how long it lasts.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use List::Util qw(shuffle);
use Test::More;

# Of all rounds together; a longer run finds more.
my $seconds = seconds(4);
my $seed = seed();

my $node = new_node('stress', <<'END');
deadlock_timeout = 20ms
max_prepared_transactions = 20
log_min_messages = fatal
END
$node->safe_psql('postgres', <<'END');
-- a fingerprint near one of twenty
CREATE FUNCTION some_bigint() RETURNS bigint LANGUAGE sql AS $$
    SELECT CASE WHEN random() < 0.02 THEN NULL
        ELSE hashint8extended((random() * 20)::int8, 7)
            # (1::bigint << (random() * 63)::int) # (1::bigint << (random() * 63)::int)
        END $$;

-- the same of 256 bits
CREATE FUNCTION some_bit() RETURNS bit LANGUAGE sql AS $$
    SELECT CASE WHEN random() < 0.02 THEN NULL
        ELSE (SELECT string_agg(hashint8extended(n, w)::bit(64)::text, '' ORDER BY w)
              FROM generate_series(1, 4) AS w)::bit(256)
            # (SELECT string_agg(CASE WHEN w > 0 AND random() < share THEN '1' ELSE '0' END, '')
               FROM generate_series(1, 256) AS w)::bit(256)
        END
    FROM (SELECT (random() * 20)::int8 AS n, random() * 0.09 AS share OFFSET 0) AS s $$;

-- one of three sites, in any case, or none
DO $$
BEGIN
    CREATE COLLATION of_sites (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
EXCEPTION WHEN feature_not_supported THEN
    CREATE COLLATION of_sites FROM "C";
END $$;
CREATE FUNCTION some_site() RETURNS text LANGUAGE sql AS $$
    SELECT ('{a,A,b,B,c,C,NULL}'::text[])[1 + random() * 6] $$;

-- attach the partition for 2 and insert into it, or detach it and empty it
CREATE FUNCTION move_partition(one int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_inherits WHERE inhrelid = 'docs_2'::regclass) THEN
        ALTER TABLE docs DETACH PARTITION docs_2;
        TRUNCATE docs_2;
    ELSE
        ALTER TABLE docs ATTACH PARTITION docs_2 FOR VALUES IN (2);
        INSERT INTO docs (id, part, fp, site) VALUES (one, 2, some_fp(), some_site());
        UPDATE docs SET part = 2, fp = some_fp() WHERE id = one + 1 AND part = 1;
    END IF;
EXCEPTION
    -- another session was quicker
    WHEN wrong_object_type OR undefined_table OR invalid_object_definition THEN NULL;
END $$;

CREATE FUNCTION act() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    one int := 1 + random() * 60;
    dice float8 := random();
BEGIN
    IF dice < 0.35 THEN
        INSERT INTO docs (id, part, fp, site) VALUES (one, one % 2, some_fp(), some_site())
            ON CONFLICT DO NOTHING;
    ELSIF dice < 0.5 THEN
        INSERT INTO docs (id, part, fp, site) VALUES (one, one % 2, some_fp(), some_site())
            ON CONFLICT (id, part) DO UPDATE SET fp = some_fp();
    ELSIF dice < 0.6 THEN
        INSERT INTO docs (id, part, fp, site)
            SELECT one + n, (one + n) % 2, some_fp(), some_site() FROM generate_series(0, 3) AS n;
    ELSIF dice < 0.7 THEN
        UPDATE docs SET fp = some_fp() WHERE id = one;
    ELSIF dice < 0.75 THEN
        UPDATE docs SET site = some_site() WHERE id = one;
    ELSIF dice < 0.8 THEN
        UPDATE docs SET note = note + 1 WHERE id BETWEEN one AND one + 3;
    ELSIF dice < 0.82 THEN
        UPDATE docs SET id = id + 1 WHERE id = one;
    ELSIF dice < 0.85 THEN
        UPDATE docs SET part = abs(1 - part), fp = some_fp() WHERE id = one;
    ELSIF dice < 0.88 AND to_regclass('docs_2') IS NOT NULL THEN
        PERFORM move_partition(one);
    ELSE
        DELETE FROM docs WHERE id % 5 = one % 5 AND id < 1000;
    END IF;
END $$;

-- some actions, each in a subtransaction, which may be undone
CREATE FUNCTION work(seed int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM setseed(seed / 1e9);
    FOR i IN 1 .. 1 + random() * 3 LOOP
        BEGIN
            PERFORM act();
            IF random() < 0.15 THEN RAISE SQLSTATE 'UNDO0'; END IF;
        EXCEPTION
            WHEN SQLSTATE '23P01' OR SQLSTATE 'UNDO0' OR unique_violation THEN NULL;
        END;
    END LOOP;
END $$;

-- widens the gap between the guard and the index
CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF random() < 0.3 THEN PERFORM pg_sleep(random() * 0.003); END IF;
    RETURN new;
END $$;
END

my $prepare = "PREPARE TRANSACTION 'client:client_id';";
my $script = drawn_transaction('SELECT work(:seed);', 3, 'ROLLBACK;',
	"$prepare\nROLLBACK PREPARED 'client:client_id';",
	"$prepare\nCOMMIT PREPARED 'client:client_id';",
	('COMMIT;') x 3) . "SELECT check_pairs(:k);\n";

# A round: the table made anew, the sessions, what they left.
sub stress
{
	my ($round, $index, $k, $action, $within, $time) = @_;
	my $type = $index =~ s/^bits // ? 'bit' : 'bigint';
	my $width = $type eq 'bit' ? '(256)' : '';
	my $option = $action eq 'mark' ? ", 'mark=twin'" : '';
	my $split = $index eq 'partitions' ? 'PARTITION BY LIST (part)' : '';
	my $grouped = join(' ', map { "AND a.$_ = b.$_" } split(/,/, $within));
	my $name = "$type, $index, $action, $k, within '$within'";
	$option .= ", 'within=$within'" if $within ne '';
	my %make = (
		hamming => 'CREATE INDEX ON docs USING hamming (fp)',
		keys => "PERFORM simhash_add_keys('docs', 'fp')",
		columns => 'CREATE INDEX ON docs USING hamming (site, fp)',
		groups => 'FOR b IN 0 .. 3 LOOP
			EXECUTE format($$CREATE INDEX ON docs (site, simhash_key(fp, %s))$$, b);
			END LOOP',
		partitions => 'CREATE TABLE docs_0 PARTITION OF docs FOR VALUES IN (0);
			CREATE TABLE docs_1 PARTITION OF docs FOR VALUES IN (1);
			CREATE TABLE docs_2 (LIKE docs INCLUDING ALL);
			CREATE INDEX ON docs_2 USING hamming (fp);
			CREATE INDEX ON docs USING hamming (fp)');

	# Others, near nothing, without which an index is one page.
	my $others = $type eq 'bit' ? '' : 'INSERT INTO docs (id, part, fp)
		SELECT 1000 + n, n % 2, hashint8extended(n, 8) FROM generate_series(1, 200) AS n;';

	$node->safe_psql('postgres', <<"END");
DROP TABLE IF EXISTS docs, docs_2;
DROP FUNCTION IF EXISTS some_fp();
CREATE FUNCTION some_fp() RETURNS $type LANGUAGE sql AS 'SELECT some_$type()';
CREATE TABLE docs (id int, part int, fp $type$width, twin text, note int DEFAULT 0,
	site text COLLATE of_sites, PRIMARY KEY (id, part)) $split;
DO \$make\$ BEGIN $make{$index}; END \$make\$;
$others
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON docs
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', '$action', '$k'$option);
CREATE TRIGGER later BEFORE INSERT OR UPDATE ON docs
FOR EACH ROW EXECUTE FUNCTION pause();

-- fails when two rows that are committed ought not to be
CREATE OR REPLACE FUNCTION check_pairs(k int) RETURNS void LANGUAGE plpgsql AS \$\$
DECLARE
    pair record;
BEGIN
    SELECT a.id AS a, b.id AS b INTO pair FROM docs AS a JOIN docs AS b
        ON a.id < b.id AND hamming(a.fp, b.fp) <= k
        AND a.twin IS NULL AND b.twin IS NULL $grouped LIMIT 1;
    IF FOUND THEN RAISE 'rows % and % are near-duplicates', pair.a, pair.b; END IF;
END \$\$;
END
	my ($out, $err) = ('', '');
	my $file = PostgreSQL::Test::Utils::tempdir() . '/stress.sql';
	append_to_file($file, $script);
	my ($ok, $done, $retried) = (1, 0, 0);

	# a slow server needs longer for so many
	for (my $more = 1; $ok && $more && $done <= 20; $done += $more)
	{
		$ok = run_log([
				'pgbench', '--no-vacuum', '--client=8', "--time=$time",
				'--max-tries=1000', "--define=k=$k",
				'--random-seed=' . ($seed + $round + $done),
				"--file=$file", $node->connstr('postgres') ],
			'>', \$out, '2>', \$err);
		$more = $out =~ /actually processed: (\d+)/ ? $1 : 0;
		$retried += $1 if $out =~ /retried: (\d+)/;
	}
	ok($ok && $done > 20, "$name: no pair unmarked, $done transactions")
	  or diag("$out\n$err");
	$node->safe_psql('postgres', "SELECT check_pairs($k)");
	my $rows = $node->safe_psql('postgres', 'SELECT count(*) FROM docs');
	note "$retried retried, $rows rows";
	return;
}

my @rounds = (
	[ 'hamming', 3, 'reject', '' ], [ 'keys', 3, 'mark', '' ],
	[ 'partitions', 3, 'skip', '' ], [ 'hamming', 8, 'mark', '' ],
	[ 'hamming', 12, 'skip', '' ], [ 'keys', 8, 'reject', '' ],
	[ 'hamming', 3, 'reject', 'site' ], [ 'columns', 3, 'skip', 'site' ],
	[ 'columns', 8, 'reject', 'site,part' ], [ 'groups', 3, 'skip', 'site,part' ],
	[ 'partitions', 8, 'reject', 'part,site' ],
	[ 'partitions', 12, 'mark', 'site' ],
	[ 'bits hamming', 31, 'reject', '' ], [ 'bits hamming', 16, 'mark', '' ],
	[ 'bits columns', 31, 'skip', 'site' ], [ 'bits partitions', 31, 'mark', '' ],
	[ 'bits hamming', 64, 'skip', '' ],
	[ 'hamming', 8, 'conflict', '' ], [ 'keys', 3, 'conflict', 'site' ],
	[ 'partitions', 8, 'conflict', 'part,site' ]);

# A run too short for all has some of them, drawn anew each time.
my @drawn = 0 .. $#rounds;
@drawn = (shuffle(@drawn))[ 0 .. $seconds - 1 ] if $seconds < @rounds;
stress($_, @{ $rounds[$_] }, int($seconds / @drawn)) for @drawn;

is($node->safe_psql('postgres',
		"SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"),
	'0', 'no lock is left');

$node->stop;
done_testing();
