"""
The grammar of check_generator.py: what may stand where.

A rule is a list of (weight, template); the first template of a rule is the
one that ends a recursion.  In templates

    {rule}          is replaced by a template of the rule
    {rule=x} {=x}   is the same text in both places
    {rule@ab}       may use the relations a and b of this template only;
                    {rule@^} only those of the text around the template
    {rel:a}         is a relation of FROM, called {a} everywhere in the
                    template; {small:a} has few rows, {base:a} can be
                    changed, {stored:a} is no view
    {r}             is some relation that is visible

All relations have the same columns: id, grp, k int, fp, fp2 bigint,
ball hamming_ball, body text, and wide, a bit(n) of the n of the round.

SPDX-License-Identifier: PostgreSQL
"""

import re

COLUMNS = 'id, grp, k, fp, fp2, ball, body, wide'
TOKEN = re.compile(r'\{(=?)(\w+)(?:=(\w+))?(?:@(\w+|\^))?(?::(\w))?\}')
DEEPEST = 4

# --- what has no parts ------------------------------------------------------

SMALL_NUMBERS = ['0', '1', '2', '3', '5', '10', '20', '100']
RADII = ['3'] * 4 + ['0', '1', '2', '4', '5', '7', '8', '9', '11', '12', '15',
                     '16', '17', '20', '24', '31', '32', '40', '63', '64']
HOSTILE_RADII = ['-1', '65', '2147483648', '(-2147483648)',
                 '9223372036854775807', 'NULL']
PLAIN_CENTERS = ['0', '1', '5', '7', '31', '(-1)', '4294967295', '65535',
                 "'-9223372036854775808'::bigint", '9223372036854775807']

# --- expressions ------------------------------------------------------------

RULES = {
    'fp': [
        (14, '{r}.fp'),
        (10, '{center}'),
        (3, '{r}.fp2'),
        (2, '({r}.fp # {r}.fp2)'),
        (2, '({fp} # {center})'),
        (1, '({fp} # {fp})'),
        (1, '(~ {fp})'),
        (1, 'coalesce({fp}, {center})'),
        (1, 'nullif({fp}, {fp})'),
        (1, 'CASE WHEN {bool} THEN {fp} ELSE {fp} END'),
        (1, '(SELECT {center})'),
        (1, '(SELECT {fp})'),
        (1, '(SELECT max({s}.fp) FROM {small:s} WHERE {s}.id = {n})'),
        (1, '(SELECT min({s}.fp) FROM {small:s} WHERE {bool})'),
        (1, '{fp}::text::bigint'),
        (1, '{fp}::fingerprint'),
        (1, '({fp})::fingerprint::bigint'),
        (1, 'NULL::bigint'),
        (1, '({r}.ball).center'),
        (1, '({tball}).center'),
        (1, 'hashint8extended({r}.id, 7)'),
        (1, '{r}.id'),
        (1, 'greatest({fp}, {fp})'),
        (1, '(ARRAY[{fp}, {fp}])[1]'),
    ],
    'column': [                 # depends on a row
        (6, '{r}.fp'),
        (1, '{r}.fp2'),
        (2, '({r}.fp # {r}.fp2)'),
        (1, '({r}.ball).center'),
        (1, 'hashint8extended({r}.id, 7)'),
        (1, '({r}.fp # {center})'),
    ],
    'tball': [                  # of type hamming_ball
        (3, '{r}.ball'),
        (3, 'hamming_ball({fp}, {k})'),
        (2, '({fp}, {k})::hamming_ball'),
        (1, 'ROW({fp}, {r}.k)::hamming_ball'),
        (1, "'({literal},{literal_k})'::hamming_ball"),
        (1, 'NULL::hamming_ball'),
        (1, '(NULL, {k})::hamming_ball'),
        (1, '({fp}, NULL)::hamming_ball'),
        (1, '(SELECT {s}.ball FROM {small:s} ORDER BY {s}.id, {s}.ball '
            'LIMIT 1)'),
        (1, '(SELECT {tball})'),
        (1, 'CASE WHEN {bool} THEN {tball} ELSE {tball} END'),
        (1, 'coalesce({tball}, {tball})'),
    ],
    # bit strings, their balls, what a radius of such a ball may be
    'wide': [
        (8, '{r}.wide'),
        (5, '{wcenter}'),
        (1, '({r}.wide # {wcenter})'),
        (1, '(~ {wide})'),
        (1, 'coalesce({wide}, {wcenter})'),
        (1, 'CASE WHEN {bool} THEN {wide} ELSE {wide} END'),
        (1, '(SELECT {wide})'),
        (1, '(SELECT bit_or({s}.wide) FROM {small:s} WHERE {s}.id = {n})'),
        (1, '{wide}::print'),
        (1, '{wide}::bit varying'),
        (1, 'NULL::bit({width})'),
        (1, '({wtball}).center'),
        (1, '(ARRAY[{wide}, {wide}])[2]'),
    ],
    'wcolumn': [                # depends on a row
        (6, '{r}.wide'),
        (1, '({r}.wide # {wfrozen})::bit({width})'),
        (1, '({r}.wide # {wcenter})'),
    ],
    'wtball': [                 # of type hamming_bit_ball
        (4, 'hamming_bit_ball({wide}, {wk})'),
        (2, 'hamming_bit_ball({r}.wide, {wradius})'),
        (2, '({wide}, {wk})::hamming_bit_ball'),
        (1, 'ROW({wide}, least({r}.k, {width}))::hamming_bit_ball'),
        (1, "'({wliteral},{wradius})'::hamming_bit_ball"),
        (1, 'NULL::hamming_bit_ball'),
        (1, '(NULL, {wk})::hamming_bit_ball'),
        (1, '(SELECT {wtball})'),
        (1, 'coalesce({wtball}, {wtball})'),
    ],
    'wball': [
        (8, '({wide}, {wk})'),
        (3, '{wtball}'),
        (1, '({wide}, least({r}.k, {width}))'),
    ],
    'wsearch': [
        (1, "{r}.wide <@ '({wliteral},{wradius})'"),
        (8, '{r}.wide <@ ({wcenter}, {wk})'),
        (4, '{wcolumn} <@ {wball}'),
        (2, '{wide} <@ {wball}'),
        (2, '{wtball} @> {wide}'),
        (2, '{wtball} ~= {wtball}'),
        (2, 'hamming_bit_ball({r}.wide, {wradius}) ~= {wtball}'),
        (1, '{wcolumn} <~~> {wide} <= {wk}'),
        (1, '{wide} <@ ANY (ARRAY[{wtball}, {wtball}])'),
        (1, '{r}.wide <@ ALL (ARRAY[{wtball}, {wtball}])'),
        (1, '{wtball} @> ANY (ARRAY[{wide}, {wide}])'),
        (1, '{wide@^} <@ ANY (SELECT hamming_bit_ball({s}.wide, {wradius}) '
            'FROM {small:s} WHERE {bool@s})'),
    ],
    'ball': [                   # or a row that becomes one
        (8, '({fp}, {k})'),
        (4, '{tball}'),
        (2, '({fp}, {r}.k)'),
        (1, "'({literal},{literal_k})'"),
    ],
    'search': [
        (6, '{fp} ~= {fp}'),
        (4, '{column} ~= {fp}'),
        (4, '{column} ~= {center}'),
        (8, '{r}.fp ~= {center}'),
        (5, '{column} <@ {ball}'),
        (7, '{r}.fp <@ ({center}, {k})'),
        (3, '{fp} <@ {ball}'),
        (3, '{tball} @> {fp}'),
        (4, '{tball} ~= {tball}'),
        (4, '{r}.ball ~= {tball}'),
        (6, '{r}.ball ~= hamming_ball({center}, {k})'),
        (16, '{limit}'),
        (3, '({r=x}.fp::bit(64) || {=x}.fp2::bit(64))::bit(128) <@ '
            '((({fp})::bit(64) || ({fp})::bit(64))::bit(128), {k})'),
        (2, '{r}.fp::bit(72) <@ (({fp})::bit(72), {k})'),
        (1, '{fp} ~= ANY (ARRAY[{fp}, {fp}])'),
        (3, '{r}.fp ~= ANY (ARRAY[{center}, {center}])'),
        (2, '{r}.fp ~= ANY (ARRAY[{center}])'),
        (1, '{r}.fp ~= ANY (ARRAY[{fp}, NULL, {fp}])'),
        (1, "{r}.fp ~= ANY ('{{literal},NULL,{literal}}'::bigint[])"),
        # No empty array (key_paths.sql has it): above an outer join 15.18
        # loses rows for one, with PostgreSQL's own = as well.
        (1, '{fp@^} ~= ANY (ARRAY(SELECT {s}.fp FROM {small:s} '
            'WHERE {s}.id < {n}))'),
        (1, '{r}.fp <@ ANY (ARRAY[({center}, {k})::hamming_ball, NULL])'),
        (1, '{r}.fp ~= ALL (ARRAY[{center}, {center}])'),
        (1, '{fp} <@ ANY (ARRAY[{tball}, {tball}])'),
        (1, '{tball} @> ANY (ARRAY[{fp}, {fp}])'),
        (1, '{fp@^} ~= ANY (SELECT {s}.fp FROM {small:s} WHERE {bool@s})'),
        (1, '{fp@^} ~= ALL (SELECT {s}.fp FROM {small:s} WHERE {bool})'),
        (1, '{fp@^} <@ ANY (SELECT {s}.ball FROM {small:s} WHERE {bool@s})'),
        (1, '{fp} OPERATOR(public.~=) {fp}'),
        (2, '{predicate}'),
        (16, '{wsearch}'),
    ],
    'limit': [                  # a distance compared with a number
        (8, '{apart} <= {far}'),
        (2, '{apart} < {far}'),
        (1, '{far} >= {apart}'),
        (1, '{far} > {apart}'),
        (2, '{apart} BETWEEN 0 AND {far}'),
        (1, '({apart=d} >= 1 AND {=d} <= {far})'),
        (2, '{apart} = {far}'),
        (1, '{apart} >= {far}'),
        (1, '{apart} IN (0, {far})'),
        (1, '{apart} = {apart}'),
        (2, 'hamming_within({column}, {fp}, {far})'),
        (1, 'hamming_within({fp}, {fp}, {far})'),
    ],
    'apart': [
        (6, '({column} <~> {center})'),
        (4, 'hamming({fp}, {column})'),
        (2, '({column} <~> {fp})'),
        (2, '({r}.fp <~> {frozen})'),
        (1, 'hamming({fp}, {fp})'),
        (1, '({r}.fp::bit(72) <~~> ({fp})::bit(72))'),
        (1, '({r=x}.fp::bit(64) || {=x}.fp2::bit(64))::bit(128) <~~> '
            '(({fp})::bit(64) || ({fp})::bit(64))::bit(128)'),
    ],
    'far': [                    # any number is one, and no error
        (8, '{k}'),
        (2, '{r}.k'),
        (1, '{k}::bigint'),
        (1, '{literal_k}::smallint'),
        (1, '-1'),
        (1, '100'),
        (1, "'-9223372036854775808'::bigint"),
        (1, '9223372036854775807'),
        (1, '(-32768)::smallint'),
        (1, 'NULL::int'),
        (1, '{literal_k}.5'),
        (1, '({fp} % 70)'),
    ],
    'within': [                 # searches within a group
        (4, '({r=x}.grp = {n} AND {=x}.fp <@ ({center}, {k}))'),
        (3, '({r=x}.grp = {n} AND {=x}.fp ~= {fp})'),
        (2, '({r=x}.fp ~= {center} AND {=x}.grp = ANY (ARRAY[{n}, {n}]))'),
        (1, '({r=x}.grp = {n}::bigint AND {=x}.fp ~= ANY '
            '(ARRAY[{center}, {fp}]))'),
        (1, '({r=x}.grp = {n} AND {=x}.ball ~= {tball})'),
        (2, "({r=x}.body = '' AND {=x}.k = {n} AND "
            '{=x}.fp <@ ({center}, {k}))'),
        (1, "({r=x}.body = {r}.body AND {=x}.k = {r}.k AND {=x}.fp ~= {fp})"),
        (1, '({r=x}.fp2 = {fp} AND {=x}.fp <@ ({center}, {k}))'),
        (1, '({r=x}.fp2 IN ({n}, {center}) AND {=x}.fp ~= {fp})'),
        (1, '({r=x}.grp = {n} AND {=x}.fp = {fp})'),
        (2, '({r=x}.grp = ANY ({array}) AND {=x}.fp <@ ({center}, {k}))'),
        (3, '({r=x}.grp = {n} AND {=x}.wide <@ ({wcenter}, {wk}))'),
        (2, '({r=x}.wide <@ {wball} AND {=x}.grp = ANY ({array}))'),
        (1, '({r=x}.grp IN ({n}, {n}) AND {=x}.wide <@ ANY '
            '(ARRAY[{wtball}, ({wcenter}, {wk})::hamming_bit_ball]))'),
    ],
    'predicate': [              # what partial indexes, policies, CHECK have
        (3, '{r}.fp <@ ({frozen}, 20)'),
        (2, '{r}.id % 2 = 0'),
        (1, '{r}.fp ~= {frozen}'),
        (1, '({r}.fp <~> {frozen}) <= 30'),
        (1, '{r}.ball ~= hamming_ball({frozen}, 40)'),
        (1, '{r}.fp IS NOT NULL'),
        (2, '{r}.wide <@ ({wfrozen}, {wfar})'),
        (1, '{r}.grp = ANY (ARRAY[1, 2, 3, NULL])'),
    ],
    'bool': [
        (14, '{search}'),
        (4, '{within}'),
        (4, '({search} AND {bool})'),
        (2, '({search} AND {search})'),
        (3, '({search} OR {search})'),
        (2, '({bool} OR {bool})'),
        (2, 'NOT ({bool})'),
        (1, '({search}) IS NOT TRUE'),
        (1, '({search}) IS NULL'),
        (1, '({search}) = ({search})'),
        (2, '{r}.id < {n}'),
        (1, '{r} IS NOT NULL'),
        (1, '{r}.grp = {n}'),
        (1, '({search} AND {r}.grp = {n})'),
        (1, '({search} AND {r}.id > {n})'),
        (1, 'EXISTS (SELECT FROM {small:s} WHERE {bool@s})'),
        (2, 'EXISTS (SELECT FROM {small:s} WHERE {search})'),
        (1, 'NOT EXISTS (SELECT FROM {small:s} WHERE {search})'),
        # a scan that is begun again before its end
        (3, '({bool@^} OR EXISTS (SELECT FROM {small:s} '
            'WHERE {s}.fp ~= {fp@^}))'),
        (1, '(SELECT {s}.id IS NULL FROM {small:s} '
            'WHERE {s}.fp <@ ({fp@^}, {k}) LIMIT 1)'),
        (1, '{fp@^} IN (SELECT {s}.fp FROM {small:s} WHERE {search@s})'),
        (1, '{fp@^} NOT IN (SELECT {s}.fp FROM {small:s} WHERE {search@s})'),
        (1, '{grp@^} IN (SELECT {s}.grp FROM {small:s} GROUP BY {s}.grp '
            'HAVING {having@s})'),
        (1, '({search@^}) IN (SELECT {search} FROM {small:s})'),
        (1, 'CASE WHEN {bool} THEN {bool} END'),
        (1, 'coalesce({search}, {bool})'),
        (1, '({fp}, {search}) IS DISTINCT FROM ({fp}, {search})'),
    ],
    'agg': [
        (5, 'max({fp})'),
        (2, 'min({fp})'),
        (2, 'max({r}.fp # {fp})'),
        (1, 'bit_xor({fp})'),
        (1, 'max({fp}) FILTER (WHERE {search})'),
        (1, '(array_agg({fp=g} ORDER BY {=g}))[1]'),
        (1, '(max({fp}) # min({fp}))'),
        (1, 'count(*)'),
        (1, 'count(DISTINCT {fp})'),
        (1, 'sum(hamming({fp}, {fp}))::bigint'),
    ],
    'having': [
        (5, '{agg} ~= {center}'),
        (3, '{agg} ~= {agg}'),
        (3, '{agg} <@ ({center}, {k})'),
        (2, '{agg} <@ ({agg}, {k})'),
        (2, 'hamming_ball({agg}, {k}) @> {agg}'),
        (1, 'hamming_ball({agg}, {k}) ~= ({agg}, {k})::hamming_ball'),
        (1, '{agg} <~> {agg} <= {k}'),
        (1, 'bool_or({search})'),
        (2, 'bit_or({wide}) <@ ({wcenter}, {wk})'),
        (1, 'bit_xor({wide}) <~~> bit_and({wide}) <= {wk}'),
        (1, 'count(*) FILTER (WHERE {search}) > 1'),
        (1, 'NOT ({having})'),
        (1, '({having} OR {having})'),
        (1, '{agg=g@^} ~= ANY (SELECT {s}.fp FROM {small:s} '
            'WHERE {search@s})'),
    ],
    'out': [
        (3, '{r}.id'),
        (2, '{r}.fp'),
        (2, '{search}'),
        (1, '{fp} <~> {fp}'),
        (1, 'hamming({fp}, {fp})'),
        (1, '{tball}'),
        (1, 'CASE WHEN {search} THEN {n} END'),
        (1, '(SELECT count(*) FROM {small:s} WHERE {search})'),
        (1, 'ARRAY(SELECT {s}.id FROM {small:s} WHERE {search} '
            'ORDER BY 1)'),
        (1, 'simhash_key({fp}, {block})'),
        (1, '{wide} <~~> {wide}'),
        (1, '{wtball}'),
        (1, '{bool}'),
    ],
    'grp': [(1, '{r}.grp')],
    'block': [(1, '0'), (1, '1'), (1, '2'), (1, '3')],

    # --- relations that are made on the spot (those of the round come by
    # {rel:a}) -------------------------------------------------------------

    'source': [
        (2, '(SELECT {cols} FROM {small:s} WHERE {bool})'),
        (1, '(SELECT {cols} FROM {rel:s} WHERE {bool} OFFSET 0)'),
        (1, '(SELECT {cols} FROM {rel:s} UNION ALL '
            'SELECT {cols} FROM {small:t})'),
        (1, '(SELECT {cols} FROM {small:s} WHERE {bool@s} EXCEPT '
            'SELECT {cols} FROM {small:t} WHERE {bool@t})'),
        (1, '(SELECT DISTINCT ON (id) {cols} FROM {rel:s} '
            'WHERE {search@s} ORDER BY {cols})'),
        (1, '(SELECT max(id) AS id, grp, max(k) AS k, max(fp) AS fp, '
            'min(fp2) AS fp2, hamming_ball(max(fp), max(k)) AS ball, '
            'max(body) AS body, bit_or(wide) AS wide FROM {rel:s} '
            'GROUP BY grp HAVING {having@s})'),
        (1, '(SELECT {s}.id, {t}.grp, {s}.k, {t}.fp, {s}.fp2, {t}.ball, '
            '{s}.body, {t}.wide FROM {small:s} JOIN {small:t} ON {s}.id = {t}.id)'),
        (1, '(SELECT {s}.id, {t}.grp, {s}.k, {t}.fp, {s}.fp2, {t}.ball, '
            '{s}.body, {t}.wide FROM {small:s} LEFT JOIN {small:t} '
            'ON {s}.id = {t}.id AND {search@st})'),
    ],
    'cols': [(1, COLUMNS)],

    # --- whole queries ----------------------------------------------------

    'query': [
        (12, 'SELECT {a}.id FROM {rel:a} WHERE {bool}'),
        (8, 'SELECT {a}.id, {a}.fp FROM {rel:a} WHERE {search} AND {bool}'),
        (6, 'SELECT {a}.id, {a}.fp FROM {rel:a} WHERE {within}'),
        (3, 'SELECT {a}.id, {b}.id FROM {rel:a} JOIN {small:b} '
            'ON {a}.grp = {b}.grp AND {a}.fp ~= {b}.fp WHERE {b}.id < {n}'),
        (1, 'SELECT {a}.id, {b}.id FROM {rel:a} JOIN {small:b} '
            'ON {a}.grp = {b}.id AND {a}.fp <@ ({b}.fp, {k}) '
            'WHERE {b}.id < {n}'),
        (4, 'SELECT {out}, {out} FROM {rel:a} WHERE {search}'),
        (3, 'SELECT count(*), max({fp}) FROM {rel:a} WHERE {bool}'),
        (3, 'SELECT {having}, {agg} FROM {rel:a} WHERE {bool}'),
        (4, 'SELECT {a}.id, {b}.id FROM {rel:a} JOIN {small:b} '
            'ON {search@ab} WHERE {b}.id < {n}'),
        (4, 'SELECT {a}.id, {b}.id FROM {small:a}, {small:b} '
            'WHERE {b}.fp <@ ({a}.fp, {k}) AND {bool}'),
        (3, 'SELECT {a}.id, {b}.id FROM {small:a}, {small:b} '
            'WHERE {b}.wide <@ ({a}.wide, {wk}) AND {bool}'),
        (2, 'SELECT {a}.id, {b}.id FROM {rel:a} JOIN {small:b} '
            'ON {a}.grp = {b}.grp AND {a}.wide <@ ({b}.wide, {wk}) '
            'WHERE {b}.id < {n}'),
        (3, 'SELECT {a}.id, {b}.id FROM {small:b} LEFT JOIN {small:a} '
            'ON {search@ab} WHERE {b}.id < {n}'),
        (3, 'SELECT {a}.id, {b}.id FROM {rel:a} JOIN {small:b} '
            'ON hamming({a}.fp, {b}.fp) <= {far@ab} WHERE {b}.id < {n}'),
        (2, 'SELECT {a}.id, {b}.id FROM {small:b} LEFT JOIN {rel:a} '
            'ON {a}.fp <~> {b}.fp <= {far@_} AND {bool} WHERE {b}.id < {n}'),
        (2, 'SELECT {a}.id, {b}.id, {out} FROM {small:b} LEFT JOIN {small:a} '
            'ON {a}.id = {b}.id AND {bool} WHERE {bool}'),
        (2, 'SELECT {a}.id, {b}.id FROM {small:b} FULL JOIN {small:a} '
            'USING (id) WHERE {bool}'),
        (1, 'SELECT {a}.id, l.id FROM {small:a} FULL JOIN (SELECT {cols} '
            'FROM {small:b} WHERE {search@b}) AS l ON {a}.fp = l.fp '
            'WHERE {bool@a}'),
        (3, 'SELECT {a}.id FROM {rel:a} WHERE EXISTS (SELECT FROM {small:b} '
            'WHERE {search@ab} AND {b}.id < {n})'),
        (2, 'SELECT {a}.id FROM {small:a} WHERE NOT EXISTS (SELECT FROM '
            '{small:b} WHERE {search@ab})'),
        (2, 'SELECT {a}.id, {b}.id, {c}.id FROM {small:a} '
            'JOIN {small:b} ON {a}.id = {b}.id '
            'LEFT JOIN {small:c} ON {search} WHERE {a}.id < {n}'),
        (3, 'SELECT {a}.id, l.* FROM {small:a}, LATERAL (SELECT {b}.id, {out} '
            'FROM {rel:b} WHERE {search@ab} OFFSET 0) AS l '
            'WHERE {a}.id < {n}'),
        (2, 'SELECT {a}.id, l.* FROM {small:a} LEFT JOIN LATERAL (SELECT '
            '{column=g@b} <~> {a}.fp FROM {rel:b} WHERE {bool@b} ORDER BY '
            '{=g} <~> {a}.fp LIMIT {n}) AS l ON true WHERE {a}.id < {n}'),
        (2, 'SELECT {a}.id, (SELECT count(*) FROM (SELECT FROM {rel:b} '
            'WHERE {search@ab} LIMIT {n}) AS l) FROM {small:a} '
            'WHERE {a}.id < {n}'),
        (4, 'SELECT {a}.id, (SELECT count(*) FROM (SELECT FROM {rel:b} '
            'WHERE {b}.fp <@ ({a}.fp, {k}) LIMIT {n}) AS l) FROM {small:a} '
            'WHERE {a}.id < {n}'),
        # the nearest, ties not told apart
        (8, '!SELECT {column=g} <~> {center=c} FROM {rel:a} '
            'ORDER BY {=g} <~> {=c} LIMIT {n} OFFSET {n}'),
        (3, '!SELECT {column=g} <~> {center=c} FROM {rel:a} '
            'WHERE {=g} <~> {=c} <= {far} ORDER BY {=g} <~> {=c} LIMIT {n}'),
        (4, '!SELECT {column=g} <~> {center=c} FROM {rel:a} WHERE {bool} '
            'ORDER BY {=g} <~> {=c} LIMIT {n}'),
        (2, '!SELECT {column=g} <~> {fp=c@_} FROM {rel:a} '
            'ORDER BY {=g} <~> {=c}'),
        (2, '!SELECT {column=g} <~> {center=c}, {a}.id FROM {rel:a} '
            'WHERE {bool} ORDER BY {=g} <~> {=c}, {a}.id LIMIT {n}'),
        (4, '!SELECT {a}.fp <~> {center=c}, {a}.grp FROM {rel:a} '
            'WHERE {a}.grp = {n} ORDER BY {a}.fp <~> {=c} LIMIT {n}'),
        (2, '!SELECT {a}.ball, {a}.fp <~> {center=c}, {a}.id FROM {rel:a} '
            'WHERE {a}.grp = {n} AND {a}.fp <@ ({center}, {k}) '
            'ORDER BY {a}.fp <~> {=c}, {a}.id, {a}.ball'),
        (6, '!SELECT {wcolumn=g} <~~> {wcenter=c} FROM {rel:a} '
            'ORDER BY {=g} <~~> {=c} LIMIT {n} OFFSET {n}'),
        (3, '!SELECT {wcolumn=g} <~~> {wcenter=c} FROM {rel:a} WHERE {bool} '
            'ORDER BY {=g} <~~> {=c} LIMIT {n}'),
        (3, '!SELECT {a}.wide <~~> {wcenter=c} FROM {rel:a} '
            'WHERE {a}.grp = {n} ORDER BY {a}.wide <~~> {=c} LIMIT {n}'),
        (1, '!SELECT {a}.wide <~~> {wcenter=c}, {a}.id FROM {rel:a} '
            'WHERE {a}.grp = {n} AND {a}.wide <@ ({wcenter}, {wk}) '
            'ORDER BY {a}.wide <~~> {=c}, {a}.id'),
        (1, 'SELECT {a}.id, l.* FROM {small:a} LEFT JOIN LATERAL (SELECT '
            '{wcolumn=g@b} <~~> {a}.wide FROM {rel:b} WHERE {bool@b} ORDER BY '
            '{=g} <~~> {a}.wide LIMIT {n}) AS l ON true WHERE {a}.id < {n}'),
        (1, '!SELECT {column=g} <~> {center=c} FROM {rel:a} '
            'ORDER BY {=g} <~> {=c} DESC NULLS LAST LIMIT {n}'),
        (1, '!SELECT {column=g} <~> {center=c} FROM {rel:a} '
            'ORDER BY {=g} <~> {=c} FETCH FIRST {n} ROWS WITH TIES'),
        (2, '!SELECT DISTINCT ON ({column=g} <~> {center=c}) {=g} <~> {=c}, '
            '{a}.id FROM {rel:a} WHERE {bool} ORDER BY {=g} <~> {=c}, '
            '{a}.id'),
        (1, 'SELECT count(*) FROM (SELECT FROM {rel:a} WHERE {search} '
            'LIMIT {n}) AS l'),
        # groups
        (3, 'SELECT {column=g@a}, count(*) FROM {rel:a} GROUP BY {=g} '
            'HAVING {=g} ~= {center}'),
        (3, 'SELECT 1 FROM {small:a}, {small:b} HAVING {having}'),
        (2, 'SELECT {a}.grp, {agg} FROM {small:a} JOIN {small:b} '
            'ON {a}.id = {b}.id GROUP BY {a}.grp HAVING {having}'),
        (2, 'SELECT count(*) FROM {small:a} JOIN {small:b} '
            'ON {a}.id = {b}.id GROUP BY GROUPING SETS '
            '(({a}.fp # {b}.fp), ()) HAVING ({a}.fp # {b}.fp) ~= {center}'),
        (2, 'SELECT {search=g}, count(*), {agg} FROM {small:a} '
            'GROUP BY ROLLUP ({a}.grp, 1) HAVING {having}'),
        (2, 'SELECT {column=g}, {a}.grp, grouping({=g}, {a}.grp) '
            'FROM {rel:a} WHERE {bool} GROUP BY CUBE ({=g}, {a}.grp) '
            'HAVING {=g} <@ ({center}, {k}) OR {having}'),
        (1, 'SELECT {search=g}, count(*) FROM {rel:a} GROUP BY {=g}'),
        # windows
        (2, 'SELECT {a}.id, count(*) FILTER (WHERE {search}) OVER '
            '(PARTITION BY {search} ORDER BY {a}.id) FROM {rel:a} '
            'WHERE {bool}'),
        (1, 'SELECT {a}.id, rank() OVER (ORDER BY {column} <~> {center}) '
            'FROM {rel:a} WHERE {bool}'),
        (1, 'SELECT {a}.grp, max(max({fp})) OVER (ORDER BY {a}.grp) '
            '~= {center} FROM {small:a} GROUP BY {a}.grp HAVING {having}'),
        (1, 'SELECT l.* FROM (SELECT {a}.id, row_number() OVER (PARTITION '
            'BY {a}.grp ORDER BY {column} <~> {center}, {a}.id) AS n '
            'FROM {rel:a}) AS l WHERE n <= {n}'),
        # sets and WITH
        (2, 'SELECT {a}.id FROM {rel:a} WHERE {search@a} UNION '
            'SELECT {b}.id FROM {rel:b} WHERE {search@b}'),
        (1, 'SELECT {a}.id FROM {rel:a} WHERE {bool@a} INTERSECT '
            'SELECT {b}.id FROM {rel:b} WHERE {search@b}'),
        (1, 'SELECT {a}.id FROM {rel:a} WHERE {bool@a} EXCEPT ALL '
            'SELECT {b}.id FROM {rel:b} WHERE {search@b}'),
        (2, 'WITH w AS MATERIALIZED (SELECT {cols} FROM {rel:a} WHERE '
            '{bool@a}) SELECT w.id FROM w, {small:b} WHERE w.fp ~= {b}.fp '
            'AND {bool@b}'),
        (2, 'WITH w AS (SELECT {cols} FROM {rel:a} WHERE {bool@a}) '
            'SELECT count(*) FROM w WHERE w.fp <@ ({center}, {k})'),
        (1, 'WITH RECURSIVE w(id, fp) AS (SELECT {a}.id, {a}.fp FROM '
            '{small:a} WHERE {a}.id < {n} UNION SELECT {b}.id, {b}.fp '
            'FROM w JOIN {small:b} ON {b}.fp ~= w.fp) SELECT * FROM w'),
        (1, 'SELECT v.n, {a}.id FROM (VALUES (1, {center}), (2, {center}), '
            '(3, NULL)) AS v(n, q) JOIN {rel:a} ON {a}.fp <@ (v.q, {k})'),
        (1, 'VALUES ({search@_}, {fp@_}), ({search@_}, {fp@_})'),
        (1, 'SELECT {out@_}, {search@_}'),
        (1, 'SELECT {a}.id FROM {base:a} WHERE {search} FOR UPDATE'),
        (1, 'SELECT {a}.id FROM {stored:a} TABLESAMPLE bernoulli (100) '
            'WHERE {search}'),
        (1, 'SELECT {a}.tableoid::regclass, {a}.id FROM {stored:a} '
            'WHERE {search} AND {a}.ctid IS NOT NULL'),
    ],

    # --- changes ----------------------------------------------------------

    'change': [
        (4, 'UPDATE {base:a} SET fp = {fp} WHERE {search} AND {a}.id % 3 = 0 '
            'RETURNING {a}.id, {a}.fp, {search}'),
        (3, 'UPDATE {base:a} SET fp2 = {a}.fp2 # 1, body = {a}.body '
            'WHERE {bool} RETURNING {a}.id, {search}'),
        (3, 'UPDATE {base:a} SET ball = {tball} WHERE {search} '
            'AND {a}.id % 2 = 0 RETURNING {out}'),
        (2, 'UPDATE {base:a} SET wide = {wide} WHERE {search} '
            'AND {a}.id % 3 = 1 RETURNING {a}.id, {a}.wide, {wsearch}'),
        (1, 'UPDATE {base:a} SET fp = {center}, k = {k} FROM {small:b} '
            'WHERE {search@ab} AND {a}.id < 20 RETURNING {a}.id'),
        (3, 'DELETE FROM {base:a} WHERE {search} AND {a}.id % 4 = 1 '
            'RETURNING {a}.id, {search}'),
        (2, 'DELETE FROM {base:a} USING {small:b} WHERE {search@ab} '
            'AND {a}.id % 5 = 2 RETURNING {a}.id, {a}.ball'),
        (1, 'WITH w AS (DELETE FROM {base:a} WHERE {search} '
            'AND {a}.id % 7 = 2 RETURNING {a}.id, {a}.fp) '
            'SELECT w.id FROM w WHERE w.fp ~= {center}'),
        (5, 'INSERT INTO {table} ({cols}) SELECT {rows}'),
        (3, 'INSERT INTO {table} ({cols}) SELECT {rows} '
            'ON CONFLICT DO NOTHING RETURNING id'),
        (3, 'INSERT INTO {table=t} AS t ({cols}) SELECT {rows} '
            'ON CONFLICT (id) DO UPDATE SET fp = EXCLUDED.fp, '
            'wide = EXCLUDED.wide '
            'WHERE t.fp ~= EXCLUDED.fp OR t.fp <@ ({center}, {k}) '
            'RETURNING t.id, t.fp ~= {center}'),
        (2, 'MERGE INTO {stored:a} USING {small:b} ON {a}.id = {b}.id '
            'AND {a}.id < 50 WHEN MATCHED AND {search@ab} THEN DELETE '
            'WHEN MATCHED AND {bool@ab} THEN UPDATE SET fp = {fp@ab}'),
    ],
    # where plans do not matter: what the planner and vacuum know, dead rows
    'upkeep': [
        (4, 'VACUUM {stored}'),
        (3, 'ANALYZE {stored}'),
        (1, 'VACUUM (FREEZE, ANALYZE) {stored}'),
        (1, 'VACUUM FULL {stored}'),
        (1, 'VACUUM (INDEX_CLEANUP OFF) {stored}'),
        (2, 'REINDEX TABLE {stored}'),
        (1, 'DROP INDEX IF EXISTS {stored}_fp_hamming'),
        (1, 'DROP INDEX IF EXISTS {stored}_ball_hamming'),
        (1, 'DROP INDEX IF EXISTS {stored}_bits_hamming'),
        (2, 'CREATE INDEX IF NOT EXISTS {stored=t}_bits_hamming ON {=t} '
            'USING hamming (wide)'),
        (1, "SELECT simhash_drop_keys('{stored}')"),
        (2, 'CREATE INDEX IF NOT EXISTS {stored=t}_fp_hamming ON {=t} '
            'USING hamming (fp)'),
        (2, 'CREATE INDEX IF NOT EXISTS {stored=t}_ball_hamming ON {=t} '
            'USING hamming (ball)'),
        (1, "SELECT simhash_add_keys('{stored}', 'fp')"),
    ],
}

# --- tables -----------------------------------------------------------------

COLUMN_TYPES = {
    'id': ['int NOT NULL'], 'grp': ['int'], 'k': ['int'], 'body': ['text'],
    'fp': ['bigint'] * 6 + ['fingerprint'], 'fp2': ['bigint'],
    'ball': ['hamming_ball'] * 6 + ['some_ball'],
    'wide': ['bit({width})'] * 6 + ['print'],
}
# Fingerprints of the i-th row; {s} is the seed of the table.
FINGERPRINTS = [
    'hashint8extended(i, {s})',                                 # random
    'hashint8extended(i % 7, {s}) # (1::bigint << (i % 64))',   # clusters
    'hashint8extended(i % 40, {s}) # (1::bigint << (i % 61)) '
    '# (1::bigint << (i % 59)) # (1::bigint << (i % 31))',
    'hashint8extended(i, {s}) & 255',                           # skewed
    'hashint8extended(i, {s}) & 281474976710655',           # a block in common
    'hashint8extended(i, {s}) >> 60',
    "CASE i % 4 WHEN 0 THEN 0 WHEN 1 THEN -1 "
    "WHEN 2 THEN '-9223372036854775808'::bigint "
    "ELSE 9223372036854775807 END # (1::bigint << (i % 5))",    # signs
    '{s}::bigint',                                              # all equal
    'CASE WHEN i % 3 = 0 THEN hashint8extended(i, {s}) '
    'ELSE hashint8extended(1, {s}) # (1::bigint << (i % 64)) END',
    'NULL::bigint',
]
# Bit strings of the i-th row; {any} is of all rows, {some} and {many} of some.
WIDES = [
    '{each}',
    'set_bit({some}, (i * 31) % {width}, i % 2)',
    'set_bit(set_bit(set_bit({many}, i % {width}, 1), (i * 7) % {width}, 0), '
    '(i * 5) % {width}, i % 2)',
    'set_bit(set_bit(repeat(\'0\', {width})::bit({width}), i % {width}, 1), '
    '(i * 7) % {width}, 1)',
    'overlay({each} PLACING {any}::bit(17) FROM 1)',
    'CASE WHEN i % 3 = 0 THEN {each} ELSE '
    'set_bit({any}, (i * 3) % {width}, i % 2) END',
    '{any}',
    'NULL::bit({width})',
]
NULLS = ['{}', '{}', 'CASE WHEN i % 7 <> 0 THEN {} END']
K_COLUMN = ['3', 'i % 65', '(i * 7) % 12', 'nullif(i % 9, 4)']
BALLS = [
    '(fp, k)::hamming_ball',
    'hamming_ball(fp, 3)',
    '(fp, (i * 13) % 65)::hamming_ball',
    '(fp, (i * 5) % 24)::hamming_ball',
    'CASE WHEN i % 11 <> 0 THEN (CASE WHEN i % 13 <> 0 THEN fp END, '
    'CASE WHEN i % 17 <> 0 THEN (i * 7) % 33 END)::hamming_ball END',
]
ROWS = ('{cols} FROM (SELECT i AS id, i % 9 AS grp, {k} AS k, {fp} AS fp, '
        '{fp2} AS fp2, repeat(md5(i::text), i % 4) AS body, '
        '{wide} AS wide, i '
        'FROM generate_series({first}, {last}) AS i) AS r, '
        'LATERAL (SELECT {ball} AS ball) AS l')

# The parts of CREATE TABLE name (columns) and what follows it.
TABLES = [
    (5, ['CREATE TABLE {t} ({c}, PRIMARY KEY (id))']),
    (1, ['CREATE UNLOGGED TABLE {t} ({c}, PRIMARY KEY (id))']),
    (1, ['CREATE TEMP TABLE {t} ({c}, PRIMARY KEY (id))']),
    (1, ['CREATE TABLE {t} ({c}, PRIMARY KEY (id)) '
         'PARTITION BY HASH (id)',
         'CREATE TABLE {t}_0 PARTITION OF {t} '
         'FOR VALUES WITH (MODULUS 2, REMAINDER 0)',
         'CREATE TABLE {t}_1 PARTITION OF {t} '
         'FOR VALUES WITH (MODULUS 2, REMAINDER 1)']),
    (1, ['CREATE TABLE {t} ({c}, PRIMARY KEY (id)) PARTITION BY RANGE (id)',
         'CREATE TABLE {t}_0 PARTITION OF {t} FOR VALUES FROM (0) TO (50)',
         'CREATE TABLE {t}_1 (ball hamming_ball, body text, grp int, '
         'wide bit({width}), id int NOT NULL, gone int, fp bigint, k int, '
         'fp2 bigint)',
         'ALTER TABLE {t}_1 DROP gone',
         'ALTER TABLE {t} ATTACH PARTITION {t}_1 '
         'FOR VALUES FROM (50) TO (MAXVALUE)',
         'CREATE TABLE {t}_2 PARTITION OF {t} DEFAULT']),
    (1, ['CREATE TABLE {t} ({c}) PARTITION BY LIST (grp)',
         'CREATE TABLE {t}_0 PARTITION OF {t} FOR VALUES IN (0, 1, 2)',
         'CREATE TABLE {t}_1 PARTITION OF {t} DEFAULT']),
    (1, ['CREATE TABLE {t} ({c}, PRIMARY KEY (id))',
         'CREATE TABLE {t}_0 (extra text) INHERITS ({t})',
         'INSERT INTO {t}_0 ({cols}) SELECT id + 100000, grp, k, fp, fp2, '
         'ball, body, wide FROM t0 WHERE id < 40']),
]
# What may be added to a table, in both databases.
EXTRAS = [
    'ALTER TABLE {t} ADD CHECK ((fp ~= {frozen}) IS NOT NULL OR fp IS NULL)',
    'ALTER TABLE {t} ADD CHECK (NOT fp <@ (11213141516171819, 1))',
    'ALTER TABLE {t} ADD late bigint DEFAULT 5; '
    'ALTER TABLE {t} DROP late',
    'ALTER TABLE {t} ENABLE ROW LEVEL SECURITY; '
    'CREATE POLICY p ON {t} USING ({p})',
    'ALTER TABLE {t} ENABLE ROW LEVEL SECURITY; '
    'CREATE POLICY p ON {t} FOR SELECT USING ({p}); '
    'CREATE POLICY q ON {t} FOR ALL USING (fp <@ (fp2, 40)) '
    'WITH CHECK (NOT {p})',
]
# Indexes, in the database of the extension only; {p} is a predicate.
INDEXES = [
    (6, 'CREATE INDEX {t}_fp_hamming ON {t} USING hamming (fp)'),
    (5, 'CREATE INDEX {t}_ball_hamming ON {t} USING hamming (ball)'),
    (2, 'CREATE INDEX {t}_expr_hamming ON {t} USING hamming ((fp # fp2))'),
    (2, 'CREATE INDEX {t}_part_hamming ON {t} USING hamming (fp) WHERE {p}'),
    (1, 'CREATE INDEX {t}_pball_hamming ON {t} USING hamming (ball) '
        'WHERE {p}'),
    (1, 'CREATE INDEX {t}_made_hamming ON {t} USING hamming '
        '(hamming_ball(fp, 8))'),
    (1, 'CREATE INDEX {t}_center_hamming ON {t} USING hamming '
        '(((ball).center)) WITH (fillfactor = 30)'),
    (1, 'CREATE INDEX {t}_hash_hamming ON {t} USING hamming '
        '((hashint8extended(id, 7)))'),
    (3, 'CREATE INDEX {t}_wide_hamming ON {t} USING hamming '
        '(((fp::bit(64) || fp2::bit(64))::bit(128)))'),
    (2, 'CREATE INDEX {t}_narrow_hamming ON {t} USING hamming '
        '((fp::bit(72)))'),
    (1, 'CREATE INDEX {t}_gwide_hamming ON {t} USING hamming '
        '(grp, ((fp::bit(64) || fp2::bit(64))::bit(128)))'),
    (4, 'CREATE INDEX {t}_grp_hamming ON {t} USING hamming (grp, fp)'),
    (2, 'CREATE INDEX {t}_body_hamming ON {t} USING hamming (k, fp, body)'),
    (1, 'CREATE INDEX {t}_gball_hamming ON {t} USING hamming (ball, grp)'),
    (1, 'CREATE INDEX {t}_two_hamming ON {t} USING hamming '
        '(fp2 int8_equal_ops, fp) WHERE {p}'),
    (5, 'CREATE INDEX {t}_bits_hamming ON {t} USING hamming (wide)'),
    (2, 'CREATE INDEX {t}_gbits_hamming ON {t} USING hamming (grp, wide)'),
    (1, 'CREATE INDEX {t}_kbits_hamming ON {t} USING hamming '
        '(wide, k, body) WHERE {p}'),
    (2, 'CREATE INDEX {t}_pbits_hamming ON {t} USING hamming (wide) '
        'WHERE {p}'),
    (2, 'CREATE INDEX {t}_xbits_hamming ON {t} USING hamming '
        '(((wide # {wfrozen})::bit({width}))) WITH (fillfactor = 40)'),
    (1, 'CREATE INDEX {t}_bball_hamming ON {t} USING hamming '
        '(hamming_bit_ball(wide, {wradius}))'),
    (2, "SELECT simhash_add_keys('{t}', 'fp')"),
    (1, "SELECT simhash_add_keys('{t}', 'fp2', '{{a,b,c,d}}')"),
    (2, "SELECT simhash_add_keys('{t}', 'fp', '{{g0,g1,g2,g3}}', '{{grp}}')"),
    (2, '; '.join('CREATE INDEX {t}_key%d ON {t} (simhash_key(fp, %d))'
                  % (b, b) for b in range(4))),
    (1, '; '.join('CREATE INDEX {t}_gkey%d ON {t} '
                  '((k %% 3), grp, simhash_key(fp, %d), id)' % (b, b)
                  for b in range(4))),
    (1, '; '.join('CREATE INDEX {t}_pkey%d ON {t} '
                  '(simhash_key(fp, %d)) WHERE {p}' % (b, b)
                  for b in range(4))),
    (2, 'CREATE INDEX {t}_fp_btree ON {t} (fp)'),
    (1, 'CREATE INDEX {t}_far_btree ON {t} ((fp <~> {frozen}))'),
    (1, 'CREATE INDEX {t}_grp_btree ON {t} (grp, id)'),
    (1, 'CREATE STATISTICS {t}_s ON (fp # fp2), (fp ~= {frozen}), grp '
        'FROM {t}'),
]
VIEWS = [
    (3, 'CREATE VIEW {t} AS SELECT {cols} FROM {base} WHERE {p}', True),
    (1, 'CREATE VIEW {t} AS SELECT {cols} FROM {base} WHERE {p} '
        'WITH CHECK OPTION', True),
    (2, 'CREATE VIEW {t} WITH (security_barrier) AS '
        'SELECT {cols} FROM {base} WHERE {p}', True),
    (1, 'CREATE VIEW {t} AS SELECT a.id, b.grp, a.k, a.fp # b.fp2 AS fp, '
        'b.fp2, b.ball, a.body, b.wide FROM {base} AS a JOIN {base} AS b '
        'USING (id)', False),
    (3, 'CREATE MATERIALIZED VIEW {t} AS SELECT {cols} FROM {base}', False),
]
# Rows kept apart: what is said to the extension, what conflicts by plain
# SQL, and what happens to a row that does.
KEPT_APART = [
    (['ALTER TABLE {t} ADD EXCLUDE USING hamming (fp WITH ~=)'],
     't.fp ~= $1.fp', 'conflict'),
    (['ALTER TABLE {t} ADD EXCLUDE USING hamming (ball WITH ~=)'],
     't.ball ~= $1.ball', 'conflict'),
    (['ALTER TABLE {t} ADD EXCLUDE USING hamming '
      '(hamming_ball(fp, 8) WITH ~=)'],
     't.fp <~> $1.fp <= 8', 'conflict'),
    (['ALTER TABLE {t} ADD EXCLUDE USING hamming (grp WITH =, fp WITH ~=)'],
     't.grp = $1.grp AND t.fp ~= $1.fp', 'conflict'),
    (['ALTER TABLE {t} ADD EXCLUDE USING hamming '
      '(fp WITH ~=, k WITH =, fp2 WITH =)'],
     't.fp2 = $1.fp2 AND t.fp ~= $1.fp AND t.k = $1.k', 'conflict'),
    (['ALTER TABLE {t} ADD EXCLUDE USING hamming (fp WITH ~=) '
      'WHERE (id % 2 = 0)'],
     't.fp ~= $1.fp AND t.id % 2 = 0 AND $1.id % 2 = 0', 'conflict'),
    (['CREATE INDEX {t}_fp_hamming ON {t} USING hamming (fp)',
      'CREATE TRIGGER g BEFORE INSERT OR UPDATE ON {t} FOR EACH ROW '
      "EXECUTE FUNCTION simhash_guard('fp', 'reject', '5')"],
     't.fp <~> $1.fp <= 5', 'reject'),
    (["SELECT simhash_add_keys('{t}', 'fp')",
      'CREATE TRIGGER g BEFORE INSERT OR UPDATE ON {t} FOR EACH ROW '
      "EXECUTE FUNCTION simhash_guard('fp', 'skip', '3')"],
     't.fp ~= $1.fp', 'skip'),
    (['CREATE INDEX {t}_fp_hamming ON {t} USING hamming (fp)',
      'CREATE TRIGGER g BEFORE INSERT OR UPDATE ON {t} FOR EACH ROW '
      "EXECUTE FUNCTION simhash_guard('fp', 'reject', '5', 'within=grp')"],
     't.fp <~> $1.fp <= 5 AND t.grp = $1.grp', 'reject'),
    (["SELECT simhash_add_keys('{t}', 'fp', within => '{{k,grp}}')",
      'CREATE TRIGGER g BEFORE INSERT OR UPDATE ON {t} FOR EACH ROW '
      "EXECUTE FUNCTION simhash_guard('fp', 'skip', '3', 'within=grp,k')"],
     't.fp ~= $1.fp AND t.grp = $1.grp AND t.k = $1.k', 'skip'),
    (['ALTER TABLE {t} ADD EXCLUDE USING hamming '
      '(hamming_bit_ball(wide, 9) WITH ~=)'],
     't.wide <~~> $1.wide <= 9', 'conflict'),
    (['ALTER TABLE {t} ADD EXCLUDE USING hamming '
      '(grp WITH =, hamming_bit_ball(wide, 3) WITH ~=) WHERE (id % 3 > 0)'],
     't.grp = $1.grp AND t.wide <~~> $1.wide <= 3 AND t.id % 3 > 0 '
     'AND $1.id % 3 > 0', 'conflict'),
    (['CREATE INDEX {t}_bits_hamming ON {t} USING hamming (wide)',
      'CREATE TRIGGER g BEFORE INSERT OR UPDATE ON {t} FOR EACH ROW '
      "EXECUTE FUNCTION simhash_guard('wide', 'reject', '4')"],
     't.wide <~~> $1.wide <= 4', 'reject'),
    (['CREATE INDEX {t}_gbits_hamming ON {t} USING hamming (k, wide)',
      'CREATE TRIGGER g BEFORE INSERT OR UPDATE ON {t} FOR EACH ROW '
      "EXECUTE FUNCTION simhash_guard('wide', 'skip', '12', 'within=grp,k')"],
     't.wide <~~> $1.wide <= 12 AND t.grp = $1.grp AND t.k = $1.k', 'skip'),
]
SETTINGS = [
    ('enable_seqscan', ['off', 'off', 'off', 'on']),
    ('enable_indexscan', ['off', 'on', 'on']),
    ('enable_bitmapscan', ['off', 'on', 'on']),
    ('enable_indexonlyscan', ['off', 'on']),
    ('enable_sort', ['off', 'on', 'on']),
    ('enable_incremental_sort', ['off', 'on']),
    ('enable_hashagg', ['off', 'on']),
    ('enable_hashjoin', ['off', 'on', 'on']),
    ('enable_mergejoin', ['off', 'on', 'on']),
    ('enable_nestloop', ['off', 'on', 'on']),
    ('enable_material', ['off', 'on']),
    ('enable_memoize', ['off', 'on']),
    ('enable_partitionwise_join', ['off', 'on']),
    ('enable_partitionwise_aggregate', ['off', 'on']),
    ('constraint_exclusion', ['on', 'partition']),
    ('plan_cache_mode', ['auto', 'force_generic_plan', 'force_custom_plan']),
    ('max_parallel_workers_per_gather', ['0', '0', '0', '0', '2']),
    ('parallel_leader_participation', ['off', 'on']),
    ('work_mem', ["'64kB'", "'4MB'"]),
    ('join_collapse_limit', ['1', '8']),
]

# --- from grammar to text ---------------------------------------------------


def choose(rng, rows):
    """A row of a table whose first column is its weight."""
    return rng.choices(rows, [row[0] for row in rows])[0]


class Writer:
    """
    Writes one statement.

    world       tables to choose from, fingerprints to ask for
    parameters  a list to make parameters of some constants, and put their
                values there; or None
    hostile     radii may be out of range, so that plans may differ in
                whether they come to look at them
    """

    def __init__(self, rng, world, parameters=None, hostile=False):
        self.rng = rng
        self.world = world
        self.parameters = parameters
        self.hostile = hostile
        self.aliases = 0

    def write(self, rule):
        return self.expand(rule, [], [], 0)

    def expand(self, rule, own, outer, depth):
        """A text for the rule, with the relations that it may use."""
        leaf = getattr(self, 'leaf_' + rule, None)
        if leaf:
            return leaf()
        rows = RULES[rule]
        row = rows[0] if depth >= DEEPEST else choose(self.rng, rows)
        return self.fill(row[1], own, outer, depth)

    def fill(self, template, own, outer, depth):
        """The template with everything in braces replaced."""
        names = {}
        for token in TOKEN.finditer(template):
            letter = token.group(5)
            if letter and letter not in names:
                self.aliases += 1
                names[letter] = 'x%d' % self.aliases
        inner = (list(names.values()), own + outer) if names else (own, outer)
        bound = {}

        def replace(token):
            again, rule, bind, scope, letter = token.groups()
            if again:
                return bound[rule]
            if rule in names and not letter:
                return names[rule]
            if letter:
                relation = self.relation(rule, depth)
                return '%s AS %s' % (relation, names[letter])
            if rule == 'r':
                text = self.some_relation(*inner)
                if bind:
                    bound[bind] = text
                return text
            if scope == '^':
                use = own, outer
            elif scope == '_':
                use = [], own + outer
            elif scope:
                use = [names[c] for c in scope], inner[1]
            else:
                use = inner
            text = self.expand(rule, *use, depth + 1)
            if bind:
                bound[bind] = text
            return text

        return TOKEN.sub(replace, template)

    def some_relation(self, own, outer):
        """One that is visible, mostly of this level; a row when none is."""
        if own and (not outer or self.rng.random() < 0.8):
            return self.rng.choice(own)
        if outer:
            return self.rng.choice(outer)
        return '(SELECT s FROM t0 AS s ORDER BY id, s LIMIT 1)'

    def relation(self, kind, depth):
        """A relation for FROM."""
        if kind in ('rel', 'small') and depth < 3 and self.rng.random() < 0.12:
            return self.expand('source', [], [], depth + 2)
        if kind == 'small' and depth > 0 and self.rng.random() < 0.7:
            kind = 'tiny'       # joined with others, again and again
        return self.table(kind)

    def table(self, kind):
        return self.rng.choice({
            'rel': self.world.relations, 'base': self.world.bases,
            'stored': self.world.stored, 'small': self.world.small,
            'tiny': self.world.tiny}[kind])

    def parameter(self, value):
        if self.parameters is None or self.rng.random() < 0.3:
            return value
        self.parameters.append(value)
        return '$%d' % len(self.parameters)

    def leaf_table(self):
        return self.table('base')

    def leaf_stored(self):
        return self.table('stored')

    def leaf_n(self):
        return self.rng.choice(SMALL_NUMBERS)

    def leaf_literal(self):
        return str(self.world.center(self.rng))

    def leaf_literal_k(self):
        return self.rng.choice(RADII)

    def leaf_frozen(self):
        return self.rng.choice(self.world.frozen)

    def leaf_center(self):
        if self.rng.random() < 0.15:
            return self.parameter(self.rng.choice(PLAIN_CENTERS))
        return self.parameter("'%d'::bigint" % self.world.center(self.rng))

    def leaf_k(self):
        if self.hostile and self.rng.random() < 0.3:
            return self.parameter(self.rng.choice(HOSTILE_RADII))
        return self.parameter(self.rng.choice(RADII))

    def leaf_array(self):
        return self.parameter("'{%s}'::int[]" % ','.join(self.rng.choices(
            SMALL_NUMBERS + ['NULL', '8'], k=self.rng.choice([0, 1, 2, 5]))))

    def leaf_width(self):
        return str(self.world.width)

    def leaf_wliteral(self):
        return self.world.wide_center(self.rng)

    def leaf_wcenter(self):
        center = self.world.wide_center(self.rng)
        if self.hostile and self.rng.random() < 0.1:
            center += '0'
        return self.parameter("B'%s'" % center)

    def leaf_wfrozen(self):
        return self.world.wide_frozen

    def leaf_wradius(self):
        return str(self.world.radius)

    def leaf_wfar(self):
        return str(self.world.far)

    def leaf_wk(self):
        width = self.world.width
        if self.hostile and self.rng.random() < 0.3:
            return self.parameter(self.rng.choice(
                HOSTILE_RADII + [str(width + 1)]))
        return self.parameter(self.rng.choice(
            [str(k) for k in (0, 1, 3, 3, 4, 8, 8, 12, 16, 24, width // 4,
                              width // 3, width // 2, width)]))

    def leaf_rows(self):
        first = self.rng.randrange(1, 2000)
        return self.world.rows(self.rng, first, first + self.rng.choice(
            [0, 0, 1, 5, 30]))
