-- A domain that is not paid for in time is left out of everything that is read.
CREATE INDEX domains_unpaid ON domains (account_id, created_at) WHERE status = 'pending_payment';
