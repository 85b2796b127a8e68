// Knex and Objection, as docs/clients.md says: migrates, finds, is refused, saves a stale object.
// needs knex, objection and pg of npm: node -e 'require("knex"), require("objection"), require("pg")'
// prints
//   migrated: hamming memories_guard
//   found: 1 at 0 bits
//   put: 1 new, 1 known, 3 new
//   created: DatabaseError 23505 memories_pkey, UniqueViolationError memories_pkey
//   updated: DatabaseError 23P01 memories_guard, ConstraintViolationError
//   left out: saved, id undefined; of two: saved, id 4; again: The train in the row of The museum
//   stale: The museum, cluster 2
// SPDX-License-Identifier: PostgreSQL

import knex from 'knex';
import { Model } from 'objection';

const ferry = 'The ferry to Oslo leaves at nine from the old harbour.';
const again = 'THE FERRY to Oslo leaves at nine, from the old harbour!';
const museum = 'The museum is closed on Mondays and on Tuesdays.';

const db = knex({ client: 'pg', connection: { database: process.env.PGDATABASE } });

class Memory extends Model { static tableName = 'memories'; }
class Draft extends Model { static tableName = 'drafts'; }
class News extends Model { static tableName = 'news'; }
Model.knex(db);

const all = {
    async up() {
        await db.raw('CREATE EXTENSION simhash');
        for (const name of ['memories', 'drafts', 'news'])
            await db.schema.createTable(name, table => {
                table.bigIncrements('id');
                table.text('body').notNullable();
                table.integer('seen').notNullable().defaultTo(1);
                table.text('note');
                table.specificType('fp', 'bigint GENERATED ALWAYS AS (minhash(body)) STORED');
                table.index('fp', `${name}_fp`, 'hamming');
            });
        for (const [name, action] of [['memories', 'conflict'], ['drafts', 'skip']])
            await db.raw(`CREATE TRIGGER ${name}_guard BEFORE INSERT OR UPDATE ON ${name}
                FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', '${action}', '8')`);
        await db.raw(`CALL simhash_add_clusters('news', 'fp', 8)`);
    },
    async down() {},
};
const refused = async work => {
    try {
        await work();
    } catch (error) {
        return [error.constructor.name,
            error.code, error.constraint].filter(Boolean).join(' ');
    }
};
const twice = async (plain, model) => `${await refused(plain)}, ${await refused(model)}`;

await db.migrate.latest({ disableTransactions: true, migrationSource: {
    getMigrations: async () => ['all'],
    getMigrationName: name => name,
    getMigration: () => all,
} });
const migrated = (await db.raw(
    `SELECT amname, tgname FROM pg_trigger, pg_class AS c JOIN pg_am AS a ON a.oid = relam
     WHERE tgrelid = 'memories'::regclass AND c.relname = 'memories_fp'`)).rows[0];
console.log('migrated:', migrated.amname, migrated.tgname);

const answers = [];
for (const body of [ferry, again, museum]) {
    const [{ id, is_new }] = await db('memories').insert({ body })
        .onConflict('id').merge({ seen: db.raw('memories.seen + 1') })
        .returning(['id', db.raw('seen = 1 AS is_new')]);
    answers.push(`${id} ${is_new ? 'new' : 'known'}`);
}
for (const { id, bits } of await db('memories')
    .select('id', db.raw('fp <~> minhash(?) AS bits', again))
    .whereRaw('fp <@ (minhash(?), ?)', [again, 8]))
    console.log(`found: ${id} at ${bits} bits`);
console.log('put:', answers.join(', '));
console.log('created:', await twice(() => db('memories').insert({ body: again }),
    () => Memory.query().insert({ body: again })));
console.log('updated:', await twice(() => db('memories').where('id', 3).update({ body: again }),
    () => Memory.query().findById(3).patch({ body: again })));

// Two objects, and one new row, whose id goes to the first of them.
const begins = async id =>
    (await Draft.query().findById(id)).body.split(' ').slice(0, 2).join(' ');
await Draft.query().insert({ body: ferry });
const alone = await Draft.query().insert({ body: again });
const [draft] = await Draft.query().insert([{ body: again }, { body: museum }]);
const row = await begins(draft.id);
await draft.$query().patch({ body: 'The train to Bergen is late.' });
console.log(`left out: saved, id ${alone.id}; of two: saved, id ${draft.id};`,
    `again: ${await begins(draft.id)} in the row of ${row}`);

await News.query().insert([{ body: ferry }, { body: museum }]);
const { fp, ...stale } = await News.query().findById(2);
await db('news').where('id', 2).update({ body: again });
await News.query().findById(2).update({ ...stale, note: 'seen' });
const [{ text }] = (await db.raw(
    String.raw`SELECT concat(substring(body, '^\w+ \w+'), ', cluster ', cluster,
                   CASE WHEN fp <> minhash(body) THEN ', another fp' END) AS text
               FROM news WHERE id = 2`)).rows;
console.log('stale:', text);
await db.destroy();
