--
-- Write a page about the near-duplicates in a table: one HTML file that needs
-- no network.
-- SPDX-License-Identifier: PostgreSQL
--
-- usage: psql -X -q -v table=docs [-v id=id] [-v body=body] [-v fp=fp] [-v k=3]
--             [-v shown=20] -f tools/report.sql >report.html
--
-- tools/report calls it.  table, id, body and fp are SQL: a table's name and
-- expressions over it, of any type but fp, which is bigint or bit(n); an id of
-- several columns is written with commas.  The page holds the texts of the largest
-- clusters, cut at 20,000 characters, so keep it as you would keep those.
--
-- The table may belong to somebody whose code must not run here: what is
-- called or compared says pg_catalog, for the search_path is that of the
-- expressions, and ids and texts are written by concat(), not by a cast.
--

\set ON_ERROR_STOP on
\if :{?table}
\else
\warn 'usage: psql -X -q -v table=docs [-v id=id] [-v body=body] [-v fp=fp] [-v k=3]'
\warn '            [-v shown=20] -f tools/report.sql >report.html'
\quit
\endif
\if :{?id}
\else
\set id id
\endif
\if :{?body}
\else
\set body body
\endif
\if :{?fp}
\else
\set fp fp
\endif
\if :{?k}
\else
\set k 3
\endif
\if :{?shown}
\else
\set shown 20
\endif
\pset format unaligned
\pset tuples_only on
SELECT pg_catalog.quote_ident(nspname) AS schema
FROM pg_catalog.pg_extension JOIN pg_catalog.pg_namespace AS n
    ON n.oid OPERATOR(pg_catalog.=) extnamespace
WHERE extname OPERATOR(pg_catalog.=) 'simhash' \gset
SELECT pg_catalog.format('SELECT CASE WHEN key IS NOT NULL THEN pg_catalog.concat(key) END, fp FROM (SELECT (%s) AS key, (%s) AS fp FROM %s) AS rows ORDER BY key', :'id', :'fp', :'table') AS query \gset

\qecho '<!doctype html><html lang="en"><meta charset="utf-8">'
\qecho '<meta name="viewport" content="width=device-width">'
\qecho '<title>Near-duplicates</title><style>'
\qecho ':root{color-scheme:light}*{box-sizing:border-box}body{font:16px/1.45 system-ui,"Noto Sans","Noto Sans CJK SC",sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#1c2430;background:#fff}'
\qecho 'h1{font-size:1.6rem}h2{font-size:1.15rem;margin-top:2rem}h3{font-size:1rem;margin:.4rem 0}'
\qecho '.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(20rem,1fr));gap:0 2rem}'
\qecho '.bar{display:grid;grid-template-columns:9rem 1fr;gap:.5rem;margin:.15rem 0}.bar span{text-align:right;color:#444f5e}'
\qecho '.bar i{background:#3b6ea5;color:#fff;font-style:normal;padding:0 .4rem;min-width:fit-content;border-radius:2px}'
\qecho 'table{border-collapse:collapse;width:100%;table-layout:fixed}td,th{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #c3cbd6;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}'
\qecho 'th:nth-child(-n+2){width:6rem}th:nth-child(3){width:10rem}td:nth-child(-n+2){text-align:right}tr[data-c]{cursor:pointer}tr[data-c]:hover,tr[aria-selected=true]{background:#e4edf7}'
\qecho 'button{font:inherit;color:#1f5a99;background:none;border:0;padding:0;text-decoration:underline;cursor:pointer}:focus-visible{outline:3px solid #1f5a99;outline-offset:2px}'
\qecho '.sides{display:grid;grid-template-columns:1fr 1fr;gap:1rem}.sides pre{font:inherit;border:1px solid #c3cbd6;margin:0;padding:.8rem;white-space:pre-wrap;overflow-wrap:anywhere;max-height:32rem;overflow:auto}'
\qecho '@media(max-width:45rem){.sides{grid-template-columns:1fr}}'
\qecho 'ins,del{text-decoration:none;color:#000}ins{background:#c5e8c9;box-shadow:inset 0 -2px #2e7d32}del{background:#f8cfcb;box-shadow:inset 0 -2px #b3261e}'
\qecho '</style><h1>Near-duplicates</h1><p id="what"></p><div class="charts">'
\qecho '<div><h2>Clusters, by size</h2><div id="sizes"></div></div><div><h2>Near-duplicates, by distance to the representative</h2><div id="distances"></div></div></div>'
\qecho '<h2>Largest clusters</h2><table id="clusters"></table><h2 id="title" tabindex="-1"></h2><p><label>Compare with <select id="member"></select></label></p><div class="sides"><div><h3 id="one"></h3><pre id="left" tabindex="0"></pre></div><div><h3 id="other"></h3><pre id="right" tabindex="0"></pre></div></div>'
\qecho '<script type="application/json" id="data">'
-- (the quoted names are not those of a table, whatever it is called)
WITH "report: member" AS MATERIALIZED (
    SELECT *, id OPERATOR(pg_catalog.<>) representative AS redundant
    FROM :schema.simhash_clusters_by_text((:'query')::pg_catalog.text,
        (:'k')::bigint, 'star'::pg_catalog.text, 'first'::pg_catalog.text,
        2::bigint) WITH ORDINALITY
        AS c (id, cluster, representative, distance, size, line)
), "report: shown" AS (
    SELECT cluster, size, pg_catalog.max(distance) AS farthest
    FROM "report: member"
    GROUP BY cluster, size ORDER BY size DESC, cluster LIMIT (:'shown')::bigint
), "report: texts" AS (
    SELECT s.cluster, s.size, s.farthest,
           pg_catalog.json_agg(pg_catalog.json_build_object(
               'id', m.id, 'distance', m.distance,
               'text', pg_catalog.left(d.body, 20000)) ORDER BY m.place) AS members
    FROM "report: shown" AS s
    JOIN (SELECT *, pg_catalog.row_number() OVER (
              PARTITION BY cluster
              ORDER BY redundant, distance, line) AS place
          FROM "report: member") AS m
        ON m.cluster OPERATOR(pg_catalog.=) s.cluster
            AND place OPERATOR(pg_catalog.<=) 12
    JOIN (SELECT pg_catalog.concat((:id)) AS id, pg_catalog.concat((:body)) AS body
          FROM :table) AS d
        ON d.id OPERATOR(pg_catalog.=) m.id
    GROUP BY s.cluster, s.size, s.farthest
)
-- no text may end the script element
SELECT pg_catalog.replace(pg_catalog.json_build_object(
    'table', :'table', 'k', (:'k')::bigint,
    'rows', (SELECT pg_catalog.count(*) FROM :table),
    'clusters', (SELECT pg_catalog.count(DISTINCT cluster) FROM "report: member"),
    'redundant', (SELECT pg_catalog.count(*) FROM "report: member" WHERE redundant),
    'sizes', (SELECT coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(
                  pg_catalog.format('%s to %s rows',
                      1::bigint OPERATOR(pg_catalog.<<) low,
                      (2::bigint OPERATOR(pg_catalog.<<) low) OPERATOR(pg_catalog.-) 1::bigint),
                  n) ORDER BY low), '[]')
              FROM (SELECT pg_catalog.floor(pg_catalog.log(2, size))::int AS low,
                           pg_catalog.count(*) AS n
                    FROM "report: member" WHERE NOT redundant GROUP BY 1) AS h),
    'distances', (SELECT coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(
                      pg_catalog.concat(distance,
                          CASE WHEN distance OPERATOR(pg_catalog.=) 1
                          THEN ' bit' ELSE ' bits' END),
                      n) ORDER BY distance), '[]')
                  FROM (SELECT distance, pg_catalog.count(*) AS n
                        FROM "report: member" WHERE redundant GROUP BY 1) AS h),
    'shown', (SELECT coalesce(pg_catalog.json_agg(t ORDER BY size DESC, cluster), '[]')
              FROM "report: texts" AS t))::pg_catalog.text, '<', '\u003c');
\qecho '</script><script>'
\qecho 'const bits=n=>n===1?"1 bit":n+" bits";'
\qecho 'const data=JSON.parse(document.getElementById("data").textContent),$=i=>document.getElementById(i);'
\qecho '$("what").textContent=`${data.redundant.toLocaleString("en")} of ${data.rows.toLocaleString("en")} rows of ${data.table} are near-duplicates, each within ${bits(data.k)} of the representative of its cluster; there are ${data.clusters.toLocaleString("en")} clusters.`;'
\qecho 'function make(tag,text,where){const e=document.createElement(tag);if(text!==undefined)e.textContent=text;where.append(e);return e}'
\qecho 'function bars(where,lines){const most=Math.max(1,...lines.map(l=>l[1]));for(const [label,n] of lines){const b=make("div",undefined,$(where));b.className="bar";make("span",label,b);make("i",n.toLocaleString("en"),b).style.width=100*n/most+"%"}if(!lines.length)$(where).textContent="None."}'
\qecho 'bars("sizes",data.sizes);bars("distances",data.distances);'
-- words that both texts have, in order: the longest common subsequence
\qecho 'function words(t){return (t||"").match(/\\p{Script=Han}|\\s+|[\\p{L}\\p{N}]+|[^\\s]/gu)||[]}'
\qecho 'function common(a,b){const m=b.length+1,t=new Uint16Array((a.length+1)*m);for(let i=a.length-1;i>=0;i--)for(let j=b.length-1;j>=0;j--)t[i*m+j]=a[i]===b[j]?t[(i+1)*m+j+1]+1:Math.max(t[(i+1)*m+j],t[i*m+j+1]);const x=[],y=[];for(let i=0,j=0;i<a.length&&j<b.length;)if(a[i]===b[j]){x[i++]=1;y[j++]=1}else if(t[(i+1)*m+j]>=t[i*m+j+1])i++;else j++;return [x,y]}'
\qecho 'function show(where,list,same,tag){$(where).textContent="";list.forEach((w,i)=>same[i]?$(where).append(w):make(tag,w,$(where)))}'
\qecho 'function compare(one,other){$("one").textContent=`id ${one.id}, the representative`;$("other").textContent=`id ${other.id}, ${bits(other.distance)} away`;const a=words(one.text).slice(0,3000),b=words(other.text).slice(0,3000),[x,y]=common(a,b);show("left",a,x,"del");show("right",b,y,"ins")}'
\qecho 'function choose(c){for(const r of document.querySelectorAll("tr[data-c]"))r.setAttribute("aria-selected",data.shown[r.dataset.c]===c);$("title").textContent=`Cluster of ${c.size} rows: id ${c.members[0].id}`;const s=$("member");s.textContent="";c.members.slice(1).forEach((m,i)=>make("option",`id ${m.id}, ${bits(m.distance)}`,s).value=i+1);s.onchange=()=>compare(c.members[0],c.members[s.value]);s.onchange()}'
\qecho 'const head=make("tr",undefined,$("clusters"));["rows","farthest","representative","text"].forEach(h=>make("th",h,head));'
\qecho 'data.shown.forEach((c,i)=>{const r=make("tr",undefined,$("clusters"));r.dataset.c=i;make("td",c.size,r);make("td",bits(c.farthest),r);make("button","id "+c.members[0].id,make("td",undefined,r));make("td",(c.members[0].text||"").slice(0,200),r);r.onclick=()=>{choose(c);$("title").focus()}});'
\qecho 'if(data.shown.length)choose(data.shown[0]);'
\qecho '</script></html>'
