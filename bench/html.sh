#
# Pages of HTML to text and to fingerprints, beside md5 and a parser; lines that the
# pages of a site share, learnt and left out.
# SPDX-License-Identifier: PostgreSQL
#
# The pages are those of Debian's package postgresql-doc-15, some 1,170 of 1 to 600 kB.
# The parser is Gumbo, which makes the whole tree of a page, as a browser does; the text
# is then read off the tree by bench/html_text.cpp.  A site is all of the pages, with
# words of its own in place of the commonest.  MB/s are of the bytes of what is read.
#

sizes() { echo 0; }

PAGES=/usr/share/doc/postgresql-doc-15/html
SITES=20

prepare()
{
	[ -d $PAGES ] || return 0
	python3 bench/html_pages.py $PAGES | psql -c 'CREATE TABLE pages (page text)' \
		-c 'ALTER TABLE pages ALTER page SET STORAGE EXTERNAL' -c 'COPY pages FROM STDIN'
	psql -v sites=$SITES <<-'END'
		CREATE TABLE site_pages (site int, body text);
		ALTER TABLE site_pages ALTER body SET STORAGE EXTERNAL;
		INSERT INTO site_pages SELECT site, regexp_replace(simhash_html(page),
			'\m(the|of|a|to|is|PostgreSQL)\M', '\1' || site, 'g')
		FROM pages, generate_series(1, :sites) AS site;
		CREATE TABLE sites AS SELECT site, simhash_boilerplate(body, .02) AS boilerplate
		FROM site_pages GROUP BY site;
		VACUUM ANALYZE;
	END
	warm pages
	warm site
	compile_peer html_text -lgumbo
}

measure()
{
	local pages site each

	if [ ! -d $PAGES ]; then
		skip 'pages of HTML' 'install postgresql-doc-15'
		return
	fi
	pages=$(ask 'SELECT sum(octet_length(page)) FROM pages')
	site=$(ask 'SELECT sum(octet_length(body)) FROM site_pages')
	over 'md5(page)' pages "$pages"
	over 'simhash_html(page)' pages "$pages"
	over 'simhash_article(page)' pages "$pages"
	over "minhash(page, 'word-2-capped-html')" pages "$pages"
	over 'md5(body)' site_pages "$site"
	over 'minhash(body)' site_pages "$site"
	over 'simhash_without(body, boilerplate)' 'site_pages JOIN sites USING (site)' "$site"
	method boilerplate '' 'SELECT simhash_boilerplate(body, .02) FROM site_pages
		GROUP BY site' "$site"
	run 0 "$(fixed 3 15)"
	rate 'md5(page)'
	rate 'simhash_html(page)' 'md5(page)' 'ratio >= 1 / 4.0'
	rate "minhash(page, 'word-2-capped-html')" 'md5(page)'
	rate 'simhash_article(page)' 'md5(page)'
	gumbo
	rate 'minhash(body)' 'md5(body)'
	rate boilerplate 'md5(body)'
	rate 'simhash_without(body, boilerplate)' 'md5(body)'
	each=$(ask "SELECT $site / count(*) FROM site_pages")
	emit 'simhash_without(body, boilerplate), a page' \
		"$(calc "${us[simhash_without(body, boilerplate)]} * $each")" us
	psql -c 'DROP TABLE pages, site_pages, sites'
}

# A method: $1 of all rows of $2, of which $3 bytes are read.
over() { method "$1" '' "SELECT count($1) FROM $2" "$3"; }

# The row of a method, beside $2.
rate()
{
	emit "$1" "$(calc "1 / ${us[$1]}")" MB/s \
		"${2:-}" "${2:+$(calc "1 / ${us[$2]}")}" "${3:-}"
}

# Gumbo, on the same pages.
gumbo()
{
	if [ -x "$HOME/html_text" ]; then
		emit 'simhash_html(page)' "$(calc "1 / ${us[simhash_html(page)]}")" MB/s \
			'Gumbo, and the text of its tree' "$("$HOME/html_text" 5 $PAGES/*.html)"
	else
		skip 'Gumbo' 'install libgumbo-dev'
	fi
}
