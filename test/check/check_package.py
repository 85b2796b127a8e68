#!/usr/bin/env python3
"""
What those who package simhash rely on.

META.json has the form that PGXN asks for (its meta spec, version 1.0.0); the
version is the same wherever it is written; the library names the version of
ICU that it calls.

SPDX-License-Identifier: PostgreSQL
"""

import datetime
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

REQUIRED = {"abstract", "license", "maintainer", "meta-spec", "name",
            "provides", "version"}
OPTIONAL = {"description", "generated_by", "no_index", "prereqs",
            "release_status", "resources", "tags"}
PHASES = {"build", "configure", "develop", "runtime", "test"}
RELATIONS = {"conflicts", "recommends", "requires", "suggests"}
RESOURCES = {"bugtracker", "homepage", "repository"}
SEMANTIC = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[a-z]\w*)?")
TERM = re.compile(r"[^\s/\\\x00-\x1f]{2,}")

problems = []


def expect(holds, problem):
    if not holds:
        problems.append(problem)


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def said(pattern, name):
    """What the first match of a pattern in a file has in its parentheses."""
    found = re.search(pattern, read(name), re.MULTILINE)
    return found.group(1) if found else f"no version in {name}"


def is_text(value):
    return isinstance(value, str) and value.strip() != ""


def is_version(value):
    return isinstance(value, str) and SEMANTIC.fullmatch(value) is not None


def check_provides(provides):
    expect(isinstance(provides, dict) and provides != {},
           "META.json: provides has no extension")
    for name, extension in provides.items():
        expect(set(extension) <= {"abstract", "docfile", "file", "version"},
               f"META.json: {name} has a key that is not in the spec")
        expect(is_version(extension.get("version")),
               f"META.json: {name} has no semantic version")
        for key in ("file", "docfile"):
            expect((ROOT / extension.get(key, "?")).is_file(),
                   f"META.json: the {key} of {name} is not there")


def check_prereqs(prereqs):
    for phase, relations in prereqs.items():
        expect(phase in PHASES, f"META.json: no phase is called {phase}")
        for relation, needed in relations.items():
            expect(relation in RELATIONS,
                   f"META.json: {relation} in prereqs is not in the spec")
            for name, version in needed.items():
                expect(version == 0 or is_version(version),
                       f"META.json: {name} is needed in no semantic version")


def check_meta(meta):
    """The keys and the form of their values, as the spec has them."""
    for key in sorted(REQUIRED - set(meta)):
        problems.append(f"META.json lacks {key}")
    for key in sorted(set(meta) - REQUIRED - OPTIONAL):
        expect(key.lower().startswith("x_"),
               f"META.json: {key} is not in the spec")
    for key in ("abstract", "maintainer", "description"):
        expect(key not in meta or is_text(meta[key]),
               f"META.json: {key} is empty, or no text")
    expect(meta.get("license") == "postgresql",
           "META.json: the licence is PostgreSQL's")
    expect(TERM.fullmatch(meta.get("name", "")),
           "META.json: the name is no term of the spec")
    expect(is_version(meta.get("version")),
           "META.json: the version is not semantic")
    expect(meta.get("meta-spec", {}).get("version") == "1.0.0",
           "META.json: meta-spec has no version 1.0.0")
    expect(meta.get("release_status", "stable") in
           ("stable", "testing", "unstable"),
           "META.json: no release_status of the spec")
    expect(set(meta.get("resources", {})) <= RESOURCES,
           "META.json: a resource is not in the spec")
    tags = meta.get("tags", [])
    expect(tags and all(len(tag) < 256 and is_text(tag) for tag in tags) and
           len(set(tags)) == len(tags), "META.json: tags are wrong or twice")
    for kind, names in meta.get("no_index", {}).items():
        expect(kind in ("directory", "file"),
               f"META.json: {kind} in no_index is not in the spec")
        for name in names:
            expect((ROOT / name).exists(), f"META.json: {name} is not there")
    check_provides(meta.get("provides", {}))
    check_prereqs(meta.get("prereqs", {}))


def check_versions(meta):
    """All say what META.json does; the script's version has no third part."""
    version = meta["version"]
    script = said(r"^default_version = '(.*)'$", "simhash.control")
    named = {
        "META.json, provides": meta["provides"]["simhash"]["version"],
        "simhash.control, before .x": version if script ==
                                      version.rpartition(".")[0] else script,
        "CHANGELOG.md": said(r"^## (\S+)", "CHANGELOG.md"),
        "src/compat.h": said(r'\.version = "(.*)"\)$', "src/compat.h"),
        "packaging/simhash.spec": said(r"^Version: +(\S+)",
                                       "packaging/simhash.spec"),
    }
    named["packaging/simhash.spec, changelog"] = said(
        r"^\* .* - (\S+)-\d+$", "packaging/simhash.spec")
    for page in ("README.md", "README.zh-CN.md", "packaging/README.md",
                 "packaging/Dockerfile.cloudnative-pg"):
        for found in re.findall(r"simhash(?:[_-]|-extension:)"
                                r"(\d+\.\d+\.\d+)", read(page)):
            named[f"a name in {page}"] = found
    if (ROOT / "debian").exists():      # it is not in the released archive
        named["debian/changelog"] = said(r"^\S+ \((\S+)-\d+\)",
                                         "debian/changelog")
    for place, found in named.items():
        expect(found == version,
               f"{place} has {found}, META.json has {version}")
    expect(said(r"^ +version: '(.*)'$", "packaging/README.md") == script,
           "the manifest in packaging/README.md has another default_version")
    expect((ROOT / f"simhash--{script}.sql").is_file(),
           f"simhash--{script}.sql is not there")
    expect(meta["provides"]["simhash"]["file"] == f"simhash--{script}.sql",
           "META.json does not name the script of simhash.control")


def check_dates():
    """Each version in CHANGELOG.md has a date, but the newest may lack one;
    they are in order."""
    heads = re.findall(r"^## (\S+) \((.*)\)$", read("CHANGELOG.md"),
                       re.MULTILINE)
    expect(len(heads) == len(re.findall(r"^## ", read("CHANGELOG.md"),
                                        re.MULTILINE)),
           "CHANGELOG.md: a heading is not ## VERSION (DATE)")
    if heads and heads[0][1] == "unreleased":
        heads = heads[1:]
    dates = [date for _, date in heads]
    for date in dates:
        try:
            datetime.date.fromisoformat(date)
        except ValueError:
            problems.append(f"CHANGELOG.md: {date} is no date")
    expect(dates == sorted(dates, reverse=True),
           "CHANGELOG.md: the newest version is not the first")


def check_control():
    """debian/control is made from control.in, for one version."""
    if not (ROOT / "debian").exists():
        return
    control = read("debian/control")
    major = said(r"^Package: postgresql-(\d+)-", "debian/control")
    expect(read("debian/control.in").replace("PGVERSION", major) == control,
           "debian/control is not what pg_buildext makes of control.in")


def check_icu():
    """Functions of ICU bear its version, so the library has to be linked
    with it."""
    library = ROOT / "simhash.so"

    def objdump(option):
        return subprocess.run(["objdump", option, library], check=True,
                              capture_output=True, text=True).stdout

    called = re.search(r"\*UND\*.* ubrk_open(_\d+)?$", objdump("-T"),
                       re.MULTILINE)
    expect(not called or re.search(r"NEEDED +libicuuc\.so", objdump("-p")),
           "simhash.so calls ICU, and does not name it")


meta = json.loads(read("META.json"))
check_meta(meta)
if not problems:
    check_versions(meta)
check_dates()
check_control()
check_icu()

for problem in problems:
    print(problem)
print(f"{len(problems)} problems")
sys.exit(problems != [])
