--
-- read_hash.c: simhash_read_hash
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

-- 0123456789abcdef in each form: the number is 81985529216486895, and the digits to
-- base 64 are those of 0000 000100 100011 010001 ... and of 000000 010010 001101 ...
SELECT format, hash, to_hex(simhash_read_hash(hash, 64, format)::bigint) AS hex
FROM (VALUES ('hex', '0123456789abcdef'), ('hex', '0123456789ABCDEF'), ('hex', '0x0123456789abcdef'),
    ('hex-short', '123456789abcdef'), ('hex-short', '0X123456789abcdef'),
    ('binary', '0000000100100011010001010110011110001001101010111100110111101111'),
    ('decimal', '81985529216486895'), ('decimal', '00081985529216486895'),
    ('base64', 'ASNFZ4mrze8='), ('base64', 'ASNFZ4mrze8'), ('base64url', 'ASNFZ4mrze8='),
    ('jimp', '04zhmu9GYTL')) AS v(format, hash);
-- with the highest bit set, and at both ends
SELECT format, hash, simhash_read_hash(hash, 64, format)::bigint AS number
FROM (VALUES ('hex', 'fffffffffffffffe'), ('decimal', '18446744073709551614'), ('decimal', '-2'),
    ('decimal', '18446744073709551615'), ('decimal', '9223372036854775808'),
    ('decimal', '-9223372036854775808'), ('decimal', '9223372036854775807'), ('decimal', '0'),
    ('base64', '//////////4='), ('base64url', '__________4='), ('jimp', 'f_________$')) AS v(format, hash);
-- what a default says
SELECT simhash_read_hash('00000000000000a1')::bigint AS hex, simhash_read_hash('a1', 8) AS eight,
    simhash_read_hash(NULL) AS "null", simhash_read_hash('-1', 3, 'decimal') AS three;
-- other numbers of bits, of which the digits of the highest have fewer
SELECT bits, simhash_read_hash(hash, bits, format) AS read FROM (VALUES (1, '1', 'binary'),
    (1, '1', 'hex'), (1, '-1', 'decimal'), (5, '1f', 'hex'), (5, 'v', 'jimp'), (7, '1_', 'jimp'),
    (16, 'ASM=', 'base64'), (8, '_w', 'base64url')) AS v(bits, hash, format);
SELECT bits, length(read), bit_count(read), right(read::text, 4) AS "end"
FROM (VALUES (256, repeat('f80c', 16), 'hex'), (1024, repeat('1', 1024), 'binary'),
    (128, '340282366920938463463374607431768211454', 'decimal'),
    (256, repeat('A', 42) || '8=', 'base64')) AS v(bits, hash, format),
    simhash_read_hash(hash, bits, format) AS read;
-- bytes
SELECT simhash_read_hash(encode('\x0123456789abcdef', 'hex'))::bigint = x'0123456789abcdef'::bigint AS same;

----------------------------------------
-- reversed
----------------------------------------

SELECT bits, reversed, simhash_read_hash(hash, bits, 'hex', reversed)
FROM (VALUES (8, '01', 'bits'), (16, '0180', 'bits'), (16, '0180', 'bytes'), (16, '0180', 'all'),
    (3, '3', 'all'), (16, '0180', 'none')) AS v(bits, hash, reversed);
SELECT bits, reversed, string_agg(lpad(to_hex(substring(read FROM 64 * i + 1 FOR 64)::bigint), 16, '0'), ' ' ORDER BY i)
FROM unnest('{64,128}'::int[]) AS bits, unnest('{bits,bytes,words,all}'::text[]) AS reversed,
    simhash_read_hash(left('0123456789abcdeffedcba9876543201', bits / 4), bits, 'hex', reversed) AS read,
    generate_series(0, bits / 64 - 1) AS i
GROUP BY bits, reversed ORDER BY bits, reversed;
-- twice, a reversal is none; two of them make the third
SELECT count(*) FROM generate_series(1, 1000) AS i, unnest('{bits,bytes,words,all}'::text[]) AS reversed,
    LATERAL (SELECT md5(i::text) AS hash) AS h, simhash_read_hash(hash, 128) AS plain,
    simhash_read_hash(hash, 128, 'hex', reversed) AS once
WHERE simhash_read_hash(once::text, 128, 'binary', reversed) = plain
    AND simhash_read_hash(simhash_read_hash(simhash_read_hash(hash, 128, 'hex', 'bits')::text, 128,
        'binary', 'bytes')::text, 128, 'binary', 'words') = simhash_read_hash(hash, 128, 'hex', 'all');

----------------------------------------
-- what is no hash
----------------------------------------

-- that of sharp-phash and the like
SELECT simhash_read_hash(repeat('01', 32));
\echo :LAST_ERROR_SQLSTATE
SELECT simhash_read_hash('18446744073709551614');
SELECT simhash_read_hash('1c4f0e0b0d0f0c1');
SELECT simhash_read_hash('-2');
SELECT simhash_read_hash('ASNFZ4mrze8=');
SELECT simhash_read_hash('f_________$');
SELECT simhash_read_hash(repeat('f80c', 16));
SELECT simhash_read_hash(repeat('0', 3000));
SELECT simhash_read_hash('');
SELECT simhash_read_hash('1c4f0e0b0d0f0c1e');
SELECT simhash_read_hash('1c4f0e0b0d0f0c1e', 256);
SELECT simhash_read_hash('1c4f0e0b0d0f0c1e', 68);
SELECT simhash_read_hash('0123456789abcdeg');
SELECT simhash_read_hash('0123456789abcdef' || chr(13));
SELECT simhash_read_hash('\x0123456789abcdef');
SELECT simhash_read_hash(repeat('ä', 30));
-- each by its number alone
SELECT format, bits, hash, fails(format('SELECT simhash_read_hash(%L, %s, %L)', hash, bits, format)) FROM (VALUES
    ('hex', 64, '0x'), ('hex', 64, ' 0123456789abcde'), ('hex', 5, '20'), ('hex', 64, '0x0x0123456789abcdef'),
    ('hex-short', 64, ''), ('hex-short', 64, '00123456789abcdef'),
    ('binary', 64, repeat('2', 64)), ('binary', 64, repeat('1', 63)), ('binary', 2, '0b1'),
    ('decimal', 64, '18446744073709551616'), ('decimal', 64, '-9223372036854775809'), ('decimal', 64, '-0'),
    ('decimal', 64, '-'), ('decimal', 64, '+1'), ('decimal', 64, '--1'), ('decimal', 64, '1.0'),
    ('decimal', 64, '1.8446744073709552e+19'), ('decimal', 1, '2'), ('decimal', 1, '-2'),
    ('base64', 64, 'ASNFZ4mrze9='), ('base64', 64, 'ASNFZ4mrze8=='), ('base64', 64, 'ASNFZ4mrze='),
    ('base64', 64, '__________4='), ('base64url', 64, '//////////4='), ('base64', 60, 'AAAAAAAAAA'),
    ('base64', 64, 'ASNFZ4mrz+8e'), ('base64', 16, 'AS=='), ('base64', 8, '===='),
    ('jimp', 64, 'g_________$'), ('jimp', 64, '4zhmu9GYTL')) AS v(format, bits, hash);
-- the arguments
SELECT simhash_read_hash('00', 8, 'HEX');
SELECT simhash_read_hash('00', 8, 'hex', 'byte');
SELECT simhash_read_hash('000', 12, 'hex', 'bits');
SELECT simhash_read_hash('00000000', 32, 'hex', 'words');
SELECT simhash_read_hash(repeat('0', 24), 96, 'hex', 'bytes');
SELECT simhash_read_hash('', 0);
SELECT simhash_read_hash('', 1025);

----------------------------------------
-- where it is used
----------------------------------------

CREATE TABLE loaded (name text, hash text, fp bigint GENERATED ALWAYS AS (simhash_read_hash(hash)::bigint) STORED);
CREATE INDEX ON loaded USING hamming (fp);
COPY loaded (name, hash) FROM STDIN;
a	00000000000000a1
b	00000000000000a3
\.
COPY loaded (name, hash) FROM STDIN;
c	a1
\.
SELECT a.name, b.name FROM loaded AS a JOIN loaded AS b ON b.fp ~= a.fp WHERE a.name < b.name;
DROP TABLE loaded;
SELECT provolatile, proisstrict, proparallel, proleakproof FROM pg_proc WHERE proname = 'simhash_read_hash';
