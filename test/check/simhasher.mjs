/**
 * The golden vectors, computed by lib/javascript/simhasher.mjs in Node.js.
 *
 * Prints how many were compared and how many differ, and fails if any does.  The
 * argument is the module, beside which is libsimhash.wasm.
 *
 * SPDX-License-Identifier: PostgreSQL
 */
import fs from 'node:fs';
import { pathToFileURL } from 'node:url';

const { load } = await import(pathToFileURL(process.argv[2]));
const simhasher = await load();
const golden = new URL('../golden/', import.meta.url);
const escapes = { t: '\t', n: '\n', r: '\r', b: '\b', f: '\f', v: '\v' };

/** The rows of a file, as COPY writes them. */
function rows(name) {
	return fs.readFileSync(new URL(name, golden), 'utf8').split('\n').slice(0, -1).map(line =>
		line.split('\t').map(field => field === '\\N' ? null :
			field.replace(/\\(x[0-9a-f]{2}|.)/gs, (_, code) => code[0] === 'x' ?
				String.fromCharCode(parseInt(code.slice(1), 16)) : escapes[code] ?? code)));
}

const number = value => value === null ? null : String(value);
const bits = value => value === null ? null : BigInt('0b' + value).toString(16).padStart(256, '0');

function passages(text, cut) {
	const [, words, profile] = /^(\d+)\/(.*)$/.exec(cut);
	let start = 1;
	return simhasher.passages(text, profile, Number(words)).map(passage => {
		const length = [...passage.text].length;
		const written = `${start}+${length}=${passage.fingerprint ?? ''}`;
		start += length;
		return written;
	}).join(' ');
}

let compared = 0;
let different = 0;

function compare(name, textsName, compute) {
	const texts = new Map(rows(textsName));
	for (const row of rows(name)) {
		const [label, ...rest] = row;
		const right = rest.pop();
		if (texts.get(label) === null)
			continue;
		const computed = compute(texts.get(label), ...rest);
		compared++;
		if (computed !== right) {
			different++;
			console.error(name, label, ...rest, computed, right);
		}
	}
}

compare('golden.tsv', 'golden_texts.tsv', (text, profile) => number(simhasher.simhash(text, profile)));
compare('golden_minhash.tsv', 'golden_texts.tsv', (text, profile) => number(simhasher.minhash(text, profile)));
compare('golden_wide.tsv', 'golden_texts.tsv', (text, family, profile) =>
	bits(simhasher[family + 'Bits'](text, 1024, profile)));
compare('golden_fold.tsv', 'golden_texts.tsv', text => simhasher.fold(text));
compare('golden_passages.tsv', 'golden_texts.tsv', passages);
compare('golden_html.tsv', 'golden_html_texts.tsv', (text, kind) => simhasher[kind](text));

// What is no text, profile or number is refused, and nothing of it stays.
for (const refused of [() => simhasher.minhash('\0'), () => simhasher.minhash('\ud800'),
	() => simhasher.minhash(new Uint8Array([0xff])), () => simhasher.minhash('a', 'word-11'),
	() => simhasher.minhash('a', 'word-2\0'), () => simhasher.simhashBits('a', 65),
	() => simhasher.passages('a', null, 25n), () => simhasher.passages('a', null, 2 ** 32 + 25),
	() => simhasher.passages('a', null, { valueOf: () => 25 })]) {
	compared++;
	try {
		refused();
		different++;
		console.error('not refused:', String(refused));
	} catch (error) {
		if (!(error instanceof RangeError) || error.message === 'out of memory')
			throw error;
	}
}

// Nor does an array that is longer than malloc() can be told, if there is memory for it.
const long = 'a b '.repeat(2 ** 20);
const anew = await load();
for (const huge of [2 ** 30, 2 ** 32]) {
	try {
		anew.fold(new Uint8Array(huge));
		different++;
	} catch (error) {
		if (!(error instanceof RangeError))
			throw error;
	}
}
compared++;
if (anew.fold(long) !== long)
	different++;
console.log(`${compared} compared, ${different} different`);
process.exitCode = different > 0 ? 1 : 0;
