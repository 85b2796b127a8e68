// share/plain.sql in PGlite, PostgreSQL inside a program: searches beside a sequential
// scan, their plan, and the guard.
// needs @electric-sql/pglite of npm: node -e 'import("@electric-sql/pglite")'
// prints
//   20000 rows, no difference
//   index-only scans: 4
//   refused: 23P01 row is a near-duplicate of another in table "docs"
//   at repeatable read: 0A000
//   rows in the end: 20001
// SPDX-License-Identifier: PostgreSQL

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';

const db = await PGlite.create();
const one = async (sql) => Object.values((await db.query(sql)).rows[0])[0];
const error = async (sql) => {
    try {
        await db.exec(sql);
    } catch (e) {
        return e;
    }
};

await db.exec(readFileSync(join(process.env.TREE, 'share/plain.sql'), 'utf8'));
await db.exec(`
    CREATE TABLE docs (id int PRIMARY KEY, fp bigint);
    INSERT INTO docs SELECT n, hashint8extended(n, 1) FROM generate_series(1, 20000) AS n;
    CALL plain.add_keys('docs');
    CALL plain.add_guard('docs');
    CREATE TABLE asked AS SELECT fp # (1::bigint << id % 64) # (1::bigint << id % 37) AS q
    FROM docs WHERE id <= 100`);
await db.exec('VACUUM ANALYZE docs');
const differences = await one(`
    WITH found AS MATERIALIZED (SELECT q, k, n.* FROM asked, generate_series(0, 8) AS k,
        docs_near(q, k) AS n),
    right_ones AS (SELECT q, k, id, fp, bit_count((fp # q)::bit(64))::int AS distance
        FROM asked JOIN docs ON bit_count((fp # q)::bit(64)) <= 8,
        generate_series(bit_count((fp # q)::bit(64))::int, 8) AS k)
    SELECT count(*) FROM ((TABLE found EXCEPT ALL TABLE right_ones)
        UNION ALL (TABLE right_ones EXCEPT ALL TABLE found)) AS s`);
console.log(await one('SELECT count(*) FROM docs'), 'rows,',
    Number(differences) === 0 ? 'no difference' : `${differences} differences`);
const plan = (await db.query('EXPLAIN SELECT * FROM docs_near(17, 8)')).rows;
console.log('index-only scans:',
    plan.filter((row) => /Index Only Scan using docs_k/.test(row['QUERY PLAN'])).length);
const refused = await error('INSERT INTO docs SELECT 0, fp # 5 FROM docs WHERE id = 7');
console.log('refused:', refused.code, refused.message);
const level = await error('BEGIN ISOLATION LEVEL REPEATABLE READ; INSERT INTO docs VALUES (0, 0)');
console.log('at repeatable read:', level.code);
await db.exec('ROLLBACK; INSERT INTO docs VALUES (0, 0)');
console.log('rows in the end:', await one('SELECT count(*) FROM docs'));
