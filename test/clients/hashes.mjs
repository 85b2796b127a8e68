// Hashes of pictures and files by programs of npm, as docs/images.md and docs/files.md say.
// needs sharp-phash, imghash, image-hash, blockhash-core, jimp, tlsh and browser-image-hash of npm: node -e 'for (const name of ["sharp-phash", "imghash", "image-hash", "blockhash-core", "jimp", "tlsh", "ssdeep.js"]) require(name); import("browser-image-hash")'
// prints
//   sharp-phash: 64 binary digits, ee6a94d611899811, plain 0,29,33,28
//   imghash: 16 hex digits, e0f81c3e70f1f10e, plain 0,0,64,32
//   imghash 16: 64 hex digits, fe01fe00ff80c7e0, plain 0,0,256,128
//   imghash binary: 64 binary digits, e0f81c3e70f1f10e, plain 0,0,64,32
//   image-hash: 16 hex digits, e0b81c3c7071f10c, plain 0,0,64,32
//   blockhash-core: 16 hex digits, e0f81c3e70f1f10e, plain 0,0,64,32
//   browser dHash: 16 hex digits, 83e97878c7c7c778, plain 64,64,64,32
//   browser aHash: 16 hex digits, e0081c3cf1f1f10e, plain 0,0,0,32
//   browser pHash: 16 hex digits, c25b68e09f675878, plain 0,32,32,32
//   browser wHash: 16 hex digits, e0081c3cf3f1f11e, plain 0,0,0,32
//   jimp pHash(): 64 binary digits, 90f0304a40008000, plain 0,1,1,3
//   jimp hash(): 11 jimp digits, 90f0304a40008000, plain 0,1,1,3
//   jimp hash(10): 20 decimal digits, 90f0304a40008000, plain 0,1,1,3
//   jimp hash(16): 16 hex digits, 90f0304a40008000, plain 0,1,1,3
//   tlsh: 70 digits
//   ssdeep.js: 48:wo0qzyr+ZpDoo0qzyr+ZpDoo0qzyr+ZpDoo0qzyr+ZpDo8:kf+ZV8f+ZV8f+ZV8f+ZVZ
// SPDX-License-Identifier: PostgreSQL
//
// Expected beforehand: 16 hexadecimal digits of each, the same of all that are called
// pHash, and of all by blocks; of plain pictures all bits equal.  What comes stands
// above: of a drawing, how many digits, and the first 64 bits that simhash_read_hash
// makes of them; how many bits are set of a black, a grey and a white picture, and of one
// whose halves are light and dark.

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const [phash, imghash, sharp] = ['sharp-phash', 'imghash', 'sharp'].map(require);
const { imageHash } = require('image-hash');
const { bmvbhash } = require('blockhash-core');
const { Jimp } = require('jimp');
const { AverageHashBuilder, DifferenceHashBuilder, PerceptualHashBuilder,
    WaveletHashBuilder } = await import('browser-image-hash');

const [width, height] = [128, 96];
const pictures = {
    drawing: (x, y) => 128 + 60 * Math.sin(x / 17) * Math.cos(y / 11) +
        ((x - 40) ** 2 + (y - 60) ** 2 < 500 ? 60 : 0) - (x > 90 && y < 40 ? 50 : 0),
    black: () => 0, grey: () => 100, white: () => 255,
    halves: x => x < width / 2 ? 230 : 20,
};
const raw = { raw: { width, height, channels: 4 } };

// A picture as RGBA.
const pixels = draw => Buffer.from(Array.from({ length: width * height * 4 }, (_, i) =>
    i % 4 == 3 ? 255 : draw((i >> 2) % width, Math.floor((i >> 2) / width))));

// The greys of a picture in another size, in place of a browser's canvas.
const converter = buffer => ({ convert: async source => new Uint8ClampedArray(
    await sharp(buffer).removeAlpha().greyscale().resize(source.width, source.height,
        { fit: 'fill' }).raw().toBuffer()) });
globalThis.HTMLImageElement = globalThis.CanvasRenderingContext2D = class {};
const browser = Builder => async png =>
    (await new Builder(converter(png), {}).build(new URL('file:///picture'))).toString();
const jimp = call => async png => call(await Jimp.read(png));

// What each program is called with, and its hash in bits and format.
const programs = {
    'sharp-phash': [phash, 64, 'binary'],
    'imghash': [png => imghash.hash(png, 8), 64, 'hex'],
    'imghash 16': [png => imghash.hash(png, 16), 256, 'hex'],
    'imghash binary': [png => imghash.hash(png, 8, 'binary'), 64, 'binary'],
    'image-hash': [data => new Promise((done, fail) => imageHash({ data, ext: 'image/png' },
        8, true, (error, hash) => error ? fail(error) : done(hash))), 64, 'hex'],
    'blockhash-core': [async png => bmvbhash({ width, height,
        data: await sharp(png).ensureAlpha().raw().toBuffer() }, 8), 64, 'hex'],
    'browser dHash': [browser(DifferenceHashBuilder), 64, 'hex'],
    'browser aHash': [browser(AverageHashBuilder), 64, 'hex'],
    'browser pHash': [browser(PerceptualHashBuilder), 64, 'hex'],
    'browser wHash': [browser(WaveletHashBuilder), 64, 'hex'],
    'jimp pHash()': [jimp(image => image.pHash()), 64, 'binary'],
    'jimp hash()': [jimp(image => image.hash()), 64, 'jimp'],
    'jimp hash(10)': [jimp(image => image.hash(10)), 64, 'decimal'],
    'jimp hash(16)': [jimp(image => image.hash(16)), 64, 'hex'],
};

const sql = query => execFileSync('psql', ['-XqAt', '-v', 'ON_ERROR_STOP=1'],
    { input: query, encoding: 'utf8' }).trim();
const read = (hash, bits, format) => sql(
    `SELECT simhash_read_hash('${hash}', ${bits}, '${format}')`);
const hexadecimal = bits => bits.match(/.{4}/g).map(four => parseInt(four, 2).toString(16)).join('');
const ones = bits => bits.replaceAll('0', '').length;

// Of the pictures of a folder, for plain-pictures.py: one call of each program.
if (process.argv[2]) {
    for (const file of readdirSync(process.argv[2]).filter(name => name.endsWith('.png')))
        for (const [name, [hash, bits, format]] of Object.entries(programs))
            if (!/binary|blockhash|hash\(/.test(name))
                console.log([file, name, await hash(readFileSync(`${process.argv[2]}/${file}`)),
                    bits, format, 'none'].join('\t'));
    process.exit();
}
sql('CREATE EXTENSION simhash');
for (const [name, [hash, bits, format]] of Object.entries(programs)) {
    const came = {}, digits = {};
    for (const [picture, draw] of Object.entries(pictures)) {
        digits[picture] = await hash(await sharp(pixels(draw), raw).png().toBuffer());
        came[picture] = read(digits[picture], bits, format);
    }
    const { drawing, ...plain } = came;
    console.log(`${name}: ${digits.drawing.length} ${format} digits, ` +
        `${hexadecimal(drawing).slice(0, 16)}, plain ${Object.values(plain).map(ones)}`);
}

// Of files: a text, and one of three letters, by programs for them.
const text = Array.from({ length: 3000 }, (_, i) => (i * i * 7 + i * 13 + (i >> 3)) % 90 + 32);
const file = String.fromCharCode(...text);
console.log(`tlsh: ${require('tlsh')(file).length} digits`);
console.log(`ssdeep.js: ${require('ssdeep.js').digest(file)}`);
