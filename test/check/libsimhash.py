"""
The library of lib/, for tests: built, and loaded by ctypes.

SPDX-License-Identifier: PostgreSQL
"""

import ctypes
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
OK, NONE, ERROR = 1, 0, -1
FAMILIES = {"simhash": 0, "minhash": 1}

subprocess.run(["flock", "lib", "make", "-s", "lib"], cwd=ROOT, check=True)
lib = ctypes.CDLL(str(ROOT / "lib/build/libsimhash.so"))
P = ctypes.c_void_p
SIZE = ctypes.c_size_t


class Passage(ctypes.Structure):
    _fields_ = [("start", SIZE), ("length", SIZE),
                ("fingerprint", ctypes.c_uint64), ("exists", ctypes.c_int)]


for name in ("open", "error", "find_profile"):
    getattr(lib, "simhasher_" + name).restype = P
lib.simhasher_open.argtypes = [ctypes.c_uint64]
lib.simhasher_close.argtypes = lib.simhasher_error.argtypes = [P]
lib.simhasher_error.restype = ctypes.c_char_p
lib.simhasher_find_profile.argtypes = [P, ctypes.c_char_p]
lib.simhasher_fingerprint.argtypes = [P, P, ctypes.c_int, ctypes.c_char_p, SIZE,
                                      ctypes.c_int, P]
lib.simhasher_count_features.argtypes = [P, P, ctypes.c_char_p, SIZE, P]
lib.simhasher_fold.argtypes = [P, ctypes.c_char_p, SIZE, P, P]
lib.simhasher_html.argtypes = [P, ctypes.c_char_p, SIZE, ctypes.c_int, P, P]
lib.simhasher_jaccard.argtypes = lib.simhasher_cosine.argtypes = \
    [P, P, ctypes.c_char_p, SIZE, ctypes.c_char_p, SIZE, P]
lib.simhasher_passages.argtypes = [P, P, ctypes.c_char_p, SIZE, ctypes.c_int, P, P, P]


class Failure(Exception):
    pass


class Hasher:
    def __init__(self, secret=0):
        self.hasher = lib.simhasher_open(secret)
        self.profiles = {}

    def __del__(self):
        lib.simhasher_close(self.hasher)

    def check(self, result):
        if result == ERROR:
            raise Failure(lib.simhasher_error(self.hasher).decode("utf-8", "replace"))
        return result == OK

    def profile(self, name):
        if name not in self.profiles:
            found = lib.simhasher_find_profile(self.hasher, None if name is None else name.encode())
            self.check(OK if found else ERROR)
            self.profiles[name] = found
        return self.profiles[name]

    def words(self, text, profile=None, family="simhash", bits=64):
        result = (ctypes.c_uint64 * 16)()
        exists = self.check(lib.simhasher_fingerprint(
            self.hasher, self.profile(profile), FAMILIES[family], text, len(text),
            bits, result))
        return list(result)[:bits // 64] if exists else None

    def fingerprint(self, text, profile=None, family="simhash"):
        words = self.words(text, profile, family)
        return words and (words[0] ^ 1 << 63) - (1 << 63)

    def features(self, text, profile=None):
        n = SIZE()
        self.check(lib.simhasher_count_features(
            self.hasher, self.profile(profile), text, len(text), ctypes.byref(n)))
        return n.value

    def text(self, function, *arguments):
        result, n = P(), SIZE()
        self.check(function(self.hasher, *arguments, ctypes.byref(result),
                            ctypes.byref(n)))
        return ctypes.string_at(result, n.value)

    def fold(self, text):
        return self.text(lib.simhasher_fold, text, len(text))

    def html(self, page, article=False):
        return self.text(lib.simhasher_html, page, len(page), article)

    def similarity(self, measure, a, b, profile=None):
        result = ctypes.c_double()
        exists = self.check(getattr(lib, "simhasher_" + measure)(
            self.hasher, self.profile(profile), a, len(a), b, len(b),
            ctypes.byref(result)))
        return result.value if exists else None

    def passages(self, text, profile=None, words=25):
        cut, list_, n = P(), ctypes.POINTER(Passage)(), SIZE()
        self.check(lib.simhasher_passages(
            self.hasher, self.profile(profile), text, len(text), words,
            ctypes.byref(cut), ctypes.byref(list_), ctypes.byref(n)))
        return [(p.start, p.length, (p.fingerprint ^ 1 << 63) - (1 << 63)
                 if p.exists else None) for p in list_[:n.value]]
