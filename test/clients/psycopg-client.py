# psycopg, as docs/clients.md says: inserts or finds, and tries again after 40001.
# needs python3-psycopg: python3 -c 'import psycopg'
# prints
#   (1, True)
#   (1, False)
#   again
#   (3, False)
# SPDX-License-Identifier: PostgreSQL

import psycopg

TABLE = """
    CREATE EXTENSION simhash;
    CREATE TABLE memories (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        body text NOT NULL, seen integer NOT NULL DEFAULT 1,
        fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
    CREATE INDEX memories_fp ON memories USING hamming (fp);
    CREATE TRIGGER memories_guard BEFORE INSERT OR UPDATE ON memories
    FOR EACH ROW EXECUTE FUNCTION
        simhash_guard('fp', 'conflict', '8', 'similarity=alike');"""


def put(connection, text):
    return connection.execute("""
        INSERT INTO memories (body) VALUES (%s)
        ON CONFLICT (id) DO UPDATE SET seen = memories.seen + 1
        RETURNING id, seen = 1 AS is_new""", [text]).fetchone()


def transaction(connection, work):
    while True:
        try:
            with connection.transaction():
                return work(connection)
        except psycopg.errors.SerializationFailure:         # 40001
            print('again')


def late(connection):
    rows, = connection.execute('SELECT count(*) FROM memories').fetchone()
    if rows == 1:                           # meanwhile, in another session
        with psycopg.connect() as other:
            put(other, 'Tea is served at five.')
    return put(connection, 'TEA is served at five!')


connection = psycopg.connect(autocommit=True)
connection.execute(TABLE)
print(put(connection, 'The ferry to Oslo leaves at nine.'))
print(put(connection, 'THE FERRY to Oslo leaves at nine!'))
connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
print(transaction(connection, late))
