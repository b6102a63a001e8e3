package sqlstore

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// The table addresses holds the primary address and the aliases of every mailbox, so
// that its key makes them unique together. The mailbox's row repeats its aliases as
// JSON, so that a list of mailboxes needs no second query.

// addressKey is the primary key of an address.
type addressKey struct{ domainID, localPart string }

// addressKeys returns the keys of a mailbox's addresses, the primary one first.
func (t *tx) addressKeys(m *store.Mailbox) ([]addressKey, error) {
	keys := []addressKey{{m.DomainID, m.LocalPart}}
	for _, a := range m.Aliases {
		at := strings.LastIndexByte(a.Alias, '@')
		d, err := t.DomainByName(m.AccountID, a.Alias[at+1:])
		if err != nil {
			return nil, fmt.Errorf("the domain of the alias %s: %w", a.Alias, err)
		}
		keys = append(keys, addressKey{d.ID, a.Alias[:max(at, 0)]})
	}
	return keys, nil
}

// addAddress inserts an address of a mailbox that was inserted before. If it exists,
// it deletes the mailbox again and returns an *store.ExistsError.
func (t *tx) addAddress(m *store.Mailbox, k addressKey) error {
	n, err := t.exec(`INSERT INTO addresses (domain_id, local_part, mailbox_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
		k.domainID, k.localPart, m.ID)
	if err != nil {
		return fmt.Errorf("create an address: %w", err)
	}
	if n == 1 {
		return nil
	}
	owner := t.taken(`SELECT mailbox_id FROM addresses WHERE domain_id = $1 AND local_part = $2`, k.domainID, k.localPart)
	return cmp.Or(t.change(`DELETE FROM mailboxes WHERE id = $1`, m.ID), owner)
}

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
		if err := t.change(`UPDATE mailboxes SET aliases = $1, updated_at = $2 WHERE id = $3`,
			asJSON{&after.Aliases}, at, after.ID); err != nil {
			return err
		}
		if _, err := t.exec(`DELETE FROM addresses WHERE domain_id = $1 AND mailbox_id = $2`, d.ID, after.ID); err != nil {
			return fmt.Errorf("delete aliases: %w", err)
		}
		report(t, &before, &after, "aliases")
	}
	return nil
}

func inDomain(a store.MailboxAlias, d store.Domain) bool {
	return strings.HasSuffix(a.Alias, "@"+d.Name)
}
