--
-- removal/: what simhash_dedup_apply does with rows that refer to those that go, what it
-- refuses, where it keeps what they were, and what simhash_dedup_undo puts back
--

\set VERBOSITY terse
SET client_min_messages = warning;
CREATE SCHEMA children;
SET search_path = children, public;
CREATE FUNCTION body() RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT 'The quick brown fox jumps over the lazy dog, which does not even wake up at all today.' $$;

-- Make a plan, unless it is there, and carry it out; tells why that is refused.
CREATE FUNCTION run(relation regclass, plan text, log text DEFAULT NULL, children text DEFAULT 'move',
                    groups text[] DEFAULT '{}', keep text DEFAULT NULL)
RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    IF to_regclass(plan) IS NULL THEN
        EXECUTE format('CREATE TABLE %I AS SELECT * FROM simhash_dedup_plan(%L, ''fp'', within => %L, keep => %L)',
                       plan, relation, groups, keep);
    END IF;
    CALL simhash_dedup_apply(relation, plan, log, children, NULL);
    RETURN 'done';
EXCEPTION WHEN feature_not_supported OR object_not_in_prerequisite_state THEN
    RETURN sqlerrm;
END $$;
-- Put back what a log has of the table that its comment says.
CREATE FUNCTION put_back(log regclass, plan regclass DEFAULT NULL) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    CALL simhash_dedup_undo((substring(obj_description(log) FROM ': (.*)')::json -> 0 ->> 'table')::regclass, plan, log);
END $$;

----------------------------------------
-- partitions: a key to the whole refers to each of them, a key to one not to the whole
----------------------------------------

CREATE TABLE parts (id int, site int, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED,
    PRIMARY KEY (id, site)) PARTITION BY LIST (site);
CREATE TABLE part PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE other PARTITION OF parts DEFAULT;
INSERT INTO parts SELECT n, 1, body() FROM generate_series(1, 3) AS n;
CREATE TABLE likes (n int PRIMARY KEY, id int, site int,
    CONSTRAINT likes_whole FOREIGN KEY (id, site) REFERENCES parts ON DELETE CASCADE);
INSERT INTO likes SELECT n, n, 1 FROM generate_series(1, 3) AS n;
SELECT simhash_dedup_sql('part', 'fp') ~ 'children.likes refers to it' AS said,
    value ~ 'children.likes' AS reported
FROM simhash_report('part', 'fp') WHERE item = 'foreign keys';
SELECT run('part', 'plan', log => 'gone_part', children => NULL);
SELECT run('part', 'plan', log => 'gone_part');
SELECT id, gone, done FROM part, plan ORDER BY gone;
TABLE likes ORDER BY n;
SELECT put_back('gone_part');
TABLE likes ORDER BY n;
ALTER TABLE likes DROP CONSTRAINT likes_whole;
ALTER TABLE likes ADD CONSTRAINT likes_part FOREIGN KEY (id, site) REFERENCES part ON DELETE CASCADE;
DROP TABLE plan;
SELECT simhash_dedup_sql('parts', 'fp') ~ 'children.likes refers to it by likes_part: ON DELETE CASCADE' AS said,
    value ~ 'children.likes .likes_part.' AS reported
FROM simhash_report('parts', 'fp') WHERE item = 'foreign keys';
SELECT run('parts', 'plan', log => 'gone_parts', children => NULL);
SELECT run('parts', 'plan', log => 'gone_parts');
SELECT count(*) FROM likes;
DROP TABLE parts, likes, gone_part, gone_part_likes_1;

----------------------------------------
-- rows that are hidden, and rows to which nothing can refer
----------------------------------------

CREATE ROLE regress_dedup_children_reader;
GRANT ALL ON SCHEMA children TO regress_dedup_children_reader;
CREATE TABLE docs (id int PRIMARY KEY, other int UNIQUE, body text,
    fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO docs SELECT n, nullif(n, 1), body() FROM generate_series(1, 3) AS n;
CREATE TABLE likes (n int PRIMARY KEY, id int REFERENCES docs ON DELETE CASCADE,
    other int REFERENCES docs (other) ON DELETE CASCADE);
INSERT INTO likes SELECT n, n FROM generate_series(1, 3) AS n;
ALTER TABLE likes ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON likes USING (n < 3);
GRANT ALL ON docs, likes TO regress_dedup_children_reader;
SET ROLE regress_dedup_children_reader;
SELECT run('docs', 'plan');
RESET ROLE;
SELECT count(*) FROM likes;
-- rows of the table itself would go along
CREATE TABLE replies (id int PRIMARY KEY, up int REFERENCES replies ON DELETE CASCADE, body text,
    fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO replies SELECT n, nullif(n, 1), body() FROM generate_series(1, 2) AS n;
INSERT INTO replies VALUES (3, 2, 'hidden');
ALTER TABLE replies ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON replies USING (id < 3);
GRANT ALL ON replies TO regress_dedup_children_reader;
SET ROLE regress_dedup_children_reader;
SELECT run('replies', 'plan_replies', log => 'gone_replies');
RESET ROLE;
SELECT gone, done FROM plan_replies;
SELECT count(*) FROM replies;
DROP TABLE plan_replies, gone_replies;
-- a policy refuses a row that comes back, and no other one
ALTER TABLE replies DROP CONSTRAINT replies_up_fkey;
UPDATE replies SET body = body();
CREATE POLICY arriving ON replies AS RESTRICTIVE FOR INSERT WITH CHECK (id < 3);
DROP POLICY seen ON replies;
CREATE POLICY seen ON replies USING (true);
SET ROLE regress_dedup_children_reader;
SELECT run('replies', 'plan_arriving', log => 'gone_arriving');
SET client_min_messages = error;
SELECT put_back('gone_arriving');
SET client_min_messages = warning;
SELECT id FROM gone_arriving;
RESET ROLE;
SELECT id FROM replies ORDER BY id;
DROP TABLE replies, plan_arriving, gone_arriving;
-- rows of the table itself would go along by way of another
CREATE TABLE topics (id int PRIMARY KEY, answer int, body text,
    fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
CREATE TABLE answers (id int PRIMARY KEY, topic int REFERENCES topics ON DELETE CASCADE);
ALTER TABLE topics ADD FOREIGN KEY (answer) REFERENCES answers ON DELETE SET NULL;
INSERT INTO topics SELECT n, NULL, body() FROM generate_series(1, 2) AS n;
INSERT INTO answers VALUES (1, 2);
INSERT INTO topics VALUES (3, 1, 'another text, which nobody has ever seen before or after');
SELECT run('topics', 'plan_topics', children => NULL);
SELECT gone, done FROM plan_topics;
SELECT id, answer FROM topics ORDER BY id;
ALTER TABLE answers DROP CONSTRAINT answers_topic_fkey,
    ADD FOREIGN KEY (topic) REFERENCES topics ON DELETE SET NULL;
UPDATE plan_topics SET done = NULL;
SELECT run('topics', 'plan_topics', children => NULL);
SELECT id, answer FROM topics ORDER BY id;
-- nor by ON UPDATE of a key to the column that is set
ALTER TABLE topics DROP CONSTRAINT topics_answer_fkey;
ALTER TABLE answers ADD UNIQUE (topic);
INSERT INTO topics VALUES (2, NULL, body());
INSERT INTO answers VALUES (2, 2);
UPDATE topics SET answer = CASE id WHEN 3 THEN 2 END;
ALTER TABLE topics ADD FOREIGN KEY (answer) REFERENCES answers (topic) ON UPDATE CASCADE;
UPDATE plan_topics SET done = NULL;
SELECT run('topics', 'plan_topics', children => NULL);
SELECT gone, done FROM plan_topics;
SELECT id, answer FROM topics ORDER BY id;
DROP TABLE topics, answers, plan_topics;
-- rows of a partition that waits for DETACH ... CONCURRENTLY FINALIZE
CREATE TABLE waits (n int PRIMARY KEY, id int REFERENCES docs ON DELETE CASCADE) PARTITION BY LIST (n);
CREATE TABLE wait PARTITION OF waits FOR VALUES IN (1);
INSERT INTO waits VALUES (1, 3);
UPDATE pg_inherits SET inhdetachpending = true WHERE inhrelid = 'wait'::regclass;
SELECT run('docs', 'plan'), run('docs', 'plan', children => NULL);
ALTER TABLE waits DETACH PARTITION wait FINALIZE;
DROP TABLE waits, wait;
-- and such a partition, whose rows go by a key of its own
CREATE TABLE waits (n int PRIMARY KEY, id int) PARTITION BY LIST (n);
CREATE TABLE wait PARTITION OF waits FOR VALUES IN (1);
ALTER TABLE wait ADD FOREIGN KEY (id) REFERENCES docs ON DELETE CASCADE;
INSERT INTO waits VALUES (1, 3);
UPDATE pg_inherits SET inhdetachpending = true WHERE inhrelid = 'wait'::regclass;
BEGIN;
SELECT run('docs', 'plan', children => NULL);
TABLE wait;
ROLLBACK;
ALTER TABLE waits DETACH PARTITION wait FINALIZE;
DROP TABLE waits, wait;
-- what a key does behind a statement of a trigger is up to that; but what the key of a
-- row that is dropped finds stays, though a trigger would not have it deleted
CREATE TABLE books (id int PRIMARY KEY, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO books SELECT n, body() FROM generate_series(1, 3) AS n;
CREATE TABLE searched AS SELECT id FROM books;
ALTER TABLE searched ADD PRIMARY KEY (id);
CREATE TABLE words (id int REFERENCES searched ON DELETE CASCADE);
INSERT INTO words SELECT id FROM books;
CREATE TABLE marks (n int PRIMARY KEY, id int UNIQUE REFERENCES books);
INSERT INTO marks VALUES (1, 1), (2, 2);
CREATE TABLE notes (n int REFERENCES marks ON DELETE CASCADE);
INSERT INTO notes VALUES (2);
CREATE FUNCTION forget() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN DELETE FROM searched WHERE id = old.id; RETURN NULL; END $$;
CREATE TRIGGER forget AFTER DELETE ON books FOR EACH ROW EXECUTE FUNCTION forget();
CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE TRIGGER keep BEFORE DELETE ON notes FOR EACH ROW EXECUTE FUNCTION keep();
SELECT run('books', 'plan_books', log => 'gone_books');
SELECT gone, done FROM plan_books ORDER BY gone;
SELECT id, n FROM words LEFT JOIN marks USING (id) ORDER BY id;
DROP TABLE plan_books, gone_books, gone_books_marks_1, books, searched, words, marks, notes;
DROP FUNCTION forget, keep;
-- rows that refer to one of a partition, which is deleted there as it moves to another
CREATE TABLE moves (n int, id int REFERENCES docs ON DELETE CASCADE, PRIMARY KEY (n, id)) PARTITION BY LIST (id);
CREATE TABLE move PARTITION OF moves FOR VALUES IN (2, 3);
CREATE TABLE moved PARTITION OF moves DEFAULT;
ALTER TABLE move ADD UNIQUE (n);
CREATE TABLE lost (n int REFERENCES move (n) ON DELETE CASCADE);
INSERT INTO moves VALUES (2, 2), (3, 3);
INSERT INTO lost VALUES (3);
SELECT run('docs', 'plan_moves', log => 'gone_moves', children => 'stay');
SELECT gone, done FROM plan_moves ORDER BY gone;
TABLE lost;
-- and as it moves back
DROP TABLE lost;
ALTER TABLE moved ADD UNIQUE (n);
CREATE TABLE lost (n int REFERENCES moved (n) ON DELETE CASCADE);
INSERT INTO lost VALUES (2);
SELECT put_back('gone_moves');
TABLE lost;
DROP TABLE lost;
SELECT put_back('gone_moves');
SELECT tableoid::regclass, * FROM moves ORDER BY n;
DROP TABLE moves, plan_moves, gone_moves, gone_moves_moves_1;
-- rows that a policy shows to each command or not
CREATE SEQUENCE looks;
CREATE TABLE shown (id int PRIMARY KEY, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
CREATE TABLE likes_shown (n int PRIMARY KEY, id int REFERENCES shown ON DELETE CASCADE);
CREATE INDEX ON likes_shown (id);
INSERT INTO shown SELECT n, body() FROM generate_series(1, 2) AS n;
INSERT INTO likes_shown VALUES (1, 2);
CREATE TABLE plan_shown AS SELECT * FROM simhash_dedup_plan('shown', 'fp');
ALTER TABLE shown ENABLE ROW LEVEL SECURITY;
CREATE POLICY looks ON shown USING (nextval('looks') NOT BETWEEN current_setting('looks.first')::int
                                                        AND current_setting('looks.last')::int);
GRANT ALL ON ALL TABLES IN SCHEMA children TO regress_dedup_children_reader;
GRANT ALL ON SEQUENCE looks TO regress_dedup_children_reader;
ALTER TABLE likes_shown OWNER TO regress_dedup_children_reader;
ALTER TABLE shown OWNER TO regress_dedup_children_reader;
ALTER TABLE shown FORCE ROW LEVEL SECURITY;
ALTER TABLE plan_shown OWNER TO regress_dedup_children_reader;
DO $$
DECLARE
    likes int;
BEGIN
    FOR from_look IN 3..7 LOOP
        FOR to_look IN 8..14 LOOP
            BEGIN
                PERFORM setval('looks', 1, false), set_config('looks.first', from_look::text, true),
                    set_config('looks.last', to_look::text, true);
                SET LOCAL ROLE regress_dedup_children_reader;
                CALL simhash_dedup_apply('shown', 'plan_shown', children => 'move');
                RESET ROLE;
                SELECT count(*) INTO likes FROM likes_shown;
                RAISE EXCEPTION USING errcode = 'ZZZZZ';
            EXCEPTION WHEN SQLSTATE 'ZZZZZ' THEN
                IF likes <> 1 THEN
                    RAISE WARNING 'a row is lost where %..% do not see what it refers to', from_look, to_look;
                END IF;
            END;
        END LOOP;
    END LOOP;
END $$;
DROP TABLE shown, likes_shown, plan_shown;
DROP SEQUENCE looks;
-- the row that stays has NULL where one of the others is referred to
UPDATE likes SET other = 2 WHERE n = 1;
SELECT run('docs', 'plan', log => 'gone_docs');
SELECT gone, kept, done FROM plan ORDER BY gone;
TABLE likes ORDER BY n;
DROP TABLE likes, plan, gone_docs, gone_docs_likes_1;
-- which NOT NULL that is NOT VALID, as PostgreSQL 18 has it, does not keep away
CREATE TABLE early (id int PRIMARY KEY, other int UNIQUE, body text,
    fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO early SELECT n, nullif(n, 1), body() FROM generate_series(1, 2) AS n;
DO $$
BEGIN
    IF current_setting('server_version_num')::int >= 180000 THEN
        EXECUTE 'ALTER TABLE early ADD CONSTRAINT late NOT NULL other NOT VALID';
    END IF;
END $$;
CREATE TABLE likes (n int PRIMARY KEY, other int REFERENCES early (other) ON DELETE CASCADE);
INSERT INTO likes VALUES (2, 2);
SELECT run('early', 'plan', log => 'gone_early');
SELECT gone, kept, done FROM plan;
DROP TABLE early, likes, plan, gone_early, gone_early_likes_1;
INSERT INTO docs VALUES (3, 3, body());
DROP OWNED BY regress_dedup_children_reader;
DROP ROLE regress_dedup_children_reader;

----------------------------------------
-- the logs of children
----------------------------------------

-- one of each child, of names that are too long; with a key more it is the log of another removal
CREATE TABLE "likes_of_a_long_name_that_takes_all_of_the_sixty_three_bytes_it" (n int PRIMARY KEY,
    a int REFERENCES docs ON DELETE CASCADE, b int REFERENCES docs ON DELETE SET NULL);
INSERT INTO "likes_of_a_long_name_that_takes_all_of_the_sixty_three_bytes_it" VALUES (1, 2, 3), (2, 3, 2);
SELECT run('docs', 'plan', log => 'gone_docs');
SELECT c.relname FROM pg_class AS c WHERE relname ~ '^gone_docs' AND relkind = 'r' ORDER BY 1;
CREATE TABLE earlier (n int PRIMARY KEY, id int REFERENCES docs ON DELETE CASCADE);
INSERT INTO docs VALUES (4, 4, body());
INSERT INTO earlier VALUES (1, 4);
SELECT run('docs', 'plan_again', log => 'gone_docs');
SELECT put_back('gone_docs');
SELECT id FROM docs ORDER BY id;
TABLE "likes_of_a_long_name_that_takes_all_of_the_sixty_three_bytes_it" ORDER BY n;
TABLE earlier;
-- as are logs
SELECT run('docs', 'plan_more', log => repeat('x', 63), keep => 'id = 4 DESC');
SELECT c.relname FROM pg_class AS c WHERE relname ~ '^xxx' AND relkind = 'r' ORDER BY 1;
SELECT put_back(repeat('x', 63)::regclass);
SELECT id FROM docs ORDER BY id;

-- no log is taken that has what the new comment would not put back
CREATE TABLE notes (id int PRIMARY KEY, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO notes SELECT n, body() FROM generate_series(1, 3) AS n;
CREATE TABLE marks (n int PRIMARY KEY, a int CONSTRAINT marks_a REFERENCES notes,
    b int CONSTRAINT marks_b REFERENCES notes);
INSERT INTO marks VALUES (1, 2, 3), (2, 3, 2);
SELECT run('notes', 'plan_notes', log => 'gone_notes');
INSERT INTO notes VALUES (4, body());
SELECT run('notes', 'plan_notes', log => 'gone_notes', children => NULL);
ALTER TABLE marks DROP CONSTRAINT marks_a, ADD CONSTRAINT marks_a FOREIGN KEY (a) REFERENCES notes;
SELECT run('notes', 'plan_notes_2', log => 'gone_notes');
SELECT put_back('gone_notes');
TABLE marks ORDER BY n;
SELECT run('notes', 'plan_notes_2', log => 'gone_notes_2');
-- nor are logs emptied whose rows cannot be found by whoever puts all back
CREATE ROLE regress_dedup_children_blind;
GRANT ALL ON SCHEMA children TO regress_dedup_children_blind;
GRANT ALL ON ALL TABLES IN SCHEMA children TO regress_dedup_children_blind;
ALTER TABLE marks ENABLE ROW LEVEL SECURITY;
SET ROLE regress_dedup_children_blind;
SELECT put_back('gone_notes_2');
RESET ROLE;
DROP OWNED BY regress_dedup_children_blind;
DROP ROLE regress_dedup_children_blind;
SELECT put_back('gone_notes_2');
TABLE marks ORDER BY n;

-- what is dropped for one key leaves its place in another to what moves
CREATE TABLE twice (n int PRIMARY KEY, v int, a int REFERENCES docs, b int REFERENCES docs,
    UNIQUE (a, v), UNIQUE (b, v));
INSERT INTO twice SELECT n, n % 2, n, 5 - n FROM generate_series(1, 4) AS n;
SELECT run('docs', 'plan_twice', log => 'gone_twice');
TABLE twice ORDER BY n;
SELECT put_back('gone_twice');
TABLE twice ORDER BY n;

-- and may have moved before, to a place that others take after it
CREATE TABLE pages (id int PRIMARY KEY, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
CREATE TABLE refers (n int PRIMARY KEY, v int, a int REFERENCES pages, b int REFERENCES pages,
    UNIQUE (a, v), UNIQUE (b, v));
INSERT INTO pages VALUES (1, body()), (2, body());
INSERT INTO refers VALUES (1, 0, NULL, 1), (2, 0, 2, 2);
SELECT run('pages', 'plan_pages', log => 'gone_pages');
INSERT INTO pages VALUES (3, body());
INSERT INTO refers VALUES (3, 0, 3, 3);
SELECT run('pages', 'plan_pages_2', log => 'gone_pages_2');
TABLE refers ORDER BY n;
SELECT put_back('gone_pages_2');
SELECT put_back('gone_pages');
TABLE refers ORDER BY n;

-- groups by a composite type, of which a field is NULL
CREATE TYPE pair AS (a int, b int);
CREATE TABLE grouped (id int PRIMARY KEY, pair pair, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO grouped SELECT n, CASE WHEN n < 3 THEN ROW(1, NULL)::pair END, body() FROM generate_series(1, 4) AS n;
SELECT run('grouped', 'plan_grouped', children => NULL, groups => '{pair}');
SELECT gone, kept, done FROM plan_grouped;

-- a child's period is its own (from PostgreSQL 18 on)
CREATE FUNCTION run_for_periods() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('server_version_num')::int < 180000 THEN
        RETURN 'children.held refers to children.periods by a key that does not move (periods): leave out children';
    END IF;
    EXECUTE 'CREATE TABLE periods (n int PRIMARY KEY, id int4range, valid daterange, body text,
        fp bigint GENERATED ALWAYS AS (minhash(body)) STORED, UNIQUE (id, valid WITHOUT OVERLAPS))';
    INSERT INTO periods SELECT n, int4range(n, n + 1), '[2024-01-01,2025-01-01)', body() FROM generate_series(1, 3) AS n;
    EXECUTE 'CREATE TABLE held (n int PRIMARY KEY, id int4range, valid daterange,
        FOREIGN KEY (id, PERIOD valid) REFERENCES periods (id, PERIOD valid))';
    INSERT INTO held VALUES (1, '[2,2]', '[2024-02-01,2024-03-01)');
    RETURN run('periods', 'plan_periods');
END $$;
SELECT run_for_periods();

-- A trigger may leave out what comes back, of the table or of a child: the log stays.
CREATE TABLE news (id int PRIMARY KEY, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO news SELECT n, body() FROM generate_series(1, 3) AS n;
CREATE TABLE votes (n int PRIMARY KEY, news int UNIQUE REFERENCES news);
INSERT INTO votes VALUES (1, 1), (2, 2), (3, 3);
SELECT run('news', 'plan_news', log => 'gone_news');
CREATE INDEX ON news USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON news FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'skip', '8');
SELECT put_back('gone_news');
DROP TRIGGER guard ON news;
CREATE FUNCTION leave_out() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE TRIGGER leaves_out BEFORE INSERT ON votes FOR EACH ROW EXECUTE FUNCTION leave_out();
SELECT put_back('gone_news');
DROP TRIGGER leaves_out ON votes;
SELECT put_back('gone_news');
SELECT n, news, body = body() AS same FROM votes JOIN news ON id = news ORDER BY n;
-- nor does one that alters them have the log forget what they were
SELECT run('news', 'plan_news_2', log => 'gone_news_2');
CREATE FUNCTION alter_it() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.body = upper(NEW.body); RETURN NEW; END $$;
CREATE TRIGGER alters BEFORE INSERT ON news FOR EACH ROW EXECUTE FUNCTION alter_it();
SELECT put_back('gone_news_2');
ALTER TABLE news DISABLE TRIGGER alters;
DROP TABLE plan_news_2; -- the log serves without it
SELECT put_back('gone_news_2');
SELECT id, body = body() AS same FROM news ORDER BY id;
DROP TRIGGER alters ON news;

-- A log knows columns and keys as they were when it was made: what would be removed beside
-- these would be in no log.
CREATE TABLE plan_late AS SELECT * FROM simhash_dedup_plan('news', 'fp');
UPDATE plan_late SET doubt = 'later' WHERE gone = '{2}';
SELECT run('news', 'plan_late', log => 'gone_late');
UPDATE plan_late SET doubt = NULL;
ALTER TABLE news ADD note text;
SELECT run('news', 'plan_late', log => 'gone_late');
ALTER TABLE news DROP note;
ALTER TABLE votes ADD note text;
SELECT run('news', 'plan_late', log => 'gone_late');
ALTER TABLE votes DROP note;
CREATE TABLE stamps (n int PRIMARY KEY, news int REFERENCES news ON DELETE CASCADE);
SELECT run('news', 'plan_late', log => 'gone_late');
DROP TABLE stamps;
SELECT run('news', 'plan_late', log => 'gone_late');
TABLE votes;

-- What has got columns with keys since comes back with their defaults, and what is no
-- longer generated as it was.
CREATE TABLE talks (n int PRIMARY KEY, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO talks SELECT n, body() FROM generate_series(1, 2) AS n;
CREATE TABLE chairs (n int PRIMARY KEY, talk int REFERENCES talks, twice int GENERATED ALWAYS AS (2 * talk) STORED);
INSERT INTO chairs VALUES (1, 1), (2, 2);
SELECT run('talks', 'plan_talks', log => 'gone_talks');
ALTER TABLE talks ADD code int UNIQUE, ADD before int DEFAULT 1 REFERENCES talks;
ALTER TABLE chairs ADD code int REFERENCES talks (code), ADD next int DEFAULT 1 REFERENCES talks;
ALTER TABLE talks ALTER fp DROP EXPRESSION;
ALTER TABLE chairs ALTER twice DROP EXPRESSION;
SELECT put_back('gone_talks', 'plan_talks');
SELECT n, before, fp = minhash(body) AS same FROM talks ORDER BY n;
TABLE chairs ORDER BY n;
SELECT n, talk, twice, "simhash action" FROM gone_talks_chairs_1;

-- A row stays where it is, or in the log, if a value is too large for an index, or of a type
-- that a column has no more; others do not.
CREATE FUNCTION large(bytes int) RETURNS text LANGUAGE sql AS
$$ SELECT left(string_agg(md5(n::text), ''), bytes) FROM generate_series(1, 200) AS n $$;
CREATE TABLE links (url text PRIMARY KEY, size text, fp bigint);
INSERT INTO links VALUES (large(2500), '1', 5), ('x', '2', 5), ('c', '3', 9999), ('d', '4', 9999), ('e', '5', 9999);
CREATE TABLE clicks (n int PRIMARY KEY, url text REFERENCES links, who text);
INSERT INTO clicks VALUES (1, 'x', large(1000)), (2, 'd', NULL), (3, 'e', NULL);
CREATE INDEX ON clicks (url, who);
SELECT run('links', 'plan_links', log => 'gone_links');
SELECT left(gone[1], 3) AS gone, left(done, 21) AS done FROM plan_links ORDER BY 1;
UPDATE gone_links SET size = large(6000) WHERE url = 'e';
CREATE INDEX ON links (size);
SELECT put_back('gone_links');
SELECT left(url, 3) AS url FROM links ORDER BY 1;
SELECT url FROM gone_links;
DROP INDEX links_size_idx;
ALTER TABLE clicks ALTER who TYPE date USING NULL, ALTER n TYPE text;
SELECT put_back('gone_links');
SELECT n, url FROM clicks ORDER BY n;
ALTER TABLE gone_links_clicks_1 ALTER who TYPE date USING NULL, ALTER n TYPE text, ALTER "simhash now 1" TYPE text;
SELECT put_back('gone_links');
SELECT n, url FROM clicks ORDER BY n;

-- What others have put in the place of a row that cannot come back yet is not that row.
CREATE TABLE feeds (url text PRIMARY KEY, fp bigint);
INSERT INTO feeds VALUES ('a', 5), ('b', 5);
CREATE TABLE read_by (url text REFERENCES feeds ON DELETE CASCADE, who text, PRIMARY KEY (url, who));
INSERT INTO read_by VALUES ('a', 'bob'), ('b', 'ann'), ('b', 'bob');
SELECT run('feeds', 'plan_feeds', log => 'gone_feeds');
INSERT INTO feeds VALUES ('b', 9999);
INSERT INTO read_by VALUES ('b', 'ann'), ('b', 'bob');
SELECT put_back('gone_feeds', 'plan_feeds');
DELETE FROM feeds WHERE url = 'b';
SELECT put_back('gone_feeds', 'plan_feeds');
TABLE read_by ORDER BY url, who;
ALTER TABLE feeds DROP CONSTRAINT feeds_pkey CASCADE;
SELECT put_back('gone_feeds');

-- no row goes of whose line a trigger makes another one, as by a removal of its own
CREATE FUNCTION edit() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN UPDATE plan_talks SET doubt = '' WHERE gone = ARRAY[old.n::text]; RETURN NULL; END $$;
CREATE TRIGGER edit AFTER DELETE ON talks FOR EACH ROW EXECUTE FUNCTION edit();
UPDATE plan_talks SET done = NULL;
SELECT run('talks', 'plan_talks', children => 'stay');
SELECT (SELECT count(*) FROM talks), gone, done FROM plan_talks;
DROP TABLE talks, chairs, plan_talks;
DROP FUNCTION edit;

-- plan and logs can be updated where all tables are published
SET client_min_messages = error;
CREATE PUBLICATION children FOR TABLES IN SCHEMA children;
SET client_min_messages = warning;
SELECT run('pages', 'plan_published', log => 'gone_published');
SELECT count(*) FILTER (WHERE done = 'removed') FROM plan_published;
SET search_path = pg_catalog; -- is no matter to what was done with another
CALL public.simhash_dedup_undo('children.pages', log => 'children.gone_published');
SET search_path = children, public;
TABLE refers ORDER BY n;
DROP PUBLICATION children;

-- a key of the children themselves, made once the plan is there
CREATE TABLE plan_late_2 AS SELECT * FROM simhash_dedup_plan('pages', 'fp');
ALTER TABLE refers ADD UNIQUE (n, v);
CREATE TABLE grand (n int, v int, FOREIGN KEY (n, v) REFERENCES refers (n, v) ON DELETE CASCADE);
INSERT INTO grand SELECT n, v FROM refers;
SELECT run('pages', 'plan_late_2');
SELECT gone, done FROM plan_late_2;
SELECT count(*) FROM grand;
DROP TABLE grand;

-- a line of a plan twice, and children by inheritance, which may have rows of the same key
CREATE TABLE line (id int PRIMARY KEY, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO line SELECT n, body() FROM generate_series(1, 2) AS n;
CREATE TABLE fans (who text, line int REFERENCES line, PRIMARY KEY (who, line));
INSERT INTO fans VALUES ('ann', 2);
CREATE TABLE plan_line AS SELECT * FROM simhash_dedup_plan('line', 'fp');
INSERT INTO plan_line SELECT * FROM plan_line;
SELECT run('line', 'plan_line');
TABLE fans;
CREATE TABLE heir () INHERITS (line);
INSERT INTO line VALUES (3, 'something else that is like no other at all');
INSERT INTO heir VALUES (3, body());
SELECT run('line', 'plan_heir', children => NULL);
SELECT tableoid::regclass, id FROM line ORDER BY 2;

----------------------------------------
-- a log is of one table and its children, and what it cannot put back stays in it
----------------------------------------

CREATE TABLE items (id int PRIMARY KEY, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO items SELECT n, body() FROM generate_series(1, 2) AS n;
CREATE TABLE tags (n int PRIMARY KEY, item int REFERENCES items ON DELETE CASCADE);
INSERT INTO tags VALUES (1, 2);
SELECT run('items', 'plan_a', log => 'gone_a');
INSERT INTO items VALUES (3, body());
SELECT run('items', 'plan_b', log => 'gone_b', keep => 'id DESC');
TABLE tags;
SELECT put_back('gone_a'); -- too early
TABLE tags;
SELECT put_back('gone_b');
SELECT put_back('gone_a');
TABLE tags;
SELECT (SELECT count(*) FROM gone_a_tags_1) AS a, (SELECT count(*) FROM gone_b_tags_1) AS b;
-- under another name it is put back, whatever is in its place
SELECT run('items', 'plan_c', log => 'gone_c');
ALTER TABLE gone_c RENAME TO gone_d;
CREATE TABLE gone_c (LIKE gone_d INCLUDING ALL);
SELECT run('items', 'plan_d', log => 'gone_d');
SELECT put_back('gone_d');
SELECT count(*) FROM items;
DROP TABLE gone_c, gone_d, gone_c_tags_1;
-- types that have changed make another log of it
ALTER TABLE items ADD price numeric(9, 4);
SELECT run('items', 'plan_e', log => 'gone_e');
SELECT put_back('gone_e');
DROP TABLE plan_e;
ALTER TABLE items ALTER price TYPE numeric(9, 2);
SELECT run('items', 'plan_e', log => 'gone_e');
----------------------------------------
-- plans by hand: a row goes once, for one that stays, whatever is written of it
----------------------------------------

CREATE TABLE plan_hand (LIKE plan_a);
CREATE FUNCTION by_hand(g text, k text) RETURNS void LANGUAGE sql AS $$
    INSERT INTO plan_hand (gone, kept, compared, evidence) SELECT ARRAY[g], ARRAY[k], '{fp}', _simhash_hash_row(ROW(least(a.h, b.h), greatest(a.h, b.h)))
    FROM (SELECT *, _simhash_hash_row(ROW(fp)) AS h FROM items) AS a, (SELECT *, _simhash_hash_row(ROW(fp)) AS h FROM items) AS b
    WHERE a.id = g::int AND b.id = k::int
$$;
SELECT by_hand('1', '02'), by_hand('2', '01');
SELECT run('items', 'plan_hand');
SELECT gone, kept, done FROM plan_hand ORDER BY 1;
DELETE FROM plan_hand;
SELECT by_hand('1', '2'), by_hand('2', '3'), by_hand('1', '3');
SELECT run('items', 'plan_hand', log => 'gone_hand');
SELECT gone, kept, done FROM plan_hand ORDER BY 1, 2;
-- one that a line went for stays, though a line says so later
SELECT by_hand('3', '1');
SELECT run('items', 'plan_hand', log => 'gone_hand');
SELECT gone, kept, done FROM plan_hand ORDER BY 1, 2;
SELECT put_back('gone_hand');
-- nor does a row go uncompared since somebody says that it is going, nor for a line that
-- says nothing of what was compared, nor once that is another
TRUNCATE plan_hand;
SELECT by_hand('3', '1'), by_hand('2', '1');
INSERT INTO plan_hand (gone, kept, compared) VALUES ('{2}', '{1}', '{fp}'), ('{2}', '{1}', NULL);
UPDATE plan_hand SET done = CASE WHEN evidence IS NOT NULL AND gone = '{2}' THEN 'now' END;
UPDATE items SET body = 'Nothing of this is like that at all, whatever somebody may say of it in a plan.' WHERE id = 3;
SELECT run('items', 'plan_hand');
SELECT gone, compared, evidence IS NOT NULL AS evidence, done FROM plan_hand ORDER BY 1, 2, 3;
-- nor is there a column without a name
UPDATE plan_hand SET compared = '{fp,NULL}';
CALL simhash_dedup_apply('items', 'plan_hand');

----------------------------------------
-- keys to a table itself, other collations, counting triggers, operators of others
----------------------------------------

CREATE TABLE tree (id int PRIMARY KEY, up int REFERENCES tree, slug text, body text,
    fp bigint GENERATED ALWAYS AS (minhash(body)) STORED, UNIQUE (up, slug));
INSERT INTO tree SELECT n, NULL, 'root', body() FROM generate_series(1, 2) AS n;
INSERT INTO tree VALUES (3, 1, 'a', 'One text that is like no other one, about the sea and the ships that sail on it.'),
    (4, 2, 'a', 'Quite another document, which tells of mountains, goats, and how cheese is made.');
SELECT run('tree', 'plan_tree', log => 'gone_tree');
SELECT run('tree', 'plan_tree', log => 'gone_tree', children => 'stay');
SELECT gone, done FROM plan_tree;
SELECT count(*) FROM tree;

-- a thread goes in one run, the last reply first, and a row that refers to itself; two that
-- refer to each other stay
CREATE TABLE thread (id int PRIMARY KEY, up int REFERENCES thread, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO thread SELECT id, up, CASE id % 3 WHEN 0 THEN body()
    WHEN 1 THEN 'Everyone has the right to life, liberty and security of person, says the declaration.'
    ELSE 'Quite another document, which tells of mountains, goats, and how cheese is made.' END
FROM (VALUES (1, NULL), (2, 1), (3, 2), (4, 5), (5, 4), (6, 6), (9, NULL), (10, 9), (11, 10)) AS v (id, up);
CREATE TABLE thread_before AS TABLE thread;
SELECT run('thread', 'plan_thread', log => 'gone_thread', children => NULL);
SELECT gone, kept, done FROM plan_thread ORDER BY done, gone;
SELECT put_back('gone_thread', 'plan_thread');
TABLE thread EXCEPT TABLE thread_before;
SELECT count(*) FROM thread;
-- what stayed in an earlier run goes once nothing refers to it
UPDATE thread SET up = NULL WHERE id = 5;
SELECT run('thread', 'plan_thread', log => 'gone_thread', children => NULL);
SELECT gone, done FROM plan_thread WHERE done <> 'put back' ORDER BY gone;
DROP TABLE thread, thread_before;

CREATE COLLATION any_case (PROVIDER = icu, LOCALE = 'und-u-ks-level2', DETERMINISTIC = false);
CREATE TABLE named (n int PRIMARY KEY, item int REFERENCES items, who text);
CREATE UNIQUE INDEX ON named (item, who COLLATE any_case);
INSERT INTO named VALUES (1, 1, 'Ann'), (2, 2, 'ANN'), (3, 2, 'Bob');
SELECT run('items', 'plan_named', log => 'gone_named');
TABLE named ORDER BY n;
SELECT put_back('gone_named');
TABLE named ORDER BY n;
DROP TABLE named;

CREATE TABLE counted (url text PRIMARY KEY, n int NOT NULL DEFAULT 0, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO counted VALUES ('a', 0, body()), ('b', 0, body());
CREATE TABLE hits (n int PRIMARY KEY, url text REFERENCES counted (url) ON DELETE CASCADE);
CREATE TABLE refs (n int PRIMARY KEY, url text REFERENCES counted (url) ON DELETE CASCADE);
INSERT INTO hits VALUES (1, 'b');
INSERT INTO refs VALUES (1, 'b');
CREATE FUNCTION count_it() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN UPDATE counted SET n = n + 1 WHERE url = NEW.url; RETURN NULL; END $$;
CREATE TRIGGER counts AFTER UPDATE ON hits FOR EACH ROW EXECUTE FUNCTION count_it();
SELECT run('counted', 'plan_counted');
SELECT done FROM plan_counted;
SELECT (SELECT count(*) FROM hits) AS hits, (SELECT count(*) FROM refs) AS refs;

SET search_path = children, public, pg_catalog;
SELECT run('items', 'plan_path', log => 'gone_path'); -- as anything else
SET search_path = children, public;
SELECT put_back('gone_path');

----------------------------------------
-- keys that no move keeps right are refused
----------------------------------------

CREATE TABLE papers (id numeric PRIMARY KEY, tenant int, code char(5) UNIQUE, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED,
    UNIQUE (tenant, id));
INSERT INTO papers SELECT n + .6, n, n, body() FROM generate_series(1, 2) AS n;
CREATE TABLE child (n int PRIMARY KEY, paper int REFERENCES papers ON DELETE CASCADE); -- 1.6 is rounded
SELECT run('papers', 'plan_papers');
DROP TABLE child;
CREATE TABLE child (n int PRIMARY KEY, code text REFERENCES papers (code) ON DELETE CASCADE); -- where blanks count
SELECT run('papers', 'plan_papers');
DROP TABLE child;
CREATE TABLE users (tenant int, who int, PRIMARY KEY (tenant, who));
CREATE TABLE child (n int PRIMARY KEY, tenant int, paper numeric, who int,
    FOREIGN KEY (tenant, paper) REFERENCES papers (tenant, id), FOREIGN KEY (tenant, who) REFERENCES users);
SELECT run('papers', 'plan_papers'); -- who of another tenant
DROP TABLE child;
CREATE TABLE child (paper numeric REFERENCES papers, n int, PRIMARY KEY (paper, n));
CREATE TABLE grand (paper numeric, n int, FOREIGN KEY (paper, n) REFERENCES child ON UPDATE SET NULL);
SELECT run('papers', 'plan_papers');
DROP TABLE grand;
CREATE TABLE heir_of_child () INHERITS (child);
SELECT run('papers', 'plan_papers');
DROP TABLE heir_of_child;
CREATE TABLE heir_of_papers () INHERITS (papers);
SELECT run('papers', 'plan_papers');
DROP TABLE heir_of_papers;
CREATE TABLE more (id int PRIMARY KEY, up int REFERENCES more ON DELETE CASCADE, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO more VALUES (2, NULL, body()), (1, 2, body());
SELECT run('more', 'plan_more', children => NULL); -- the row that stays would go, too
-- so are tables that are no plan or log
CREATE TABLE plan_odd AS SELECT gone, kept, distance, similarity, family, doubt::varchar FROM simhash_dedup_plan('more', 'fp');
SELECT run('more', 'plan_odd');
SELECT run('papers', 'plan_papers', log => 'gone_papers');
SELECT put_back('gone_papers');
CREATE TRIGGER more BEFORE DELETE ON gone_papers FOR EACH ROW EXECUTE FUNCTION leave_out();
SELECT put_back('gone_papers');
-- but keys that are no matter to it are not minded
DROP TRIGGER more ON gone_papers;
CREATE TABLE plan_keys AS SELECT * FROM simhash_dedup_plan('papers', 'fp');
ALTER TABLE papers DROP CONSTRAINT papers_tenant_id_key;
SELECT run('papers', 'plan_keys', log => 'gone_papers');
SELECT put_back('gone_papers');

----------------------------------------
-- where a row has to stay, nothing that is its own has moved; what triggers change stays in the log
----------------------------------------

CREATE TABLE books (id int PRIMARY KEY, held bool, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO books SELECT n, n = 2, body() FROM generate_series(1, 3) AS n;
CREATE TABLE lent (n int PRIMARY KEY, book int REFERENCES books ON DELETE CASCADE, title text);
INSERT INTO lent SELECT n, n, 'title ' || n FROM generate_series(1, 3) AS n;
CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN CASE WHEN NOT OLD.held THEN OLD END; END $$;
CREATE TRIGGER holds BEFORE DELETE ON books FOR EACH ROW EXECUTE FUNCTION hold();
CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN IF NEW.book <> OLD.book THEN NEW.title = 'title ' || NEW.book; END IF; RETURN NEW; END $$;
UPDATE lent SET title = 'edited' WHERE n = 3;
CREATE TRIGGER fills BEFORE UPDATE ON lent FOR EACH ROW EXECUTE FUNCTION fill();
SELECT run('books', 'plan_books', log => 'gone_books');
SELECT gone, done FROM plan_books ORDER BY gone;
TABLE lent ORDER BY n;
CREATE FUNCTION take_away() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN DELETE FROM books WHERE id = NEW.id; RETURN NULL; END $$;
CREATE TRIGGER takes AFTER INSERT ON books FOR EACH ROW EXECUTE FUNCTION take_away();
SELECT put_back('gone_books');
DROP TRIGGER takes ON books;
SELECT put_back('gone_books');
TABLE lent ORDER BY n;
SELECT n, book, title, "simhash action" FROM gone_books_lent_1;
-- of two lines about a row that has moved elsewhere meanwhile, the last one tells
DROP TRIGGER fills ON lent;
SELECT run('books', 'plan_books_2', log => 'gone_books_2');
INSERT INTO books VALUES (7, false, body());
UPDATE lent SET book = 7 WHERE n = 3;
DELETE FROM plan_books_2 WHERE gone = '{3}';
INSERT INTO plan_books_2 SELECT * FROM simhash_dedup_plan('books', 'fp') WHERE gone = '{7}';
SELECT run('books', 'plan_books_2', log => 'gone_books_2');
SELECT put_back('gone_books_2');
TABLE lent ORDER BY n;

-- the row that moves on from where it moved keeps both lines; one that is in the place of
-- another has the last one
CREATE TABLE clips (id int PRIMARY KEY, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO clips VALUES (5, body()), (6, body());
CREATE TABLE seen (n int PRIMARY KEY, clip int REFERENCES clips ON DELETE CASCADE);
CREATE TABLE liked (who text, clip int REFERENCES clips ON DELETE CASCADE, PRIMARY KEY (who, clip));
INSERT INTO seen VALUES (1, 6);
INSERT INTO liked VALUES ('ann', 6);
SELECT run('clips', 'plan_clips', log => 'gone_clips');
DROP TABLE plan_clips;
DELETE FROM liked;
INSERT INTO clips VALUES (1, body()), (7, body());
INSERT INTO liked VALUES ('ann', 7);
SELECT run('clips', 'plan_clips', log => 'gone_clips');
SELECT put_back('gone_clips');
TABLE seen;
TABLE liked;
-- pairs of rows, of which one key after the other moves: where they collide, both stay
CREATE TABLE linked (a int REFERENCES clips, b int REFERENCES clips, PRIMARY KEY (a, b));
INSERT INTO linked VALUES (1, 1), (5, 5);
SELECT run('clips', 'plan_linked', children => 'stay');
SELECT gone, done FROM plan_linked ORDER BY gone;
TABLE linked;
DROP TABLE linked, liked, seen;
-- a column of the reviewer's is none of ours; what stays is there in the end
CREATE TABLE plan_noted AS SELECT *, NULL::text AS why, NULL::text AS stay FROM simhash_dedup_plan('clips', 'fp');
CREATE FUNCTION take_all() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN DELETE FROM clips; RETURN NULL; END $$;
CREATE TRIGGER takes_all AFTER DELETE ON clips FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION take_all();
SELECT run('clips', 'plan_noted');
SELECT gone, done, why FROM plan_noted ORDER BY gone;
SELECT id FROM clips ORDER BY id;

----------------------------------------
-- the last step is undone first, and what collides is what the server says
----------------------------------------

-- x moves by one key and is dropped by the other, and y takes its place: each gets its own back
CREATE TABLE songs (id int PRIMARY KEY, url text UNIQUE, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO songs SELECT n, 'song ' || n, CASE WHEN n IN (3, 4)
    THEN 'Everyone has the right to life, liberty and security of person, says the declaration.' ELSE body() END
FROM unnest('{1,2,3,4,6}'::int[]) AS n;
CREATE TABLE sung (who text, a int REFERENCES songs, b int REFERENCES songs UNIQUE, note text, PRIMARY KEY (who, a));
INSERT INTO sung VALUES ('ann', 6, 4, 'x'), ('ann', 2, NULL, 'y'), ('bob', 3, 3, 'z');
CREATE TABLE plan_songs AS SELECT * FROM simhash_dedup_plan('songs', 'fp');
CALL simhash_dedup_apply('songs', 'plan_songs', log => 'gone_songs', children => 'move', batch => 1);
TABLE sung ORDER BY note;
SELECT note, a, b, "simhash action" FROM gone_songs_sung_1 ORDER BY "simhash step";
-- a song is there again under another number: what referred to it stays where it moved, as
-- does all that is told of that place before
INSERT INTO songs VALUES (7, 'song 2', 'another text, which nobody has ever seen before or after');
SET client_min_messages = error;
SELECT put_back('gone_songs');
RESET client_min_messages;
TABLE sung ORDER BY note;
DELETE FROM songs WHERE id = 7;
SELECT put_back('gone_songs');
SET client_min_messages = warning;
TABLE sung ORDER BY note;
SELECT (SELECT count(*) FROM gone_songs) AS gone, (SELECT count(*) FROM gone_songs_sung_1) AS moved;
DROP TABLE sung, plan_songs, gone_songs, gone_songs_sung_1;

-- an index of some rows, of an expression, an exclusion constraint, a key that is checked at the end
CREATE TABLE sung (n int PRIMARY KEY, song int REFERENCES songs, who text, live bool, at int4range,
    EXCLUDE USING gist (at WITH &&) WHERE (song = 1), CONSTRAINT sung_live UNIQUE (song, live) DEFERRABLE INITIALLY DEFERRED);
CREATE UNIQUE INDEX ON sung (song, lower(who)) WHERE who <> 'nobody';
INSERT INTO sung VALUES (1, 1, 'Ann', NULL, '[1,5)'), (2, 2, 'ANN', NULL, NULL), (3, 2, 'nobody', true, NULL),
    (4, 6, 'nobody', true, NULL), (5, 2, 'bob', NULL, '[4,6)'), (6, 6, 'nobody', NULL, '[5,6)');
SELECT run('songs', 'plan_songs', log => 'gone_songs');
SELECT n, song, who, live, at FROM sung ORDER BY n;
SELECT n, "simhash action" FROM gone_songs_sung_1 ORDER BY n;
SELECT put_back('gone_songs');
SELECT n, song, who, live, at FROM sung ORDER BY n;
-- an index of a partition's own
CREATE TABLE singers (who text, song int REFERENCES songs) PARTITION BY LIST (who);
CREATE TABLE singer (song int REFERENCES songs, who text);
ALTER TABLE singers ATTACH PARTITION singer FOR VALUES IN ('Ann');
CREATE TABLE others PARTITION OF singers DEFAULT;
CREATE UNIQUE INDEX ON singer (song);
INSERT INTO singers VALUES ('Ann', 1), ('Ann', 2), ('Bob', 1), ('Bob', 2);
BEGIN;
SELECT run('songs', 'plan_singers');
SELECT tableoid::regclass, song FROM singers ORDER BY tableoid, song;
ROLLBACK;
DROP TABLE singers;
-- a collision that a trigger makes elsewhere drops no row
CREATE TABLE once (song int PRIMARY KEY);
INSERT INTO once VALUES (1);
CREATE FUNCTION note_it() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO once VALUES (NEW.song); RETURN NEW; END $$;
CREATE TRIGGER notes AFTER UPDATE ON sung FOR EACH ROW EXECUTE FUNCTION note_it();
SELECT run('songs', 'plan_songs_2', log => 'gone_songs');
SELECT gone, done FROM plan_songs_2 ORDER BY gone;
SELECT count(*) FROM sung;
-- and nobody gets rights on logs by default
ALTER DEFAULT PRIVILEGES IN SCHEMA children GRANT ALL ON TABLES TO PUBLIC;
SELECT run('pages', 'plan_granted', log => 'gone_granted');
SELECT relname, relacl FROM pg_class WHERE relname ~ '^gone_granted' AND relkind = 'r' AND array_length(relacl, 1) > 1;
ALTER DEFAULT PRIVILEGES IN SCHEMA children REVOKE ALL ON TABLES FROM PUBLIC;

-- a key has been given to another row meanwhile, what referred to the old one stays where it
-- went; in a plan named as the block is, its variables are none of its columns
CREATE TABLE posts (id int PRIMARY KEY, slug text UNIQUE, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO posts VALUES (1, 'first', body()), (2, 'today', body()),
    (3, 'rights', 'another text, which nobody has ever seen before or after');
CREATE TABLE voted (n int PRIMARY KEY, slug text REFERENCES posts (slug));
CREATE TABLE starred (who text, slug text REFERENCES posts (slug), PRIMARY KEY (who, slug));
INSERT INTO voted VALUES (1, 'today'), (2, 'rights');
INSERT INTO starred VALUES ('ann', 'first'), ('ann', 'today'), ('bob', 'today');
CREATE FUNCTION now(anyelement) RETURNS tid[] LANGUAGE plpgsql AS $$ BEGIN RAISE 'planted'; END $$;
SELECT run('posts', 'simhash', log => 'gone_posts');
SELECT gone, done FROM simhash;
DROP FUNCTION now(anyelement);
UPDATE voted SET slug = 'first' WHERE n = 2;
UPDATE posts SET slug = 'today' WHERE id = 3;
SET client_min_messages = error;
SELECT put_back('gone_posts');
TABLE voted ORDER BY n;
TABLE starred ORDER BY who, slug;
-- until it is free
UPDATE posts SET slug = 'rights' WHERE id = 3;
SELECT put_back('gone_posts');
SET client_min_messages = warning;
TABLE voted ORDER BY n;
TABLE starred ORDER BY who, slug;
SELECT (SELECT count(*) FROM gone_posts) AS gone, (SELECT count(*) FROM gone_posts_voted_1) + (SELECT count(*) FROM gone_posts_starred_1) AS moved;

-- what refers to nothing is not held for a row without the key; one that a trigger takes along
-- is not said to be removed; and what a reply refers to may have another text, without children, too
CREATE TABLE themes (id int PRIMARY KEY, slug text UNIQUE, up int REFERENCES themes, along int, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
CREATE TABLE tagged (n int PRIMARY KEY, theme int REFERENCES themes, slug text REFERENCES themes (slug));
INSERT INTO themes (id, body) SELECT n, body() FROM generate_series(1, 4) AS n;
INSERT INTO tagged SELECT n, n FROM generate_series(1, 4) AS n;
CREATE TABLE plan_themes AS SELECT * FROM simhash_dedup_plan('themes', 'fp');
CALL simhash_dedup_apply('themes', 'plan_themes', log => 'gone_themes', children => 'move', batch => 1);
INSERT INTO themes (id, body) VALUES (4, 'another text, which nobody has ever seen before or after');
SET client_min_messages = error;
SELECT put_back('gone_themes');
SET client_min_messages = warning;
SELECT id, left(body, 7) AS body FROM themes ORDER BY id;
SELECT n, theme FROM tagged ORDER BY n;
TRUNCATE themes, tagged;
CREATE FUNCTION take_along() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN DELETE FROM themes WHERE id = OLD.along; RETURN OLD; END $$;
CREATE TRIGGER along BEFORE DELETE ON themes FOR EACH ROW EXECUTE FUNCTION take_along();
INSERT INTO themes (id, along, body) VALUES (1, NULL, body()), (2, 4, body()), (3, NULL, body()), (4, 3, body());
SELECT run('themes', 'plan_along', log => 'gone_along');
SELECT gone, done FROM plan_along ORDER BY gone;
SELECT id FROM gone_along ORDER BY id;
TRUNCATE themes, tagged;
DROP TRIGGER along ON themes;
DROP TABLE tagged;
INSERT INTO themes (id, up, body) VALUES (1, NULL, body()), (2, NULL, body()), (3, 1, 'a reply that is the same to the first and to the second of them'),
    (4, 2, 'a reply that is the same to the first and to the second of them');
SELECT run('themes', 'plan_replies', log => 'gone_replies', children => NULL);
UPDATE plan_replies SET done = NULL WHERE done <> 'removed';
SELECT run('themes', 'plan_replies', log => 'gone_replies', children => NULL);
SELECT gone, done FROM plan_replies ORDER BY gone;
INSERT INTO themes (id, body) VALUES (2, 'another text, which nobody has ever seen before or after');
SET client_min_messages = error;
SELECT put_back('gone_replies');
SET client_min_messages = warning;
SELECT id, up, left(body, 7) AS body FROM themes ORDER BY id;
-- a row that refers to itself goes, and comes back
TRUNCATE themes;
INSERT INTO themes (id, up, body) VALUES (1, 1, body()), (2, 2, body());
SELECT run('themes', 'plan_self', log => 'gone_self', children => NULL);
SELECT gone, done FROM plan_self;
SELECT put_back('gone_self');
SELECT id, up FROM themes ORDER BY id;

RESET search_path;
DROP SCHEMA children CASCADE;
