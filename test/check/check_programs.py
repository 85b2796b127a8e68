#!/usr/bin/env python3
"""
Run the programs of the documentation, and those of test/clients, by the clients
they are written for, and compare what they print with what the pages show, or
with what they say themselves.

usage: test/check/check_programs.py [PAGE or PROGRAM...]

What a reader would put together is put together here.  In a section of a page
with a line

    <!-- needs PACKAGE...: COMMAND -->

blocks of python, js, go, java, sh and sql are run in order, in a directory and a
database of the section's own, if the shell command succeeds; otherwise the
section is left out, and named with the packages that it wants.

  - The database is what the SQL of the page before all such sections made.
  - A block whose first line is a comment that is the name of a file, such as
    "# models.py", is written to that file.
  - Blocks of one language that follow each other are one program; one of go or
    java is a program by itself.
  - A block of the language text, or of none, right after a block is what it
    prints.  Where none is shown, all that counts is success.

A program of test/clients begins with comments: "needs PACKAGE...: COMMAND", as
above, and "prints", with the lines that it prints below it, indented.  It has a
directory and an empty database of its own.

test/check/check_docs.py says more of blocks, runs the SQL, and knows how a page with
other output is handed over.  PGHOST, where the server has its socket, and
PGPORT lead there; Java, which knows no such sockets, is given a port of TCP,
by JDBC_URL.  Modules of node are sought in $NODE_MODULES, or among Debian's.

SPDX-License-Identifier: PostgreSQL
"""

import contextlib
import difflib
import glob
import os
import re
import secrets
import socket
import subprocess
import sys
import tempfile
import threading

import check_docs
from check_docs import FENCE, MARK, NOT_RUN
from database import new_database, new_utf8_database

HEADING = re.compile(r'^#+ (.*)$')
NEEDS = re.compile(r'^<!-- needs (.+?): (.*) -->$')
FILE = re.compile(r'^(?:#|//) ([\w./]+\.\w+)$')

# The same of a program by itself.
OWN_NEEDS = re.compile(r'^(?:#|//) needs (.+?): (.*)$', re.M)
OWN_PRINTS = re.compile(r'^(?:#|//) prints\n((?:(?:#|//)   .*\n)+)', re.M)

# Debian's, where these are installed: the driver, and what Hibernate wants.
JARS = ':'.join('/usr/share/java/%s.jar' % name for name in (
    'postgresql', 'hibernate3', 'hibernate-commons-annotations', 'antlr',
    'commons-collections3', 'dom4j', 'geronimo-jpa_2.0_spec',
    'geronimo-jta-1.2-spec', 'javassist', 'slf4j-api', 'slf4j-nop'))

# The command that runs a file, and what prints a mark between blocks; without
# one each block is a program.
LANGUAGES = {
    'python': ([sys.executable], "print('%s', flush=True)"),
    'js': (['node', '--no-deprecation'], "console.log('%s')"),
    'sh': (['sh', '-e'], "echo '%s'"),
    'sql': (['psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f'], '\\echo %s'),
    'go': (['go', 'run'], None),
    'java': (['java', '-cp', JARS], None),
    'ruby': (['ruby'], None),
    'php': (['php'], None),
}
ENDINGS = {'python': 'py', 'js': 'mjs', 'ruby': 'rb'}

# How long a program may take, in seconds.
TIMEOUT = 120


class Section:
    """A heading, and the programs below it up to the next one."""

    def __init__(self, title, needs):
        self.title = title
        self.packages, self.command = needs
        self.blocks = []


def sections(lines):
    """The sections of a page that have programs."""
    found, at, title, section = [], 0, None, None
    while at < len(lines):
        start = at
        if FENCE.match(lines[at]):
            indent, language, at = check_docs.fenced(lines, at)
            if (section and language in LANGUAGES and
                    not NOT_RUN.match(lines[start - 1])):
                block = check_docs.Block(start, '\n'.join(
                    line[indent:] for line in lines[start + 1:at]), indent)
                block.language = language
                block.shown = check_docs.output_after(lines, at)
                section.blocks.append(block)
                if block.shown:
                    at = block.shown[1]
        elif HEADING.match(lines[at]):
            title, section = HEADING.match(lines[at])[1], None
        elif NEEDS.match(lines[at]):
            section = Section(title, NEEDS.match(lines[at]).groups())
            section.line = at
            found.append(section)
        at += 1
    return found


def programs(blocks):
    """The blocks as lists of those that are one program, in order.  A file is
    a list of its own."""
    groups = []
    for block in blocks:
        name = FILE.match(block.sql.split('\n')[0])
        block.file = name and name[1]
        if (groups and not block.file and not groups[-1][0].file
                and groups[-1][0].language == block.language
                and LANGUAGES[block.language][1]):
            groups[-1].append(block)
        else:
            groups.append([block])
    return groups


def forward(source, target):
    """Pass on what comes from one socket to another, until its end."""
    with contextlib.suppress(OSError):
        while True:
            data = source.recv(65536)
            if not data:
                break
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def jdbc_url():
    """A URL of the server, without the name of a database.  Its port leads to
    the server's socket, for whoever knows a secret that is in the URL."""
    path = '%s/.s.PGSQL.%s' % (os.environ['PGHOST'],
                               os.environ.get('PGPORT', '5432'))
    secret = secrets.token_hex()

    def connect(client):
        first = client.recv(65536)
        if secret.encode() not in first:
            client.close()
            return
        server = socket.socket(socket.AF_UNIX)
        server.connect(path)
        server.sendall(first)
        threading.Thread(target=forward, args=(server, client),
                         daemon=True).start()
        forward(client, server)

    def serve():
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=connect, args=listener.accept()[:1],
                                 daemon=True).start()

    with socket.create_server(('127.0.0.1', 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        yield ('jdbc:postgresql://127.0.0.1:%d/%%s?user=%s&sslmode=disable'
               '&gssEncMode=disable&options=-capplication_name=%s' % (
                   listener.getsockname()[1],
                   os.environ.get('PGUSER', 'postgres'), secret))


def environment(directory, database, url):
    """What a program finds in its environment, and beside it."""
    modules = os.environ.get('NODE_MODULES', '/usr/share/nodejs')
    os.symlink(modules, directory + '/node_modules')
    return dict(
        os.environ, PGDATABASE=database, JDBC_URL=url % database, TREE=os.getcwd(),
        PYTHONUNBUFFERED='1', NODE_PATH=modules,
        GO111MODULE='off', GOPATH='/usr/share/gocode')


def is_here(command, directory, env):
    """Does the command find what programs need?"""
    return subprocess.run(command, shell=True, cwd=directory, env=env,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


def run_file(path, language, code, directory, env):
    """Write a program to a file, and run it."""
    with open(os.path.join(directory, path), 'w', encoding='utf-8') as file:
        file.write(code)
    return subprocess.run(LANGUAGES[language][0] + [path], cwd=directory, env=env,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=TIMEOUT)


def run_program(group, name, directory, env):
    """Run blocks that are one program.  Returns what each has printed, as far
    as it came, and whether the program succeeded."""
    language = group[0].language
    mark = LANGUAGES[language][1]
    code = group[0].sql + '\n'
    if mark:
        code = ''.join('%s\n%s\n' % (block.sql, mark % MARK)
                       for block in group)
    done = run_file('%s.%s' % (name, ENDINGS.get(language, language)), language,
                    code, directory, env)
    outputs = done.stdout.decode().split(MARK + '\n')
    ended = not mark or len(outputs) > len(group)
    return outputs[:len(group)], ended and done.returncode == 0


def run_section(section, database, url, right):
    """Run the programs of a section, and put what they print in its place on
    the page.  Returns what is wrong, as line and explanation, or None if the
    section cannot be run here."""
    blocks, printed, wrong = [], [], []
    with tempfile.TemporaryDirectory() as directory:
        env = environment(directory, database, url)
        if not is_here(section.command, directory, env):
            return None
        for number, group in enumerate(programs(section.blocks)):
            if group[0].file:
                path = os.path.join(directory, group[0].file)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, 'w', encoding='utf-8') as file:
                    file.write(group[0].sql + '\n')
                continue
            outputs, success = run_program(group, 'program_%d' % number,
                                           directory, env)
            if not success:
                failed = group[len(outputs) - 1]
                wrong = [(failed.line + 1, 'this failed:\n' + outputs[-1])]
                blocks += group[:len(outputs) - 1]
                printed += outputs[:-1]
                break
            blocks += group
            printed += outputs
    return wrong + check_docs.compare(blocks, printed, right)


def run_page(name, text):
    """Run a page.  Returns titles of sections that were run, those left out
    with the packages that they want, what is wrong, and the page as it should
    be."""
    lines, blocks = check_docs.parse(text)[:2]
    right, wrong, ran, left_out = list(lines), [], [], []
    found = sections(lines)
    database = 'programs_' + re.sub(r'\W', '_', name.lower())
    before = [block for block in blocks if block.line < found[0].line]

    with new_utf8_database(database):
        output = check_docs.psql(database, check_docs.script(before))
        if output.count(MARK) != len(before):
            return ran, left_out, [(1, 'its SQL failed:\n' + output)], text
        with jdbc_url() as url:
            # From the last to the first, as outputs move what follows them.
            for section in reversed(found):
                copy = database + '_copy'
                with new_database(copy, '-T', database):
                    result = run_section(section, copy, url, right)
                if result is None:
                    left_out.append((section.title, section.packages))
                else:
                    ran.append(section.title)
                    wrong += result
    return ran[::-1], left_out[::-1], sorted(wrong), '\n'.join(right)


def run_own(name, text):
    """Run a program of test/clients.  Returns the packages that it wants, if
    they are not here, and how what it printed differs from what it says."""
    packages, command = OWN_NEEDS.search(text).groups()
    says = [re.sub(r'^(#|//) +', '', line)
            for line in OWN_PRINTS.search(text)[1].splitlines()]
    ending = name.rsplit('.', 1)[1]
    language = {ENDINGS.get(each, each): each for each in LANGUAGES}[ending]
    database = 'programs_own'
    with new_utf8_database(database), jdbc_url() as url, \
            tempfile.TemporaryDirectory() as directory:
        env = environment(directory, database, url)
        if not is_here(command, directory, env):
            return packages, None
        done = run_file(name, language, text, directory, env)
    printed = done.stdout.decode().splitlines()
    if done.returncode != 0:
        printed.append('exit code %d' % done.returncode)
    return None, '\n'.join(difflib.unified_diff(
        says, printed, 'said', 'came out', lineterm=''))


# A page with one of each fault, and the lines where they are.
FAULTY = '''
```sql
CREATE TABLE t AS SELECT 7 AS n;
```

## Not here
<!-- needs nothing, it cannot be had: exit 1 -->
```python
nonsense
```

## Here
<!-- needs a shell: true -->
```python
# seven.txt
7
```
```python
number = open('seven.txt').read().split()[-1]
print(number)
```
```
7
```

```python
print(number + number)
```
```
14
```
```sh
psql -XAt -c 'SELECT n FROM t'
```
```
8
```
```sh
echo this
false
```
```python
print('not come to')
```

## Early
<!-- needs a shell: true -->
```sh
exit 0
```
```sh
echo
```

## Later
```sh
false
```
'''
FAULTS = [30, 36, 38, 48]


def check_faulty():
    """This program finds what is wrong."""
    ran, left_out, wrong, right = run_page('faulty', FAULTY)
    assert ran == ['Here', 'Early'], ran
    assert left_out == [('Not here', 'nothing, it cannot be had')], left_out
    assert [line for line, what in wrong] == FAULTS, wrong
    assert wrong[2][1] == 'this failed:\nthis\n', wrong
    assert right.count('77') == 1 and right.count('14') == 0, right
    assert [line for line, what in run_page('faulty', right)[2]] == [38, 48]
    own = '# needs a shell: %s\n# prints\n#   7\necho %d\nexit %d\n'
    assert run_own('own.sh', own % ('true', 7, 0)) == (None, '')
    assert run_own('own.sh', own % ('exit 1', 7, 0)) == ('a shell', None)
    assert '+8' in run_own('own.sh', own % ('true', 8, 0))[1]
    assert '+exit code 1' in run_own('own.sh', own % ('true', 7, 1))[1]


def test_own(path):
    """Run a program of test/clients, and say how it went."""
    with open(path, encoding='utf-8') as file:
        packages, wrong = run_own(os.path.basename(path), file.read())
    if packages:
        print('left out: %s, for want of %s' % (path, packages))
    elif wrong:
        print('FAIL %s\n%s' % (path, wrong))
    else:
        print('ok   %s' % path)
    return bool(wrong)


def test_page(path):
    """Run the programs of a page, and say how it went."""
    with open(path, encoding='utf-8') as file:
        text = file.read()
    ran, left_out, wrong, right = run_page(path, text)
    print('%-4s %s: %s' % ('FAIL' if wrong else 'ok', path,
                           ', '.join(ran) or 'nothing run'))
    for title, packages in left_out:
        print('left out: %s, for want of %s' % (title, packages))
    return check_docs.report(path, text, wrong, right)


def main(arguments):
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
    check_faulty()
    failed = [(test_page if path.endswith('.md') else test_own)(path)
              for path in arguments or
              ['docs/clients.md', *sorted(glob.glob('test/clients/*.*'))]]
    return any(failed)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
