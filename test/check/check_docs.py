#!/usr/bin/env python3
"""
Run the SQL of the documentation, and compare what comes out with what the
pages show.

usage: test/check/check_docs.py [PAGE...]

Each page is read by one session of psql, in a database of its own, as a
reader would paste it.  On a page

  - a block of the language sql is run;
  - a block of the language text, or of none, right after it is its output,
    errors and notices included, as psql shows it: every line is compared,
    but for blanks at its end;
  - a block without an output has to succeed, whatever it returns;
  - "<!-- not run: why -->" on the line before a block leaves it out;
  - "<!-- run: SQL -->" is run, and not seen by readers.

When an output differs, the page with the new one in its place goes to the
directory $RESULTS, to be read and copied; with make staged-test that is
OUT=dir.

SPDX-License-Identifier: PostgreSQL
"""

import difflib
import glob
import os
import re
import subprocess
import sys

from database import new_utf8_database

FENCE = re.compile(r'^( *)```(\w*)\s*$')
NOT_RUN = re.compile(r'^ *<!-- not run: .* -->$')
MARK = '@@ end of a block @@'


class Block:
    """Some SQL of a page: the lines count from 0."""

    def __init__(self, line, sql, indent=0):
        self.line = line
        self.sql = sql
        self.indent = indent
        self.shown = None       # its output on the page: first line, last + 1


def fenced(lines, at):
    """The indentation and language of the block that begins at a line, and
    the number of the line that ends it."""
    indent, language = FENCE.match(lines[at]).groups()
    for end in range(at + 1, len(lines)):
        if lines[end].strip() == '```':
            return len(indent), language, end
    raise SyntaxError('%d: a block without an end' % (at + 1))


def output_after(lines, at):
    """Where the output lies that follows a block which ends at a line."""
    at += 1
    while at < len(lines) and not lines[at].strip():
        at += 1
    if at < len(lines) and FENCE.match(lines[at]):
        indent, language, end = fenced(lines, at)
        if language in ('', 'text'):
            return at + 1, end
    return None


def parse(text):
    """The blocks of a page that are run, and the number of those that are
    not."""
    lines = text.split('\n')
    blocks, left_out, at = [], 0, 0
    while at < len(lines):
        start = at
        if lines[at].startswith('<!-- run:'):
            while '-->' not in lines[at]:
                at += 1
            sql = '\n'.join(lines[start:at + 1])
            blocks.append(Block(start, sql[len('<!-- run:'):sql.index('-->')]))
        elif FENCE.match(lines[at]):
            indent, language, at = fenced(lines, at)
            if language == 'sql' and start and NOT_RUN.match(lines[start - 1]):
                left_out += 1
            elif language == 'sql':
                block = Block(start, '\n'.join(
                    line[indent:] for line in lines[start + 1:at]), indent)
                block.shown = output_after(lines, at)
                blocks.append(block)
                if block.shown:
                    at = block.shown[1]
        at += 1
    return lines, blocks, left_out


def script(blocks):
    """What psql is to read.  An error ends it, unless an output is shown."""
    parts = []
    for block in blocks:
        parts.append('\\set ON_ERROR_STOP %s\n%s\n\\echo %s\n' %
                     ('off' if block.shown else 'on', block.sql, MARK))
    return ''.join(parts)


def open_ended(sql):
    """Does the SQL stop in the middle of a statement?"""
    code = re.sub(r'--.*', '', sql).rstrip()
    last = code.split('\n')[-1]
    return code != '' and not code.endswith(';') and '\\' not in last


def trimmed(lines):
    """The lines without blanks at their ends, and without blank lines before
    and after them."""
    return '\n'.join(line.rstrip() for line in lines).strip('\n').split('\n')


def psql(database, sql):
    """What psql says, as text."""
    done = subprocess.run(
        ['psql', '-X', '-q', '-d', database], input=sql.encode(),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
        env=dict(os.environ, PGCLIENTENCODING='UTF8', TZ='UTC'))
    return done.stdout.decode()


def compare(blocks, outputs, right):
    """Compare what blocks have printed with what the page shows, and put it in
    its place there.  Returns what is wrong, as line and explanation."""
    wrong = []
    for block, output in reversed(list(zip(blocks, outputs))):
        if not block.shown:
            continue
        first, last = block.shown
        came = trimmed(output.split('\n'))
        shown = trimmed(line[block.indent:] for line in right[first:last])
        if came != shown:
            wrong.append((first + 1, '\n'.join(difflib.unified_diff(
                shown, came, 'shown', 'came out', lineterm=''))))
            right[first:last] = [(' ' * block.indent + line).rstrip()
                                 for line in came]
    return wrong[::-1]


def run_page(name, text, database):
    """Run a page.  Returns how many blocks were run, how many outputs they
    have, how many blocks were left out; what is wrong, as line and
    explanation; and the text as it should be."""
    lines, blocks, left_out = parse(text)
    outputs = psql(database, script(blocks)).split(MARK + '\n')
    right = list(lines)
    wrong = [(block.line + 1, 'no semicolon at the end')
             for block in blocks[:len(outputs)] if open_ended(block.sql)]
    wrong = sorted(wrong + compare(blocks, outputs, right))

    # Each block that psql came to the end of left its mark.
    if len(outputs) <= len(blocks):
        wrong.append((blocks[len(outputs) - 1].line + 1,
                      'this failed; what follows was not run:\n' +
                      '\n'.join(trimmed(outputs[-1].split('\n')))))
    shown = sum(block.shown is not None for block in blocks)
    return (len(blocks), shown, left_out), wrong, '\n'.join(right)


def check(name, text):
    """Run a page in a database of its own."""
    database = 'docs_' + re.sub(r'\W', '_', name.lower())
    with new_utf8_database(database):
        return run_page(name, text, database)


# A page with one of each fault, and the lines where they are.
FAULTY = r'''
<!-- run: CREATE TABLE t (n int);
INSERT INTO t VALUES (1); -->
```sql
SELECT n FROM t;
```

```
 n
---
 2
(1 row)
```

<!-- not run: nobody has this table -->
```sql
SELECT * FROM nowhere;
```

- in a list:

  ```sql
  SELECT n FROM t;
  SELECT 1 / (n - 1) FROM t;
  ```
  ```text
   n
  ---
   1
  (1 row)

  ERROR:  division by zero
  ```

```sql
SELECT 1 / (n - 1) FROM t;
```
```
 ?column?
----------
(0 rows)
```

```sql
SELECT 1 -- and so on
```
```
```

```sql
;
\nonsense
```
```sql
SELECT 2;
```
'''
FAULTS = [9, 39, 44, 50]


def check_faulty():
    """This program finds what is wrong."""
    counts, wrong, right = check('faulty', FAULTY)
    assert counts == (7, 4, 1), counts
    assert [line for line, what in wrong] == FAULTS, wrong
    assert wrong[1][1].endswith('\n+ERROR:  division by zero'), wrong
    assert wrong[3][1].endswith('invalid command \\nonsense'), wrong
    again = check('faulty', right)[1]
    assert [line for line, what in again] == [42, 48], again


def report(page, text, wrong, right):
    """Say what is wrong with a page, and hand over what it should be.  Was
    anything?"""
    for line, what in wrong:
        print('%s:%d: %s' % (page, line, what))
    if right != text and 'RESULTS' in os.environ:
        new = os.path.join(os.environ['RESULTS'], page)
        os.makedirs(os.path.dirname(new), exist_ok=True)
        with open(new, 'w', encoding='utf-8') as file:
            file.write(right)
    return bool(wrong)


def main(pages):
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
    pages = pages or sorted(glob.glob('README*.md') + glob.glob('*/*.md'))
    failed = False
    check_faulty()
    for page in pages:
        with open(page, encoding='utf-8') as file:
            text = file.read()
        counts, wrong, right = check(page, text)
        print('%-4s %s: %d blocks run, %d outputs compared, %d blocks not run'
              % (('FAIL' if wrong else 'ok', page) + counts))
        failed |= report(page, text, wrong, right)
    return failed


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
