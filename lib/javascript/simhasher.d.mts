/** The types of simhasher.mjs.  SPDX-License-Identifier: PostgreSQL */

/** A text: a string, or UTF-8. */
export type Text = string | Uint8Array;

/** A passage, as it stands in the text or page, and its MinHash. */
export interface Passage {
	text: string;
	fingerprint: bigint | null;
}

export interface Simhasher {
	/** The fingerprint of a text, as the bigint of SQL; null without a feature. */
	simhash(text: Text, profile?: string | null): bigint | null;
	minhash(text: Text, profile?: string | null): bigint | null;

	/** The same in 64 to 1024 bits, written as PostgreSQL writes bit(n). */
	simhashBits(text: Text, bits: number, profile?: string | null): string | null;
	minhashBits(text: Text, bits: number, profile?: string | null): string | null;

	/** How many different features a text has. */
	features(text: Text, profile?: string | null): number;

	/** As by simhash_fold(), simhash_html() and simhash_article(). */
	fold(text: Text): string;
	html(page: Text): string;
	article(page: Text): string;

	/** The similarity of two texts; null where neither has a feature. */
	jaccard(a: Text, b: Text, profile?: string | null): number | null;
	cosine(a: Text, b: Text, profile?: string | null): number | null;

	/** The passages of a text, of so many words on average, 25 if nothing is said. */
	passages(text: Text, profile?: string | null, words?: number): Passage[];

	/** In how many bits two fingerprints of 64 bits differ. */
	hamming(a: bigint, b: bigint): number;
}

/**
 * Read libsimhash.wasm, beside the module if no other place is given, and make what
 * computes fingerprints by it.
 */
export function load(source?: string | URL | Response | BufferSource | WebAssembly.Module):
	Promise<Simhasher>;
