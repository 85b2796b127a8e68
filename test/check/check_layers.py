#!/usr/bin/env python3
"""
The wings of src/ call each other downwards only, and no files in circles.

Reads the #include lines of the sources, and the symbols of the object
files of a finished make, and that the core has no variables of its own.  Says
what breaks a rule, and by which name; and which files or wings docs/architecture.md, or a comment, names that are not
there, or the page lacks.

SPDX-License-Identifier: PostgreSQL
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SRC = ROOT / "src"

# From the top down: a file may use what is in its own wing or further down.
# "." is what stands in the folder itself.
WINGS = [
    "simhash.c",                # the module: it starts all others
    "removal",
    "clusters/upkeep",
    "clusters",
    "guard",
    "near",
    "index",
    "planner",
    "keys",
    "report",
    "tune",
    "pairs",
    "query",
    "search",
    "weights",
    "compare",
    "fingerprint",
    "simhash.h",                # what all wings share, and the versions
    "core/pairs",
    "core/blocks",
    "core/weights",
    "core/fingerprint",
    "core/foreign",
    "core/text",
    "core/.",
]
SHARED = {name: "simhash.h"
          for name in ("simhash.h", "compat.h", "actions.h", "actions.c", "arguments.c", "relation.h",
                       "relation.c")}

# Files of PostgreSQL's that comments name.
CORE_FILES = set("""
    bufmgr.c fmgr.h heapam.c indxpath.c md.c nbtinsert.c nbtpage.c nbtree.c
    nbtree.h nbtsearch.c nbtsort.c nbtutils.c pgstat.h plancat.c rel.h relcache.c
    tuplesort.c xlogutils.c
""".split())

problems = []


def wing(path):
    """The wing of a file, by its path within src/."""
    folder = path.parent.as_posix()
    if folder == ".":
        return SHARED.get(path.name, path.name)
    if folder.startswith("index/"):
        return "index"
    return folder if folder != "core" else "core/."


def level(path):
    name = wing(path)
    if name not in WINGS:
        problems.append(f"src/{path} is in no wing that {__file__} knows")
        return 0
    return WINGS.index(name)


def look(user, used, name):
    """Complain if a file uses one of a higher wing."""
    if level(used) < level(user):
        problems.append(f"src/{user} uses {name} of src/{used}, further up")


def check_includes(sources):
    for source in sources:
        text = (SRC / source).read_text(encoding="utf-8")
        for name in re.findall(r'^#include "(.*)"', text, re.M):
            if (SRC / name).exists():
                look(source, pathlib.PurePath(name), name)


def symbols(sources):
    """What each object file defines for others, and what it asks for."""
    listing = subprocess.run(
        ["nm", "--extern-only", "--print-file-name"] +
        [source.with_suffix(".o") for source in sources],
        check=True, capture_output=True, text=True, cwd=SRC).stdout
    table = {source: (set(), set()) for source in sources}
    for line in listing.splitlines():
        path, _, rest = line.partition(":")
        kind, name = rest.split()[-2:]
        defined, asked = table[pathlib.PurePath(path).with_suffix(".c")]
        (asked if kind in "Uvw" else defined).add(name)
    return table


def check_symbols(sources):
    """Returns which files each file uses, and by which name."""
    table = symbols(sources)
    home = {name: source for source, (defined, _) in table.items()
            for name in defined}
    uses = {source: {} for source in sources}
    for source, (_, asked) in table.items():
        for name in sorted(asked):
            if name in home and home[name] != source:
                look(source, home[name], name)
                uses[source][home[name]] = name
    return uses


def check_unwritten(sources):
    """Complain of what the core writes to that is no caller's: threads share it."""
    objects = [source.with_suffix(".o") for source in sources
               if source.parts[0] == "core"]
    listing = subprocess.run(["objdump", "--syms", *objects], check=True,
                             capture_output=True, text=True, cwd=SRC).stdout
    file = None
    for line in listing.splitlines():
        if ":     file format" in line:
            file = line.split(":")[0]
        # Flags, a section, a tab, the size and the name of an object.
        found = re.search(r" (\.t?bss|\.t?data\S*|\*COM\*)\t\w+ +([A-Za-z]\S*)$", line)
        if found and not found[1].startswith(".data.rel.ro"):
            problems.append(f"src/{file}: {found[2]} is written to by all threads")


def check_circles(uses):
    """Complain of each circle that a walk along the uses closes."""
    done, path = set(), []

    def walk(source):
        if source in path:
            circle = path[path.index(source):] + [source]
            problems.append("a circle: " + ", ".join(
                f"src/{a} uses {uses[a][b]} of src/{b}"
                for a, b in zip(circle, circle[1:])))
        elif source not in done:
            path.append(source)
            for used in sorted(uses[source]):
                walk(used)
            path.pop()
            done.add(source)

    for source in sorted(uses):
        walk(source)


def check_page(files):
    """Complain of what docs/architecture.md says that is not so."""
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    for name in re.findall(r"`(?:src/)?([\w/]+\.[ch])`", text):
        if not any(f"src/{file}".endswith("/" + name) for file in files):
            problems.append(f"docs/architecture.md names {name}")
    rows = re.findall(r"^\|((?: `src/[\w/.*]+`,?)+) \|", text, re.M)
    named = [name.replace("*.h", ".").rstrip("/")
             for row in rows for name in re.findall(r"`src/(.*?)`", row)]
    named = list(dict.fromkeys(SHARED.get(name, name) for name in named))
    if named != WINGS:
        problems.append(f"docs/architecture.md has the wings {named}")


def check_comments(files):
    """Complain of files that comments name and that are not there."""
    names = {path.name for path in files} | CORE_FILES
    comments = {".c": r"/\*.*?\*/", ".h": r"/\*.*?\*/", "": r".*",
                ".sql": r"^--.*?$", ".spec": r"^\s*#.*?$", ".pl": r"^\s*#.*?$"}
    for path in [*(SRC / file for file in files), *SRC.rglob("README"),
                 *(path for folder in ("sql", "test/specs", "test/t")
                   for path in (ROOT / folder).iterdir()
                   if path.suffix in comments)]:
        for comment in re.findall(comments[path.suffix],
                                  path.read_text(encoding="utf-8"),
                                  re.S | re.M):
            for name in re.findall(r"(?<![\w/.<])[a-z]\w*\.[ch]\b(?!>)",
                                   comment):
                if name not in names:
                    problems.append(f"{path.relative_to(ROOT)} names {name}")


def check_names(files):
    """An error's location is the name of a file alone, so it must be one's."""
    places = {}
    for path in files:
        places.setdefault(path.name, []).append(path)
    for name, paths in places.items():
        if len(paths) > 1:
            problems.append("several files are named " + name + ": " +
                            ", ".join(f"src/{path}" for path in paths))


def main():
    files = sorted(p.relative_to(SRC) for p in SRC.rglob("*.[ch]"))
    units = [f for f in files if f.suffix == ".c"]
    check_includes(files)
    check_circles(check_symbols(units))
    check_unwritten(units)
    check_page(files)
    check_comments(files)
    check_names(files)
    for problem in dict.fromkeys(problems):
        print(problem)
    print(f"{len(files)} files, {len(problems)} problems")
    sys.exit(1 if problems or len(units) < 10 else 0)


main()
