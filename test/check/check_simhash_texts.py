#!/usr/bin/env python3
"""
The program simhash-texts computes what the server computes, of any bytes, and its
output is what COPY reads.

Texts are drawn from the scripts of Unicode, some pages of HTML, some no UTF-8, which
the server and the program have to refuse alike; the profiles are all that have a row,
with and without a seed, folding and markup, and some drawn by the rule.  Then a table
goes through COPY in each format and back, by COPY ... FROM PROGRAM.

SIMHASH_ROUNDS is how many texts are drawn (500), SIMHASH_SEED repeats them.

SPDX-License-Identifier: PostgreSQL
"""

import json
import os
import pathlib
import random
import shlex
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import psycopg
from database import new_utf8_database

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROUNDS = int(os.environ.get("SIMHASH_ROUNDS", 500))
SEED = int(os.environ.get("SIMHASH_SEED", random.randrange(1, 1 << 30)))
DATABASE = "check_simhash_texts"
PROGRAM = str(ROOT / "lib/build/simhash-texts")
RANGES = [(0x20, 0x7e)] * 4 + [
    (0xa0, 0x24f), (0x300, 0x36f), (0x370, 0x3ff), (0x400, 0x4ff), (0x590, 0x5f4),
    (0x600, 0x6ff), (0x900, 0x97f), (0xe01, 0xe5b), (0x1100, 0x11ff), (0x1e00, 0x1eff),
    (0x2000, 0x206f), (0x2100, 0x218f), (0x3040, 0x30ff), (0x4e00, 0x9fff),
    (0xac00, 0xd7a3), (0xf900, 0xfaff), (0xfe00, 0xfe6f), (0xff00, 0xffef),
    (0x1f300, 0x1f64f), (0x1d400, 0x1d7ff), (0x20000, 0x2a6df), (1, 0x10ffff)]
WORDS = "the of and to in a is that for it was on are as with his they at".split()
TAGS = ["<p>", "</p>", "<div>", "</div>", "<script>", "</script>", "<li hidden>", "<b>",
        "</b>", "<br>", "&amp;", "&eacute", "<a href=x>", "</a>", "<!--", "-->", "<td>",
        "<table>", "<svg>", "<p class='", "<nav>", "</nav>", "<article>"]
BAD = [b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xf4\x90\x80\x80", b"\xe4\xb8",
       b"\x80", b"\xf0\x82\x82\xac", b"\xe0\x80\xaf", b"\xf8\x88\x80\x80\x80", b"\xc3"]
draw = random.Random(SEED)
faults = 0

SETUP = """
CREATE EXTENSION simhash;
CREATE FUNCTION text_of(bytes bytea) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN convert_from(bytes, 'UTF8');
EXCEPTION WHEN character_not_in_repertoire THEN
    RETURN NULL;
END $$;
CREATE TABLE raw (id int, bytes bytea);
"""


def character():
    while True:
        c = draw.randint(*draw.choice(RANGES))
        if not 0xd800 <= c <= 0xdfff:
            return chr(c)


def word():
    kind = draw.random()
    if kind < .4:
        return draw.choice(WORDS)
    if kind < .5:
        return draw.choice(TAGS)
    low, high = draw.choice(RANGES)
    return "".join(character() if kind > .9 or low < 0x300 else chr(draw.randint(low, high))
                   for _ in range(draw.randint(1, 9))
                   ).encode("utf-8", "ignore").decode()


def text():
    words = [word() for _ in range(int(draw.paretovariate(.7)) % 300)]
    result = draw.choice([" ", " ", "", "\n", ", "]).join(words).encode()
    if draw.random() < .05:
        at = draw.randint(0, len(result))
        result = result[:at] + draw.choice(BAD) + result[at:]
    return result.replace(b"\0", b"")


def profiles(connection):
    """Names that have a row, and some by the rule; what may stand behind them."""
    names = [row[0] for row in connection.execute(
        "SELECT profile FROM simhash_profiles() WHERE profile IS NOT NULL")]
    for unit in ("word", "char", "symbol"):
        low = draw.randint(1, 10)
        names.append(f"{unit}-{low}-{draw.randint(low, 10)}"
                     f"{draw.choice(['', '-count', '-sqrt', '-log', '-binary', '-capped'])}")
    for name in names:
        yield name
        if name.startswith(("word", "char", "symbol")):
            yield name + draw.choice(["", "-html", "-article"]) + "-fold"
            yield name + draw.choice(["-html", "-article"])
            yield (name + draw.choice(["", "-html", "-fold"]) +
                   f"-seed-{draw.randrange(1 << 63)}")


def report(problem):
    global faults
    faults += 1
    print("FAIL", problem)


def from_program(connection, table, options, path, copy=""):
    command = f"{shlex.quote(PROGRAM)} {options} {shlex.quote(str(path))}"
    connection.execute(f"COPY {table} FROM PROGRAM '{command}' {copy}")


def compare(connection, folder):
    """Every text by every profile and both families, here and there."""
    texts = [text() for _ in range(ROUNDS)]
    (folder / "texts").write_bytes(b"".join(t + b"\0" for t in texts))
    with connection.cursor().copy("COPY raw FROM STDIN") as copy:
        for number, t in enumerate(texts, 1):
            copy.write_row((number, t))
    connection.execute("CREATE TABLE texts AS SELECT id, text_of(bytes) AS body FROM raw")
    refused = connection.execute(
        "SELECT count(*) FROM texts WHERE body IS NULL").fetchone()[0]
    compared = 0
    for name in profiles(connection):
        for function in ("simhash", "minhash"):
            bits = draw.choice([64, 64, 64, 128, 1024])
            kind = "bigint" if bits == 64 else f"bit({bits})"
            ours = (f"{function}(body, '{name}')" if bits == 64 else
                    f"{function}_bits(body, {bits}, '{name}')")
            connection.execute(
                f"DROP TABLE IF EXISTS got; "
                f"CREATE TABLE got (id int GENERATED ALWAYS AS IDENTITY, fp {kind})")
            options = f"-f null -i -a -p {name} -b {bits} -j {draw.randint(1, 3)}"
            from_program(connection, "got (fp)", options + " -m" * (function == "minhash"),
                         folder / "texts")
            wrong = connection.execute(
                f"SELECT count(*), min(id) FROM texts FULL JOIN got USING (id) "
                f"WHERE got.fp IS DISTINCT FROM {ours}").fetchone()
            compared += ROUNDS
            if wrong[0]:
                report(f"{wrong[0]} of {function}, {name}, {bits} bits; first {wrong[1]}: "
                       f"{texts[wrong[1] - 1]!r}")
    print(f"{compared} fingerprints, of texts that both refuse {refused}")
    if refused < ROUNDS / 100:
        report("too few texts are refused")


def round_trips(connection, folder):
    """A table through COPY, the program and COPY; each format of COPY's, and JSON."""
    connection.execute("CREATE TABLE t AS SELECT id, nullif(body, '') AS body, "
                       "CASE WHEN id % 3 > 0 THEN E'a\\tb\\\\c\"d,\\n' || id END AS other "
                       "FROM texts")
    expected = connection.execute(
        "SELECT id, body, other, minhash(body, 'char-3-fold') FROM t ORDER BY id").fetchall()
    for how, options, header in (
            ("format text", "-f text -c 2", False),
            ("format text, header", "-f text -c body -H", True),
            ("format csv", "-f csv -c 2", False),
            ("format csv, header", "-f csv -H -c body", True),
            ("format csv, force_quote *, delimiter ';'", "-f csv -d ; -c 2", False)):
        path = folder / "copied"
        path.unlink(missing_ok=True)
        connection.execute(f"COPY (SELECT * FROM t ORDER BY id) TO '{path}' ({how})")
        connection.execute("CREATE TABLE back (LIKE t); ALTER TABLE back ADD fp bigint")
        from_program(connection, "back", "-m -p char-3-fold " + options.replace(";", '";"'),
                     path, f"({how.replace(', force_quote *', '')})")
        if connection.execute("SELECT * FROM back ORDER BY id").fetchall() != expected:
            report(f"COPY ({how}) and {options}")
        connection.execute("DROP TABLE back")
    lines = "".join(
        json.dumps({"id": row[0], "nested": [{"body": 1}, row[1]], "body": row[1]},
                   ensure_ascii=draw.random() < .5) + "\n" for row in expected)
    output = subprocess.run([PROGRAM, "-f", "json", "-c", "body", "-m", "-p", "char-3-fold"],
                            input=lines.encode(), capture_output=True, check=True).stdout
    for line, before, row in zip(output.decode().split("\n"), lines.split("\n"), expected):
        got = json.loads(line)
        fp = got.pop("fp")
        if got != json.loads(before) or (fp and int(fp)) != row[3]:
            report(f"JSON: {line}")
    print(f"{len(expected)} rows there and back in six formats")


def run(data, *options, status=0):
    done = subprocess.run([PROGRAM, *options], input=data, capture_output=True)
    if done.returncode != status:
        report(f"{options} of {data[:60]!r}: status {done.returncode}, {done.stderr!r}")
    return done.stdout, done.stderr.decode()


def same(ours, theirs):
    if ours != theirs:
        report(f"{ours!r}, and not {theirs!r}")


def edges():
    """Order, ends of records, errors and what they say."""
    lines = [b"line %d of some, and no more" % n for n in range(200000)]
    out, _ = run(b"\n".join(lines), "-j", "4")
    same([line.split(b"\t")[1] for line in out.split(b"\n")[:-1]], lines)
    long = b"word " * 3000000
    same(len(run(long + b"\nshort one\n" + long, "-a")[0].split()), 3)
    same(run(b"", "-f", "csv")[0], b"")
    same(run(b"a b\r\n\r\n", "-f", "tsv", "-n", "9")[0], b"a b\t\\N\r\n\t\\N\r\n")
    same(run(b"a b\n\\.\n", "-f", "text", "-n", "9")[0], b"a b\t\\N\n\\.\n")
    same(run(b'x,"a ""b"" c",""\n,y,z\n', "-f", "csv", "-c", "1", "-n", "9")[0],
         b'x,"a ""b"" c","",\n,y,z,\n')
    same(run(b"a\\\r\nb\\", "-f", "text", "-n", "9")[0], b"a\\\r\t\\N\nb\t\\N\n")
    for good in (b"{}", b' { } ', b'{"text":null}', b'{"a":[],"b":{"c":[1,-2.5e+3,true]}}',
                 b'{"a":[0,-0.0E-10,10e5]}', b'\xef\xbb\xbf{"a":1}'):
        out, _ = run(good + b"\n", "-f", "json")
        same(json.loads(out.decode("utf-8-sig")),
             json.loads(good.decode("utf-8-sig")) | {"fp": None})
    no_text = b'{"text":"a\\u0000b"}\n{"text":"\\udc00"}\n{"text":"\\ud800\\u0041"}\n'
    same(run(no_text, "-f", "json", "-a", "-i")[0], b"null\n" * 3)
    same(run(no_text, "-f", "json", "-a", "-c", "other")[0], b"null\n" * 3)
    same(run(b'{"fp":1,"text":"x"}\n' * 2, "-f", "json", "-a", "-n", "9")[0], b"null\n" * 2)
    for bad in (b"[]", b"{", b"{]", b'{"a"}', b'{"a":}', b'{"a":1,}', b'{"a":01}', b'{"a":1.}',
                b'{"a":1.2.3e+-5}', b'{"a":1e}', b'{"a":1e+}', b'{"a":-}', b'{"a":.5}', b'{"a":1e',
                b'\xef\xbb\xbf{}', b'{"fp":1}',
                b'{"text":1}', b'{"text":"\\ud800"}', b'{"text":"\\u0000"}', b'{"a":[1}',
                b'{"text":"a\tb"}', b'{"a":1} x', b'{"a":tru}', b'{"a":"\\x"}', b"nul",
                b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}"):
        same(run(b'{"text":"x y"}\n' + bad + b"\n", "-f", "json", status=1)[1][:24],
             "simhash-texts: record 2:")
    for data, options, message in (
            (b"good one\nbad \xff one\n", (), "record 2: invalid UTF-8 at byte 5: 0xff"),
            (b"a\tb\nc\n", ("-f", "tsv", "-c", "2"), "record 2: it lacks the column"),
            (b'a\n"b\n', ("-f", "csv"), "record 2: a quoted field has no end"),
            (b"a,b\n", ("-f", "csv", "-H", "-c", "no"), 'there is no column "no"')):
        out, err = run(data, *options, status=1)
        if message not in err:
            report(f"{err!r} lacks {message!r}")
    for options in (("-p", "no"), ("-b", "65"), ("-f", "no"), ("-c", "0", "-f", "csv"),
                    ("-b", "128", "-o", "decimal"), ("-H",), ("x", "y"), ("/nowhere",),
                    ("-c", "1"), ("-d", ";"), ("-f", "json", "-d", ";"), ("-f", "text", "-d", "n"),
                    ("-f", "csv", "-d", "7"), ("-f", "text", "-d", "-"),
                    ("-f", "json", "-N", 'a"b'), ("-f", "csv", "-N", "a,b"), ("-N", "")):
        run(b"", *options, status=2)
    piped = subprocess.run(f"yes 'a b c' | {shlex.quote(PROGRAM)} | head -1; "
                           "echo ${PIPESTATUS[1]}", shell=True, executable="/bin/bash",
                           capture_output=True, check=True).stdout.split()
    same(piped[-1], b"141")
    for option in ("--help", "-q"):
        with open("/dev/full", "wb") as full:
            same(subprocess.run([PROGRAM, option], input=b"a b c\n", stdout=full,
                                stderr=subprocess.DEVNULL).returncode, 1)


def cost(stdin, *options, kilobytes="unlimited", status=0):
    """The processor time of a run, in so much memory, of which sanitizers want more."""
    if kilobytes != "unlimited" and "-fsanitize" in os.environ.get("COPT", ""):
        return 0
    before = os.times()
    done = subprocess.run(["sh", "-c", f'ulimit -v {kilobytes}; exec "$0" "$@"', PROGRAM, *options],
                          stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode != status or (status and b"record 1: out of memory" not in done.stderr):
        report(f"{options} in {kilobytes} kB: status {done.returncode}, {done.stderr!r}")
    return os.times().children_user - before.children_user


def sizes(folder):
    """Long records: what they cost, keep, and do without memory."""
    path = folder / "long"
    path.write_bytes(b'"' + b'some ""quoted"" words\n' * 1500000 + b'"\n')
    with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as cat:
        piped = cost(cat.stdout, "-f", "csv", "-j", "1")
    at_once = cost(None, "-f", "csv", "-j", "1", path)
    if piped > 3 * at_once:
        report(f"by a pipe {piped} s, else {at_once} s")
    path.write_bytes(b"word " * 2400000 + b"\n" + b"a\n" * 5000000)
    cost(None, "-j", "1", path, kilobytes=90000)
    path.write_bytes(b"<p>some</p> " * 2600000)
    for kilobytes in (50000, 20000):
        cost(None, "-a", "-i", "-j", "1", "-p", "word-2-html", path, kilobytes=kilobytes, status=1)


def main():
    print(f"SIMHASH_SEED={SEED}")
    with tempfile.TemporaryDirectory() as name, new_utf8_database(DATABASE), \
            psycopg.connect(dbname=DATABASE, autocommit=True) as connection:
        os.chmod(name, 0o777)
        connection.execute(SETUP)
        edges()
        sizes(pathlib.Path(name))
        compare(connection, pathlib.Path(name))
        round_trips(connection, pathlib.Path(name))
    sys.exit(1 if faults else 0)


main()
