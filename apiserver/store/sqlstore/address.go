package sqlstore

import (
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// The key of the table addresses makes primary addresses and aliases unique together. A
// mailbox's row repeats its aliases as JSON, so that a list needs no second query.

// deleteAliasesIn deletes the aliases that mailboxes of other domains have in a
// domain.
func (t *tx) deleteAliasesIn(d store.Domain, at time.Time) error {
	owners, err := all(&t.reader, mailboxes, t.inAccount(d.AccountID).
		and(`t.id IN (SELECT mailbox_id FROM addresses WHERE domain_id = ?)`, d.ID).and(`t.domain_id <> ?`, d.ID))
	if err != nil {
		return err
	}
	var deleted []string
	for i := range owners {
		for _, a := range owners[i].Aliases {
			if inDomain(a, d) {
				deleted = append(deleted, a.Alias)
			}
		}
	}
	if err := t.releaseForwarding(deleted, at); err != nil {
		return err
	}
	for _, before := range owners {
		after := before
		after.UpdatedAt, after.Aliases = at, nil // as it is read if none is left
		for _, a := range before.Aliases {
			if !inDomain(a, d) {
				after.Aliases = append(after.Aliases, a)
			}
		}
		if err := t.exec(`UPDATE mailboxes SET aliases = $1, updated_at = $2 WHERE id = $3`,
			asJSON{&after.Aliases}, at, after.ID); err != nil {
			return err
		}
		if err := t.exec(`DELETE FROM addresses WHERE domain_id = $1 AND mailbox_id = $2`, d.ID, after.ID); err != nil {
			return err
		}
		report(t, &before, &after, "aliases")
	}
	return nil
}

func inDomain(a store.MailboxAlias, d store.Domain) bool {
	return strings.HasSuffix(a.Alias, "@"+d.Name)
}
