// Drizzle, as docs/clients.md says: finds, is refused, saves a stale object.
// needs drizzle-orm and pg of npm: node -e 'require("drizzle-orm"), require("pg")'
// prints
//   migrated: hamming memories_guard
//   found: 1 at 0 bits
//   put: 1 new, 1 known, 3 new
//   created: DrizzleQueryError 23505 memories_pkey
//   updated: DrizzleQueryError 23P01 memories_guard
//   left out: []; of two: [4 The museum]
//   stale: The museum, cluster 2
// SPDX-License-Identifier: PostgreSQL

import { eq, lte, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { bigint, bigserial, index, integer, pgTable, text } from 'drizzle-orm/pg-core';
import pg from 'pg';

const ferry = 'The ferry to Oslo leaves at nine from the old harbour.';
const again = 'THE FERRY to Oslo leaves at nine, from the old harbour!';
const museum = 'The museum is closed on Mondays and on Tuesdays.';

const table = (name, columns = {}) => pgTable(name, {
    id: bigserial({ mode: 'bigint' }).primaryKey(),
    body: text().notNull(),
    fp: bigint({ mode: 'bigint' }).generatedAlwaysAs(sql`minhash(body)`),
    ...columns,
}, table => [index(`${name}_fp`).using('hamming', table.fp)]);
const memories = table('memories', { seen: integer().notNull().default(1) });
const drafts = table('drafts');
const news = table('news', { note: text(), cluster: bigint({ mode: 'bigint' }) });

const pool = new pg.Pool();
const db = drizzle({ client: pool });
const select = async query => (await db.execute(query)).rows;
const refused = async work => {
    try {
        await work;
    } catch (error) {
        return `${error.constructor.name} ${error.cause.code} ${error.cause.constraint}`;
    }
};

await db.execute('CREATE EXTENSION simhash');
for (const name of ['memories', 'drafts', 'news'])
    await db.execute(`
        CREATE TABLE ${name} (id bigserial PRIMARY KEY, body text NOT NULL,
            seen int NOT NULL DEFAULT 1, note text,
            fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
        CREATE INDEX ${name}_fp ON ${name} USING hamming (fp)`);
for (const [name, action] of [['memories', 'conflict'], ['drafts', 'skip']])
    await db.execute(`CREATE TRIGGER ${name}_guard BEFORE INSERT OR UPDATE ON ${name}
        FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', '${action}', '8')`);
await db.execute(`CALL simhash_add_clusters('news', 'fp', 8)`);
const [migrated] = await select(
    `SELECT amname, tgname FROM pg_trigger, pg_class AS c JOIN pg_am AS a ON a.oid = relam
     WHERE tgrelid = 'memories'::regclass AND c.relname = 'memories_fp'`);
console.log('migrated:', migrated.amname, migrated.tgname);

const answers = [];
for (const body of [ferry, again, museum]) {
    const [{ id, isNew }] = await db.insert(memories).values({ body })
        .onConflictDoUpdate({ target: memories.id, set: { seen: sql`${memories.seen} + 1` } })
        .returning({ id: memories.id, isNew: sql`${memories.seen} = 1` });
    answers.push(`${id} ${isNew ? 'new' : 'known'}`);
}
const bits = sql`${memories.fp} <~> minhash(${again})`.mapWith(Number);
for (const row of await db.select({ id: memories.id, bits }).from(memories).where(lte(bits, 8)))
    console.log(`found: ${row.id} at ${row.bits} bits`);
console.log('put:', answers.join(', '));
console.log('created:', await refused(db.insert(memories).values({ body: again })));
console.log('updated:', await refused(
    db.update(memories).set({ body: again }).where(eq(memories.id, 3n))));

await db.insert(drafts).values({ body: ferry });
const some = async (...bodies) => '[' + (await db.insert(drafts)
    .values(bodies.map(body => ({ body }))).returning())
    .map(({ id, body }) => `${id} ${body.split(' ').slice(0, 2).join(' ')}`).join() + ']';
console.log(`left out: ${await some(again)}; of two: ${await some(again, museum)}`);

await db.insert(news).values([{ body: ferry }, { body: museum }]);
const [{ fp, ...stale }] = await db.select().from(news).where(eq(news.id, 2n));
await db.update(news).set({ body: again }).where(eq(news.id, 2n));
await db.update(news).set({ ...stale, note: 'seen' }).where(eq(news.id, 2n));
const [{ text: is }] = await select(
    String.raw`SELECT concat(substring(body, '^\w+ \w+'), ', cluster ', cluster,
                   CASE WHEN fp <> minhash(body) THEN ', another fp' END) AS text
               FROM news WHERE id = 2`);
console.log('stale:', is);
await pool.end();
