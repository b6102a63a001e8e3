-- The payment page finds the domains of a purchase.
CREATE INDEX domains_of_purchase ON domains (purchase_batch_id) WHERE purchase_batch_id <> '';
