// Sequelize, as docs/clients.md says: migrates, finds, is refused, saves a stale object.
// needs sequelize and pg of npm: node -e 'require("sequelize"), require("pg")'
// prints
//   migrated: hamming memories_guard
//   found: 1 at 0 bits
//   put: 1 new, 1 known, 3 new
//   created: UniqueConstraintError 23505 memories_pkey
//   updated: ExclusionConstraintError 23P01 memories_guard
//   left out: EmptyResultError; of two: saved, id 4; again: The train in the row of The museum
//   stale: THE FERRY, cluster 1
// SPDX-License-Identifier: PostgreSQL

import { DataTypes, QueryTypes, Sequelize } from 'sequelize';

const ferry = 'The ferry to Oslo leaves at nine from the old harbour.';
const again = 'THE FERRY to Oslo leaves at nine, from the old harbour!';
const museum = 'The museum is closed on Mondays and on Tuesdays.';

const db = new Sequelize({
    dialect: 'postgres',
    host: process.env.PGHOST,
    port: process.env.PGPORT,
    username: process.env.PGUSER,
    database: process.env.PGDATABASE,
    logging: false,
    define: { timestamps: false, freezeTableName: true },
});
const select = (sql, ...bind) => db.query(sql, { bind, type: QueryTypes.SELECT });

// Without fp and cluster, which the server fills.
const table = (name, columns = {}) => db.define(name, {
    id: { type: DataTypes.BIGINT, primaryKey: true, autoIncrement: true },
    body: { type: DataTypes.TEXT, allowNull: false },
    ...columns,
});
const memories = table('memories',
    { seen: { type: DataTypes.INTEGER, defaultValue: 1 } });
const drafts = table('drafts');
const news = table('news', { note: DataTypes.TEXT });

const refused = async work => {
    try {
        await work();
    } catch (error) {
        const { code = '', constraint = '' } = error.parent ?? {};
        return `${error.constructor.name} ${code} ${constraint}`.trim();
    }
};

await db.query('CREATE EXTENSION simhash');
await db.sync();
for (const name of ['memories', 'drafts', 'news']) {
    await db.query(`ALTER TABLE ${name}
        ADD fp bigint GENERATED ALWAYS AS (minhash(body)) STORED`);
    await db.getQueryInterface().addIndex(name, ['fp'],
        { name: `${name}_fp`, using: 'hamming' });
}
for (const [name, action] of [['memories', 'conflict'], ['drafts', 'skip']])
    await db.query(`CREATE TRIGGER ${name}_guard BEFORE INSERT OR UPDATE ON ${name}
        FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', '${action}', '8')`);
await db.query(`CALL simhash_add_clusters('news', 'fp', 8)`);
await db.sync();
const [migrated] = await select(
    `SELECT amname, tgname FROM pg_trigger, pg_class AS c JOIN pg_am AS a ON a.oid = relam
     WHERE tgrelid = 'memories'::regclass AND c.relname = 'memories_fp'`);
console.log('migrated:', migrated.amname, migrated.tgname);

const answers = [];
for (const body of [ferry, again, museum]) {
    const [{ id, is_new }] = await select(
        `INSERT INTO memories (body) VALUES ($1)
         ON CONFLICT (id) DO UPDATE SET seen = memories.seen + 1
         RETURNING id, seen = 1 AS is_new`, body);
    answers.push(`${id} ${is_new ? 'new' : 'known'}`);
}
for (const { id, bits } of await select(
    `SELECT id, fp <~> minhash($1) AS bits FROM memories
     WHERE fp <@ (minhash($1), $2)`, again, 8))
    console.log(`found: ${id} at ${bits} bits`);
console.log('put:', answers.join(', '));
console.log('created:', await refused(() => memories.create({ body: again })));
console.log('updated:', await refused(async () =>
    (await memories.findByPk(3)).update({ body: again })));

// Two objects, and one new row, whose id goes to the first of them.
const begins = async id =>
    (await drafts.findByPk(id)).body.split(' ').slice(0, 2).join(' ');
await drafts.create({ body: ferry });
const alone = await refused(() => drafts.create({ body: again }));
const [draft] = await drafts.bulkCreate([{ body: again }, { body: museum }]);
const row = await begins(draft.id);
await draft.update({ body: 'The train to Bergen is late.' });
console.log(`left out: ${alone}; of two: saved, id ${draft.id};`,
    `again: ${await begins(draft.id)} in the row of ${row}`);

await news.bulkCreate([{ body: ferry }, { body: museum }]);
const stale = await news.findByPk(2);
await select('UPDATE news SET body = $1 WHERE id = 2', again);
await stale.update({ note: 'seen' });
const [{ text }] = await select(
    String.raw`SELECT concat(substring(body, '^\w+ \w+'), ', cluster ', cluster,
                   CASE WHEN fp <> minhash(body) THEN ', another fp' END) AS text
               FROM news WHERE id = 2`);
console.log('stale:', text);
await db.close();
