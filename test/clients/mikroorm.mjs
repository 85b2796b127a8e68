// MikroORM, as docs/clients.md says: finds, is refused, saves a stale object.
// needs @mikro-orm/postgresql of npm: node -e 'require.resolve("@mikro-orm/postgresql")'
// prints
//   migrated: hamming memories_guard
//   found: 1 at 0 bits
//   put: 1 new, 1 known, 3 new
//   created: UniqueConstraintViolationException 23505 memories_pkey
//   updated: DriverException 23P01 memories_guard
//   left out: TypeError; of one: saved, id undefined; again: 9 seen 2 rows of 2
//   stale: THE FERRY, cluster 1
// SPDX-License-Identifier: PostgreSQL

import { EntitySchema, MikroORM } from '@mikro-orm/postgresql';

const ferry = 'The ferry to Oslo leaves at nine from the old harbour.';
const again = 'THE FERRY to Oslo leaves at nine, from the old harbour!';
const museum = 'The museum is closed on Mondays and on Tuesdays.';

const table = (name, ...indexes) => new EntitySchema({
    name, tableName: name,
    properties: {
        id: { type: 'bigint', primary: true, autoincrement: true },
        body: { type: 'text' },
        seen: { type: 'int', default: 1 },
        fp: { type: 'bigint', nullable: true, lazy: true,
            generated: '(minhash(body)) stored' },
        ...name === 'news' ? { cluster: { type: 'bigint', nullable: true } } : {},
    },
    indexes: [{ name: `${name}_fp`, properties: ['fp'], type: 'hamming' }, ...indexes],
});

// Without these options update() drops guards, and what clusters are kept by.
const orm = await MikroORM.init({
    dbName: process.env.PGDATABASE, host: process.env.PGHOST,
    port: Number(process.env.PGPORT), user: process.env.PGUSER,
    schemaGenerator: { ignoreTriggers: true, skipTables: [/_clusters$/] },
    entities: [table('memories'), table('drafts'),
        table('news', { name: 'news_cluster_idx', properties: ['cluster'] })],
});
const db = orm.em.getConnection();
const save = async (name, ...bodies) => {
    const em = orm.em.fork();
    const objects = bodies.map(body => em.create(name, { body }));
    await em.persist(objects).flush();
    return [em, ...objects];
};
const refused = async work => {
    try {
        await work();
    } catch ({ constructor: { name }, code = '', constraint = '' }) {
        return `${name} ${code} ${constraint}`.trim();
    }
};

await db.execute('CREATE EXTENSION simhash');
await orm.schema.update();
for (const [name, action] of [['memories', 'conflict'], ['drafts', 'skip']])
    await db.execute(`CREATE TRIGGER ${name}_guard BEFORE INSERT OR UPDATE ON ${name}
        FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', '${action}', '8')`);
await db.execute(`CALL simhash_add_clusters('news', 'fp', 8, adopt => true)`);
await orm.schema.update();
const [migrated] = await db.execute(
    `SELECT amname, tgname FROM pg_trigger, pg_class AS c JOIN pg_am AS a ON a.oid = relam
     WHERE tgrelid = 'memories'::regclass AND c.relname = 'memories_fp'`);
console.log('migrated:', migrated.amname, migrated.tgname);

const answers = [];
for (const body of [ferry, again, museum]) {
    const [{ id, is_new }] = await db.execute(
        `INSERT INTO memories (body) VALUES (?)
         ON CONFLICT (id) DO UPDATE SET seen = memories.seen + 1
         RETURNING id, seen = 1 AS is_new`, [body]);
    answers.push(`${id} ${is_new ? 'new' : 'known'}`);
}
for (const { id, bits } of await db.execute(
    `SELECT id, fp <~> minhash(?) AS bits FROM memories
     WHERE fp <@ (minhash(?), ?)`, [again, again, 8]))
    console.log(`found: ${id} at ${bits} bits`);
console.log('put:', answers.join(', '));
console.log('created:', await refused(() => save('memories', again)));
console.log('updated:', await refused(async () => {
    const em = orm.em.fork();
    (await em.findOne('memories', 3)).body = again;
    await em.flush();
}));

// The object has no id, and so its UPDATE no WHERE.
await save('drafts', ferry);
const two = await refused(() => save('drafts', again, museum));
await save('drafts', museum);
const [em, draft] = await save('drafts', again);
draft.seen = 9;
await em.flush();
const [{ all, nine }] = await db.execute(
    `SELECT count(*) AS all, count(*) FILTER (WHERE seen = 9) AS nine FROM drafts`);
console.log(`left out: ${two}; of one: saved, id ${draft.id};`,
    `again: 9 seen ${nine} rows of ${all}`);

await save('news', ferry, museum);
const later = orm.em.fork();
const stale = await later.findOne('news', 2);
await db.execute('UPDATE news SET body = ? WHERE id = 2', [again]);
stale.seen = 2;
await later.flush();
const [{ text }] = await db.execute(
    String.raw`SELECT concat(substring(body, '^\w+ \w+'), ', cluster ', cluster,
                   CASE WHEN fp <> minhash(body) THEN ', another fp' END) AS text
               FROM news WHERE id = 2`);
console.log('stale:', text);
await orm.close();
