--
-- judge.c, text_layout.c: simhash_alike
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

-- The same on every server: a number from 0 to n - 1.
CREATE FUNCTION chance(n int, a bigint, b bigint) RETURNS int LANGUAGE sql IMMUTABLE AS $$
    SELECT (hashint8extended(a, b) & 1048575)::int % n
$$;
-- What is said of two documents: NULL, or whether they are alike, with their
-- Jaccard similarity.
CREATE FUNCTION said(a text, b text, at_least float8 DEFAULT .8, profile text DEFAULT NULL)
RETURNS text LANGUAGE sql AS $$
    SELECT concat(CASE simhash_alike(a, b, 'alike', at_least, profile) WHEN simhash_alike(b, a, 'alike', at_least, profile)
                  THEN CASE WHEN simhash_alike(a, b, 'alike', at_least, profile) THEN 'alike' ELSE 'not' END END,
                  ', ' || round(simhash_jaccard(a, b, profile)::numeric, 3))
$$;

----------------------------------------
-- similar, or not
----------------------------------------

CREATE TABLE edited AS
SELECT edits, string_agg('word' || translate(i::text, '0123456789', 'abcdefghij'), ' ' ORDER BY i) AS a,
       string_agg(CASE WHEN i % 100 < edits THEN 'other' || translate(i::text, '0123456789', 'abcdefghij')
                  ELSE 'word' || translate(i::text, '0123456789', 'abcdefghij') END, ' ' ORDER BY i) AS b
FROM unnest('{0,1,2,5,10,20,30}'::int[]) AS edits, generate_series(1, 200) AS i
GROUP BY edits;
SELECT edits, said(a, b), said(a, b, .9), said(a, b, .5), said(a, b, profile => 'word-1')
FROM edited ORDER BY edits;
-- a fact of a sentence among 200 words, in many languages: none is alike
SELECT x, y FROM edited, (VALUES
    ('dose is safe', 'dose is non safe'), ('we can do it', 'we can''t do it'), ('es wird etwas gebaut', 'es wird nichts etwas gebaut'),
    ('il treno parte', 'il treno non parte'), ('يدفع الثمن', 'لا يدفع الثمن'), ('वह जाता है', 'वह नहीं जाता है'), ('그는 간다', '그는 안 간다'),
    ('gale warning: in force', 'gale warning: none in force'), ('l''eau est chaude', 'l''eau n''est chaude'), ('με ζάχαρη', 'με χωρίς ζάχαρη'), ('він прийде', 'він ніколи прийде'), ('ilaç var', 'ilaç yok var'),
    ('7 5 mg daily', '75 mg daily'), ('75 mg daily', '75ng daily'), ('costs 5 euros', 'costs 5 million euros'), ('costs 5 euros', 'costs 5 big million euros'), ('costs two euros', 'costs two hundred euros'), ('损失为5元', '损失为5万元'), ('损失为三元', '损失为三百元'),
    ('el 15 de junio', 'el 15 de julio'), ('em junho', 'em julho'), ('cuesta sesenta euros', 'cuesta setenta euros'), ('på tirsdag', 'på torsdag'), ('в девятый раз', 'в десятый раз'),
    ('في يونيو', 'في يوليو'), ('ביוני', 'ביולי'), ('2024. június 3.', '2024. július 3.'), ('tizenhat napja', 'tizenhét napja'), ('den femtonde', 'den femtionde'),
    ('standardowe wejście', 'standardowe wyjście'), ('ввод данных', 'вывод данных'), ('wpłata gotówki', 'wypłata gotówki'), ('Anreise am Montag', 'Abreise am Montag'), ('Aufgabe', 'Ausgabe'), ('vstup dat', 'výstup dat'), ('ieeja', 'izeja'),
    ('тридцать рублей', 'тридцать пять рублей'), ('treinta euros', 'treinta y cinco euros'), ('soixante euros', 'soixante-dix euros'), ('yirmi gün', 'yirmi beş gün'), ('dwadzieścia dni', 'dwadzieścia pięć dni'), ('a cup of it', 'half a cup of it'), ('une livre', 'une demi-livre'),
    ('ร้านเปิด', 'ร้านปิด'), ('เขาได้มา', 'เขาไม่ได้มา'), ('#ifdef TOWN', '#ifndef TOWN'), ('employer pays', 'employee pays'), ('au-dessus', 'au-dessous'), ('abduction', 'adduction'), ('[ -f door ]', '[ ! -f door ]'), ('if grep it', 'if ! grep it'), ('-A INPUT -s door', '-A INPUT ! -s door'), ('Balance: 500.00', 'Balance: 500.00-'), ('նա գա', 'նա չի գա'),
    ('viento del noreste', 'viento del noroeste'), ('cihaz çalışıyor', 'cihaz çalışmıyor'), ('cihaz işləyir', 'cihaz işləmir'), ('نامه را نوشت', 'نامه را ننوشت'), ('수입하였습니다', '수출하였습니다'), ('parolanız', 'parolasız'), ('금액은 백이십만원입니다', '금액은 백오십만원입니다'), ('열여섯번째로', '열다섯번째로'), ('arkitekturberoende', 'arkitekturoberoende'),
    ('Louis XVII of France', 'Louis XVIII of France'), ('au XVIIe siècle', 'au XVIIIe siècle'),
    (E'\n- HIV: +\n', E'\n- HIV: -\n'), (E'\n+ HIV: +\n', E'\n+ HIV: -\n'), (E'\n.. tree::\n  :deep: red\n', E'\n.. tree\n  :deep: red\n'), (E'\n* Thai $\n', E'\n* Thai $$$\n'), (E'\n> prices ↑\n', E'\n> prices ↓\n'), (E'\n# Adria **\n', E'\n# Adria ****\n'), (E'\n| Adria | 5 | - | - |\n', E'\n| Adria | - | - | 5 |\n'),
    (E'\nHome phone: 5551234\nWork phone:\n', E'\nHome phone:\nWork phone: 5551234\n'), (E'\nYellow cards: Ann\nRed cards:\n', E'\nYellow cards:\nRed cards: Ann\n'), (E'\nHome win: Ann\nAway win: -\n', E'\nHome win: -\nAway win: Ann\n'),
    ('{"first name": "ann", "last name": ""}', '{"first name": "", "last name": "ann"}'), ('{"home phone": [], "work phone": [5]}', '{"home phone": [5], "work phone": []}'), (E'\nfirst_name=\nlast_name=ann\n', E'\nfirst_name=ann\nlast_name=\n'),
    (E'\nHome address: Long Road, Bath, England\nPostal address:\nFax:\n', E'\nHome address:\nPostal address: Long Road, Bath, England\nFax:\n'), ('{"allergies": "penicillin and latex", "diet": ""}', '{"allergies": "", "diet": "penicillin and latex"}'),
    (E'\n**Door:** red\n**User:** it\n**Town:**\n', E'\n**Door:**\n**User:** it\n**Town:** red\n'), (E'\nDoor:\n\nUser:\nred\nTown:\n\nRoom:\n\nHall: it\n', E'\nDoor:\n\nUser:\n\nTown:\n\nRoom:\nred\nHall: it\n'),
    (E'\nann\t500\t\nbob\t\t700\n', E'\nann\t\t500\nbob\t\t700\n'), (E'\nann\tred\t\t\n', E'\nann\t\t\tred\n'), (E'\nann,500,,,\n', E'\nann,,,500,\n'), (E'\nann;red;;;\n', E'\nann;;;red;\n'),
    (E'\n| Door | red |\n| Old town hall | |\n', E'\n| Door | |\n| Old town hall | red |\n'), (E'\n| | red | | | it |\n', E'\n| | | | red | it |\n'), ('<door>red</door> <town></town>', '<door></door> <town>red</town>'), ('door=red fax= town= it=5', 'door= fax= town=red it=5'),
    (E'\n### Door\n\nred\n\n### Old town hall\n\n### Hall\n', E'\n### Door\n\n### Town\n\nred\n\n### Hall\n'), (E'\nann,red,bob,"so, it",\n', E'\nann,,bob,"so, it",red\n'),
    (E'\n+ cheap\n- heavy\n', E'\n- cheap\n+ heavy\n'), (E'\n(+) cheap\n', E'\n(-) cheap\n'), (E'\n↑ cheap\n', E'\n↓ cheap\n'), (E'\n□ cheap\n', E'\n■ cheap\n'), ('★★★★ good', '★★★ very good'),
    ('Otto (* 1920), painter', 'Otto († 1920), painter'), ('Otto (*1920)', 'Otto (†1920)'), ('in A♭ major', 'in A major'), ('x \subset y', 'x \supset y'), ('利率5％', '利率5'),
    (E'\nDeparture: Bath\nArrival: Long Road, Ulm, Italy\n', E'\nDeparture: Long Road, Ulm, Italy\nArrival: Bath\n'), ('Ann beat Tom Berger of Bath', 'Tom Berger of Bath beat Ann'), (E'\ndoor = red\ntown =\n', E'\ndoor =\ntown = red\n'), (E'\nDoor:red\nTown:\nUser:it\n', E'\nDoor:\nTown:red\nUser:it\n'),
    ('Door:, Town: red, Fax:, User: it', 'Door: red, Town:, Fax:, User: it'), ('ann, red, , it', 'ann, , red, it'), ('<a>red</a><b> </b><c>it</c>', '<a> </a><b>red</b><c>it</c>'), ('door=red&town=&user=it', 'door=&town=red&user=it'), (E'\nDoor | red\nTown |\nUser | it\n', E'\nDoor |\nTown | red\nUser | it\n'), ('ann & red & & it', 'ann & & red & it'), (E'\nann,-,red,it\n', E'\nann,red,-,it\n'), (E'\nann;-;red\n', E'\nann;red;-\n'),
    (E'\n【電話】赤\n【住所】\n【氏名】\n', E'\n【電話】\n【住所】\n【氏名】赤\n'), ('電話「赤」住所「」氏名「木」', '電話「」住所「赤」氏名「木」'), (E'\nТелефон домашний отца: Анна\nТелефон домашний матери:\nАдрес: Уфа\n', E'\nТелефон домашний отца:\nТелефон домашний матери: Анна\nАдрес: Уфа\n'),
    (E'\nHall: 5\nFax:\nDoor: red\nTown: it\n', E'\nHall: 5\nDoor: red\nFax:\nTown: it\n'), (E'\nBuyer: red\nSeller: Long Road, Ulm, Italy\n', E'\nSeller: Long Road, Ulm, Italy\nBuyer: red\n'), (E'\nRooms: 3\nHall: it\nDoor:\n', E'\nRooms:\nHall: it\nDoor: red\n'), (E'\nRooms: three\nHall: it\nFax:\n', E'\nRooms:\nHall: it\nFax: 3\n'),
    (E'\nallow: Ann, Bob Ray\ndeny: Eve\n', E'\nallow: Ann\ndeny: Bob Ray, Eve\n'), ('Bath;Long Road;Ulm', 'Long Road;Bath;Ulm'), ('gas | red | | ', 'gas | | red | '), ('|||red|it', '||red||it'),
    ('確認できました', '確認できませんでした'), ('食べてよい', '食べなくてよい'), ('1½ cups', '½ cups'), ('denies pain', 'pain'), ('on 5 metres', 'on 5 square metres'), ('in two hours', 'in two and a half hours'), ('pays 5 dollars', 'pays 5 Canadian dollars'), ('5 மணி', '5 அரை மணி'),
    ('za 5 mln zł', 'za 5 zł'), ('for 5 miljoen euro', 'for 5 euro'), ('人民币叁拾万元', '人民币叁万元'), ('보증금 오백만원을', '보증금 오만원을'), ('at minus 5 degrees', 'at 5 degrees'),
    ('par moins 5 degrés', 'par 5 degrés'), ('con menos cinco grados', 'con cinco grados'), ('气温零下5度', '气温5度'), ('気温マイナス5度', '気温5度'), ('영하 5도', '5도'), ('for 5 and a half hours', 'for 5 hours'), ('下午5点半开会', '下午5点开会'), ('오후 5시 반 회의', '오후 5시 회의'),
    ('每次5毫克', '每次5克'), ('合同金额5万美元', '合同金额5万元'), ('每人三公斤', '每人三斤'), ('重さ5ミリグラム', '重さ5グラム'),
    ('返金した', '返金しなかった'), ('これは高い', 'これは高くない'), ('전체비공개', '전체공개'), ('در صورت عدم پرداخت', 'در صورت پرداخت'), ('bất hợp pháp', 'hợp pháp'),
    ('a burger w/ cheese', 'a burger w/o cheese'), ('予約で入れます', '予約なしで入れます'), ('カフェインのお茶', 'ノンカフェインのお茶'), ('わさびの寿司', 'わさび抜きの寿司'), ('请打电话', '请别打电话'), ('המבצע תקף בשבת', 'המבצע אינו תקף בשבת'),
    (E'\n| Ann | Bob | Eve |\n', E'\n| | Ann | Bob |\n'), (E'\nroom,ann,bob,eve\n', E'\nroom,,ann,bob\n'), (E'\nroom\tann\tbob\teve\n', E'\nroom\t\tann\tbob\n'),
    (E'\nMay\tsold\t300\n', E'\nMay\tsold\t\t300\n'), (E'\nMay,sold,300\nJune,it\n', E'\nMay,sold,,300\nJune,it\n'), (E'\n| red | it |\n', E'\n| red | | it |\n'), ('["red","it"]', '["red","","it"]'),
    (E'\n[\n "red",\n "it"\n]\n', E'\n[\n "red",\n "",\n "it"\n]\n'), (E'\n8349\tbob\t\tdoor\n', E'\n8349\t\tbob\tdoor\n'), (E'\n|red|it\n', E'\nred|it\n'), ('notable', 'not able'),
    (E'\nann,red,--,it\n', E'\nann,--,red,it\n'), (E'\nann\t.\tred\t.\n', E'\nann\tred\t.\t.\n'), ('["ann", "red", "—", "it"]', '["ann", "—", "red", "it"]'), (E'\nann; ?; red; it\n', E'\nann; red; ?; it\n'),
    (E'\n[\n "red",\n "...",\n "it"\n]\n', E'\n[\n "...",\n "red",\n "it"\n]\n'), (E'\nann|..|red|it\n', E'\nann|red|..|it\n'), (E'\n"--","red","it"\n', E'\n"red","--","it"\n'),
    ('if ($user) go', 'if (!$user) go'), ('x = *p', 'x = !*p'), ('/dist/', '!/dist/'), ('a & mask', 'a & ~mask'), ('a & (b)', 'a & ~(b)'), ('if (a && b)', 'if (a b)'), ('rm -r ~/b', 'rm -r /b')) AS v (x, y)
WHERE edits = 0 AND said(replace(a, 'wordbbc', x), replace(a, 'wordbbc', y)) NOT LIKE 'not%';
-- ... and an edit of the same words is
SELECT x, y FROM edited, (VALUES
    ('wow', 'wow!'), ('Attention ! Le', 'Attention Le'), ('~~gone~~', 'gone'), ('Dr.~Smith', 'Dr. Smith'), ('![a picture](b)', 'a picture (b)'),
    ('75 mg daily', '75mg daily'), (E'\n1. of it\n1. it\n1. so\n', E'\n1. of it\n2. it\n3. so\n'), (E'\n- [x] red\n', E'\n- ☑ red\n'),
    (E'\nTo do:\n- red\nNext: it\n', E'\nTo do: red\nNext: it\n'), (E'\nRed:\nGreen: it\n', E'\nRed\nGreen - it\n'), (E'\nann\t\t500\n', E'\nann,,500\n'), (E'\nann\t\t5\t\t7\t\n', E'\nann,,5,,7,\n'), (E'\nann\t5\t\t\nbob\t\t\t7\n', E'\nann\t5\nbob\t\t\t7\n'), (E'\nred,5,,\n', E'\nred,5\n'), ('{"red":"","it":[],"so":"door"}', E'\n{\n "red": "",\n "it": [],\n "so": "door"\n}\n'), ('[["red", "", ""], ["it", "", "5"]]', E'\nred,,\nit,,5\n'), (E'\n\tint\t\tred;\n\tSize\tit;\n', E'\n  int red;\n  Size  it;\n'),
    (E'\n"ann","","5","","7"\n', E'\nann,,5,,7\n'), (E'\nann\t\t5\t\t7\n', E'\nann\t-\t5\t-\t7\n'), (E'\nann\t\t5\t\t7\t\n', E'\nann,--,5,...,7,.\n'), ('so, --, it', 'so, …, it'), (E'\n| red | | it |\n', E'\n|red||it|\n'), (E'\n| | red | it |\n', E'\n||red|it|\n'), ('[["red", "", ""], ["it"]]', '[["red"], ["it"]]'),
    (E'\nFax:\t\nTown:\t\nDoor:\tred\n', E'\n| Fax | |\n| Town | |\n| Door | red |\n'), (E'\n## Door\n\n### Town\n\nred\n', E'\nDoor\n\nTown:\nred\n'), (E'\n+ red\n+ it\n', E'\n* red\n* it\n'), ('5％', '5%'), ('(*1920)', '(1920)'), ('대한민국에서', '대한민국에'),
    (E'\n# red #\n', E'\nred\n'), (E'\n| red | it |\n', E'\nred | it\n'), (E'\n(* red *)\n', E'\n/* red */\n'), (E'\n// red //\n', E'\n**red**\n'), (E'\n• red •\n', E'\nred\n'), (E'\n** red **\n', E'\nred\n'),
    (E'\ndoor = red\ntown =\n', E'\nDoor=red\nTown=\n'), (E'\nDoor:red\nTown:\nUser:it\n', E'\n- Door: red\n- Town:\n- User: it\n'), (E'\nDoor | red\nTown |\n', E'\n| Door | red |\n| Town | |\n'), (E'\n【電話】赤\n【住所】\n', E'\n電話: 赤\n住所:\n'),
    ('so,, it', 'so, it'), (E'\nDoor:\t\tred\nTown:\tit\n', E'\nDoor: red\nTown: it\n'), ('a red door', 'a red door'), (E'select red
    , it
', E'select red,
    it
'), (E'
| red | it | |
', E'
| red | it |
'),
    ('mixing', 'miixng'), ('el 15 de junio', 'el 15 de juinio'), ('standardowe wyjście', 'standardowe wyjśce'), ('수입하였습니다', '수입하엿습니다'), ('анализ новый', 'анализ новй')) AS v (x, y)
WHERE edits = 0 AND said(replace(a, 'wordbbc', x), replace(a, 'wordbbc', y)) NOT LIKE 'alike%';
-- words that are put in or left out are no others, nor are slips, and by what counts
SELECT said(a, 'Dear all, ' || a), said(a, a || ' and so on'), said(a, replace(a, 'wordbb ', '')), said(a, replace(a, 'wordbbc', 'wordbcb')),
       said(a, replace(a, 'wordbbc ', 'wordbbc not ')), said(a, replace(a, 'wordbbc ', 'wordbbc 5 ')), said(a, replace(a, 'wordbbc ', 'wordbbc + '))
FROM edited WHERE edits = 0;
SELECT s, simhash_alike('The proxy listens on port 8090', 'The proxy listens on port 8091', s, .6) AS digits,
       simhash_alike('written in C++ and more', 'written in C and more', similarity => s) AS signs,
       simhash_alike('1. mix -5 g of flour', 'mix 6 g of flour', s, .6) AS both
FROM unnest('{alike,alike-but-digits,alike-but-signs,alike-words}'::text[]) AS s;
SELECT fails($$SELECT simhash_alike('a', 'b', similarity => 'jaccard')$$);

----------------------------------------
-- repetition
----------------------------------------

-- Two days of a sensor, two hours of a log, two answers to a survey: they have the
-- same few words.  So have the days of one of them that is copied with a gap.
CREATE FUNCTION sensor(day int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg(format('temp %s.%s ok', 20 + chance(3, day, i), chance(10, day, i + 1000)), E'\n' ORDER BY i)
    FROM generate_series(1, 288) AS i
$$;
CREATE FUNCTION requests(hour int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg(format('%s %s %s', (ARRAY['GET', 'POST', 'PUT'])[1 + chance(3, hour, i)],
                             (ARRAY['home', 'login', 'search', 'cart'])[1 + chance(4, hour, i + 1000)],
                             (ARRAY['ok', 'moved', 'missing'])[1 + chance(3, hour, i + 2000)]), E'\n' ORDER BY i)
    FROM generate_series(1, 400) AS i
$$;
CREATE FUNCTION survey(person int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg((ARRAY['yes', 'no', 'rather', 'never'])[1 + chance(4, person, i)], ' ' ORDER BY i)
    FROM generate_series(1, 120) AS i
$$;
CREATE FUNCTION dna(strain int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg(substr('acgt', 1 + chance(4, strain, i), 1) || CASE i % 60 WHEN 0 THEN E'\n' ELSE '' END, '' ORDER BY i)
    FROM generate_series(1, 3000) AS i
$$;
SELECT count(*) AS pairs, min(simhash_jaccard(sensor(a), sensor(b))) > .8 AS similar,
       count(*) FILTER (WHERE simhash_alike(sensor(a), sensor(b))) AS alike
FROM generate_series(1, 7) AS a, generate_series(1, 7) AS b WHERE a < b;
SELECT count(*) AS pairs, min(simhash_jaccard(requests(a), requests(b))) > .8 AS similar,
       count(*) FILTER (WHERE simhash_alike(requests(a), requests(b))) AS alike
FROM generate_series(1, 7) AS a, generate_series(1, 7) AS b WHERE a < b;
SELECT count(*) AS pairs, min(simhash_jaccard(survey(a), survey(b))) > .8 AS similar,
       count(*) FILTER (WHERE simhash_alike(survey(a), survey(b))) AS alike
FROM generate_series(1, 7) AS a, generate_series(1, 7) AS b WHERE a < b;
SELECT count(*) AS pairs, min(simhash_jaccard(dna(a), dna(b), 'char-3')) > .8 AS similar,
       count(*) FILTER (WHERE simhash_alike(dna(a), dna(b), profile => 'char-3')) AS alike
FROM generate_series(1, 7) AS a, generate_series(1, 7) AS b WHERE a < b;
-- Of two or three states longer windows repeat themselves, too.
CREATE FUNCTION states(words text, n int, person int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg(split_part(words, ',', 1 + chance(1 + commas, person, i)), E'\n' ORDER BY i)
    FROM (SELECT length(words) - length(replace(words, ',', ''))) AS c (commas), generate_series(1, n) AS i
$$;
SELECT words, n, count(*) AS pairs, count(*) FILTER (WHERE simhash_jaccard(x, y) >= .8) AS similar,
       count(*) FILTER (WHERE simhash_alike(x, y)) AS alike,
       count(*) FILTER (WHERE simhash_alike(x, upper(x))) AS copies
FROM (VALUES ('yes,no', 200), ('yes,no', 1000), ('door open,door closed', 50), ('对,错', 400), ('won,drawn,lost', 4000),
             ('connection from client,request to backend,backend timed out,worker has stopped', 200),
             ('answer: yes,answer: no', 16)) AS v (words, n),
    generate_series(1, 7) AS a, generate_series(1, 7) AS b, LATERAL (SELECT states(words, n, a) AS x, states(words, n, b) AS y) AS s
WHERE a < b GROUP BY words, n ORDER BY words COLLATE "C", n;
-- Rooms that have one guest or another, of few: who is in another room does not show.
CREATE FUNCTION rooms(day int, n int, guests int, also text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg(format('{"room": %s, "floor": 2, "kind": "single", "state": "in use", %s"guest": "guest_%s", "paid": true, "breakfast": true, "late": false}',
                             i, replace(also, '%', (1000 + 7 * i)::text), chr(97 + chance(guests, day, i))), E'\n' ORDER BY i)
    FROM generate_series(1, n) AS i
$$;
SELECT also, n, guests, count(*) AS pairs, count(*) FILTER (WHERE simhash_jaccard(x, y) >= .8) AS similar,
       count(*) FILTER (WHERE simhash_alike(x, y)) AS alike, count(*) FILTER (WHERE simhash_alike(x, upper(x))) AS copies
FROM (VALUES ('', 20, 10), ('', 31, 20), ('', 60, 30), ('"phone": %, "since": "May", "until": "June", "rate": "usual", ', 60, 30)) AS v (also, n, guests),
    generate_series(1, 7) AS a, generate_series(1, 7) AS b, LATERAL (SELECT rooms(a, n, guests, also) AS x, rooms(b, n, guests, also) AS y) AS s
WHERE a < b GROUP BY also, n, guests ORDER BY also COLLATE "C", n;
-- Items and states, of which each has both.
SELECT n, count(*) AS pairs, count(*) FILTER (WHERE simhash_jaccard(x, y) = 1) AS same_set, count(*) FILTER (WHERE simhash_jaccard(x, y) = 1 AND simhash_alike(x, y)) AS alike
FROM unnest('{10,20,40}'::int[]) AS n, generate_series(1, 7) AS a, generate_series(1, 7) AS b,
    LATERAL (SELECT string_agg(format('- item: i%s state: %s', i, (ARRAY['open', 'closed'])[1 + chance(2, a, i)]), E'\n' ORDER BY i) AS x,
                 string_agg(format('- item: i%s state: %s', i, (ARRAY['open', 'closed'])[1 + chance(2, b, i)]), E'\n' ORDER BY i) AS y
             FROM generate_series(1, n) AS i) AS s
WHERE a < b GROUP BY n ORDER BY n;
-- states of several words occur unequally often
SELECT n, count(*) AS pairs, count(*) FILTER (WHERE simhash_jaccard(x, y) = 1) AS same_set, count(*) FILTER (WHERE simhash_alike(x, y)) AS alike
FROM unnest('{10,20,40}'::int[]) AS n, generate_series(1, 7) AS a, generate_series(1, 7) AS b,
    LATERAL (SELECT string_agg(format('- item: i%s state: %s', i, (ARRAY['open', 'under repair'])[1 + chance(2, a, i)]), E'\n' ORDER BY i) AS x,
                 string_agg(format('- item: i%s state: %s', i, (ARRAY['open', 'under repair'])[1 + chance(2, b, i)]), E'\n' ORDER BY i) AS y
             FROM generate_series(1, n) AS i) AS s
WHERE a < b GROUP BY n ORDER BY n;

-- symbols count, and other words do, as the profile folds them
SELECT said('Müller fährt früh: C++', 'Muller fahrt fruh C++', .8, 'word-2-fold'),
       said('Müller fährt früh: C++', 'Muller fahrt fruh C', .8, 'word-2-fold');
-- What stands between the same words changes places, in the end of a list, too.
SELECT said(a, b), said(a, b, profile => 'char-3'), said(a, b, profile => 'word-1'), said(a, upper(a) || '!') AS copy
FROM (VALUES ('[{"user": "ann", "role": "admin"}, {"user": "bob", "role": "reader"}, {"user": "eva", "role": "reader"}]',
              '[{"user": "ann", "role": "reader"}, {"user": "bob", "role": "admin"}, {"user": "eva", "role": "reader"}]'),
             ('host a, state up, host b, state up, host c, state down, host d, state off', 'host a, state up, host b, state off, host c, state down, host d, state up'),
             ('host a1, state up, host b2, state down, host c3, state up', 'host a1, state down, host b2, state up, host c3, state up'),
             ('then mix flour, then heat oven, then add eggs, then serve', 'then add eggs, then mix flour, then heat oven, then serve')) AS v (a, b);
-- a word is written twice, or a sentence is somewhere else
SELECT said(a, replace(a, 'word_c', 'word_c word_c')), said(a || b, b || a), said(a || b || 'end', b || a || 'end')
FROM (SELECT string_agg('word_' || chr(96 + i), ' ' ORDER BY i) || '. ' AS a, string_agg('line_' || chr(97 + i), ' ' ORDER BY i) || '. ' AS b
      FROM generate_series(1, 20) AS i) AS t;
-- copies are alike, and those that have lost a line or two, but of few states
SELECT said(sensor(1), sensor(1)), said(sensor(1), substr(sensor(1), 40)), said(requests(1), requests(1) || ' GET home ok'),
       said(survey(1), survey(1)), said(dna(1), overlay(dna(1) PLACING 'ttt' FROM 500), profile => 'char-3');
-- so is a text where features repeat, with another word or letter
SELECT said(a, b), said(a, b, profile => 'word-1'), said(a, b, profile => 'char-3')
FROM (SELECT string_agg(w || chance(8, 1, i), ' ' ORDER BY i) AS a, string_agg(CASE i WHEN 300 THEN 'x' ELSE w END || chance(8, 1, i), ' ' ORDER BY i) AS b
      FROM generate_series(1, 600) AS i, LATERAL (SELECT 'w' || chr(97 + chance(26, 2, i))) AS l (w)) AS t;
-- half of it is not
SELECT said(sensor(1), left(sensor(1), length(sensor(1)) / 2)),
       said(requests(1), right(requests(1), length(requests(1)) / 2));
-- a text that an advertisement is put before, once, often, or the advertisement alone
CREATE TEMPORARY TABLE victim AS
SELECT 'Buy our famous cheap watches today ' AS advert,
       string_agg('line' || translate(i::text, '0123456789', 'abcdefghij'), ' ' ORDER BY i) AS body
FROM generate_series(1, 100) AS i;
SELECT n, said(body, repeat(advert, n) || body), said(advert || body, repeat(advert, n) || body)
FROM victim, unnest('{0,1,2,3,5,10,100,400}'::int[]) AS n ORDER BY n;
SELECT said(advert, repeat(advert, 2)), said(repeat(advert, 9), repeat(advert, 10)), said(repeat(advert, 399), repeat(advert, 400))
FROM victim;

----------------------------------------
-- digits and symbols
----------------------------------------

-- "same" is whether one may go for the other
CREATE TABLE symbols (same boolean, a text, b text);
INSERT INTO symbols VALUES
    (false, 'GNU C compiler', 'GNU C++ compiler'), (false, 'GNU C compiler', 'GNU C# compiler'),
    (false, 'the reading is -18.5', 'the reading is 18.5'), (false, 'the reading is 18.5', 'the reading is 18,6'),
    (false, 'costs $ 5 a piece', 'costs € 5 a piece'), (false, 'costs $5 a piece', 'costs €5 a piece'),
    (false, 'a < b and c', 'a > b and c'), (false, 'a + b', 'a * b'), (false, 'a = b', 'a ≠ b'),
    (false, 'x && y', 'x || y'), (false, 'a % b', 'a / b'), (false, 'if (!a) b', 'if (a ~ b)'),
    (false, 'library version 1.2.3', 'library version 1.2.4'), (false, 'python3 bindings', 'python2 bindings'),
    (false, 'version 1.12', 'version 11.2'), (false, 'Reads: -18.5', 'Reads 18.5'), (false, 'C!', 'C++'), (false, 'Is it C?', 'is it: `C++`'),
    (false, 'page 1 of 2', 'page 2 of 1'), (false, 'COVID-19', 'COVID-20'),
    (false, 'from 2019-01-02', 'from 2019-01-03'), (false, 'a b 5', 'a 5 b'),
    (false, 'a dose of 5 ㎎ each', 'a dose of 5 ㎏ each'), (false, 'Acme™ of ours', 'Acme℠ of ours'), (false, 'สินค้า+ราคา', 'สินค้าราคา'),
    (false, 'paid -$5', 'paid $5'), (false, 'paid -€5.00', 'paid €5.00'), (false, 'x -= y', 'x = y'), (false, 'limit -∞', 'limit ∞'),
    (false, 'ราคา๙บาท', 'ราคา๑๐บาท'), (false, 'តម្លៃ ៩ រៀល', 'តម្លៃ ១០០ រៀល'), (false, 'ราคา10บาท', 'ราคาบาท'),
    (false, '10⁵ cells', '105 cells'), (false, 'x² = 4', 'x2 = 4'), (false, '❶ is so', '❷ is so'), (false, 'page ፩', 'page ፪'), (false, '〡 of', '〢 of'),
    (false, 'at –18 degrees', 'at 18 degrees'), (false, 'at ‒18 degrees', 'at 18 degrees'), (true, 'from 5–18', 'from 5-18'),
    (false, 'a != 5', 'a = 5'), (false, 'if (!ok) a', 'if (ok) a'), (false, '!a and b', 'a and !b'), (false, '(?!foo) x', '(?:foo) x'),
    (false, 'return -a;', 'return a;'), (false, 'costs .5', 'costs 5'), (false, '2001:db8::1:0', '2001:db8:1::0'),
    (false, 'ann_smith', 'ann.smith'), (false, '5′ long', '5″ long'), (false, '§ 5', '¶ 5'), (false, '5‰ of', '5 of'),
    (true, 'Really?!—So it is...', 'Really, so it is'),
    (true, 'by <ann@example.org>', 'by ann@example.org'), (true, '<http://a.org/b_c=5#d>', 'http://a.org/b c 5 d'), (false, 'x<y, it', 'x y it'), (false, 'http://a.org c=5', 'http://a.org c 5'),
    (true, 'Oui ! Non ! So', 'Oui! Non! So'), (true, U&'\0435\0308\0436 it', 'ёж it'), (true, 'read it →', 'read it'), (false, 'door → it', 'door ← it'),
    (false, 'قیمت ۱۰۰', 'قیمت ۹۰۰'), (false, 'मूल्य १००', 'मूल्य १०१'),
    (true, 'it´s so', 'it''s so'), (true, 'COVID-19 cases', 'COVID 19 cases'), (true, 'covid19 cases', 'COVID19 cases'),
    (true, 'Free and equal', 'FREE AND EQUAL'), (true, 'Free, and equal.', 'Free and equal'),
    (true, 'He said: "yes"; (really)!', 'He said yes really'), (true, 'it''s so?', 'it''s so'), (true, 'so: what?', 'so, what!'), (true, '`a` [b] {c}', 'a b c'),
    (true, '“One” – «two»…', '"One" - (two)'),
    (true, 'free-software licence', 'free software licence'), (true, 'one – two', 'one - two'), (true, '- one - two', 'one two'),
    (true, 'full width １２３ text', 'full width 123 text'), (true, 'two   words', E'two\nwords'),
    (true, 'see .profile (.txt)', 'SEE .PROFILE (.TXT)'), (true, 'Part Ⅳ of it', 'part ⅳ of it'), (false, 'in O(2ⁿ) steps', 'in O(2n) steps'),
    (false, 'smoker ☐ yes ☒ no', 'smoker ☒ yes ☐ no'),
    (true, 'a 1, b', 'a 1 b'), (true, 'costs $5', 'costs $5.'), (true, '§ 7 of it', U&'\FEFF§ 7 of it'), (false, '§ 7 of it', U&'\FEFF 7 of it'),
    (false, '✅ of it', '❌ of it'), (false, E'- of it\n- done ✅', E'- of it\n- done ❌'), (true, '■ of it', '▪ of it'), (true, '✅ of it', 'of it'),
    (false, 'Hotel Adler ****', 'Hotel Adler ***'), (false, 'found +++ of it', 'found --- of it'), (false, 'a $$$ place', 'a $$$$ place'), (false, 'x >>> 2', 'x <<< 2'),
    (true, '+++ of it +++', 'of it'), (true, 'of it *** so', 'of it so'), (true, 'one --- two', 'one — two'), (false, 'a ★★★ place', 'a ★★★★ place'), (false, 'a €€€ place', 'a €€€€ place'),
    (false, 'f(x)*2', 'f(x)/2'), (false, 'f(x)-2', 'f(x)/2'), (false, 'a*(b)', 'a/(b)'), (true, 'y(a)/b', 'y(a) / b'), (false, 'x *= 5', 'x /= 5'), (false, 'x // 5', 'x / 5'), (true, E'5\n% of it', '5 % of it'), (false, E'5\n% of it', '5 of it'), (true, 'x // 5', 'x 5'), (false, 'x |= 5', 'x = 5'),
    (false, E'[*] red\n[*] of it', E'[ ] red\n[*] of it'), (true, E'[*] red\n[*] of it', E'* red\n* of it'), (false, E'◉ red\n◯ of it', E'◯ red\n◉ of it'),
    (false, E'@@ -1,2 +1 @@\n-\tred\n \tof it', E'@@ -1,2 +1 @@\n \tred\n-\tof it'),
    (false, E'- [x] red\n- [ ] green', E'- [ ] red\n- [x] green'), (false, E'( ) red\n(x) green', E'(x) red\n( ) green'), (true, E'- [x] red', '* [X] red'), (true, '- [ ] red', '- red'),
    (false, E'ann,500,\nbob,,700', E'ann,,500\nbob,,700'), (false, 'ann,500,,', 'ann,,500,'), (true, 'ann,,500', '| ann |  | 500 |'), (true, 'ann,,500', 'ann;;500'), (true, 'ham, egg,', 'ham, egg'),
    (false, E'of it\n👍', E'of it\n👎'), (false, E'Wi-Fi\n✓\nof it\n✗', E'Wi-Fi\n✗\nof it\n✓'), (false, E'★★★★☆\nof it', E'★★☆☆☆\nof it'), (false, E'[x]\nof it\n[ ]\nso', E'[ ]\nof it\n[x]\nso'),
    (true, E'🎉🎉\nof it', 'of it'), (true, E'❦\nof it', E'* * *\nof it'),
    (false, E'24. May: of it\n25. May: it', E'14. May: of it\n15. May: it'), (false, E'1. of it\n2. it\n3. so', E'1. of it\n2. it\n7. so');
SELECT simhash_alike(E'🏴\U000E0067\U000E0062\U000E007F won', E'🏴\U000E0067\U000E0073\U000E007F won', at_least => 0, profile => 'word-1') AS flags;
SELECT same, a, replace(b, U&'\FEFF', '(BOM)') AS b, round(simhash_jaccard(a, b, 'word-1')::numeric, 2) AS words, simhash_alike(a, b, profile => 'word-1') AS alike,
       simhash_alike(b, a, profile => 'word-1') AS back
FROM symbols ORDER BY same, a, b;
-- marks of layout do not count, with a word more and without
SELECT what, said(a, b), said(a, b || ' Welcome!') AS with_a_word_more
FROM (SELECT E'Garden rules\n\n' || a || E'\n\n- keep the gate shut\n- feed the ducks\n- pick no plums\n\n' || a AS a FROM edited WHERE edits = 0) AS t,
    LATERAL (VALUES ('head', '## ' || a), ('bullets', replace(a, E'\n- ', E'\n* ')), ('squares', replace(a, E'\n- ', E'\n▪ ')), ('dots', replace(a, E'\n- ', E'\n• ')),
        ('items', replace(replace(replace(a, '- keep', '1. keep'), '- feed', '2. feed'), '- pick', '3. pick')),
        ('quoted twice', regexp_replace(a, '^ *', '>> ', 'gn')), ('underlined', replace(a, E'rules\n', E'rules\n============\n')),
        ('quoted', '> ' || replace(a, E'\n', E'\n> ')), ('comment of C', '/* ' || replace(a, E'\n', E'\n * ') || E'\n */'), ('of C++', '// ' || replace(a, E'\n', E'\n// ')),
        ('of a shell', '# ' || replace(a, E'\n', E'\n# ')), ('table', replace(a, E'\n- ', E'\n| ')), ('bold', replace(a, 'ducks', '**ducks**')), ('trade mark', a || '™'), ('emoji', a || ' 🦆'),
        ('tags, invisible', replace(a, 'ducks', E'd\U000E0061ucks'))) AS v(what, b);
-- a value in another column of a page, whose empty cells its text leaves out; one cell more is none
SELECT n, simhash_alike(format(page, x, a), format(page, y, a), profile => 'word-2-capped-html') AS page,
       simhash_alike(simhash_html(format(page, x, a)), simhash_html(format(page, y, a))) AS text
FROM edited, (VALUES ('<table><tr><th>Model<th>Leased<th>Sold<tr><td>Adria%s</table><p>%s')) AS p (page),
    (VALUES (1, '<td>5<td>', '<td><td>5'), (2, '<td>&nbsp;</td><td>5</td>', '<td>5</td><td> </td>'), (3, '<th><p></p></th><td><b>5</b>', '<th>5</th><td><p>&nbsp;'),
        (4, '<td>5<td>', E'\n<td> 5 </td>\n<td></td></tr>'), (5, '<td>5<td><td>', '<td>5'), (6, '<td>5<td hidden>', '<td hidden><td>5')) AS v (n, x, y)
WHERE edits = 0 ORDER BY n;
-- a line that a sign of comments takes out is another; remarks, heads and tags are not
SELECT line, said(line || rest, regexp_replace(line, '^(#|;|//|--) ?', '') || rest) AS first, said(rest || line, rest || regexp_replace(line, '^(#|;|//|--) ?', '')) AS last
FROM edited, unnest(ARRAY['#Port 2222', '# port = 2222', '# port: 2222', ';extension=curl', '//exit(red)', '// free(red);', '// return red;', '--drop red;',
        '# of it is red', '# Of it: red', '#red', '## port is red', '#red #green', '-- red and green', '// of it;so', '--red', '/red green']) AS line,
    LATERAL (SELECT E'\nof it\n' || a || E'\n' AS rest) AS r
WHERE edits = 0;
-- another letter of a gene or a protein is no slip
SELECT said(a || ' ' || gene, a || ' ' || other) AS alike, gene
FROM edited, (VALUES ('acgtacgg', 'acgtacgt'), ('MKVLAAGIVG LCAKAYRDLS', 'MKVLAAGIVG LCAKAYRDLT'), ('MKVLAAGIVGLCAKAYRDLSTPERW', 'MKVLAAGIVGLCAKAYRDLSTPERY'),
        ('wonderfully made', 'wonderfuly made')) AS v (gene, other)
WHERE edits = 0;
-- a section that stands elsewhere has moved
SELECT said(a || form, form || a), said(a || form || ' end', form || a || ' end')
FROM edited, LATERAL (SELECT E'\nHome phone:\nWork phone: 5551234\nFax:\n' AS form) AS f WHERE edits = 0;
-- what stands behind the number of an item is a blank of any kind
SELECT said(a, replace(a, '. ', E'.\t')) AS tab, said(a, replace(a, '. ', U&'.\00A0')) AS no_break, said(a, regexp_replace(a, '(\d)\.', '(\1)', 'g')) AS brackets,
       said(a, replace(a, '2. ', E'4.\t')) AS another
FROM (VALUES (E'1. keep the gate shut\n2. feed the ducks\n3. pick no plums')) AS v (a);
-- numbers of pages count up, whichever is the first
SELECT said(string_agg(page || E'\n12' || i || E'\n', '' ORDER BY i), string_agg(page || E'\n34' || i || E'\n', '' ORDER BY i)) AS paged,
       said(string_agg(page || E'\nPage 12' || i || E'\n', '' ORDER BY i), string_agg(page, ' ' ORDER BY i)) AS without,
       said(string_agg(page || ' 12' || i || E'\n', '' ORDER BY i), string_agg(page || ' 34' || i || E'\n', '' ORDER BY i)) AS no_pages
FROM (SELECT i, (SELECT string_agg('leaf' || chr(96 + i) || chr(96 + j), ' ' ORDER BY j) FROM generate_series(1, 25) AS j) AS page FROM generate_series(1, 9) AS i) AS p;
-- ... however what is between them is laid out; a statement is none
SELECT said(string_agg(page || E'\n12' || i || E'\n', '' ORDER BY i), string_agg(replace(page, ' ', E'\n>   ') || E'\n12' || i || E'\n', '' ORDER BY i)) AS paged,
       said(string_agg(page || page || E'\nreturn ' || i || E';\n', '' ORDER BY i), string_agg(page || page || E'\nreturn ' || i + 1 || E';\n', '' ORDER BY i)) AS returned
FROM (SELECT i, (SELECT string_agg('leaf' || chr(96 + i) || chr(96 + j), ' ' ORDER BY j) FROM generate_series(1, 15) AS j) AS page FROM generate_series(1, 9) AS i) AS p;
-- ... but years, and one that is another
SELECT said(string_agg(page || E'\nJune ' || i || E'\n', '' ORDER BY i), string_agg(page || E'\nJune ' || CASE i WHEN 5 THEN 50 ELSE i END || E'\n', '' ORDER BY i)) AS one,
       said(string_agg(page || E'\n201' || i || E'\n', '' ORDER BY i), string_agg(page || E'\n200' || i || E'\n', '' ORDER BY i)) AS years
FROM (SELECT i, (SELECT string_agg('leaf' || chr(96 + i) || chr(96 + j), ' ' ORDER BY j) FROM generate_series(1, 25) AS j) AS page FROM generate_series(1, 9) AS i) AS p;
-- Russian is written with ё or without
SELECT said(a || ' её ёж', a || ' ее еж') FROM edited WHERE edits = 0;
-- a number in words is none for a slip of another
SELECT said(a || ' eighty left', a || ' eight left'), said(a || ' sixty left', a || ' sixth left') FROM edited WHERE edits = 0;
-- rows of a table count up, too, and so do lines one below the other
SELECT said(a, replace(a, ': 17', ': 71')) AS "row", said(a, replace(replace(a, 'Bus 8', 'Bus 5'), 'Bus 7', 'Bus 4')) AS lines
FROM (SELECT E'2021: 14\n2022: 17\n2023: 12\n\nBus 7\n\nBus 8\n\n' || a AS a FROM edited WHERE edits = 0) AS t;
-- of two equal words either may be the one that is left out
SELECT said(a, replace(a, 'worda the the', 'wodra the')) AS first, said(a, replace(a, 'the the wordz', 'the wodrz')) AS last
FROM (SELECT 'wordi and worda the the wordz and ' || a AS a FROM edited WHERE edits = 0) AS t;
-- what is put in beside a number changes it, though a word is put in, too
SELECT said('costs 19 in the shop, ' || a, 'costs 19% in the shop, ' || a) AS sign, said('costs 19 in the shop, ' || a, 'costs 19% more in the shop, ' || a) AS and_word,
       said('costs 19 in the shop, ' || a, 'costs 19 more in the shop, ' || a) AS word
FROM edited WHERE edits = 0;
-- ... as does one put in before the sign of a fraction
SELECT said('½ spoon of 20 g and ' || a, '1½ spoon of 20 g and ' || a) AS half, said('½ spoon of 20 g and ' || a, '½ small spoon of 20 g and ' || a) AS word
FROM edited WHERE edits = 0;
-- neither line breaks nor what is ignored matter to them
SELECT said(E'with the flags\n-v and -x', 'with the flags -v and -x'), said(E'a snake\u00ad_case \u200b-v', 'a snake_case -v');
-- ... nor how many are ignored, one after the other: nobody looks behind each of them
SET statement_timeout = '30s';
SELECT said('of a few words' || repeat(U&'\200B', 300000), 'of a few words');
RESET statement_timeout;
-- where words differ, digits and symbols are as good as any; a digit within a word
-- divides it
SELECT said('libfoo2 of it', 'lib2foo of it', .4, 'word-1');
SELECT said('one two three four five six seven eight 9', 'one two three four five six seven eight ten 9', .5),
       said('one two three four five six seven eight 9', 'one two three four five six seven eight ten 8', .5);

----------------------------------------
-- profiles
----------------------------------------

SELECT profile, simhash_alike('all human beings are born free', 'All human beings are born free!', profile => profile) AS case_only,
       simhash_alike('all human beings are born in C', 'all human beings are born in C++', at_least => .3, profile => profile) AS symbols,
       simhash_alike(sensor(1), sensor(2), at_least => .6, profile => profile) AS sensor,
       simhash_alike(e.a, e.b, at_least => .6, profile => profile) AS edited, simhash_alike(v.body, repeat(advert, 100) || v.body, at_least => .6, profile => profile) AS padded
FROM unnest(ARRAY[NULL, 'word-1', 'word-2', 'word-3', 'word-10', 'word-2-fold', 'word-1-2', 'char-3', 'char-5-fold', 'symbol-1', 'symbol-2',
                  'word-2-seed-7', 'char-4-count', 'python-simhash']) AS profile,
     (SELECT * FROM edited WHERE edits = 5) AS e, victim AS v;
SELECT said('Élève à Noël', 'eleve a noel'), said('Élève à Noël', 'eleve a noel', .8, 'word-2-fold');
SELECT fails($$SELECT simhash_alike('a', 'b', profile => 'nonesuch')$$);

----------------------------------------
-- other scripts
----------------------------------------

SELECT said('人人生而自由，在尊严和权利上一律平等。', '人人生而自由在尊严和权利上一律平等'),
       said('人人生而自由，在尊严和权利上一律平等。', '人人生而自由，在尊严和权利上不平等。', .5),
       said('价格为 5 元', '价格为 6 元', 0), said('价格为５元', '价格为5元', 0),
       said('人人生而自由，在尊严和权利上一律平等。', '人人生而自由，在尊严和权利上一律平等。', profile => 'char-3'),
       said('ที่นี่มี ๕ คน', 'ที่นี่มี ๖ คน', at_least => 0, profile => 'word-1');

----------------------------------------
-- nothing to compare, and other arguments
----------------------------------------

SELECT said('', ''), said('a', '...'), said(NULL, 'a'), said('a', NULL), said('a', 'a', NULL), said('a', 'a', 1),
       said('a b', 'c d', 0);
SELECT simhash_alike('one two', 'One, two'), simhash_alike(at_least => .2, a => 'a b c', b => 'a b d', profile => NULL);
SELECT fails($$SELECT simhash_alike('a', 'b', at_least => 'NaN')$$), fails($$SELECT simhash_alike('a', 'b', at_least => 1.01)$$),
       fails($$SELECT simhash_alike('a', 'b', at_least => -.1)$$), fails($$SELECT simhash_alike('a', NULL, at_least => 2)$$);

----------------------------------------
-- arrays
----------------------------------------

SELECT simhash_alike('{a,b,c,d}', '{d,c,b,a}'::text[]) AS same, simhash_alike('{a,b,c,d}', '{a,b,c,e}'::text[]) AS other,
       simhash_alike('{a,b,c,d}', '{a,b,c,e}'::text[], .6) AS enough, simhash_alike('{a,b}', '{a,b,b,b,b}'::text[]) AS repeated,
       simhash_alike('{a,b,b,b}', '{a,b,b,b,b}'::text[]) AS nearly, simhash_alike('{C}', '{C++}'::text[]) AS symbols,
       simhash_alike('{18.5}', '{-18.5}'::text[], 0) AS numbers;
-- 11 of 18, and of 20 with two more
SELECT simhash_alike(ARRAY(SELECT generate_series(1, 14)::text), ARRAY(SELECT generate_series(4, 18)::text), .55);
SELECT simhash_alike('{}', '{a}'::text[]), simhash_alike('{}', '{}'::text[]), simhash_alike(NULL, '{a}'::text[]),
       simhash_alike('{a}', '{a}'::text[], NULL);
-- as documents of one word each: counted, and nothing else
SELECT count(*) AS pairs, count(*) FILTER (WHERE simhash_alike(x, y, bound) IS DISTINCT FROM
    ((SELECT count(*) FROM (SELECT unnest(x) INTERSECT SELECT unnest(y)) AS i) >= bound *
     (SELECT count(*) + CASE WHEN x @> y AND y @> x THEN 0 ELSE 2 END FROM (SELECT unnest(x) UNION SELECT unnest(y)) AS u) AND
     (SELECT count(*) FROM (SELECT unnest(x) INTERSECT ALL SELECT unnest(y)) AS i) >= bound *
     (cardinality(x) + cardinality(y) -
      (SELECT count(*) FROM (SELECT unnest(x) INTERSECT ALL SELECT unnest(y)) AS i)))) AS wrong,
    count(*) FILTER (WHERE simhash_alike(x, y, bound)) AS alike
FROM (SELECT n, array_agg('w' || chance(6, n, i) * chance(2, n, i + 50)) AS x FROM generate_series(1, 40) AS n, generate_series(1, 9) AS i GROUP BY n) AS x,
     (SELECT n, array_agg('w' || chance(6, n, i) * chance(2, n, i + 50)) AS y FROM generate_series(41, 80) AS n, generate_series(1, 10) AS i GROUP BY n) AS y,
     unnest('{0,.2,.5,.75,1}'::float8[]) AS bound;
SELECT fails($$SELECT simhash_alike('{a,NULL}', '{a}'::text[])$$), fails($$SELECT simhash_alike('{{a}}', '{a}'::text[])$$),
       fails($$SELECT simhash_alike('{a}', '{a}'::text[], 2)$$);

----------------------------------------
-- documents are remembered
----------------------------------------

-- one compared with others, by several measures and profiles, says the same as each
-- pair in a transaction of its own
SELECT count(*) AS wrong FROM (
    SELECT a.body AS a, b.body AS b, p FROM unnest(ARRAY[sensor(1), sensor(2), requests(1), 'C', 'C++', '']) AS a(body),
        unnest(ARRAY[sensor(1), requests(1), 'C', 'C++', '']) AS b(body), unnest('{NULL,word-1,char-3}'::text[]) AS p) AS c
WHERE simhash_alike(a, b, at_least => .5, profile => p) IS DISTINCT FROM simhash_alike(b, a, at_least => .5, profile => p)
    OR simhash_alike(a, b, at_least => .5, profile => p) AND NOT simhash_jaccard(a, b, p) >= .5
    OR (simhash_alike(a, b, at_least => .5, profile => p) IS NULL) <> (simhash_jaccard(a, b, p) IS NULL)
    OR simhash_alike(a, a, at_least => 1, profile => p) IS DISTINCT FROM (simhash_jaccard(a, a, p) = 1);
-- a large one is given up again
SELECT simhash_alike(body, body) AS itself
FROM (SELECT string_agg('word' || i, ' ') AS body FROM generate_series(1, 300000) AS i) AS d;
SELECT memory_in_use() AS before \gset
SELECT count(*) FROM generate_series(1, 30) AS n,
    LATERAL (SELECT string_agg('word' || i * n, ' ') AS body FROM generate_series(1, 20000) AS i) AS d
WHERE simhash_alike(body, body || ' end');
SELECT memory_in_use() - :before < 20000000 AS no_growth;

DROP TABLE edited, victim, symbols;
DROP FUNCTION said, sensor, requests, survey, states, dna, chance;
