-- Whether an answer has reached its caller: one that has not may belong to a
-- caller that was cut off.
ALTER TABLE idempotent_answers ADD COLUMN delivered INTEGER NOT NULL DEFAULT 0;
