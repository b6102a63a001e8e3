-- Names compare and are searched in a form that Go makes, for all rows that exist
-- too. Names that were different before and are the same in that form both stay.
ALTER TABLE workspaces ADD COLUMN folded_name TEXT NOT NULL DEFAULT '';
CREATE INDEX workspaces_by_folded_name ON workspaces (account_id, folded_name);
CREATE INDEX master_passwords_by_folded_name ON master_passwords (account_id, scope_type, scope_id, search_text);
