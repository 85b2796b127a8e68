// Prisma, as docs/clients.md says: finds, is refused, saves a stale object.
// needs prisma, @prisma/client and @prisma/adapter-pg of npm: node -e '["prisma/build/index.js", "@prisma/client", "@prisma/adapter-pg"].forEach(require.resolve)'
// prints
//   migrated: hamming memories_guard
//   found: 1 at 0 bits
//   put: 1 new, 1 known, 3 new
//   created: PrismaClientKnownRequestError P2002 23505
//   upserted: null
//   updated: PrismaClientKnownRequestError P2039 23P01
//   left out: null; of two: 4 The museum
//   stale: The museum, cluster 2
// SPDX-License-Identifier: PostgreSQL

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { PrismaPg } from '@prisma/adapter-pg';

const ferry = 'The ferry to Oslo leaves at nine from the old harbour.';
const again = 'THE FERRY to Oslo leaves at nine, from the old harbour!';
const museum = 'The museum is closed on Mondays and on Tuesdays.';

// As db pull writes it.
const model = (name, ...columns) => `
    model ${name} {
        id   BigInt  @id @default(autoincrement())
        body String
        fp   BigInt? @default(dbgenerated("minhash(body)"))
        ${columns.join('\n')}
        @@index([fp], map: "${name}_fp")
    }`;
writeFileSync('schema.prisma', `
    generator client {
        provider = "prisma-client-js"
        output   = "./client"
    }
    datasource db {
        provider = "postgresql"
    }` + model('memories', 'seen Int @default(1)') + model('drafts') +
    model('news', 'note String?', 'cluster BigInt?', '@@index([cluster])'));

// Only migrations need the engine that would be downloaded here.
const require = createRequire(import.meta.url);
const cli = require.resolve('prisma/build/index.js');
execFileSync('node', [cli, 'generate', '--schema', 'schema.prisma'], {
    stdio: 'pipe',
    env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true', CHECKPOINT_DISABLE: '1' },
});
const { PrismaClient } = require('./client');
const db = new PrismaClient({
    adapter: new PrismaPg({ database: process.env.PGDATABASE }),
    omit: { news: { fp: true } },
});
const refused = async work => {
    try {
        await work();
    } catch (error) {
        return `${error.constructor.name} ${error.code} ` +
            error.meta.driverAdapterError.cause.originalCode;
    }
};

await db.$executeRaw`CREATE EXTENSION simhash`;
for (const [name, columns] of [['memories', ', seen int NOT NULL DEFAULT 1'],
    ['drafts', ''], ['news', ', note text']])
    for (const sql of [
        `CREATE TABLE ${name} (id bigserial PRIMARY KEY, body text NOT NULL ${columns},
            fp bigint GENERATED ALWAYS AS (minhash(body)) STORED)`,
        `CREATE INDEX ${name}_fp ON ${name} USING hamming (fp)`])
        await db.$executeRawUnsafe(sql);
for (const [name, action] of [['memories', 'conflict'], ['drafts', 'skip']])
    await db.$executeRawUnsafe(
        `CREATE TRIGGER ${name}_guard BEFORE INSERT OR UPDATE ON ${name}
         FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', '${action}', '8')`);
await db.$executeRaw`CALL simhash_add_clusters('news', 'fp', 8)`;
const [migrated] = await db.$queryRaw`
    SELECT amname, tgname FROM pg_trigger, pg_class AS c JOIN pg_am AS a ON a.oid = relam
    WHERE tgrelid = 'memories'::regclass AND c.relname = 'memories_fp'`;
console.log('migrated:', migrated.amname, migrated.tgname);

const answers = [];
for (const body of [ferry, again, museum]) {
    const [{ id, is_new }] = await db.$queryRaw`
        INSERT INTO memories (body) VALUES (${body})
        ON CONFLICT (id) DO UPDATE SET seen = memories.seen + 1
        RETURNING id, seen = 1 AS is_new`;
    answers.push(`${id} ${is_new ? 'new' : 'known'}`);
}
for (const { id, bits } of await db.$queryRaw`
    SELECT id, fp <~> minhash(${again}) AS bits FROM memories
    WHERE fp <@ (minhash(${again}), ${8})`)
    console.log(`found: ${id} at ${bits} bits`);
console.log('put:', answers.join(', '));
console.log('created:', await refused(() => db.memories.create({ data: { body: again } })));
// It updates where id is 9 only.
console.log('upserted:', await db.memories.upsert({ where: { id: 9 },
    create: { id: 9, body: again }, update: { seen: { increment: 1 } } }));
console.log('updated:', await refused(() =>
    db.memories.update({ where: { id: 3 }, data: { body: again } })));

const begins = body => body.split(' ').slice(0, 2).join(' ');
await db.drafts.create({ data: { body: ferry } });
const alone = await db.drafts.create({ data: { body: again } });
const two = await db.drafts.createManyAndReturn({
    data: [{ body: again }, { body: museum }] });
console.log(`left out: ${alone}; of two:`,
    two.map(({ id, body }) => `${id} ${begins(body)}`).join(', '));

await db.news.createMany({ data: [{ body: ferry }, { body: museum }] });
const stale = await db.news.findUnique({ where: { id: 2 } });
await db.$executeRaw`UPDATE news SET body = ${again} WHERE id = 2`;
await db.news.update({ where: { id: 2 }, data: { ...stale, note: 'seen' } });
const [{ text }] = await db.$queryRaw`
    SELECT concat(substring(body, '^\\w+ \\w+'), ', cluster ', cluster,
                  CASE WHEN fp <> minhash(body) THEN ', another fp' END) AS text
    FROM news WHERE id = 2`;
console.log('stale:', text);
await db.$disconnect();
