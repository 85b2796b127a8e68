#!/bin/bash
#
# tools/lint finds one of each fault, and none in this tree.
# SPDX-License-Identifier: PostgreSQL
#

. "$(dirname "$0")/tools.sh"

tree=$work/tree
mkdir -p "$tree"/{tools,docs,sql,expected,src,test/{specs,expected}}
cp tools/lint "$tree/tools/"
cat >"$tree/docs/README.md" <<'END'
# Pages
[here](page.md#a-heading), [nowhere](none.md)
END
cat >"$tree/docs/page.md" <<'END'
# A heading
[lost](#no-heading), and near duplicates; see sql/gone.sql for the
the rest, which nobody has filled, so that it goes on and on far beyond the end of lines.
	Tabbed. 
```sql
SELECT 'near duplicate';
END
printf '/* SPDX-License-Identifier: x */\nk = DatumGetInt64(heap_getattr(row, 1, desc,\n&isnull));\n' \
	>"$tree/src/b.c"
printf '/* SPDX-License-Identifier: x */\nstatic int\nadd(Oid o)\n{\n\treturn errhint("f()%%s", spelt(o));\n}\n\nvoid\nf(Oid o)\n{\n\tereport(ERROR,\n\t\t\t(errmsg("(%%s", shown(get_rel_name(o))), add(o)));\n}\n' \
	>"$tree/src/c.c"
{ echo '/* SPDX-License-Identifier: x */'; echo '{'; printf ';%.0s\n' {1..61}; echo '}'; } \
	>"$tree/src/d.c"
echo '# Not in the index' >"$tree/docs/other.md"
printf '/* TODO */\nint a;' >"$tree/src/a.c"
printf 'SELECT 1;\nCREATE ROLE alone;\nCREATE ROLE regress_alone_too;\n' \
	>"$tree/sql/alone.sql"
echo ' staged_superuser' >"$tree/expected/alone_1.out"
printf '#!/bin/sh\n# SPDX-License-Identifier: PostgreSQL\nif true\n' \
	>"$tree/tools/broken"
cat >"$tree/simhash--9.sql" <<'END'
CREATE FUNCTION f(a text) RETURNS int
AS 'x', 'f'
LANGUAGE C STRICT PARALLEL SAFE;

CREATE FUNCTION g(internal) RETURNS int
AS 'x', 'g'
LANGUAGE C;
END

cat >"$work/wanted" <<'END'
docs/README.md:1: does not name docs/other.md
docs/README.md:2: no such file: none.md
docs/page.md:1: a block of code without an end
docs/page.md:2: "near duplicates" is spelt near-duplicate
docs/page.md:2: "the" twice
docs/page.md:2: no such file: sql/gone.sql
docs/page.md:2: no such heading: #no-heading
docs/page.md:3: 89 columns
docs/page.md:4: a tab
docs/page.md:4: blanks at the end
expected/alone_1.out:1: names the superuser
expected:alone: a test without an output
simhash--9.sql:1: f lacks IMMUTABLE|STABLE|VOLATILE
sql/alone.sql:2: the role alone is not called regress_alone_...
src/a.c:1: left behind: TODO
src/a.c:1: no line of SPDX
src/a.c:2: no newline at the end
src/b.c:2: the value of heap_getattr() is read before its null flag
src/c.c:12: shown() in an argument of ereport()
src/c.c:5: spelt() in an argument of ereport()
src/d.c:2: a function of 61 lines
END
"$PYTHON" "$tree/tools/lint" --plain >"$work/all" &&
	fail "faults are not found" "$work/all"
grep -q 'tools/broken: .*[Ss]yntax error' "$work/all" ||
	fail "a script that does not parse is not found" "$work/all"
grep -E '^[^ ]+:[^ ]+: ' "$work/all" | grep -v broken | LC_ALL=C sort \
	>"$work/found"
diff "$work/wanted" "$work/found" >"$work/diff" ||
	fail "other faults are found than those planted" "$work/diff"
ok "each fault is found"

"$PYTHON" tools/lint --plain >"$work/all" || fail "lint" "$work/all"
ok "$(tail -n 1 "$work/all")"
