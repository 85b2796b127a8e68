# Hashes of pictures, sound and files by Debian's programs, as docs/images.md and docs/files.md say.
# needs findimagedupes, libpuzzle-bin, python3-opencv, libchromaprint-tools, ffmpeg, tlsh-tools, ssdeep: which fpcalc ffmpeg findimagedupes puzzle-diff tlsh ssdeep && python3 -c 'import cv2, tlsh; cv2.img_hash.pHash'
# prints
#   findimagedupes: 44 base64 digits, 7f007f007f00810f, plain 0,256,256,128
#   OpenCV averageHash: 16 hex digits, e0001c3e71f1e10c, plain 0,0,0,32
#   OpenCV pHash: 16 hex digits, 425b68e09d675878, plain 0,0,0,2
#   OpenCV blockMeanHash: 64 hex digits, fe00fe00fc0001e0, plain 256,256,256,128
#   OpenCV marrHildrethHash: 144 hex digits, e43243e379278390, plain 0,24,0,75
#   OpenCV radialVarianceHash: 40 of uint8
#   OpenCV colorMomentHash: 42 of float64
#   puzzle-diff: 0.934885, 0
#   fpcalc -raw: 1110217536,3257180480...
#   fpcalc -raw -signed: 1110217536,-1037786816...
#   fpcalc: AQAAZFe2...
#   ffmpeg: 40932c42, that is 1110217536
#   silence: {'627964279'}
#   found: 2|163|85; 2|164|97; 4|244|95; 4|245|94
#   tlsh: 70 digits, of python3-tlsh 70, of 30 letters ''
#   tlsh: score 13, hamming 12
#   tlsh: score 30, hamming 28
#   tlsh: score 68, hamming 43
#   tlsh: score 80, hamming 74
#   ssdeep: 96:sPw71pQjUwB4H8HXyJdqPJBB0uE6fHns/yHeeB:s41KZ3ymVHnYyeM,"text"
# SPDX-License-Identifier: PostgreSQL
#
# Expected beforehand: OpenCV's pHash is that of the others; puzzle-diff prints a hash; one
# word of a recording finds it; a digest of ssdeep has a fixed length.  None is so, and
# what comes stands above: of pictures as in hashes.mjs, of sound the recordings in which
# a part is found (later by so many words, so often), of texts changed more and more the
# scores of TLSH.

import os
import random
import subprocess
import wave

import cv2
import numpy
import tlsh

# Pictures

HEIGHT, WIDTH = 96, 128
Y, X = numpy.mgrid[0:HEIGHT, 0:WIDTH]
PICTURES = {
    'drawing': 128 + 60 * numpy.sin(X / 17) * numpy.cos(Y / 11) +
               60 * ((X - 40) ** 2 + (Y - 60) ** 2 < 500) - 50 * ((X > 90) & (Y < 40)),
    'black': 0 * X, 'grey': 0 * X + 100, 'white': 0 * X + 255,
    'halves': numpy.where(X < WIDTH / 2, 230, 20),
}
RATE = 11025


def run(*command):
    done = subprocess.run(command, capture_output=True, env=dict(os.environ, HOME='.'))
    return done.stdout


def sql(query):
    return subprocess.run(['psql', '-XqAt', '-v', 'ON_ERROR_STOP=1'], check=True,
                          input=query, capture_output=True, text=True).stdout.strip()


def read(digits, bits, format='hex', reverse='none'):
    return sql("SELECT simhash_read_hash('%s', %d, '%s', '%s')"
               % (digits, bits, format, reverse))


def opencv(hash):
    return lambda name: hash(cv2.imread(name)).tobytes().hex()


def findimagedupes(name):
    return run('findimagedupes', '-v', 'fp', name).split()[0].decode()


HASH = cv2.img_hash
PROGRAMS = {
    'findimagedupes': (findimagedupes, 256, 'base64', 'none'),
    'OpenCV averageHash': (opencv(HASH.averageHash), 64, 'hex', 'bits'),
    'OpenCV pHash': (opencv(HASH.pHash), 64, 'hex', 'bits'),
    'OpenCV blockMeanHash': (opencv(HASH.blockMeanHash), 256, 'hex', 'bits'),
    'OpenCV marrHildrethHash': (opencv(HASH.marrHildrethHash), 576, 'hex', 'none'),
}


def pictures():
    for name, grey in PICTURES.items():
        cv2.imwrite(name + '.png', numpy.repeat(grey[:, :, None], 3, 2).clip(0, 255)
                    .astype(numpy.uint8))
    for program, (hash, bits, format, reverse) in PROGRAMS.items():
        came = {name: hash(name + '.png') for name in PICTURES}
        found = {name: read(digits, bits, format, reverse) for name, digits in came.items()}
        print('%s: %d %s digits, %016x, plain %s' % (
            program, len(came['drawing']), format, int(found['drawing'][:64], 2),
            ','.join(str(found[name].count('1')) for name in list(PICTURES)[1:])))
    picture = cv2.imread('drawing.png')
    for hash in HASH.radialVarianceHash, HASH.colorMomentHash:
        print('OpenCV %s: %d of %s' % (hash.__name__, hash(picture).size, hash(picture).dtype))
    print('puzzle-diff: %s, %s' % tuple(run('puzzle-diff', *two).decode().strip() for two in (
        ('drawing.png', 'halves.png'), ('grey.png', 'white.png'))))


# Sound

def melody(seed, seconds):
    """Chords of notes, some seconds, from 0 to 1."""
    rng = random.Random(seed)
    parts, n = [], 0
    while n < seconds * RATE:
        size = int(RATE * rng.uniform(.15, .6))
        at = numpy.arange(size) / RATE
        parts.append(sum(numpy.sin(2 * numpy.pi * at * 220 * 2 ** (rng.randrange(24) / 12))
                         for _ in range(3)) / 3 * numpy.minimum(1, (size - at * RATE) / 200))
        n += size
    return numpy.concatenate(parts)[:seconds * RATE]


def fpcalc(samples, *options):
    with wave.open('sound.wav', 'wb') as file:
        file.setparams((1, 2, RATE, 0, 'NONE', None))
        file.writeframes((samples * 20000).astype('<i2').tobytes())
    return run('fpcalc', '-plain', *options, 'sound.wav').decode().strip()


def sound():
    song, other = melody(1, 60), melody(2, 60)
    part = song[20 * RATE + 3000:35 * RATE + 3000]
    words = fpcalc(part, '-raw').split(',')
    print('fpcalc -raw: %s...' % ','.join(words[:2]))
    print('fpcalc -raw -signed: %s...' % ','.join(fpcalc(part, '-raw', '-signed').split(',')[:2]))
    print('fpcalc: %s...' % fpcalc(part)[:8])
    raw = run('ffmpeg', '-v', 'error', '-i', 'sound.wav', '-f', 'chromaprint',
              '-fp_format', 'raw', '-')
    print('ffmpeg: %s, that is %d' % (raw[:4].hex(), int(read(raw[:4].hex(), 32, 'hex', 'bytes'), 2)))
    print('silence: %s' % set(fpcalc(0 * part, '-raw').split(',')))
    sql("CREATE TABLE fpcalc (recording int, raw text); INSERT INTO fpcalc VALUES "
        "(1, '%s'), (2, '%s'), (3, '%s'), (4, '%s')" % (
            ','.join(words), fpcalc(song, '-raw'), fpcalc(other, '-raw'), fpcalc(
                numpy.concatenate((other[:30 * RATE], song[20 * RATE:35 * RATE])), '-raw')))
    print('found: ' + sql(RECIPE).replace('\n', '; '))


# As docs/images.md has it.
RECIPE = """
CREATE TABLE sound (recording int, at bigint, fp bit(128));
INSERT INTO sound SELECT recording, at, nullif(w || lead(w) OVER o || lead(w, 2) OVER o ||
    lead(w, 3) OVER o, repeat(627964279::bit(32)::text, 4)::bit(128))
FROM fpcalc, string_to_table(raw, ',') WITH ORDINALITY AS t (word, at),
    simhash_read_hash(word, 32, 'decimal') AS w
WINDOW o AS (PARTITION BY recording ORDER BY at);
CREATE INDEX ON sound USING hamming (fp);
SELECT b.recording, b.at - a.at AS later, count(*) FROM sound AS a JOIN sound AS b
ON b.fp <@ (a.fp, 16) AND b.recording <> a.recording WHERE a.recording = 1
GROUP BY b.recording, later HAVING count(*) > 20 ORDER BY 1, 2
"""


# Files

def files():
    rng = random.Random(7)
    words = [''.join(rng.choices('abcdefghijklmnopqrstuvwxyz', k=rng.randint(2, 9)))
             for _ in range(2000)]
    text = rng.choices(words, k=600)
    digests = []
    for changed in (0, 3, 12, 40, 120):
        for place in rng.sample(range(len(text)), changed):
            text[place] = rng.choice(words)
        with open('text', 'w', encoding='ascii') as file:
            file.write(' '.join(text))
        digests.append(run('tlsh', '-f', 'text').split()[0].decode())
    print('tlsh: %d digits, of python3-tlsh %d, of 30 letters %r' % (
        len(digests[0]), len(tlsh.hash(' '.join(text).encode())), tlsh.hash(b'abc' * 10)))
    for other in digests[1:]:
        near = sql(TLSH % (digests[0], other))
        print('tlsh: score %d, hamming %s' % (tlsh.diff(digests[0], other), near))
    print('ssdeep: %s' % run('ssdeep', '-b', 'text').split(b'\n')[1].decode())


# As docs/files.md has it.
TLSH = """
CREATE OR REPLACE FUNCTION tlsh_bits(digest text) RETURNS bit(384) IMMUTABLE STRICT PARALLEL SAFE
RETURN (SELECT string_agg(substr('000001011111', 1 + 3 * substring(h FROM i FOR 2)::int, 3), ''
    ORDER BY i)::bit(384)
    FROM simhash_read_hash(right(digest, 64), 256) AS h, generate_series(1, 255, 2) AS i);
SELECT hamming(tlsh_bits('%s'), tlsh_bits('%s'))
"""

sql('CREATE EXTENSION simhash')
pictures()
sound()
files()
