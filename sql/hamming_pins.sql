--
-- hamming_tree.c: many scans at once
--
-- A scan that has ended holds no page of the index, so a query may have more
-- scans than its session has buffers.
--

SET temp_buffers = 100;
SET client_min_messages = warning;

CREATE TEMP TABLE docs (part int, fp bigint) PARTITION BY LIST (part);
DO $$
BEGIN
  FOR n IN 1 .. 120 LOOP
    EXECUTE format('CREATE TEMP TABLE docs_%s PARTITION OF docs
      FOR VALUES IN (%1$s)', n);
  END LOOP;
END $$;
INSERT INTO docs
SELECT n % 120 + 1, hashint8extended(n, 1) FROM generate_series(1, 36000) AS n;
CREATE INDEX ON docs USING hamming (fp);

SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(*) FROM docs WHERE fp ~= (hashint8extended(77, 1) # 5);
-- the way down is remembered all the same, and taken again
SELECT count(*) FROM generate_series(1, 300) AS n,
  LATERAL (SELECT FROM docs_8 WHERE fp ~= hashint8extended(n, 1) OFFSET 0) AS d;
