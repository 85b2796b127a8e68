# SQLAlchemy, as docs/clients.md says: inserts or finds.
# needs python3-sqlalchemy python3-psycopg2: python3 -c 'import sqlalchemy, psycopg2'
# prints
#   (1, True)
#   (1, False)
# SPDX-License-Identifier: PostgreSQL

from sqlalchemy import BigInteger, Column, Integer, Text, create_engine, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session, declarative_base

TABLE = """
    CREATE EXTENSION simhash;
    CREATE TABLE memories (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        body text NOT NULL, seen integer NOT NULL DEFAULT 1,
        fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
    CREATE INDEX memories_fp ON memories USING hamming (fp);
    CREATE TRIGGER memories_guard BEFORE INSERT OR UPDATE ON memories
    FOR EACH ROW EXECUTE FUNCTION
        simhash_guard('fp', 'conflict', '8', 'similarity=alike');"""


class Memory(declarative_base()):
    __tablename__ = 'memories'
    id = Column(BigInteger, primary_key=True)
    body = Column(Text)
    seen = Column(Integer)


def put(session, body):
    return session.execute(
        insert(Memory).values(body=body)
        .on_conflict_do_update(index_elements=['id'], set_={'seen': Memory.seen + 1})
        .returning(Memory.id, (Memory.seen == 1).label('is_new'))).one()


with Session(create_engine('postgresql://')) as session, session.begin():
    session.execute(text(TABLE))
    print(put(session, 'The ferry to Oslo leaves at nine.'))
    print(put(session, 'THE FERRY to Oslo leaves at nine!'))
