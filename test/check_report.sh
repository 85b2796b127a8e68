#!/bin/bash
#
# Write the page of make report and look at it in a headless browser, if there
# is one: the numbers, the clusters, the marks, texts with markup in them.
# SPDX-License-Identifier: PostgreSQL
#

set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"; psql -X -q -d postgres -c "DROP DATABASE IF EXISTS check_report"' EXIT
psql -X -q -c 'CREATE DATABASE check_report'
export PGDATABASE=check_report

psql -X -q -v ON_ERROR_STOP=1 <<-'END'
	CREATE EXTENSION simhash;
	CREATE TABLE texts (n int, body text);
	INSERT INTO texts SELECT n, (SELECT string_agg('word' || w, ' ')
	    FROM generate_series(1, 300) AS w) ||
	    CASE n WHEN 1 THEN '' ELSE ' </script><script>document.title="bad"</script> 近似' END
	FROM generate_series(1, 4) AS n;
	INSERT INTO texts VALUES (5, 'quite another text'), (6, NULL);
END
make -s report TABLE=texts ID=n FP='simhash(body)' K=16 PAGE="$dir/page.html"

! grep -E '(src|href)=|https?://' "$dir/page.html" ||
	{ echo "the page needs something else"; exit 1; }
for browser in chromium chromium-browser google-chrome ""; do
	! command -v "$browser" >/dev/null || break
done
[ -n "$browser" ] || { echo "no browser: the page was not looked at"; exit 0; }
HOME=$dir "$browser" --headless --no-sandbox --disable-gpu \
	--user-data-dir="$dir/profile" --virtual-time-budget=3000 \
	--dump-dom "file://$dir/page.html" >"$dir/dom" 2>"$dir/browser.log" ||
	{ cat "$dir/browser.log"; exit 1; }
sed -i 's/<script type="application\/json".*//' "$dir/dom"
for expected in '<title>Near-duplicates</title>' \
	'3 of 6 rows of texts are near-duplicates, within 16 bits, in 1 clusters' \
	'<ins>近</ins>' 'Cluster of 4 rows: id 1'; do
	grep -qF -- "$expected" "$dir/dom" ||
		{ echo "not on the page: $expected"; cat "$dir/dom"; exit 1; }
done
