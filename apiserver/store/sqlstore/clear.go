package sqlstore

import "fmt"

// Tables returns the tables of the schema, each before those that it refers to.
func Tables() []string {
	return []string{
		dnsRecords.table, "addresses", mailboxes.table, "domain_tags", domains.table,
		"dedicated_ip_claims", dedicatedIPs.table, dedicatedIPOptions.table,
		mailQueue.table, messageLimits, forwardingRules.table, masterPasswords.table, authorizations.table, serviceAccounts.table,
		workspaces.table, feedback.table, accounts.table,
		auditEntries.table, idempotencyRecords.table,
	}
}

// Clear implements store.Clearer.
func (t *tx) Clear() error {
	clear(t.newest)
	clear(t.domains)
	for _, table := range Tables() {
		if _, err := t.exec(`DELETE FROM ` + table); err != nil {
			return fmt.Errorf("clear %s: %w", table, err)
		}
	}
	return nil
}
