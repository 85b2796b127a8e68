# simhash_guard where rows come by logical replication, where it waits for a
# prepared transaction, and where it does not get to wait to the end.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my %node;
for my $name ('publisher', 'subscriber')
{
	$node{$name} = PostgreSQL::Test::Cluster->new($name);
	$node{$name}->init(
		allows_streaming => 'logical',
		extra => [ '-E', 'UTF8', '--locale=C' ]);
	$node{$name}->append_conf('postgresql.conf', <<'END');
max_prepared_transactions = 5
wal_retrieve_retry_interval = 100ms
END
	$node{$name}->start;
	$node{$name}->safe_psql('postgres', <<'END');
CREATE EXTENSION simhash;
CREATE TABLE parents (id int PRIMARY KEY);
CREATE TABLE docs (id int PRIMARY KEY, parent int REFERENCES parents,
	fp bigint, twin int);
CREATE TABLE notes (doc int REFERENCES docs ON DELETE CASCADE);
INSERT INTO parents VALUES (1);
CREATE INDEX ON docs USING hamming (fp);
CREATE TABLE prints (id int PRIMARY KEY, fp bit(128), twin int);
CREATE INDEX ON prints USING hamming (fp);
END
}
my $from = $node{publisher};
my $to = $node{subscriber};

sub make_guard
{
	my ($enable, $arguments) = @_;

	$to->safe_psql('postgres', <<"END");
CREATE OR REPLACE TRIGGER guard BEFORE INSERT OR UPDATE ON docs
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', $arguments);
ALTER TABLE docs ENABLE $enable TRIGGER guard;
END
	return;
}

sub publish
{
	my ($sql) = @_;

	$from->safe_psql('postgres', $sql);
	$from->wait_for_catchup('sub');
	return;
}

sub rows_are
{
	my ($expected, $name) = @_;

	is($to->safe_psql('postgres',
			"SELECT string_agg(id || coalesce('=' || twin, ''), ' ' ORDER BY id) FROM docs"),
		$expected, $name);
	return;
}

# The first copy of the table goes through the trigger, too.
$from->safe_psql('postgres', <<'END');
INSERT INTO docs VALUES (1, 1, 0), (2, 1, 1), (3, NULL, -1);
CREATE PUBLICATION pub FOR TABLE docs;
END
make_guard('ALWAYS', "'skip', '3'");
my $where = $from->connstr . ' dbname=postgres';
$to->safe_psql('postgres',
	"CREATE SUBSCRIPTION sub CONNECTION '$where' PUBLICATION pub");
$to->wait_for_subscription_sync($from, 'sub');
rows_are('1 3', 'skipped in the first copy');

publish('INSERT INTO docs VALUES (4, 1, 3), (5, 1, 255)');
rows_are('1 3 5', 'skipped in apply');
publish('UPDATE docs SET parent = NULL WHERE id = 4;
	UPDATE docs SET fp = 2 WHERE id = 5; DELETE FROM docs WHERE id = 2');
rows_are('1 3 5', 'changes of rows that were skipped are passed over');
is($to->safe_psql('postgres', 'SELECT fp FROM docs WHERE id = 5'),
	'255', 'an update that is skipped');
publish('UPDATE docs SET fp = 65535 WHERE id = 5');
is($to->safe_psql('postgres', 'SELECT fp FROM docs WHERE id = 5'),
	'65535', 'an update that is not');

# As it is made, a trigger does not fire for what is applied.
make_guard('', "'skip', '3'");
publish('INSERT INTO docs VALUES (6, 1, 0)');
rows_are('1 3 5 6', 'not enabled for replication');

make_guard('REPLICA', "'mark', '3', 'mark=twin'");
publish('INSERT INTO docs VALUES (7, 1, -2)');
rows_are('1 3 5 6 7=3', 'marked in apply');

# A row refused stops apply, which tries again until the conflict is resolved.
make_guard('REPLICA', "'reject', '3'");
my $logged = -s $to->logfile;
$from->safe_psql('postgres',
	'INSERT INTO docs VALUES (8, 1, -4), (9, 1, 4294967295)');
$to->wait_for_log(
	qr/row is a near-duplicate of another in table "docs".*at distance 1.*logical replication/s,
	$logged);
rows_are('1 3 5 6 7=3', 'refused in apply');
$to->safe_psql('postgres', 'DELETE FROM docs WHERE id IN (3, 7)');
$from->wait_for_catchup('sub');
rows_are('1 5 6 8 9', 'apply goes on once the other rows are gone');

# Apply waits for a session that has inserted a near-duplicate.
make_guard('ALWAYS', "'reject', '3'");
$to->safe_psql('postgres', <<'END');
BEGIN;
INSERT INTO docs VALUES (20, 1, 6148914691236517205);
PREPARE TRANSACTION 'far';
END
$from->safe_psql('postgres',
	'INSERT INTO docs VALUES (21, 1, 6148914691236517204)');
$to->poll_query_until('postgres', <<'END');
SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'transactionid'
	AND backend_type LIKE 'logical replication%')
END
$to->safe_psql('postgres', "ROLLBACK PREPARED 'far'");
$from->wait_for_catchup('sub');
rows_are('1 5 6 8 9 21', 'applied once the other transaction is gone');
$to->safe_psql('postgres', 'DROP SUBSCRIPTION sub');

# Bit strings, sent in binary: in the first copy and in apply, when a row moves
# near another, and when its text comes by COPY.
$from->safe_psql('postgres', <<'END');
INSERT INTO prints SELECT n, (repeat('01', 32) || (n / 2)::bit(64)::text)::bit(128)
FROM generate_series(2, 5) AS n;
CREATE PUBLICATION prints FOR TABLE prints;
END
$to->safe_psql('postgres', <<"END");
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON prints
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'mark', '1', 'mark=twin');
ALTER TABLE prints ENABLE ALWAYS TRIGGER guard;
CREATE SUBSCRIPTION sub CONNECTION '$where' PUBLICATION prints WITH (binary);
END
$to->wait_for_subscription_sync($from, 'sub');
publish(<<'END');
UPDATE prints SET fp = ~fp WHERE id = 2;
COPY (SELECT 6, fp FROM prints WHERE id = 4) TO PROGRAM 'cat >prints.copy';
COPY prints (id, fp) FROM PROGRAM 'cat prints.copy; rm prints.copy';
INSERT INTO prints VALUES (7, NULL), (8, NULL);
UPDATE prints SET fp = (SELECT fp FROM prints WHERE id = 2) WHERE id = 7;
END
is($to->safe_psql('postgres',
		q{SELECT string_agg(concat_ws('=', id, twin), ' ' ORDER BY id) FROM prints}),
	'2 3=2 4 5=4 6=4 7=2 8', 'bit strings');
$to->safe_psql('postgres', 'DROP SUBSCRIPTION sub');

# Apply moves a row to another partition by a deletion and an insertion: there a
# guard that skips is refused, before it loses one, and a guard that marks is not.
for my $name ('publisher', 'subscriber')
{
	$node{$name}->safe_psql('postgres', <<'END');
CREATE TABLE moving (id int, part int, fp bigint, twin text, PRIMARY KEY (id, part))
PARTITION BY LIST (part);
CREATE TABLE moving_1 PARTITION OF moving FOR VALUES IN (1);
CREATE TABLE moving_2 PARTITION OF moving FOR VALUES IN (2);
CREATE INDEX ON moving USING hamming (fp);
INSERT INTO moving SELECT n, 1, n & 3 FROM generate_series(1, 5) AS n;
END
}
$from->safe_psql('postgres',
	'CREATE PUBLICATION moving FOR TABLE moving WITH (publish_via_partition_root)');
$to->safe_psql('postgres', <<"END");
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON moving
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'skip', '3');
ALTER TABLE moving ENABLE ALWAYS TRIGGER guard;
CREATE SUBSCRIPTION sub CONNECTION '$where' PUBLICATION moving WITH (copy_data = false);
END
$logged = -s $to->logfile;
$from->safe_psql('postgres', 'UPDATE moving SET part = 2');
$to->wait_for_log(qr/trigger "guard" might delete rows that an UPDATE moves.*Logical replication applies/s,
	$logged);
is($to->safe_psql('postgres', 'SELECT count(*) FROM moving'), '5', 'no row is lost in apply');
$to->safe_psql('postgres', <<'END');
CREATE OR REPLACE TRIGGER guard BEFORE INSERT OR UPDATE ON moving
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'mark', '3', 'mark=twin');
ALTER TABLE moving ENABLE ALWAYS TRIGGER guard;
END
$from->wait_for_catchup('sub');
is($to->safe_psql('postgres', 'SELECT count(*), min(part) FROM moving'), '5|2',
	'rows that apply moves');
$to->safe_psql('postgres', 'DROP SUBSCRIPTION sub');

# A session that waits for a prepared transaction, and gives up.
$to->safe_psql('postgres', <<'END');
BEGIN;
INSERT INTO docs VALUES (30, 1, 1023);
PREPARE TRANSACTION 'near';
END
for my $setting ('lock_timeout', 'statement_timeout')
{
	my ($status, $out, $err) =
	  $to->psql('postgres', <<"END", on_error_stop => 0);
BEGIN;
SAVEPOINT here;
SET LOCAL $setting = '50ms';
INSERT INTO docs VALUES (31, 1, 1022);
ROLLBACK TO here;
SELECT count(*) FROM pg_locks
WHERE pid = pg_backend_pid() AND locktype = 'advisory';
INSERT INTO docs VALUES (31, 1, 1048575);
ROLLBACK;
END
	like($err, qr/^psql\S+ ERROR:  canceling statement due to \S+ timeout/,
		$setting);
	is($out, '0', "no locks are left after $setting");
}
$to->safe_psql('postgres', "COMMIT PREPARED 'near'");
my ($status, $out, $err) =
  $to->psql('postgres', 'INSERT INTO docs VALUES (31, 1, 1022)');
like($err, qr/\(id\)=\(30\) is at distance 1/, 'found once it has committed');

# A prepared transaction that has attached a partition, and inserted into it:
# nobody sees that partition before it is committed.
$to->safe_psql('postgres', <<'END');
CREATE TABLE parts (part int, fp bigint) PARTITION BY LIST (part);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE parts_2 (part int, fp bigint);
CREATE INDEX ON parts USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON parts
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'reject', '3');
BEGIN;
ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES IN (2);
INSERT INTO parts VALUES (2, 0);
PREPARE TRANSACTION 'attached';
END
for my $table ('parts', 'parts_1')
{
	my ($status, $out, $err) = $to->psql('postgres',
		"SET lock_timeout = '50ms'; INSERT INTO $table VALUES (1, 1)");
	like($err, qr/canceling statement due to lock timeout/,
		"a row for $table waits for a prepared transaction");
}
$to->safe_psql('postgres', "COMMIT PREPARED 'attached'");
($status, $out, $err) =
  $to->psql('postgres', 'INSERT INTO parts_1 VALUES (1, 1)');
like($err, qr/near-duplicate/, 'and is refused once that is committed');

# Foreign keys, of what is guarded and to it.
($status, $out, $err) =
  $to->psql('postgres', 'INSERT INTO docs VALUES (31, 99, 7777777777)');
like($err, qr/violates foreign key constraint/, 'no parent');
$to->safe_psql('postgres', <<'END');
INSERT INTO notes VALUES (30);
UPDATE docs SET parent = NULL WHERE id = 30;
DELETE FROM docs WHERE id = 30;
INSERT INTO docs VALUES (31, 1, 1022);
END
is($to->safe_psql('postgres', 'SELECT count(*) FROM notes'),
	'0', 'deletions cascade');

# What a connection pool sees: the fields of the error.
($status, $out, $err) = $to->psql('postgres',
	"\\set VERBOSITY verbose\nINSERT INTO docs VALUES (32, 1, 1023)");
like($err, qr/ERROR:  23P01:.*SCHEMA NAME:  public\nTABLE NAME:  docs\nCONSTRAINT NAME:  guard\n/s,
	'the error names its table and trigger');

# From 18 on a generated fingerprint can be published, but not to where it is generated.
if ($to->pg_version >= 18)
{
	$_->safe_psql('postgres', <<'END') for $from, $to;
CREATE TABLE made (id int PRIMARY KEY, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
END
	$from->safe_psql('postgres', <<'END');
INSERT INTO made VALUES (1, 'some words');
CREATE PUBLICATION made FOR TABLE made WITH (publish_generated_columns = stored);
END
	$logged = -s $to->logfile;
	$to->safe_psql('postgres',
		"CREATE SUBSCRIPTION sub CONNECTION '$where' PUBLICATION made");
	$to->wait_for_log(qr/public.made" has incompatible generated column: "fp"/, $logged);
	pass('a generated fingerprint is not taken for one that is generated');
	$from->safe_psql('postgres', 'ALTER PUBLICATION made SET (publish_generated_columns = none)');
	$to->wait_for_subscription_sync($from, 'sub');
	is($to->safe_psql('postgres', 'SELECT count(fp) FROM made'), '1', 'it is generated');
}

$_->stop for values %node;
done_testing();
