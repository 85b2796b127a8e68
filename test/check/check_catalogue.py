#!/usr/bin/env python3
"""
docs/reference.md has an entry for everything that the extension makes known,
as the catalogue has it.

usage: test/check/check_catalogue.py [--entries]

Compared are

  - the members of the extension, the index options and the settings, but no
    functions whose names begin with an underscore, and no parts of operators,
    aggregates, types and the access method, which nobody calls, with
    the page's blocks of the language "signature".  An entry begins at a line
    that is not indented; lines that are belong to it;
  - the errcode()s of the sources, and RAISE in the SQL script, with the
    page's table of SQLSTATEs;
  - the names that have an entry, with the headings and links of the page:
    whoever looks a name up has to find it in the contents.

--entries writes all entries as the page should have them.

SPDX-License-Identifier: PostgreSQL
"""

import difflib
import glob
import os
import re
import subprocess
import sys
import textwrap

from database import new_utf8_database

PAGE = 'docs/reference.md'
DATABASE = 'catalogue'

# What is asked of the catalogue: a line for each entry, which is what it is
# and, after a tab, its properties.
MEMBERS = r'''
SET search_path = pg_catalog, public;
CREATE TEMP VIEW member AS
SELECT classid, objid FROM pg_depend
WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass
    AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'simhash');
CREATE TEMP VIEW argument AS
SELECT p.oid, n, mode, CASE WHEN mode = 'o'
    THEN concat_ws(' ', quote_ident(nullif(name, '')), format_type(type, NULL))
    ELSE concat_ws(' ', quote_ident(nullif(name, '')), format_type(type, NULL),
        'default ' || regexp_replace(pg_get_function_arg_default(p.oid, n::int),
                                     '::[a-z_ ]+(\[\])?$', '')) END AS text
FROM pg_proc AS p, unnest(coalesce(proallargtypes, proargtypes::oid[]),
    proargnames, proargmodes) WITH ORDINALITY AS a (type, name, mode, n);

-- functions and aggregates
SELECT format('%s%s(%s)%s', CASE prokind WHEN 'a' THEN 'aggregate ' END, proname,
        (SELECT string_agg(text, ', ' ORDER BY n) FROM argument AS a
         WHERE a.oid = p.oid AND mode IS DISTINCT FROM 'o'),
        ' returns ' || CASE WHEN proretset THEN 'setof ' ELSE '' END ||
        coalesce('(' || (SELECT string_agg(text, ', ' ORDER BY n)
                         FROM argument AS a
                         WHERE a.oid = p.oid AND mode = 'o') || ')',
                 format_type(prorettype, NULL)))
    || E'\t' || concat_ws(', ',
        CASE provolatile WHEN 'i' THEN 'immutable' WHEN 's' THEN 'stable'
            ELSE 'volatile' END,
        CASE WHEN proisstrict THEN 'strict' END,
        CASE proparallel WHEN 's' THEN 'parallel safe'
            WHEN 'r' THEN 'parallel restricted' ELSE 'parallel unsafe' END,
        CASE WHEN proleakproof THEN 'leakproof' END,
        CASE WHEN prosecdef THEN 'security definer' END,
        CASE WHEN prokind <> 'a' THEN 'cost ' || procost::numeric END,
        CASE WHEN proretset THEN 'rows ' || prorows::numeric END,
        'support ' || nullif(prosupport, 0)::regproc,
        CASE WHEN g.aggminvtransfn <> 0 THEN 'moving' END,
        CASE WHEN l.lanname NOT IN ('c', 'internal')
            THEN 'language ' || l.lanname END,
        'set ' || array_to_string(proconfig, ', '),
        CASE WHEN proacl IS NOT NULL AND NOT EXISTS (
            SELECT FROM aclexplode(proacl) WHERE grantee = 0)
            THEN 'not for public' END)
FROM member JOIN pg_proc AS p ON p.oid = objid
    JOIN pg_language AS l ON l.oid = prolang
    LEFT JOIN pg_aggregate AS g ON g.aggfnoid = p.oid
WHERE classid = 'pg_proc'::regclass AND proname NOT LIKE '\_%'
    AND NOT proargtypes::regtype[] && '{internal,cstring}'
    AND coalesce(obj_description(p.oid, 'pg_proc'), '') !~ '^implementation of|^I/O$'
ORDER BY proname, pg_get_function_identity_arguments(p.oid) COLLATE "C";

-- operators
SELECT format(E'%s %s %s returns %s\tby %s, commutator %s',
        oprleft::regtype, oprname, oprright::regtype, oprresult::regtype,
        (SELECT proname FROM pg_proc AS p WHERE p.oid = oprcode),
        (SELECT c.oprname FROM pg_operator AS c WHERE c.oid = o.oprcom))
    || coalesce(', estimated by ' || nullif(oprrest, 0)::regproc
                || ' and ' || oprjoin, '')
FROM member JOIN pg_operator AS o ON o.oid = objid
WHERE classid = 'pg_operator'::regclass
ORDER BY oprname COLLATE "C", oprleft::regtype::text COLLATE "C";

-- types
SELECT format('type %s%s', typname,
        ' (' || (SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod),
                                   ', ' ORDER BY attnum)
                 FROM pg_attribute WHERE attrelid = typrelid AND attnum > 0)
        || ')')
    || CASE WHEN typtype = 'b' THEN format(
        E'\tstorage %s, by %s, %s, %s and %s',
        CASE typstorage WHEN 'p' THEN 'plain' WHEN 'e' THEN 'external'
            WHEN 'm' THEN 'main' ELSE 'extended' END,
        typinput, typoutput, typreceive, typsend) ELSE '' END
FROM member JOIN pg_type AS t ON t.oid = objid
WHERE classid = 'pg_type'::regclass AND typcategory <> 'A' ORDER BY typname;

-- the access method, operator classes, and their families
SELECT format(E'access method %s\tby %s, %s', amname, amhandler,
        (SELECT string_agg(name, ', ')
         FROM unnest('{can_order,can_unique,can_multi_col,can_exclude,can_include}'::text[]) AS name
         WHERE pg_indexam_has_property(a.oid, name)))
FROM member JOIN pg_am AS a ON a.oid = objid
WHERE classid = 'pg_am'::regclass;
SELECT format(E'operator class %s for %s using %s\t%sfamily %s%s',
        opcname, opcintype::regtype, amname,
        CASE WHEN opcdefault THEN 'default, ' END, opfname,
        ', storage ' || nullif(opckeytype, 0)::regtype)
FROM member JOIN pg_opclass AS c ON c.oid = objid
    JOIN pg_am AS a ON a.oid = opcmethod
    JOIN pg_opfamily AS f ON f.oid = opcfamily
WHERE classid = 'pg_opclass'::regclass ORDER BY opcname;
SELECT format(E'operator family %s using %s\t%s', opfname, amname,
        (SELECT string_agg(concat_ws(' ', amopstrategy, amopopr::regoperator,
                 CASE amoppurpose WHEN 'o' THEN 'for order by' END), ', '
                 ORDER BY amopstrategy, amopopr::regoperator::text COLLATE "C")
         FROM pg_amop WHERE amopfamily = f.oid))
FROM member JOIN pg_opfamily AS f ON f.oid = objid
    JOIN pg_am AS a ON a.oid = opfmethod
WHERE classid = 'pg_opfamily'::regclass ORDER BY opfname;

-- anything else that a later version may have
SELECT pg_describe_object(classid, objid, 0) FROM member
WHERE classid NOT IN ('pg_proc'::regclass, 'pg_operator'::regclass,
    'pg_type'::regclass, 'pg_am'::regclass, 'pg_opclass'::regclass,
    'pg_opfamily'::regclass);

-- settings, known once the library is loaded
SELECT hamming(1, 2) \g /dev/null
SELECT format(E'setting %s %s\tdefault %s, context %s', name,
        CASE vartype WHEN 'bool' THEN 'boolean'
            WHEN 'enum' THEN array_to_string(enumvals, ' | ')
            ELSE vartype END, boot_val, context)
FROM pg_settings WHERE name ~ '^(simhash|hamming)\.' ORDER BY name;
'''

# Faults that the comparison has to find: one entry lacks and one is wrong.
FAULTS = r'''
CREATE FUNCTION simhash_new(n int DEFAULT 7) RETURNS int LANGUAGE sql RETURN n;
ALTER EXTENSION simhash ADD FUNCTION simhash_new;
ALTER FUNCTION hamming_index_check STABLE;
REVOKE ALL ON FUNCTION hamming_index_check FROM PUBLIC;
'''
FAULTY = ['simhash_new(n integer default 7) returns integer volatile, '
          'parallel unsafe, cost 100, language sql',
          'hamming_index_check(index regclass, heapallindexed boolean default '
          'false) returns void stable, strict, parallel unsafe, cost 1, '
          'not for public']

# SQLSTATEs of the server's own that the page speaks of.
FOREIGN = ['23P01', '40P01']

problems = []


def psql(sql, *options):
    """What psql prints, errors and all."""
    return subprocess.run(
        ['psql', '-X', '-q', '-A', '-t', *options, '-d', DATABASE],
        input=sql, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        check=True, text=True).stdout


def collapsed(text):
    """The text with one blank wherever it has white space."""
    return ' '.join(text.split())


def option_entry(name, kind):
    """The entry of an index option: its range is what the server complains
    of, its default the value with which an index has the same size."""
    said = psql('SET client_min_messages = error; CREATE TEMP TABLE t (fp int8);'
                'CREATE INDEX ON t USING hamming (fp) WITH (%s = -1)' % name)
    least, most = re.search(r'between "(\d+)" and "(\d+)"', said).groups()
    sizes = psql('''
        CREATE TEMP TABLE t AS SELECT hashint8extended(n, 0) AS fp
        FROM generate_series(1, 20000) AS n;
        CREATE INDEX usual ON t USING hamming (fp);
        DO $$ BEGIN FOR n IN %s .. %s LOOP
            EXECUTE format('CREATE INDEX o%%s ON t USING hamming (fp)
                            WITH (%s = %%s)', n, n);
        END LOOP; END $$;
        SELECT substr(relname, 2) FROM pg_class
        WHERE relname ~ '^o[0-9]+$'
            AND pg_relation_size(oid) = pg_relation_size('usual')
        ''' % (max(int(least), 85), min(int(most), 95), name)).split()
    return 'index option %s %s from %s to %s, default %s' % (
        name, kind, least, most, ' or '.join(sizes))


def options():
    """The entries of the options that the access method makes known."""
    found = []
    for path in glob.glob('src/**/*.c', recursive=True):
        with open(path, encoding='utf-8') as file:
            found += re.findall(
                r'add_(?:local_)?(\w+)_reloption\([^,]*,\s*"(\w+)"',
                file.read())
    return [option_entry(name, {'int': 'integer'}.get(kind, kind))
            for kind, name in sorted(found)]


def catalogue(first=''):
    """The entries of the catalogue, each as head and properties."""
    out = psql('BEGIN;' + first + MEMBERS + 'ROLLBACK;', '-v',
               'ON_ERROR_STOP=1')
    return [line.split('\t') for line in out.splitlines()]


def laid_out(head, properties=''):
    """An entry as the page should have it.  Lines end between arguments."""
    lines = []
    for text, first, others in [(head, 0, 8), (properties, 4, 4)]:
        text = re.sub('(?<!,) (?!returns|default|using)', '\0', text)
        lines += textwrap.wrap(text, 79, initial_indent=' ' * first,
                               subsequent_indent=' ' * others)
    return '\n'.join(lines).replace('\0', ' ')


def page_entries(text):
    """The entries of the page: a dict of their texts and their lines."""
    entries, block, inside = {}, [], False
    for number, line in enumerate(text.split('\n'), 1):
        if line.startswith('```'):
            inside = line == '```signature'
        elif inside and line.startswith(' '):
            block[-1][1] += ' ' + line
        elif inside:
            block.append([number, line])
    for number, entry in block:
        entry = collapsed(entry)
        if entry in entries:
            problems.append('%s:%d: twice: %s' % (PAGE, number, entry))
        entries[entry] = number
    return entries


def differences(wanted, there):
    """What is missing, and what is there that nobody wants."""
    return ([entry for entry in wanted if entry not in there],
            [entry for entry in there if entry not in wanted])


def compare_entries(text):
    """Compare the page with the catalogue."""
    there = page_entries(text)
    members = {collapsed(' '.join(member)): member for member in catalogue()}
    wanted = list(members) + options()
    missing, wrong = differences(wanted, there)
    for entry in missing:
        near = difflib.get_close_matches(entry, wrong, 1, 0.8)
        problems.append('%s lacks%s\n%s' % (
            PAGE, ', and has line %d in its place,' % there[near[0]]
            if near else '', laid_out(*members.get(entry, [entry]))))
    for entry in wrong:
        problems.append('%s:%d: not in the catalogue: %s' %
                        (PAGE, there[entry], entry))

    # The comparison finds the faults that are made for it, and no others.
    faulty = [collapsed(' '.join(member)) for member in catalogue(FAULTS)]
    if sorted(set(faulty) - set(members)) != sorted(FAULTY):
        problems.append('planted faults: %s' % (set(faulty) - set(members)))
    return there


def sqlstates():
    """The SQLSTATEs of the sources, each with the name of its condition."""
    ours, used = {}, set()
    for path in glob.glob('src/**/*.[ch]', recursive=True):
        with open(path, encoding='utf-8') as file:
            text = file.read()
        for name, code in re.findall(
                r'#define\s+ERRCODE_(\w+)\s+MAKE_SQLSTATE\((.*)\)', text):
            ours[name.lower()] = ''.join(re.findall(r"'(.)'", code))
        for name in re.findall(r'\berrcode\(([^)]*)\)', text):
            used |= set(re.findall(r'ERRCODE_(\w+)', name)) or {path + name}
    for path in glob.glob('simhash--*.sql'):
        with open(path, encoding='utf-8') as file:
            used |= set(re.findall(r'\bRAISE (?!SQLSTATE|WARNING)(\w+)', file.read()))
    # A condition has the name of its macro, but for the prefix of a class.
    used = {re.sub('^(e_r_i_e|s_r_e)_', '', name.lower()) for name in used}
    codes = psql('''
        CREATE TEMP TABLE said (text text);
        DO $$ DECLARE name text; BEGIN
            FOREACH name IN ARRAY '{%s}'::text[] LOOP
                BEGIN
                    EXECUTE format('DO $d$ BEGIN RAISE %%I; END $d$', name);
                EXCEPTION WHEN OTHERS THEN
                    INSERT INTO said VALUES (SQLSTATE || ' ' || name);
                END;
            END LOOP;
        END $$;
        TABLE said''' % ','.join(used - set(ours)), '-v', 'ON_ERROR_STOP=1')
    return codes.splitlines() + ['%s %s' % (ours[name], name) for name in ours]


def compare_sqlstates(text):
    """Compare the page's table of SQLSTATEs with the sources."""
    rows = re.findall(r'^\| `(\w{5})` \| `(\w+)` \| (.*) \|$', text, re.M)
    shown = ['%s %s' % row[:2] for row in rows]
    used = sqlstates()
    for row in sorted(set(used) ^ set(shown)):
        problems.append('%s: SQLSTATE %s %s' % (
            PAGE, row, 'is not explained' if row in used
            else 'is raised nowhere'))
    for code in re.findall(r'`([0-9A-Z]{5})`', text):
        if code not in [row[0] for row in rows] + FOREIGN:
            problems.append('%s: %s is not in the table of SQLSTATEs' %
                            (PAGE, code))
    if shown != sorted(shown):
        problems.append('%s: SQLSTATEs are not in order' % PAGE)


def compare_names(text, entries):
    """Each name of an entry is in the page's contents."""
    contents = text.split('\n## ')[1]
    for entry in entries:
        name = re.match(r'(?:aggregate )?(\w+)\(|(?:type|access method|'
                        r'index option|setting) ([\w.]+)|'
                        r'\w+ ([<>@~=+]+) \w', entry)
        if name and '`%s`' % next(filter(None, name.groups())) not in contents:
            problems.append('%s:%d: not in the contents: %s' % (
                PAGE, entries[entry], entry))


def main(arguments):
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
    with new_utf8_database(DATABASE):
        psql('CREATE EXTENSION simhash', '-v', 'ON_ERROR_STOP=1')
        if arguments == ['--entries']:
            for entry in catalogue() + [[option] for option in options()]:
                print(laid_out(*entry))
            return 0
        with open(PAGE, encoding='utf-8') as file:
            text = file.read()
        entries = compare_entries(text)
        compare_sqlstates(text)
    compare_names(text, entries)
    for problem in problems:
        print(problem)
    print('%d entries, %d problems' % (len(entries), len(problems)))
    return len(problems) > 0 or len(entries) < 100


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
