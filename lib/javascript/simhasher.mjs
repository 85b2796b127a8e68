/**
 * The fingerprints of the PostgreSQL extension simhash, without PostgreSQL: in Node.js,
 * browsers, and wherever else there is WebAssembly with SIMD.
 *
 *	import { load } from './simhasher.mjs';
 *	const simhasher = await load();
 *	simhasher.minhash('the quick brown fox');		// a BigInt, as a bigint of SQL
 *
 * A text is a string, or a Uint8Array in UTF-8; what PostgreSQL would refuse, as a
 * character 0 or half a surrogate pair, is an error.  A profile is a name, as
 * 'word-2-html', or is left out.  Where SQL has NULL, because a text has no feature,
 * there is null.
 *
 * SPDX-License-Identifier: PostgreSQL
 */

const OK = 1;
const SIMHASH = 0;
const MINHASH = 1;
const WORDS_MAX = 16;
const LONE_SURROGATE = /\p{Surrogate}/u;

// Where the library writes results: fingerprints, then pointers and lengths.
const RESULT_BYTES = WORDS_MAX * 8 + 32;
const PLACES = WORDS_MAX * 8;

// struct simhasher_passage
const PASSAGE_BYTES = 24;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A number that C takes for itself; one out of all ranges for whatever else is given. */
const number = given => Number.isInteger(given) && given === (given | 0) ? given : -1;

/** The bytes of the module: those given, fetched, or of the file beside this one. */
async function read(source) {
	if (source instanceof ArrayBuffer || ArrayBuffer.isView(source))
		return source;
	if (typeof Response === 'function' && source instanceof Response)
		return source.arrayBuffer();
	const url = new URL(source ?? 'libsimhash.wasm', import.meta.url);
	if (url.protocol === 'file:')
		return (await import('node:fs/promises')).readFile(url);
	return (await fetch(url)).arrayBuffer();
}

/** Read the module, and make what computes fingerprints by it. */
export async function load(source) {
	const module = source instanceof WebAssembly.Module ? source :
		await WebAssembly.compile(await read(source));
	const crypto = globalThis.crypto ?? (await import('node:crypto')).webcrypto;
	return new Simhasher(module, crypto.getRandomValues(new BigUint64Array(1))[0]);
}

class Simhasher {
	#module;
	#secret;
	#library;
	#hasher;
	#result;
	#profiles;
	#texts;

	constructor(module, secret) {
		this.#module = module;
		this.#secret = secret;
		this.#start();
	}

	#start() {
		this.#library = new WebAssembly.Instance(this.#module).exports;
		this.#library._initialize();
		this.#hasher = this.#library.simhasher_open(this.#secret);
		if (this.#hasher === 0)
			throw new RangeError('out of memory');
		this.#result = this.#allocate(RESULT_BYTES);
		this.#profiles = new Map();
		this.#texts = [{ place: 0, room: 0 }, { place: 0, room: 0 }];
	}

	/** A place for so many bytes, of which malloc() takes 32 bits; addresses have no sign. */
	#allocate(bytes) {
		const place = bytes === bytes >>> 0 ? this.#library.malloc(bytes) >>> 0 : 0;
		if (place === 0)
			throw new RangeError('out of memory');
		return place;
	}

	#bytes(place, length) {
		return new Uint8Array(this.#library.memory.buffer, place, length);
	}

	#view() {
		return new DataView(this.#library.memory.buffer, this.#result, RESULT_BYTES);
	}

	#string(place, length) {
		return decoder.decode(this.#bytes(place, length));
	}

	#error() {
		const place = this.#library.simhasher_error(this.#hasher) >>> 0;
		const bytes = new Uint8Array(this.#library.memory.buffer, place);
		return new RangeError(new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0))));
	}

	/** Put a text, the first or the second, where the library reads it. */
	#put(text, i = 0) {
		const buffer = this.#texts[i];
		const isString = typeof text === 'string';
		if (!isString && !(text instanceof Uint8Array))
			throw new TypeError('a text is a string or a Uint8Array');
		if (isString && (text.isWellFormed ? !text.isWellFormed() : LONE_SURROGATE.test(text)))
			throw new RangeError('the text has half a surrogate pair');
		const room = isString ? 3 * text.length : text.length;
		if (room > buffer.room) {
			this.#library.free(buffer.place);
			buffer.place = buffer.room = 0;
			buffer.place = this.#allocate(room);
			buffer.room = room;
		}
		if (isString)
			return [buffer.place, encoder.encodeInto(text, this.#bytes(buffer.place, room)).written];
		this.#bytes(buffer.place, room).set(text);
		return [buffer.place, room];
	}

	/** Call a function of the library: whether there is a result. */
	#call(name, ...args) {
		let result;
		try {
			result = this.#library['simhasher_' + name](this.#hasher, ...args);
		} catch (error) {
			// Without memory, or room on the stack, the library stops where it is: begin anew.
			this.#start();
			throw error instanceof WebAssembly.RuntimeError ?
				new RangeError('out of memory', { cause: error }) : error;
		}
		if (result < 0)
			throw this.#error();
		return result === OK;
	}

	#profile(name) {
		if (name === undefined || name === null)
			return 0;
		let profile = this.#profiles.get(name);
		if (profile === undefined) {
			const bytes = encoder.encode(name + '\0');
			if (bytes.indexOf(0) < bytes.length - 1)
				throw new RangeError('the name of a profile has a character 0');
			profile = this.#library.simhasher_find_profile(this.#hasher, this.#put(bytes)[0]);
			if (profile === 0)
				throw this.#error();
			this.#profiles.set(name, profile);
		}
		return profile;
	}

	#fingerprint(family, text, bits, profile) {
		const found = this.#profile(profile);
		return this.#call('fingerprint', found, family, ...this.#put(text), number(bits), this.#result);
	}

	#of64(family, text, profile) {
		return this.#fingerprint(family, text, 64, profile) ?
			this.#view().getBigInt64(0, true) : null;
	}

	#ofBits(family, text, bits, profile) {
		if (!this.#fingerprint(family, text, bits, profile))
			return null;
		let string = '';
		for (let i = 0; i < bits / 8; i += 8)
			string += this.#view().getBigUint64(i, true).toString(2).padStart(64, '0');
		return string;
	}

	#text(name, text, ...args) {
		this.#call(name, ...this.#put(text), ...args, this.#result, this.#result + 4);
		return this.#string(this.#view().getUint32(0, true), this.#view().getUint32(4, true));
	}

	#similarity(name, a, b, profile) {
		const found = this.#profile(profile);
		return this.#call(name, found, ...this.#put(a), ...this.#put(b, 1), this.#result) ?
			this.#view().getFloat64(0, true) : null;
	}

	simhash(text, profile) {
		return this.#of64(SIMHASH, text, profile);
	}

	minhash(text, profile) {
		return this.#of64(MINHASH, text, profile);
	}

	simhashBits(text, bits, profile) {
		return this.#ofBits(SIMHASH, text, bits, profile);
	}

	minhashBits(text, bits, profile) {
		return this.#ofBits(MINHASH, text, bits, profile);
	}

	features(text, profile) {
		const found = this.#profile(profile);
		this.#call('count_features', found, ...this.#put(text), this.#result);
		return this.#view().getUint32(0, true);
	}

	fold(text) {
		return this.#text('fold', text);
	}

	html(page) {
		return this.#text('html', page, 0);
	}

	article(page) {
		return this.#text('html', page, 1);
	}

	jaccard(a, b, profile) {
		return this.#similarity('jaccard', a, b, profile);
	}

	cosine(a, b, profile) {
		return this.#similarity('cosine', a, b, profile);
	}

	passages(text, profile, words = 25) {
		const found = this.#profile(profile);
		this.#call('passages', found, ...this.#put(text), number(words), this.#result,
			this.#result + 4, this.#result + 8);
		const [cut, first, n] = [0, 4, 8].map(place => this.#view().getUint32(place, true));
		const view = new DataView(this.#library.memory.buffer, first, n * PASSAGE_BYTES);
		return Array.from({ length: n }, (_, i) => {
			const at = i * PASSAGE_BYTES;
			return {
				text: this.#string(cut + view.getUint32(at, true), view.getUint32(at + 4, true)),
				fingerprint: view.getInt32(at + 16, true) === OK ? view.getBigInt64(at + 8, true) : null
			};
		});
	}

	hamming(a, b) {
		return BigInt.asUintN(64, a ^ b).toString(2).replaceAll('0', '').length;
	}
}
