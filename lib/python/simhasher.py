"""The fingerprints of the PostgreSQL extension simhash, without PostgreSQL.

A text's fingerprint is, bit for bit, what the function of the same name gives in a
database in UTF-8, as a number of the type bigint:

    >>> import simhasher
    >>> simhasher.hamming(simhasher.minhash('the quick brown fox'),
    ...                   simhasher.minhash('The quick, brown fox!'))
    0

A text is a str, or bytes in UTF-8; what PostgreSQL would refuse, as a byte 0 or half a
surrogate pair, is a ValueError.  A profile is a name, as 'word-2-html'; None is the
default one.  Where SQL has NULL, because a text has no feature, there is None.  Threads
may call all of it at once.

The library, libsimhash.so.1, is sought beside this file, then where the system has
libraries; the variable LIBSIMHASH of the environment names another one.

SPDX-License-Identifier: PostgreSQL
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import secrets
import threading
from typing import Iterator, NamedTuple, Optional, Union

__all__ = ['Passage', 'simhash', 'minhash', 'simhash_bits', 'minhash_bits',
           'features', 'fold', 'html', 'article', 'jaccard', 'cosine', 'passages',
           'hamming']

Text = Union[str, bytes]

_OK, _NO_MEMORY = 1, -3
_SIMHASH, _MINHASH = 0, 1
_WORDS_MAX = 16

_size = ctypes.c_size_t
_pointer = ctypes.c_void_p
_text = (ctypes.c_char_p, _size)


class Passage(NamedTuple):
    """A passage, as it stands in the text or page, and its MinHash."""
    text: str
    fingerprint: Optional[int]


class _CPassage(ctypes.Structure):
    _fields_ = [('start', _size), ('length', _size),
                ('fingerprint', ctypes.c_int64), ('exists', ctypes.c_int)]


def _load() -> ctypes.CDLL:
    name = 'libsimhash.so.1'
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    library = ctypes.CDLL(os.environ.get('LIBSIMHASH') or
                          (beside if os.path.exists(beside) else name))
    doubles = ctypes.POINTER(ctypes.c_double)
    of_texts = (*_text, *_text, doubles)
    to_text = (*_text, ctypes.POINTER(_pointer), ctypes.POINTER(_size))
    for function, result, *arguments in (
            ('open', _pointer, ctypes.c_uint64),
            ('close', None, _pointer),
            ('error', ctypes.c_char_p, _pointer),
            ('find_profile', _pointer, _pointer, ctypes.c_char_p),
            ('fingerprint', ctypes.c_int, _pointer, _pointer, ctypes.c_int, *_text,
             ctypes.c_int, ctypes.POINTER(ctypes.c_uint64)),
            ('count_features', ctypes.c_int, _pointer, _pointer, *_text,
             ctypes.POINTER(_size)),
            ('fold', ctypes.c_int, _pointer, *to_text),
            ('html', ctypes.c_int, _pointer, *_text, ctypes.c_int, *to_text[2:]),
            ('jaccard', ctypes.c_int, _pointer, _pointer, *of_texts),
            ('cosine', ctypes.c_int, _pointer, _pointer, *of_texts),
            ('passages', ctypes.c_int, _pointer, _pointer, *_text, ctypes.c_int,
             ctypes.POINTER(_pointer), ctypes.POINTER(ctypes.POINTER(_CPassage)), ctypes.POINTER(_size))):
        function = getattr(library, 'simhasher_' + function)
        function.restype = result
        function.argtypes = arguments
    return library


_library = _load()

# ctypes.string_at(), whose length is an int, so that it ends at 2 GB.
_string_at = ctypes.PYFUNCTYPE(ctypes.py_object, _pointer, _size)(
    ('PyBytes_FromStringAndSize', ctypes.pythonapi))


class _Hasher:
    """What one thread works with."""

    def __init__(self) -> None:
        self.handle = _library.simhasher_open(secrets.randbits(64))
        if not self.handle:
            raise MemoryError('simhasher_open')
        self.profiles: dict[Optional[str], int] = {}
        self.words = (ctypes.c_uint64 * _WORDS_MAX)()

    def __del__(self, close=_library.simhasher_close) -> None:
        close(self.handle)

    def fail(self, result: int) -> Exception:
        error = _library.simhasher_error(self.handle).decode(errors='replace')
        return (MemoryError if result == _NO_MEMORY else ValueError)(error)

    def find(self, profile: Optional[str]) -> int:
        found = self.profiles.get(profile)
        if found is None:
            name = None if profile is None else profile.encode()
            if name is not None and b'\0' in name:
                raise ValueError('the name of a profile has a byte 0')
            found = _library.simhasher_find_profile(self.handle, name)
            if not found:
                raise self.fail(0)
            self.profiles[profile] = found
        return found

    def call(self, function: str, *arguments) -> bool:
        """Call a function of the library; whether there is a result."""
        result = getattr(_library, 'simhasher_' + function)(self.handle, *arguments)
        if result < 0:
            raise self.fail(result)
        return result == _OK

    def fingerprint(self, family: int, text: Text, bits: int,
                    profile: Optional[str]) -> bool:
        return self.call('fingerprint', self.find(profile), family, *_bytes(text),
                         _int(bits), self.words)

    def text(self, function: str, text: Text, *arguments) -> str:
        result, length = _pointer(), _size()
        self.call(function, *_bytes(text), *arguments, ctypes.byref(result),
                  ctypes.byref(length))
        return _string_at(result, length.value).decode()

    def similarity(self, function: str, a: Text, b: Text,
                   profile: Optional[str]) -> Optional[float]:
        result = ctypes.c_double()
        there = self.call(function, self.find(profile), *_bytes(a), *_bytes(b),
                          ctypes.byref(result))
        return result.value if there else None


_threads = threading.local()


@contextlib.contextmanager
def _hasher() -> Iterator[_Hasher]:
    """That of this thread; a call within a call, as of a signal handler, has another."""
    hasher = _threads.__dict__.pop('hasher', None) or _Hasher()
    try:
        yield hasher
    finally:
        _threads.hasher = hasher


def _bytes(text: Text) -> tuple[bytes, int]:
    encoded = text.encode() if isinstance(text, str) else bytes(memoryview(text))
    return encoded, len(encoded)


def _int(number: int) -> int:
    """A number that C takes for itself; one out of all ranges for others."""
    return number if -2 ** 31 <= number < 2 ** 31 else -1


def _signed(fingerprint: int) -> int:
    return fingerprint - (fingerprint >> 63 << 64)


def _of_64(family: int, text: Text, profile: Optional[str]) -> Optional[int]:
    with _hasher() as hasher:
        there = hasher.fingerprint(family, text, 64, profile)
        return _signed(hasher.words[0]) if there else None


def _of_bits(family: int, text: Text, bits: int, profile: Optional[str]) -> Optional[str]:
    with _hasher() as hasher:
        there = hasher.fingerprint(family, text, bits, profile)
        return ''.join(f'{word:064b}' for word in hasher.words[:bits // 64]) if there else None


def simhash(text: Text, profile: Optional[str] = None) -> Optional[int]:
    """The SimHash of a text, a bigint."""
    return _of_64(_SIMHASH, text, profile)


def minhash(text: Text, profile: Optional[str] = None) -> Optional[int]:
    """The MinHash of a text, a bigint."""
    return _of_64(_MINHASH, text, profile)


def simhash_bits(text: Text, bits: int, profile: Optional[str] = None) -> Optional[str]:
    """The SimHash of a text in 64 to 1024 bits, written as PostgreSQL writes bit(n)."""
    return _of_bits(_SIMHASH, text, bits, profile)


def minhash_bits(text: Text, bits: int, profile: Optional[str] = None) -> Optional[str]:
    """The MinHash of a text in 64 to 1024 bits, written as PostgreSQL writes bit(n)."""
    return _of_bits(_MINHASH, text, bits, profile)


def features(text: Text, profile: Optional[str] = None) -> int:
    """How many different features a text has."""
    result = _size()
    with _hasher() as hasher:
        hasher.call('count_features', hasher.find(profile), *_bytes(text),
                    ctypes.byref(result))
    return result.value


def fold(text: Text) -> str:
    """The text with its letters folded, as by simhash_fold()."""
    with _hasher() as hasher:
        return hasher.text('fold', text)


def html(page: Text) -> str:
    """The text of a page of HTML, as by simhash_html()."""
    with _hasher() as hasher:
        return hasher.text('html', page, 0)


def article(page: Text) -> str:
    """The text of the article of a page of HTML, as by simhash_article()."""
    with _hasher() as hasher:
        return hasher.text('html', page, 1)


def jaccard(a: Text, b: Text, profile: Optional[str] = None) -> Optional[float]:
    """The Jaccard similarity of two texts, as by simhash_jaccard()."""
    with _hasher() as hasher:
        return hasher.similarity('jaccard', a, b, profile)


def cosine(a: Text, b: Text, profile: Optional[str] = None) -> Optional[float]:
    """The cosine similarity of two texts, as by simhash_cosine()."""
    with _hasher() as hasher:
        return hasher.similarity('cosine', a, b, profile)


def passages(text: Text, profile: Optional[str] = None, words: int = 25) -> list[Passage]:
    """The passages of a text, of so many words on average, as by simhash_passages()."""
    encoded = _bytes(text)  # which may be what is cut
    cut, found, n = _pointer(), ctypes.POINTER(_CPassage)(), _size()
    with _hasher() as hasher:
        hasher.call('passages', hasher.find(profile), *encoded, _int(words),
                    ctypes.byref(cut), ctypes.byref(found), ctypes.byref(n))
        return [Passage(_string_at(cut.value + p.start, p.length).decode(),
                        p.fingerprint if p.exists == _OK else None)
                for p in found[:n.value]]


def hamming(a: int, b: int) -> int:
    """In how many bits two fingerprints differ."""
    return bin((a ^ b) & (1 << 64) - 1).count('1')
