/*
 * Make the calls of check_clients.sh by node's pg, and print what comes of
 * them.
 * SPDX-License-Identifier: PostgreSQL
 *
 * usage: node clients.js <calls
 */
'use strict';
const { Client } = require('pg');
const calls = require('fs').readFileSync(0, 'utf8').trimEnd().split('\n');

(async () => {
	const client = new Client({ host: process.env.PGHOST });
	await client.connect();
	for (const line of calls) {
		const [call, parameters] = line.split('\t');
		const result = await client.query({
			text: 'SELECT ' + call, values: JSON.parse(parameters), rowMode: 'array' });
		console.log(String(result.rows[0][0]));
	}
	await client.end();
})().catch(error => { console.error(error.message); process.exit(1); });
