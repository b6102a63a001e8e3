package sqlstore

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// repairedMailboxReadiness is not later than that of the domain, if it was purchased.
const repairedMailboxReadiness = `CASE WHEN mailboxes.state_ready_at > $now THEN COALESCE((SELECT MIN(r.at) FROM (
		SELECT ` + repairedReadiness + ` AS at FROM domains WHERE domains.id = mailboxes.domain_id AND domains.purchase_batch_id <> ''
	) r WHERE r.at < mailboxes.state_ready_at), mailboxes.state_ready_at) ELSE mailboxes.state_ready_at END`

var mailboxes = newKind(domains.name, table[store.Mailbox]{
	name: "mailboxes", parts: []string{"addresses"}, restrict: true, planned: map[string]string{"state_ready_at": repairedMailboxReadiness},
	derived: "search_text", derive: func(m *store.Mailbox) string {
		return namesText(m.Address()) + "\n" + searchText(m.FirstName+" "+m.LastName)
	},
	visible:   func(w *where) *where { return w.outsideUnpaid(`t.domain_id`) },
	elsewhere: map[string]string{"DomainName": "d.name", "WorkspaceID": "d.workspace_id", "WorkspaceName": "w.name"},
	joins:     ` JOIN domains d ON d.id = t.domain_id JOIN workspaces w ON w.id = d.workspace_id`,
})

func (r *reader) MailboxByAddress(accountID, localPart, domainName string) (store.Mailbox, error) {
	return one(r, mailboxes, r.inAccount(accountID).and(`t.id = (SELECT a.mailbox_id FROM addresses a JOIN domains ad ON ad.id = a.domain_id
		WHERE ad.name = ? AND a.local_part = ?)`, domainName, localPart).outsideUnpaid(`t.domain_id`))
}

func (r *reader) Mailboxes(accountID string, f store.MailboxFilter, s store.Slice) ([]store.Mailbox, int, error) {
	w := r.mailboxesWhere(accountID, f)
	if f.IDs == nil && f.After == nil && f.Status == "" && f.Search == "" {
		w.countedIn = r.inAccount(accountID).equal(`t.id`, f.DomainID).equal(`t.workspace_id`, f.WorkspaceID).withinDomains(`t.id`, f.Within).withoutUnpaid()
	}
	return page(r, mailboxes, w, s)
}

// countMailboxes adds to the stored number of a domain's mailboxes, so that a list need not count them.
func (t *tx) countMailboxes(domainID string, created int) error {
	return t.exec(`INSERT INTO mailbox_counts (domain_id, mailboxes) VALUES ($1, $2)
		ON CONFLICT (domain_id) DO UPDATE SET mailboxes = mailbox_counts.mailboxes + excluded.mailboxes`, domainID, created)
}

// mailboxChunk is the number of mailboxes that EachMailbox holds in memory.
const mailboxChunk = 500

func (r *reader) EachMailbox(accountID string, f store.MailboxFilter, fn func(store.Mailbox) error) error {
	return each(r, mailboxes, r.mailboxesWhere(accountID, f), mailboxChunk, fn)
}

func (r *reader) mailboxesWhere(accountID string, f store.MailboxFilter) *where {
	w := r.inAccount(accountID).equal(`t.domain_id`, f.DomainID)
	if f.WorkspaceID != "" {
		w.and(`t.domain_id IN (SELECT id FROM domains WHERE account_id = ? AND workspace_id = ?)`,
			accountID, f.WorkspaceID)
	}
	if f.IDs != nil {
		w.and(w.in(`t.id`, f.IDs))
	}
	if f.After != nil {
		w.after(f.After.CreatedAt, f.After.ID)
	}
	return w.state(f.Status, f.Now).search(`t.search_text`, f.Search).withinDomains(`t.domain_id`, f.Within)
}

// createMailbox checks that the addresses are free, and then inserts them: the account is locked.
func (t *tx) createMailbox(m *store.Mailbox) error {
	into, err := t.destination([]*store.Mailbox{m})
	if err != nil {
		return err
	}
	if owner := into.owners[m.LocalPart]; owner != "" {
		return &store.ExistsError{ID: owner}
	}
	addresses := [][]any{{m.DomainID, m.LocalPart, m.ID}}
	for _, a := range m.Aliases {
		at := strings.LastIndexByte(a.Alias, '@')
		d, err := t.DomainByName(m.AccountID, a.Alias[at+1:])
		if err != nil {
			return fmt.Errorf("the domain of the alias %s: %w", a.Alias, err)
		}
		address := []any{d.ID, a.Alias[:max(at, 0)], m.ID}
		if slices.ContainsFunc(addresses, func(other []any) bool { return slices.Equal(other, address) }) {
			return &store.ExistsError{ID: m.ID}
		}
		if err := t.taken(`SELECT mailbox_id FROM addresses WHERE domain_id = $1 AND local_part = $2`, address[:2]...); err != nil {
			return err
		}
		addresses = append(addresses, address)
	}
	return t.insertMailboxes(into, []*store.Mailbox{m}, addresses)
}

func (t *tx) CreateMailboxes(wanted []*store.Mailbox, limit int) (map[*store.Mailbox]bool, error) {
	if len(wanted) == 0 {
		return nil, nil
	}
	into, err := t.destination(wanted)
	if err != nil {
		return nil, err
	}
	created := make(map[*store.Mailbox]bool)
	var list []*store.Mailbox
	var addresses [][]any
	for _, m := range wanted {
		if into.owners[m.LocalPart] != "" || len(list) >= limit {
			continue
		}
		into.owners[m.LocalPart], created[m] = m.ID, true
		list, addresses = append(list, m), append(addresses, []any{m.DomainID, m.LocalPart, m.ID})
	}
	return created, t.insertMailboxes(into, list, addresses)
}

// destination describes the domain of new mailboxes.
type destination struct {
	domainName, workspaceID, workspaceName string
	// newest is when the account's newest mailbox was created, in microseconds since 1970, or 0. It
	// ignores the mailboxes that a server whose clock is ahead created.
	newest int64
	// owners maps the local part of each wanted address to the id of its mailbox, or "".
	owners map[string]string
}

// destination reads the domain of new mailboxes in one round trip. It returns an
// *store.ExistsError if the id of a new mailbox exists.
func (t *tx) destination(wanted []*store.Mailbox) (into destination, err error) {
	var ids, localParts []string
	for _, m := range wanted {
		ids, localParts = append(ids, m.ID), append(localParts, m.LocalPart)
	}
	accountID := wanted[0].AccountID
	t.lockAccount(accountID)
	w := t.inAllAccounts()
	type row struct {
		destination
		id, localPart, owner string
	}
	// A subquery finds each owner with the key of addresses: planners would join all rows of the domain.
	query := `SELECT t.name, t.workspace_id, w.name, (SELECT COALESCE(MAX(m.created_at), 0) FROM mailboxes m WHERE m.account_id = ` + w.bind(accountID) +
		` AND m.created_at <= ` + w.bind(wanted[0].CreatedAt.Add(store.ClockTolerance)) + `),
			COALESCE((SELECT m.id FROM mailboxes m WHERE ` + w.in(`m.id`, ids) + ` LIMIT 1), ''),
			e.value, COALESCE((SELECT a.mailbox_id FROM addresses a WHERE a.domain_id = t.id AND a.local_part = e.value), '')
		FROM domains t JOIN workspaces w ON w.id = t.workspace_id CROSS JOIN (` + t.dialect.elements(w.bind(jsonArray(localParts))) + `) e`
	w.and(`t.account_id = ? AND t.id = ?`, accountID, wanted[0].DomainID).withoutUnpaid()
	rows, err := scan(&t.reader, query+w.text, w.args, func(r *row) []any {
		return []any{&r.domainName, &r.workspaceID, &r.workspaceName, &r.newest, &r.id, &r.localPart, &r.owner}
	})
	first, err := only(rows, err)
	if err != nil {
		return into, err
	}
	if first.id != "" {
		return into, &store.ExistsError{ID: first.id}
	}
	first.owners = make(map[string]string)
	for _, r := range rows {
		first.owners[r.localPart] = r.owner
	}
	return first.destination, nil
}

// insertMailboxes inserts mailboxes of one domain with their addresses, which must be free.
func (t *tx) insertMailboxes(into destination, created []*store.Mailbox, addresses [][]any) error {
	if len(created) == 0 {
		return nil
	}
	rows := make([][]any, len(created))
	for i, m := range created {
		into.newest = max(into.newest+1, m.CreatedAt.UnixMicro())
		m.CreatedAt = time.UnixMicro(into.newest).UTC()
		m.UpdatedAt, m.DomainName, m.WorkspaceID, m.WorkspaceName = m.CreatedAt, into.domainName, into.workspaceID, into.workspaceName
		rows[i] = mailboxes.written(m)
	}
	err := cmp.Or(t.insertRows(mailboxes.name, mailboxes.stores, rows),
		t.insertRows("addresses", []string{"domain_id", "local_part", "mailbox_id"}, addresses),
		t.countMailboxes(created[0].DomainID, len(created)))
	for _, m := range created {
		report(t, nil, m)
	}
	return err
}

// deleteMailbox leaves the addresses to the schema's cascade.
func (t *tx) deleteMailbox(accountID string, id any, at time.Time) error {
	m, err := removeOne(t, mailboxes, accountID, id)
	if err != nil {
		return err
	}
	if err := t.countMailboxes(m.DomainID, -1); err != nil {
		return err
	}
	addresses := []string{m.Address()}
	for _, a := range m.Aliases {
		addresses = append(addresses, a.Alias)
	}
	return t.releaseForwarding(addresses, at)
}

// The key of the table addresses makes primary addresses and aliases unique together. A
// mailbox's row repeats its aliases as JSON, so that a list needs no second query.

// deleteAliasesIn deletes the aliases in a domain from the mailboxes of other domains.
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
		after.UpdatedAt, after.Aliases = at, nil // nil, as a read returns no aliases
		for _, a := range before.Aliases {
			if !inDomain(a, d) {
				after.Aliases = append(after.Aliases, a)
			}
		}
		if err := t.exec(`DELETE FROM addresses WHERE domain_id = $1 AND mailbox_id = $2`, d.ID, after.ID); err != nil {
			return err
		}
		if err := write(t, mailboxes, &before, &after, "aliases"); err != nil {
			return err
		}
	}
	return nil
}

func inDomain(a store.MailboxAlias, d store.Domain) bool {
	return strings.HasSuffix(a.Alias, "@"+d.Name)
}
