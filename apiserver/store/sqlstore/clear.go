package sqlstore

import "fmt"

// Tables returns the tables of the schema, each before those that it refers to.
func Tables() []string {
	return []string{
		dnsRecords.name, "addresses", mailboxes.name, "domain_tags", domains.name,
		"dedicated_ip_claims", dedicatedIPs.name, dedicatedIPOptions.name,
		mailQueue.name, messageLimits, forwardingRules.name, masterPasswords.name, authorizations.name, serviceAccounts.name,
		workspaces.name, feedback.name, accounts.name,
		auditEntries.name, idempotencyRecords.name,
	}
}

// Clear implements store.Tx.
func (t *tx) Clear() error {
	deleted, err := t.Accounts()
	if err != nil {
		return err
	}
	clear(t.newest)
	clear(t.domains)
	for _, table := range Tables() {
		if _, err := t.exec(`DELETE FROM ` + table); err != nil {
			return fmt.Errorf("clear %s: %w", table, err)
		}
	}
	for i := range deleted {
		report(t, &deleted[i], nil)
	}
	return nil
}
