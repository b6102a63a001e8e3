-- A create is marked if its response was not delivered, in place of every delivered one.
ALTER TABLE idempotency_records DROP COLUMN delivered;
ALTER TABLE idempotency_records ADD COLUMN interrupted_request BLOB;
ALTER TABLE idempotency_records ADD COLUMN interrupted_id TEXT NOT NULL DEFAULT '';
CREATE INDEX idempotency_records_by_interrupted_request ON idempotency_records (interrupted_request) WHERE interrupted_request IS NOT NULL;
