# What plain pictures hash to, by program, and what the filter of docs/images.md leaves out.
# needs what hashes.mjs and hashes-debian.py need, and the folder of hashes.mjs in CLIENTS: [ -f "$CLIENTS/hashes.mjs" ] && which node findimagedupes && python3 -c 'import cv2; cv2.img_hash.pHash' && node -e 'for (const name of ["sharp-phash", "imghash", "image-hash", "blockhash-core", "jimp", "tlsh", "ssdeep.js"]) require(name); import("browser-image-hash")'
# prints
#   OpenCV averageHash: by bits 34 and 168, varied 10 and 183, 85 pairs
#   OpenCV blockMeanHash: by bits 35 and 188, varied 10 and 198, 46 pairs
#   OpenCV marrHildrethHash: by bits 25 and 200, varied 43 and 200, 0 pairs
#   OpenCV pHash: by bits 10 and 200, varied 15 and 200, 0 pairs
#   browser aHash: by bits 33 and 200, varied 8 and 177, 104 pairs
#   browser dHash: by bits 12 and 200, varied 7 and 200, 0 pairs
#   browser pHash: by bits 49 and 200, varied 49 and 200, 0 pairs
#   browser wHash: by bits 38 and 200, varied 12 and 191, 114 pairs
#   findimagedupes: by bits 35 and 200, varied 12 and 199, 21 pairs
#   image-hash: by bits 34 and 200, varied 15 and 200, 1 pairs
#   imghash: by bits 35 and 200, varied 10 and 200, 2 pairs
#   imghash 16: by bits 35 and 200, varied 10 and 200, 0 pairs
#   jimp pHash(): by bits 0 and 89, varied 0 and 175, 1827 pairs
#   sharp-phash: by bits 49 and 200, varied 49 and 200, 0 pairs
# SPDX-License-Identifier: PostgreSQL
#
# Expected beforehand: plain pictures have fewer than 12 bits set, or more than 52, and
# drawings do not, of 64.  Above stand, of 50 plain pictures and of 200 drawings, how many
# pass that; how many pass where neither rows nor columns are equal but for 4 bits; and how
# many pairs of drawings are within 8 bits of 64, 31 of 256 and 72 of 576.

import collections
import itertools
import os
import re
import subprocess

import cv2
import numpy

HEIGHT, WIDTH = 192, 256
Y, X = numpy.mgrid[0:HEIGHT, 0:WIDTH]
RNG = numpy.random.default_rng(42)
CLIENTS = os.environ['CLIENTS']


def save(name, picture):
    picture = numpy.zeros((HEIGHT, WIDTH, 3)) + picture
    cv2.imwrite(name + '.png', picture.clip(0, 255).astype(numpy.uint8))


def drawing():
    """A scene, lines on white, or shapes, with noise."""
    kind = RNG.integers(3)
    picture = numpy.zeros((HEIGHT, WIDTH, 3)) + (255 if kind == 1 else RNG.integers(0, 256, 3))
    if kind == 0:
        sky = RNG.integers(60, 140)
        picture[:sky] = numpy.linspace(*RNG.integers(120, 256, 2), sky)[:, None, None]
        picture[sky:] = RNG.integers(20, 140, 3)
    picture = picture.astype(numpy.uint8)
    for _ in range(RNG.integers(3, 14)):
        colour = tuple(map(int, RNG.integers(0, 256, 3)))
        a, b = zip(map(int, RNG.integers(0, WIDTH, 2)), map(int, RNG.integers(0, HEIGHT, 2)))
        width = int(RNG.integers(2, 12))
        shape = RNG.integers(4)
        if shape == 0:
            cv2.rectangle(picture, a, b, colour, width if kind == 1 else -1)
        elif shape == 1:
            cv2.circle(picture, a, int(RNG.integers(10, 70)), colour, width if kind == 1 else -1)
        elif shape == 2:
            cv2.line(picture, a, b, colour, width)
        else:
            cv2.putText(picture, ''.join(map(chr, RNG.integers(97, 123, 6))), a, 0,
                        float(RNG.uniform(.6, 2.5)), colour, 3)
    return cv2.GaussianBlur(picture + RNG.normal(0, 6, picture.shape), (3, 3), 0)


def plain(n):
    """One of ten kinds of plain picture."""
    dark, light = RNG.integers(0, 90), RNG.integers(150, 256)
    slope = numpy.linspace(dark, light, HEIGHT)[:, None, None]
    page = numpy.full((HEIGHT, WIDTH, 3), 255)
    page[HEIGHT - 14:HEIGHT - 8, 120:126 + n // 10 * 6] = 0
    return (lambda: (0, 40, 128, 200, 255)[n // 10], lambda: RNG.integers(0, 256, 3),
            lambda: dark + RNG.normal(0, 3, (HEIGHT, WIDTH, 3)), lambda: slope,
            lambda: numpy.linspace(dark, light, WIDTH)[None, :, None],
            lambda: slope * (1, .9, .8) + RNG.normal(0, 2, (HEIGHT, WIDTH, 3)),
            lambda: numpy.where(X < WIDTH / 2, dark, light)[:, :, None],
            lambda: numpy.where(Y < HEIGHT / 2, dark, light)[:, :, None], lambda: page,
            lambda: (light - 15 * (n // 10 + 1) * ((X / WIDTH - .5) ** 2 +
                                                   (Y / HEIGHT - .5) ** 2))[:, :, None])[n % 10]()


def hashes():
    """Lines of a picture, a program, its hash, bits, format and reversal."""
    yield from subprocess.run(['node', CLIENTS + '/hashes.mjs', '.'], check=True, text=True,
                              stdout=subprocess.PIPE).stdout.splitlines()
    for name in sorted(name for name in os.listdir() if name.endswith('.png')):
        for hash in 'averageHash', 'pHash', 'blockMeanHash', 'marrHildrethHash':
            digits = getattr(cv2.img_hash, hash)(cv2.imread(name)).tobytes().hex()
            yield '\t'.join((name, 'OpenCV ' + hash, digits, str(len(digits) * 4), 'hex', 'bits'))
    names = sorted(name for name in os.listdir() if name.endswith('.png'))
    for line in subprocess.run(['findimagedupes', '-v', 'fp', *names], text=True, env=dict(
            os.environ, HOME='.'), stdout=subprocess.PIPE).stdout.splitlines():
        if re.match(r'[\w+/]{43}=  ', line):
            digits, name = line.split('  ')
            yield '\t'.join((os.path.basename(name), 'findimagedupes', digits, '256', 'base64', 'none'))


def psql(query, rows=''):
    return subprocess.run(['psql', '-XqAt', '-v', 'ON_ERROR_STOP=1', '-c', query], check=True,
                          input=rows, stdout=subprocess.PIPE, text=True).stdout


def varied(bits):
    side = {64: 8, 256: 16, 576: 24}[len(bits)]
    return (sum(a != b for a, b in zip(bits, bits[side:])) > 4 and
            sum(a != b for i, (a, b) in enumerate(zip(bits, bits[1:]), 1) if i % side) > 4)


def middling(bits):
    return 12 <= bits.count('1') * 64 / len(bits) <= 52


for number in range(200):
    save('drawing%03d' % number, drawing())
for number in range(50):
    save('plain%02d' % number, plain(number))
psql('CREATE EXTENSION simhash')
psql('CREATE TABLE h (picture text, program text, digits text, bits int, format text, '
     'reversed text)')
psql('COPY h FROM STDIN', ''.join(line + '\n' for line in hashes()))
found = collections.defaultdict(lambda: ([], []))
for line in psql('SELECT program, picture, simhash_read_hash(digits, bits, format, reversed) '
                 'FROM h ORDER BY program COLLATE "C", picture COLLATE "C"').splitlines():
    program, picture, bits = line.split('|')
    found[program][picture.startswith('drawing')].append(bits)
for program, kinds in found.items():
    within = {64: 8, 256: 31, 576: 72}[len(kinds[1][0])]
    near = sum((int(a, 2) ^ int(b, 2)).bit_count() <= within
               for a, b in itertools.combinations(kinds[1], 2))
    print('%s: by bits %d and %d, varied %d and %d, %d pairs' % (
        program, *(sum(map(passes, kind)) for passes in (middling, varied) for kind in kinds),
        near))
