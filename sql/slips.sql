--
-- What goes wrong in the first hour, and what the message says.  What leads on
-- from PostgreSQL's own messages is in docs/troubleshooting.md.
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

CREATE TABLE docs (id int, body text, fp bigint, small int, bits bit(64), bytes bytea);
INSERT INTO docs VALUES (1, 'some text', 42, 42, 42::bit(64), '\x00ff');

-- indexes and constraints
SELECT fails('CREATE INDEX ON docs USING hamming (body)');
SELECT fails('CREATE INDEX ON docs USING hamming (small)');
SELECT fails('CREATE INDEX ON docs USING hamming (bytes)');
SELECT fails('CREATE INDEX ON docs USING hamming (simhash_bits(body, 256))');
SELECT fails('CREATE INDEX ON docs USING hamming (id, hamming_ball(fp, 3), hamming_ball(fp, 4))');
SELECT fails('CREATE UNIQUE INDEX ON docs USING hamming (fp)');
SELECT fails('ALTER TABLE docs ADD EXCLUDE USING gist (fp WITH ~=)');
SELECT replace(fails('ALTER TABLE docs ADD EXCLUDE (fp WITH ~=)'), 'operator public.', 'operator ') AS fails;
SELECT replace(fails('ALTER TABLE docs ADD EXCLUDE USING hamming (fp WITH <~>)'), 'operator public.', 'operator ') AS fails;
SELECT fails('ALTER TABLE docs ADD EXCLUDE USING hamming (hamming_ball(fp, 80) WITH ~=)');

-- searches
SELECT fails($$SELECT FROM docs WHERE fp ~= 'some text'$$);
SELECT fails('SELECT FROM docs WHERE fp ~= body');
SELECT fails('SELECT FROM docs WHERE body ~= fp');
SELECT fails('SELECT FROM docs WHERE fp ~= 18446744073709551615');
SELECT fails('SELECT FROM docs WHERE fp <@ fp');
SELECT fails('SELECT FROM docs WHERE fp <@ 8');
SELECT fails($$SELECT FROM docs WHERE fp <@ '8'$$);
SELECT fails('SELECT FROM docs WHERE (42, 8) <@ fp');
SELECT fails('SELECT FROM docs WHERE fp @> (42, 8)');
SELECT fails('SELECT FROM docs WHERE fp <@ (42, 8.5)');
SELECT fails('SELECT FROM docs WHERE fp <@ (42, 65)');
SELECT fails('SELECT FROM docs WHERE fp <@ (42, -1)');
SELECT fails('SELECT FROM docs WHERE fp <@ (bits, 3)');
SELECT fails('SELECT FROM docs WHERE bits ~= bits');
SELECT fails('SELECT FROM docs WHERE bits <@ (42, 3)');
SELECT fails($$SELECT FROM docs WHERE bits <@ (B'101', 2)$$);
SELECT fails('SELECT FROM docs WHERE bits <@ (42::bit(64), 65)');
-- no errors: numbers are numbers, whatever they are fingerprints of, and NULL
-- is near nothing
SELECT count(*) FROM docs WHERE simhash(body) ~= minhash(body);
SELECT count(*) FROM docs WHERE fp ~= NULL OR fp <@ (NULL, 3) OR fp <@ (42, NULL) OR fp <~> NULL <= 3;
SELECT count(*) FROM docs WHERE small ~= 42;

-- functions
SELECT fails('SELECT simhash(bytes) FROM docs');
SELECT fails('SELECT simhash(fp) FROM docs');
SELECT fails('SELECT simhash(body, 3) FROM docs');
SELECT fails($$SELECT simhash(body, 'minhash') FROM docs$$);
SELECT fails('SELECT hamming(fp, body) FROM docs');
SELECT fails($$SELECT simhash_add_keys('docs', 'body')$$);
SELECT fails($$SELECT simhash_add_keys('docs', 'small')$$);
SELECT fails($$SELECT simhash_pairs('docs', 3)$$);
SELECT fails($$SELECT simhash_pairs('SELECT id, body FROM docs', 3)$$);
SELECT fails($$SELECT simhash_report('docs', 'body')$$);

-- the guard, where no other trigger is
CREATE FUNCTION guarded(kind text, arguments text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    message text;
BEGIN
    EXECUTE format('CREATE TRIGGER g %s EXECUTE FUNCTION simhash_guard(%s)', kind, arguments);
    message := fails('INSERT INTO docs (id, fp) VALUES (2, 43)');
    DROP TRIGGER g ON docs;
    RETURN message;
END $$;
SELECT guarded('AFTER INSERT ON docs FOR EACH ROW', $$'fp', 'reject', '3'$$);
SELECT guarded('BEFORE INSERT ON docs', $$'fp', 'reject', '3'$$);
SELECT guarded('BEFORE INSERT ON docs FOR EACH ROW', '');
SELECT guarded('BEFORE INSERT ON docs FOR EACH ROW', $$'fp', '3'$$);
SELECT guarded('BEFORE INSERT ON docs FOR EACH ROW', $$'fp', '3', 'reject'$$);
SELECT guarded('BEFORE INSERT ON docs FOR EACH ROW', $$'body', 'reject', '3'$$);
SELECT guarded('BEFORE INSERT ON docs FOR EACH ROW', $$'text', 'reject', '3'$$);
SELECT guarded('BEFORE INSERT ON docs FOR EACH ROW', $$'fp', 'reject', '70'$$);
SELECT guarded('BEFORE INSERT ON docs FOR EACH ROW', $$'fp', 'reject', '3'$$);

-- the schema not on the path
SET search_path = pg_catalog;
SELECT public.fails('SELECT FROM public.docs WHERE fp ~= 42');
SELECT public.fails('SELECT simhash(body) FROM public.docs');
SELECT public.fails('SELECT FROM public.docs WHERE fp <~> 42 <= 3');
RESET search_path;

DROP TABLE docs;
DROP FUNCTION guarded;
