"""
Databases for the tests in Python, as tools.sh makes them for those in bash.

SPDX-License-Identifier: PostgreSQL
"""

import contextlib
import subprocess


@contextlib.contextmanager
def new_database(name, *options):
    """A database that is gone afterwards; the options are those of createdb."""
    subprocess.run(['createdb', *options, name], check=True)
    try:
        yield
    finally:
        subprocess.run(['dropdb', '--force', name], check=True)


def new_utf8_database(name):
    """One that is the same wherever the test is run."""
    return new_database(name, '-T', 'template0', '-E', 'UTF8', '--locale=C')
