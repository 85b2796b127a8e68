// Slonik, as docs/clients.md says: finds, is refused, saves a stale row.
// needs slonik of npm: node -e 'require("slonik")'
// prints
//   migrated: hamming memories_guard
//   found: 1 at 0 bits, 1199506934145175461 is 1
//   put: 1 new, 1 known, 3 new
//   created: UniqueIntegrityConstraintViolationError 23505 memories_pkey
//   updated: CheckExclusionConstraintViolationError 23P01 memories_guard
//   left out: NotFoundError; of two: 4 The museum
//   stale: The museum, cluster 2
// SPDX-License-Identifier: PostgreSQL

import { createPool, sql } from 'slonik';

const ferry = 'The ferry to Oslo leaves at nine from the old harbour.';
const again = 'THE FERRY to Oslo leaves at nine, from the old harbour!';
const museum = 'The museum is closed on Mondays and on Tuesdays.';

const db = await createPool('postgresql:///');
const refused = async work => {
    try {
        await work;
    } catch ({ constructor: { name }, cause, constraint = '' }) {
        return `${name} ${cause?.code ?? ''} ${constraint}`.trim();
    }
};

await db.query(sql.unsafe`CREATE EXTENSION simhash`);
for (const name of ['memories', 'drafts', 'news']) {
    const [table, index] = [name, `${name}_fp`].map(name => sql.identifier([name]));
    await db.query(sql.unsafe`CREATE TABLE ${table} (id bigserial PRIMARY KEY,
        body text NOT NULL, seen int NOT NULL DEFAULT 1, note text,
        fp bigint GENERATED ALWAYS AS (minhash(body)) STORED)`);
    await db.query(sql.unsafe`CREATE INDEX ${index} ON ${table} USING hamming (fp)`);
}
for (const [name, action] of [['memories', 'conflict'], ['drafts', 'skip']])
    await db.query(sql.unsafe`CREATE TRIGGER ${sql.identifier([`${name}_guard`])}
        BEFORE INSERT OR UPDATE ON ${sql.identifier([name])} FOR EACH ROW
        EXECUTE FUNCTION simhash_guard('fp', ${sql.literalValue(action)}, '8')`);
await db.query(sql.unsafe`CALL simhash_add_clusters('news', 'fp', 8)`);
const migrated = await db.one(sql.unsafe`
    SELECT amname, tgname FROM pg_trigger, pg_class AS c JOIN pg_am AS a ON a.oid = relam
    WHERE tgrelid = 'memories'::regclass AND c.relname = 'memories_fp'`);
console.log('migrated:', migrated.amname, migrated.tgname);

const answers = [];
for (const body of [ferry, again, museum]) {
    const { id, is_new } = await db.one(sql.unsafe`
        INSERT INTO memories (body) VALUES (${body})
        ON CONFLICT (id) DO UPDATE SET seen = memories.seen + 1
        RETURNING id, seen = 1 AS is_new`);
    answers.push(`${id} ${is_new ? 'new' : 'known'}`);
}
const { id, bits, fp } = await db.one(sql.unsafe`
    SELECT id, fp, fp <~> minhash(${again}) AS bits FROM memories
    WHERE fp <@ (minhash(${again}), ${8})`);
const same = await db.oneFirst(sql.unsafe`SELECT id FROM memories WHERE fp ~= ${fp}`);
console.log(`found: ${id} at ${bits} bits, ${fp} is ${same}`);
console.log('put:', answers.join(', '));
console.log('created:', await refused(db.query(sql.unsafe`
    INSERT INTO memories (body) VALUES (${again})`)));
console.log('updated:', await refused(db.query(sql.unsafe`
    UPDATE memories SET body = ${again} WHERE id = 3`)));

const draft = (...bodies) => sql.unsafe`
    INSERT INTO drafts (body)
    SELECT * FROM ${sql.unnest(bodies.map(body => [body]), ['text'])}
    RETURNING concat(id, ' ', substring(body, '^\\w+ \\w+'))`;
await db.query(draft(ferry));
console.log(`left out: ${await refused(db.one(draft(again)))}; of two:`,
    await db.oneFirst(draft(again, museum)));

for (const body of [ferry, museum])
    await db.query(sql.unsafe`INSERT INTO news (body) VALUES (${body})`);
const stale = await db.one(sql.unsafe`SELECT * FROM news WHERE id = 2`);
await db.query(sql.unsafe`UPDATE news SET body = ${again} WHERE id = 2`);
await db.query(sql.unsafe`UPDATE news SET body = ${stale.body}, note = 'seen',
    cluster = ${stale.cluster} WHERE id = 2`);
console.log('stale:', await db.oneFirst(sql.unsafe`
    SELECT concat(substring(body, '^\\w+ \\w+'), ', cluster ', cluster,
                  CASE WHEN fp <> minhash(body) THEN ', another fp' END)
    FROM news WHERE id = 2`));
await db.end();
