-- A create that meets an existing object is always a conflict: nothing depends on whether
-- a client has received a response.
DROP INDEX idempotency_records_by_interrupted_request;
ALTER TABLE idempotency_records DROP COLUMN interrupted_request;
ALTER TABLE idempotency_records DROP COLUMN interrupted_id;
ALTER TABLE idempotency_records DROP COLUMN delivered;

-- Lists are read with COUNT, LIMIT and OFFSET from the indexes of their order.
DROP TABLE list_facets;
DROP TABLE list_totals;
DROP TABLE list_blocks;
