# simhash_add_clusters beside writers: four sessions insert, update, delete and
# roll back while clusters are set up, and the call is stopped again and again,
# by a timeout, by the end of its session or by a crash of the server, and then
# made once more; what it has made is renamed and moved meanwhile.  When it has come to its end, and some time later, all is as
# a search of every pair says.
#
# SIMHASH_SEED repeats a run; SIMHASH_SECONDS sets how long it lasts.

use strict;
use warnings;

use IPC::Run ();
use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $seconds = seconds(3);
my $seed = seed();

my $node = new_node('setup', <<'END');
autovacuum_naptime = 1s
deadlock_timeout = 200ms
restart_after_crash = on
log_min_messages = fatal
END
$node->safe_psql('postgres', <<'END');
CREATE SCHEMA aside;

-- a fingerprint near one of a hundred
CREATE FUNCTION some_fp() RETURNS bigint LANGUAGE sql AS $$
    SELECT CASE WHEN random() < 0.02 THEN NULL
        ELSE hashint8extended((random() * 100)::int8, 7)
            # (1::bigint << (random() * 63)::int) # (1::bigint << (random() * 63)::int)
        END $$;

-- what a writer does; where rows only come, what is connected is known
CREATE FUNCTION act(only_insert bool) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    dice float8 := CASE WHEN only_insert THEN 0 ELSE random() END;
BEGIN
    IF dice < 0.4 THEN
        INSERT INTO docs (part, fp) SELECT (random() * 1.9)::int % 2, some_fp()
        FROM generate_series(1, 1 + (random() * 2)::int);
    ELSIF dice < 0.6 THEN
        UPDATE docs SET fp = some_fp() WHERE id = (SELECT max(id) * random() FROM docs)::int;
    ELSIF dice < 0.7 THEN
        UPDATE docs SET part = 1 - part WHERE id = (SELECT max(id) * random() FROM docs)::int;
    ELSIF dice < 0.8 THEN
        UPDATE docs SET note = 'x' WHERE id = (SELECT max(id) * random() FROM docs)::int;
    ELSE
        DELETE FROM docs WHERE id = (SELECT max(id) * random() FROM docs)::int;
    END IF;
END $$;
END

# The faults of a table, as numbers that ought to be 0.
sub faults
{
	my ($kind, $exact, $within) = @_;
	my $group = $within ? 'AND a.part = b.part' : '';

	return $node->safe_psql('postgres', <<"END") if $kind eq 'star';
SELECT count(*) FILTER (WHERE a.cluster IS NULL),
    count(*) FILTER (WHERE NOT EXISTS (SELECT FROM docs_clusters AS b
        WHERE coalesce(b.copy_of, b.cluster) = a.cluster AND hamming(a.fp, b.fp) <= 3 $group)),
    (SELECT count(*) FROM docs_clusters AS a JOIN docs_clusters AS b
        ON coalesce(a.copy_of, a.cluster) < coalesce(b.copy_of, b.cluster)
        AND hamming(a.fp, b.fp) <= 3 $group)
FROM docs AS a WHERE fp IS NOT NULL
END
	my $columns = $within ? 'id, fp, part' : 'id, fp';
	my $other = $exact ? <<"END" : "0";
(SELECT count(*) FROM (SELECT min(id) OVER (PARTITION BY now) AS kept, id FROM d) AS a
    FULL JOIN (SELECT min(id) OVER (PARTITION BY cluster) AS scratch, id
        FROM simhash_clusters('SELECT $columns FROM docs WHERE fp IS NOT NULL', 3, 'connected', min_size => 1)) AS b
    USING (id) WHERE kept IS DISTINCT FROM scratch)
END
	return $node->safe_psql('postgres', <<"END");
WITH d AS MATERIALIZED (SELECT *, simhash_current_cluster('docs', cluster) AS now
    FROM docs WHERE fp IS NOT NULL)
SELECT (SELECT count(*) FROM d WHERE cluster IS NULL),
    (SELECT count(*) FROM d AS a JOIN d AS b ON a.id < b.id AND a.now <> b.now
        AND hamming(a.fp, b.fp) <= 3 $group),
    $other
END
}

my $moves = 0;

# Give what was made so far other names, or a schema; those that it had in the end.
sub move
{
	my ($back) = @_;

	for my $table (split /\n/, $node->safe_psql('postgres', <<'END'))
SELECT c.oid::regclass FROM pg_class AS c
WHERE relname ~ '^docs_clusters(_fill)?( moved)?$' AND relkind = 'r'
END
	{
		my ($suffix, $moved) = $table =~ /docs_clusters(_fill)?( moved)?/;
		my $name = 'docs_clusters' . ($suffix // '');
		my $to = $back || rand() < 0.5 ? 'public' : 'aside';

		next if !$back && rand() < 0.5;
		$node->safe_psql('postgres', "ALTER TABLE $table SET SCHEMA $to");
		$table =~ s/^aside\.//;
		$node->safe_psql('postgres', "ALTER TABLE $to.$table RENAME TO "
			  . ($moved ? $name : qq("$name moved"))) if $moved || !$back;
		$moves++ if !$back;
	}
	return;
}

# Call until the call comes to its end; returns how often it was stopped.
sub set_up
{
	my ($call) = @_;
	my $stopped = 0;

	for (my $patience = 5;; $patience += int(rand(40)))
	{
		my ($code, $out, $err) = $node->psql('postgres',
			"SET application_name = 'the call'; SET statement_timeout = '${patience}ms'; $call");

		if ($code == 0 && $err !~ /ERROR/)
		{
			move(1);
			return $stopped;
		}
		# one that goes off while the call's end commits is told as a request
		die $err if $err !~ /canceling statement/;
		$stopped++;
		move(0) if rand() < 0.3;
		if (rand() < 0.2)
		{
			my $rewrite = rand() < 0.5;

			$node->psql('postgres', 'SET lock_timeout = 1000; VACUUM FULL docs') if $rewrite;
		}
	}
}

my $end = time() + $seconds;
for (my $round = 0; $round < 8 || time() < $end; $round++)
{
	my $kind = $round % 2 ? 'connected' : 'star';
	my $exact = int($round / 2) % 2;
	my $parted = int($round / 4) % 2;
	my $within = rand() < 0.5;
	my $crash = $round % 5 == 3;

	$node->safe_psql('postgres', sprintf <<'END', $parted ? 'PARTITION BY LIST (part)' : '');
CREATE TABLE docs (id int GENERATED ALWAYS AS IDENTITY, part int, fp bigint, note text) %s;
CREATE INDEX ON docs USING hamming (fp);
CREATE INDEX ON docs (id);
END
	$node->safe_psql('postgres', <<'END') if $parted;
CREATE TABLE docs_0 PARTITION OF docs FOR VALUES IN (0);
CREATE TABLE docs_1 PARTITION OF docs FOR VALUES IN (1);
END
	$node->safe_psql('postgres', <<"END");
SELECT setseed(@{[ rand() ]});
INSERT INTO docs (part, fp) SELECT i % 2, some_fp() FROM generate_series(1, 1500) AS i;
END
	my $truth = $exact ? 'true' : 'false';
	my $script = $node->basedir . '/act.sql';
	append_to_file("$script.$round", <<"END");
\\set many random(1, 3)
\\set undo random(1, 5)
BEGIN;
SELECT act($truth) FROM generate_series(1, :many);
SELECT pg_sleep(0.001);
\\if :undo = 1
ROLLBACK;
\\else
COMMIT;
\\endif
END
	my ($in, $out, $err) = ('', '', '');
	my $writers = IPC::Run::start(
		[   'pgbench', '-n', '-c', '4', '-T', '600', '--max-tries=1000',
			'-R', '150', "--random-seed=" . int(rand(1e6)), '-f', "$script.$round",
			'-h', $node->host, '-p', $node->port, 'postgres' ],
		\$in, \$out, \$err);
	my $groups = $within ? "within => '{part}'" : "within => '{}'";
	my $call = "CALL simhash_add_clusters('docs', 'fp', kind => '$kind', since => 'since', $groups);";

	if ($crash)
	{
		$node->psql('postgres', "SET statement_timeout = 40; $call");
		$node->stop('immediate');
		IPC::Run::finish($writers);
		$node->start;
	}
	my $stopped = set_up($call);
	is(faults($kind, 0, $within), '0|0|0', "round $round, $kind, stopped $stopped times: all rows, at once")
		if $crash;
	unless ($crash)
	{
		select(undef, undef, undef, 0.3);
		IPC::Run::signal($writers, 'TERM');
		IPC::Run::finish($writers);
	}
	is(faults($kind, $exact, $within), '0|0|0',
		"round $round, $kind" . ($exact ? ', rows only come' : '') . ($parted ? ', partitions' : '')
		. ($within ? ', within groups' : '') . ($crash ? ', after a crash' : '') . ", stopped $stopped times");
	if ($kind eq 'connected')
	{
		$node->safe_psql('postgres', "CALL simhash_split_clusters('docs')");
		is(faults($kind, 1, $within), '0|0|0', "round $round: and split");
	}
	$node->safe_psql('postgres', "CALL simhash_drop_clusters('docs'); DROP TABLE docs");
	is($node->safe_psql('postgres', "SELECT count(*) FROM pg_class WHERE relname LIKE 'docs%'"),
		0, "round $round: nothing is left");
}

# A short run may have none.
cmp_ok($moves, $seconds < 20 ? '>=' : '>', 0, "what was made was moved $moves times");
$node->stop;
done_testing();
