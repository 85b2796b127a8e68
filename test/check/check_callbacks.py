#!/usr/bin/env python3
"""
No callback of ours runs what somebody else has written.

The server calls callbacks as transactions and subtransactions end, as caches are
told of a change, as memory is freed, and as an index takes in a row: PostgreSQL
runs nobody's code at these moments, so triggers and portals are done, or a lock is
held, or an error cannot be reported.  So no function that can be reached from such
a callback evaluates an expression, calls a function by its OID, runs SQL or writes
a row.  The hooks of the planner are left out: PostgreSQL itself computes constants
as it plans.

Has the sources compiled with each function in a section of its own, and reads from
the object files which sections name which: a function that is called, or whose
address is taken, counts as reached.

SPDX-License-Identifier: PostgreSQL
"""

import collections
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SRC = ROOT / 'src'

# How callbacks are handed over, and the name that follows.
HANDED_OVER = re.compile(
    r'\b(?:(?:Cache)?Register\w*Callback|before_shmem_exit|on_proc_exit|'
    r'on_shmem_exit|pqsignal|RegisterTimeout|ExplainRegister\w+)\s*\('
    r'(?:[\w>.-]+,\s*)?(\w+)\s*,|'
    r'(?:\.|->)func\s*=\s*(\w+)\s*;|'
    r'\b(\w+_hook)\s*=\s*(\w+)\s*;')

# What hands them over: no function may use these that HANDED_OVER finds nothing in.
HANDING_OVER = re.compile(
    r'^((Cache)?Register\w*Callback|before_shmem_exit|on_proc_exit|on_shmem_exit|'
    r'pqsignal\w*|RegisterTimeout|\w+_hook)$')

# The hooks of the planner, by the version.
PLANNER = {'set_rel_pathlist_hook', 'SIMHASH_RELATION_HOOK',
           'previous_relation_hook', 'previous_paths_hook'}

# What runs, or may run, code that is not ours and not the server's own.
FORBIDDEN = re.compile(
    r'^(Exec(InitExpr|PrepareExpr|Eval|Qual|Check|Project|Constraints|Insert|Update'
    r'|Simple|AR|BR|IR|AS|BS)\w*|expression_planner|eval_const_expressions'
    r'|estimate_expression_value|evaluate_expr|\w*FunctionCall\d*(Coll|Null)?'
    r'|\w*FunctionInvoke|fmgr_info\w*|SPI_\w+|Executor\w+|ProcessUtility|Portal\w+'
    r'|CreateCachedPlan|GetCachedPlan|pg_(analyze|parse|plan|rewrite)_\w+'
    r'|domain_check|index_(insert|beginscan|getnext\w*|rescan)|simple_(heap|table)_\w+'
    r'|heap_(insert|update|delete)|table_tuple_\w+|systable_\w+)$')


def object_of(source):
    """The object file of a source, not optimised: each call stays one."""
    return (ROOT / 'test/unit/calls' / source.relative_to(SRC)).with_suffix('.o')


SECTION = re.compile(r'^RELOCATION RECORDS FOR \[(.+)\]:')
RELOCATION = re.compile(r'^[0-9a-f]+ +R_\S+ +([^\s+-]+)')
PART = re.compile(r'^\.(?:text|data\.rel\.ro\.local|data\.rel\.ro|data\.rel\.local'
                  r'|data\.rel|data|rodata|bss)\.(.+)$')


def read_names(path):
    """What each function, or table of functions, of an object file names."""
    dump = subprocess.run(['objdump', '-r', '-w', str(path)], check=True,
                          capture_output=True, text=True).stdout
    names = collections.defaultdict(set)
    section = None
    for line in dump.splitlines():
        found = SECTION.match(line)
        if found:
            part = PART.match(found[1])
            section = part[1] if part else None
            continue
        found = RELOCATION.match(line)
        if found and section:
            part = PART.match(found[1])
            names[section].add(part[1] if part else found[1])
    return names


def main():
    # The core is plain C, and calls nothing of the server's.
    sources = sorted(source for source in SRC.rglob('*.c')
                     if 'core' not in source.relative_to(SRC).parts)
    texts = {source: re.sub(r'/\*.*?\*/', '', source.read_text(), flags=re.S)
             for source in sources}
    callbacks, handed, passed_on = set(), collections.Counter(), []
    for source, text in texts.items():
        for found in HANDED_OVER.finditer(text):
            name = found[1] or found[2] or found[4]
            handed[source] += 1
            if found[3] in PLANNER or name == 'NULL':
                continue
            function = (re.findall(r'^(\w+)\(([^)]*)', text[:found.start()],
                                   re.M) or [('', '')])[-1]
            if re.search(rf'\b{name}$', function[1]):
                passed_on.append(function[0])
            else:
                callbacks.add((source, name))

    # A function that passes on what it is given: what its callers give.
    for source, text in texts.items():
        for function in passed_on:
            callbacks.update((source, name) for name in
                             re.findall(rf'\b{function}\(&?(\w+)\)', text))

    # Static functions of two files may have one name: they are known by the file.
    graph, where = {}, collections.defaultdict(list)
    cc = os.environ.get('CC')
    subprocess.run(['make', '-s', '-j%d' % os.cpu_count(), 'calls-objects'] +
                   (['CC=' + cc] if cc else []), cwd=ROOT, check=True)
    for source in sources:
        for name, named in read_names(object_of(source)).items():
            graph[source, name] = named
            where[name].append(source)
            if any(HANDING_OVER.match(one) for one in named) and \
                    not handed[source]:
                sys.exit(f'{source}: {name}() hands over a callback in a way '
                         'that this test does not know')

    def next_of(node):
        source, _ = node
        for name in graph.get(node, ()):
            if (source, name) in graph:
                yield source, name
            elif name in where:
                yield from ((other, name) for other in where[name])
            else:
                yield None, name

    def reached(start):
        """What can be reached from a function, each with the way there."""
        ways = {start: [start[1]]}
        queue = [start]
        for node in queue:
            for other in next_of(node):
                if other not in ways:
                    ways[other] = ways[node] + [other[1]]
                    queue.append(other)
        return ways

    # That the walk sees anything is seen from the triggers, which may do all that.
    for name in ('simhash_cluster', 'simhash_guard'):
        if not any(FORBIDDEN.match(one[1])
                   for one in reached((where[name][0], name))):
            sys.exit(f'nothing is reached from {name}(): this test is blind')

    bad = 0
    for source, name in sorted(callbacks):
        if (source, name) not in graph:
            sys.exit(f'{source}: there is no function {name}()')
        ways = reached((source, name))
        for node, way in ways.items():
            if FORBIDDEN.match(node[1]):
                bad += 1
                print(f'{source.relative_to(ROOT)}: a callback runs code: '
                      + ' -> '.join(way))
        print(f'{name}: {len(ways)} functions')
    if len(callbacks) < 5:
        sys.exit('there should be more callbacks: this test is blind')
    print(f'{len(callbacks)} callbacks, {bad} ways to code of others')
    sys.exit(bad > 0)


if __name__ == '__main__':
    main()
