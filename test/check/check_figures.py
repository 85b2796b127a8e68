#!/usr/bin/env python3
"""
Every time and every rate that the documentation tells was measured.

bench/figures.tsv says, for each page, what figures it has and which row of the
bench's results each comes from, or, with "-" for a section, from where else.
The results are those that README.md names.  A figure that is not what the row
has, to the digits told, is a fault, and so is one that the list does not have.

SPDX-License-Identifier: PostgreSQL
"""

import csv
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = "bench/figures.tsv"
FIELDS = ("page", "said", "section", "rows", "what", "of")

# What a figure is told in, and how much of the unit of the results it is.
UNITS = {"us": 1, "microseconds": 1, "微秒": 1, "ms": 1e3, "毫秒": 1e3, "s": 1e6,
         "seconds": 1e6, "秒": 1e6, "minutes": 6e7, "分钟": 6e7, "hours": 3.6e9,
         "MB/s": 1, "rows/s": 1, "rows a second": 1, "times": 1}
RESULTS = {"us": 1, "us/row": 1, "ms": 1e3, "s": 1e6, "MB/s": 1, "rows/s": 1}
NUMBER = r"(\d(?:[\d,]*\d)?(?:\.\d+)?|\.\d+)"
FIGURE = re.compile(rf"(?<![\w.,/]){NUMBER}(?: (?:to|and|至) {NUMBER})? ?"
                    rf"({'|'.join(sorted(UNITS, key=len, reverse=True))})(?![\w/])",
                    re.ASCII)
BLOCK = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)

problems = []


def prose(page):
    """A page without its blocks of code; lines are joined by one space."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.sub(r"\s+", " ", BLOCK.sub(" ", text))


def results():
    """The rows of the results that README.md names, by what they measured;
    a recall, which is measured too, is no part of that."""
    named = re.search(r"bench/results/bench-[-\d]+", prose("README.md"))
    with open(ROOT / (named.group() + ".tsv"), encoding="utf-8") as stream:
        return {(row["section"], row["rows"],
                 row["what"].partition(", recall=")[0]): row
                for row in csv.DictReader(stream, delimiter="\t",
                                          quoting=csv.QUOTE_NONE)}


def rounds_to(told, value):
    """Is value told, to the digits that it has; two, of whole numbers?"""
    if "." in told:
        digits = len(told.partition(".")[2])
        return abs(float(told) - value) <= 0.500001 * 10 ** -digits
    digits = max(len(told.rstrip("0")), min(2, len(told)))
    return abs(int(told) - value) <= 0.500001 * 10 ** (len(told) - digits)


def figures(said):
    """The numbers with a unit; if none has one, in a table, all numbers."""
    found = [(number.replace(",", ""), unit)
             for first, second, unit in FIGURE.findall(said)
             for number in (first, second) if number]
    return found or [(number.replace(",", ""), None)
                     for number in re.findall(NUMBER, said)]


def check(page, said, sources, rows):
    """The numbers of one figure are those of its sources, in turn."""
    numbers = figures(said)
    if len(numbers) != len(sources):
        problems.append(f"{page}: {said}: {len(sources)} sources")
        return
    for (number, unit), (key, of) in zip(numbers, sources):
        row = rows.get(key)
        if not row or not row[of]:
            problems.append(f"{page}: {said}: no results of {key}")
            continue
        value = float(row[of])
        if unit and of == "figure":
            value *= RESULTS[row["unit"]] / UNITS[unit]
        if not rounds_to(number, value):
            problems.append(f"{page}: {said}: measured is {value:.4g}, "
                            f"{'/'.join(key)}")


def main():
    rows, listed = results(), {}
    with open(ROOT / LIST, encoding="utf-8") as stream:
        for line in csv.DictReader(stream, delimiter="\t",
                                   quoting=csv.QUOTE_NONE):
            sources = listed.setdefault(line["page"], {}).setdefault(
                line["said"], [])
            if line["section"] != "-":
                key = line["section"], line["rows"], line["what"]
                sources.append((key, line["of"]))
    pages = ["README.md", "README.zh-CN.md"] + sorted(
        path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md"))
    for page in sorted(set(listed) - set(pages)):
        problems.append(f"{LIST}: there is no page {page}")
    for page in pages:
        text = prose(page)
        for said, sources in listed.get(page, {}).items():
            if said not in text:
                problems.append(f"{page}: {said} is listed and not there")
            elif sources:
                check(page, said, sources, rows)
        for said in sorted(listed.get(page, {}), key=len, reverse=True):
            text = text.replace(said, " ")
        for told in FIGURE.finditer(text):
            if told.group(3) != "times" or "." in told.group():
                problems.append(f"{page}: {told.group()} is not in {LIST}")
    for problem in problems:
        print(problem)
    print("%d figures, %d problems" % (
        sum(map(len, listed.values())), len(problems)))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
