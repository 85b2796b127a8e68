// TypeORM, as docs/clients.md says: migrates, finds, is refused, saves a stale object.
// needs typeorm and pg of npm: node -e 'require("typeorm"), require("pg")'
// prints
//   migrated: hamming memories_guard
//   found: 1 at 0 bits
//   put: 1 new, 1 known, 3 new
//   created: QueryFailedError 23505 memories_pkey
//   updated: QueryFailedError 23P01 memories_guard
//   left out: saved, id 3; again: The train in the row of The museum
//   stale: The museum, cluster 2
// SPDX-License-Identifier: PostgreSQL

import typeorm from 'typeorm';

const ferry = 'The ferry to Oslo leaves at nine from the old harbour.';
const again = 'THE FERRY to Oslo leaves at nine, from the old harbour!';
const museum = 'The museum is closed on Mondays and on Tuesdays.';

// What synchronize does not know it drops, and a generated column that it has
// not made itself it makes anew.
const table = (name, columns = {}) => new typeorm.EntitySchema({
    name, synchronize: false,
    columns: {
        id: { type: 'bigint', primary: true, generated: 'identity' },
        body: { type: 'text' },
        fp: { type: 'bigint', nullable: true, generatedType: 'STORED',
            asExpression: 'minhash(body)', insert: false, update: false },
        ...columns,
    },
});

class CreateAll1700000000000 {
    async up(runner) {
        await runner.query('CREATE EXTENSION simhash');
        for (const name of ['memories', 'drafts', 'news'])
            await runner.query(
                `CREATE TABLE ${name} (id bigserial PRIMARY KEY, body text NOT NULL,
                     seen int NOT NULL DEFAULT 1, note text,
                     fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
                 CREATE INDEX ${name}_fp ON ${name} USING hamming (fp)`);
        for (const [name, action] of [['memories', 'conflict'], ['drafts', 'skip']])
            await runner.query(
                `CREATE TRIGGER ${name}_guard BEFORE INSERT OR UPDATE ON ${name}
                 FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', '${action}', '8')`);
        await runner.query(`CALL simhash_add_clusters('news', 'fp', 8)`);
    }
}

const db = new typeorm.DataSource({
    type: 'postgres',
    database: process.env.PGDATABASE,
    entities: [
        table('memories', { seen: { type: 'int', default: 1 } }),
        table('drafts'),
        table('news', {
            note: { type: 'text', nullable: true },
            cluster: { type: 'bigint', nullable: true, insert: false, update: false },
        }),
    ],
    migrations: [CreateAll1700000000000],
});
const refused = async work => {
    try {
        await work();
    } catch (error) {
        return `${error.constructor.name} ${error.code} ${error.driverError.constraint}`;
    }
};

await db.initialize();
await db.runMigrations({ transaction: 'none' });
await db.synchronize();
const [migrated] = await db.query(
    `SELECT amname, tgname FROM pg_trigger, pg_class AS c JOIN pg_am AS a ON a.oid = relam
     WHERE tgrelid = 'memories'::regclass AND c.relname = 'memories_fp'`);
console.log('migrated:', migrated.amname, migrated.tgname);

const memories = db.getRepository('memories');
const answers = [];
for (const body of [ferry, again, museum]) {
    const [{ id, is_new }] = await db.query(
        `INSERT INTO memories (body) VALUES ($1)
         ON CONFLICT (id) DO UPDATE SET seen = memories.seen + 1
         RETURNING id, seen = 1 AS is_new`, [body]);
    answers.push(`${id} ${is_new ? 'new' : 'known'}`);
}
for (const { id, bits } of await memories.createQueryBuilder()
    .select('id').addSelect('fp <~> minhash(:text)', 'bits')
    .where('fp <@ (minhash(:text), :k)', { text: again, k: 8 }).getRawMany())
    console.log(`found: ${id} at ${bits} bits`);
console.log('put:', answers.join(', '));
console.log('created:', await refused(() => memories.save({ body: again })));
console.log('updated:', await refused(() => memories.save({ id: '3', body: again })));

// Two objects, and one new row, whose id goes to the first of them.
const begins = async id =>
    (await drafts.findOneBy({ id })).body.split(' ').slice(0, 2).join(' ');
const drafts = db.getRepository('drafts');
await drafts.save({ body: ferry });
const [draft] = await drafts.save([{ body: again }, { body: museum }]);
const row = await begins(draft.id);
await drafts.save({ ...draft, body: 'The train to Bergen is late.' });
console.log(`left out: saved, id ${draft.id}; again: ${await begins(draft.id)}`,
    `in the row of ${row}`);

const news = db.getRepository('news');
await news.save([{ body: ferry }, { body: museum }]);
const stale = await news.findOneBy({ id: 2 });
await db.query('UPDATE news SET body = $1 WHERE id = 2', [again]);
await news.save({ ...stale, note: 'seen' });
const [{ text }] = await db.query(
    String.raw`SELECT concat(substring(body, '^\w+ \w+'), ', cluster ', cluster,
                   CASE WHEN fp <> minhash(body) THEN ', another fp' END) AS text
               FROM news WHERE id = 2`);
console.log('stale:', text);
await db.destroy();
