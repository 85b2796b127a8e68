--
-- simhash_html
--
-- docs/fingerprint.md, section 18, says what comes out; test/golden/reference_html.py says
-- so independently, over damaged pages.
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all
\pset null NULL
\pset format unaligned
\pset tuples_only on

-- what joins, and what separates; blanks
SELECT quote_literal(simhash_html(h))
FROM (VALUES ('<b>w</b>or<wbr>d <span>x</span><custom-one>y</custom-one>'),
             (E'\ufeff<p>a<p> b <br>c<hr>d</div>e</p>f  \t g'),
             ('<ul><li>a<li>b<ul><li>c</ul></ul>d<dl><dt>e<dd>f</dl>g'),
             ('<table><tr><td>a<td>b<tr><th>c</table>d<td>e'),
             (E'a<pre>\r\n b  c\n\n</pre>d<xmp>&amp;<b></xmp>e<plaintext>&lt;</plaintext>'),
             ('<h1>a<h2>b</h1>c</h2>d<center>e</center><button>f</button><marquee>g</marquee>'),
             ('<select><option>a<option>b<optgroup>x<option>c</select>d<fieldset><legend>e</legend>f'))
     AS v(h);

-- what nobody sees
SELECT quote_literal(simhash_html(h))
FROM (VALUES ('<!doctype html><title>x</title><style>x{}</style>a<!-- x > --><!--> b<?x>c</ x>d<![CDATA[x]]>e'),
             ('a<script>x<!--<script>x</script>x--></script>b<script>"<!--"</script>c<noscript><p>x</noscript>d'),
             ('a<textarea>x</textarea><iframe>x</iframe><video>x</video><canvas>x</canvas><datalist><option>x</datalist>b'),
             ('a<template>x<template>x</template>x</template>b<ruby>c<rp>x<rt>d</ruby>'),
             ('a<p hidden>x<b>x<div>b</div><li hidden>x<li>c<div hidden="until-found">x<div>x</div>x</div>d'),
             ('a<i style="DISPLAY : none">x</i>b<i style="display:none;display:inline">c</i><i style="visibility:hidden!important;visibility:visible">x</i>d'),
             ('<p style="" style="display:none">a</p><p style="display:none" style="">x'), ('a<b hidden>x<div>x</b>b</div>c<span hidden>x<div>x</span>x</div>x</span>d'),
             ('<details>x<summary>a</summary>x</details><details open>b</details><dialog>x</dialog><dialog open>c</dialog>'),
             ('a<svg><title>x</title><style>x</style><path d="x"/>x<text>b<tspan>c</text></svg>d<svg>x<div>e'),
             ('a<math>x<mi>b</mi><mo>+</mo><annotation>x</annotation></math>c<div aria-hidden=true style="opacity:0">d'))
     AS v(h);

-- tags as they are, and as they are not
SELECT quote_literal(simhash_html(h))
FROM (VALUES ('a<b x=">" y=''>'' z=/>b<b x="1"y="2">c<b "x>">d'), ('a < b, 1<2 <3 </ x><>'), ('a<b x="x'), ('a<b'), ('a</'),
             ('a<!-- x'), ('a<script>x'), ('<A HREF=x>a</A\n>b</p x>c'), (''))
     AS v(h);

-- character references
SELECT quote_literal(simhash_html(h))
FROM (VALUES ('&eacute;&eacute &amp;lt; &ampx &AMP;&notit;&notin;&Eacute&eacutex&bogus;&'),
             ('&#233;&#xe9;&#XE9 &#128;&#x93;&#0;&#xd800;&#x110000;&#99999999999999999999;&#;&#x;'),
             ('&nGt;&CounterClockwiseContourIntegral;a&shy;b&#32;&#10; c&nbsp;d'))
     AS v(h);
SELECT simhash_html(NULL) IS NULL;

-- the profile of a page is that of its text, in all families and at all widths
CREATE TABLE page (id int, html text);
INSERT INTO page
SELECT i, '<html><title>x' || i || '</title><body><ul><li>Menu<li>of &eacute;' || i % 7 || '</ul>'
    || repeat('<p class="x>' || i || '">Some <b>w</b>ord&shy;s ' || i || ' of a p&aacute;ge <i>as</i> it&nbsp;is, ' || i * 7, i * i) || '<script>var x' || i
FROM generate_series(1, 40) AS i;
SELECT profile, count(*) AS documents,
    count(*) FILTER (WHERE simhash(html, profile || '-html') IS DISTINCT FROM simhash(simhash_html(html), profile)
                        OR minhash(html, profile || '-html-fold') IS DISTINCT FROM minhash(simhash_html(html), profile || '-fold')
                        OR minhash_bits(html, 192, profile || '-html-seed-7')
                           IS DISTINCT FROM minhash_bits(simhash_html(html), 192, profile || '-seed-7')
                        OR simhash_jaccard(html, simhash_html(html), profile || '-html') <> 1) AS wrong
FROM unnest('{word-2-capped,char-3,symbol-1-2}'::text[]) AS profile, page
GROUP BY 1 ORDER BY 1;
SELECT feature FROM simhash_features('<p>&Eacute;t&eacute; &agrave;</p><p>No&euml;l', 'word-2-html-fold');
SELECT p.nr, p.start, p.length, p.fp = minhash(substr(simhash_html(html), p.start, p.length)) AS same, substr(simhash_html(html), p.start, 20)
FROM page, simhash_passages(html, 'word-2-capped-html-seed-0', 10) AS p WHERE id = 2;
SELECT simhash('<p>a', 'word-2-2-binary-html-seed-0') = simhash('a') AS other_name;
SELECT simhash('a', 'word-2-fold-html'); -- error
SELECT simhash('a', 'word-2-html-html'); -- error
SELECT simhash('a', 'word-2-seed-7-html'); -- error
SELECT simhash('a', 'python-simhash-html'); -- error
SELECT simhash('a', '-html'); -- error

-- guards, reports and measures read pages by it
CREATE TABLE site (id int PRIMARY KEY, body text, near int,
    fp bigint GENERATED ALWAYS AS (minhash(body, 'word-2-html')) STORED);
CREATE INDEX ON site USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON site FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'mark', '3', 'at_least=.9', 'mark=near');
INSERT INTO site VALUES (1, '<p>All that a <b>reader</b> of this page sees&hellip;'),
    (2, '<script>ads()</script><table><td>All that a reader<!-- --> of this page<br>sees.</table>'),
    (3, '<p>All that is here is another page, and not the one above');
SELECT id, near FROM site ORDER BY id;
SELECT name, value FROM simhash_report('site', 'fp', 3) AS r(kind, name, value) WHERE name = 'delete';
SELECT simhash_alike('<p>one page of 12 words', '<div>one page of 12 words</div>', at_least => .9, profile => 'word-2-html') AS alike,
    simhash_alike('<p>one page of 12 words', '<p>one page of 13 words', at_least => .5, profile => 'word-2-html') AS number;
DROP TABLE site;

-- the article alone, or all the text; of a table, of a body; links within are left out
SELECT quote_literal(simhash_article(replace(h, '#', 'The long and winding road, that leads to your door. ')))
FROM (VALUES ('<nav><a href=x>#</a></nav><div><h1>A</h1><p>##<p>##<p>##</div><div>x</div><footer>f #</footer>'),
             ('<table><td>menu<td>#<p>#</table><p>#<p><a href=x>#</a><p>#'), ('<div><p>#<ul><li><a href=x>b</a></ul><p>#</div>'),
             ('<nav>#</nav><div>#<footer>#</footer></div><aside><p>##<p>##</aside>'), ('<aside>#</aside>'),
             ('<div><p>#<table><tr><td><a href=u>Next</a><td>Price 5</table><p>#</div>'),
             ('<div>few words</div> here'), ('<div>#<select><option>x</select><a href=x>####</a></div>'), (''))
     AS v(h);
SELECT count(*) FILTER (WHERE minhash(html, 'word-2-article-fold') IS DISTINCT FROM minhash(simhash_article(html), 'word-2-fold')) AS wrong,
    count(*) FILTER (WHERE simhash_article(html) = simhash_html(html)) AS whole
FROM page;

-- any bytes; long ones in linear time, and deep ones in bounded memory
SELECT count(*) FILTER (WHERE simhash_html(chr(n)) <> chr(n)) AS others FROM generate_series(1, 127) AS n;
SELECT length(simhash_html(repeat(t, 200000))), length(simhash_article(repeat(t, 200000)))
FROM (VALUES ('<div>x'), ('<b>'), ('</i>x'), ('<p hidden>x'), ('<!--'), ('<!'), ('&'), ('&n'), ('<a href="'),
             ('<script><!--'), ('<table><td>x'), ('<svg>'), ('<b><p>x</b>'), ('<a x=')) AS v(t);
SELECT count(*) FROM page WHERE simhash_html(left(html, 3000)) IS NULL;
DROP TABLE page;
