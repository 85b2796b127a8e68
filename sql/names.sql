--
-- Names that mean something to templates of commands, or to printf(), in all that writes
-- commands: clusters of both kinds, and a removal with its log, children and undo.
--
SET client_min_messages = warning;
CREATE SCHEMA "s%s{log}@1";
SET search_path = "s%s{log}@1", public;
CREATE TABLE "t{id}%s@1'""" ("k{key}%d" int PRIMARY KEY, "b@2%n{x|y}" text, "g{g}%" int NOT NULL, "f%f{fp}@3" bigint);
CREATE TABLE "c{t}%s" (id int PRIMARY KEY, "r{r}%s@1" int REFERENCES "t{id}%s@1'""");
INSERT INTO "t{id}%s@1'""" SELECT i, body, i % 2, minhash(body) FROM generate_series(1, 60) AS i,
	concat('one two three four five six seven eight nine ten eleven twelve thirteen number ', i % 5) AS body;
INSERT INTO "c{t}%s" SELECT i, i FROM generate_series(1, 60) AS i;
CREATE INDEX ON "t{id}%s@1'""" USING hamming ("f%f{fp}@3");
SELECT oid::regclass AS rel FROM pg_class WHERE relname = 't{id}%s@1''"' \gset

CALL simhash_add_clusters(:'rel', 'f%f{fp}@3', 8, 'star', "column" => 'c{cluster}%s', since => 's%{since}', within => '{"g{g}%"}',
	document => 'b@2%n{x|y}', similarity => 'jaccard', at_least => 0.5);
CALL simhash_add_clusters(:'rel', 'f%f{fp}@3', 8, 'connected', "column" => 'd{cluster}%s', within => '{"g{g}%"}');
INSERT INTO "t{id}%s@1'""" SELECT "k{key}%d" + 60, "b@2%n{x|y}", 1 - "g{g}%", "f%f{fp}@3" FROM "t{id}%s@1'""" WHERE "k{key}%d" <= 20;
DELETE FROM "t{id}%s@1'""" WHERE "k{key}%d" > 60;
CALL simhash_mend_clusters(:'rel', 'c{cluster}%s', anew => '"k{key}%d" % 7 = 3 AND ''{cluster}%s@1'' <> ''''');
CALL simhash_trim_clusters(:'rel', 'c{cluster}%s', '0');
CALL simhash_split_clusters(:'rel', 'd{cluster}%s');
SELECT * FROM simhash_check_clusters(:'rel', 'c{cluster}%s');
SELECT * FROM simhash_check_clusters(:'rel', 'd{cluster}%s');
SELECT count(DISTINCT "c{cluster}%s") AS star, count(DISTINCT "d{cluster}%s") AS connected FROM "t{id}%s@1'""";

CREATE TABLE "p{plan}%s" AS SELECT * FROM simhash_dedup_plan(:'rel', '"f%f{fp}@3"', 8, within => '{"g{g}%"}',
	document => '"b@2%n{x|y}"', similarity => 'jaccard', at_least => 0.5);
CALL simhash_dedup_apply(:'rel', '"p{plan}%s"', log => '"l{log}%s@1"', children => 'move');
SELECT done, count(*) FROM "p{plan}%s" GROUP BY done;
SELECT count(*), count(DISTINCT "r{r}%s@1") FROM "c{t}%s";
CALL simhash_dedup_undo(:'rel', '"p{plan}%s"', '"l{log}%s@1"');
SELECT count(*) AS came_back FROM "t{id}%s@1'""";
SELECT count(*) FROM "c{t}%s" WHERE id = "r{r}%s@1";
CALL simhash_drop_clusters(:'rel', 'c{cluster}%s');
CALL simhash_drop_clusters(:'rel', 'd{cluster}%s');
DROP SCHEMA "s%s{log}@1" CASCADE;
