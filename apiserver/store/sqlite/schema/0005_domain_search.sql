-- A domain is searched by its name as people write it too. Go makes that form for
-- the domains to come; those that are there keep being found by the other.
ALTER TABLE domains ADD COLUMN search_text TEXT NOT NULL DEFAULT '';
UPDATE domains SET search_text = name;
