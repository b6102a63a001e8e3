package sqlstore

import (
	"cmp"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

var mailboxes = newTable(table[store.Mailbox]{
	name:    "mailboxes",
	derived: func(m *store.Mailbox) []any { return []any{"search_text", mailboxSearchText(m)} },
	fixed:   []string{"domain_id", "local_part", "aliases"},
	visible: func(w *where) *where { return w.outsideUnpaid(`t.domain_id`) },
	joined:  map[string]string{"DomainName": "d.name", "WorkspaceID": "d.workspace_id", "WorkspaceName": "w.name"},
	joins:   ` JOIN domains d ON d.id = t.domain_id JOIN workspaces w ON w.id = d.workspace_id`,
})

func (r *reader) Mailbox(accountID, id string) (store.Mailbox, error) {
	return get(r, mailboxes, accountID, id)
}

func (r *reader) MailboxByAddress(accountID, localPart, domainName string) (store.Mailbox, error) {
	return one(r, mailboxes, r.inAccount(accountID).and(`t.id = (SELECT a.mailbox_id FROM addresses a JOIN domains ad ON ad.id = a.domain_id
		WHERE ad.name = ? AND a.local_part = ?)`, domainName, localPart).outsideUnpaid(`t.domain_id`))
}

func (r *reader) Mailboxes(accountID string, f store.MailboxFilter, s store.Slice) ([]store.Mailbox, int, error) {
	w := r.mailboxesWhere(accountID, f)
	if f.IDs == nil && f.After.ID == "" && f.Status == "" && f.Search == "" {
		w.countedIn = r.inAccount(accountID).equal(`t.id`, f.DomainID).equal(`t.workspace_id`, f.WorkspaceID).withinDomains(`t.id`, f.Within).withoutUnpaid()
	}
	return page(r, mailboxes, w, s)
}

// countMailboxes adds to the number of a domain's mailboxes, so that no list has to count them.
func (t *tx) countMailboxes(domainID string, created int) error {
	return t.change(`UPDATE domains SET mailbox_count = mailbox_count + $1 WHERE id = $2`, created, domainID)
}

// mailboxChunk is how many mailboxes EachMailbox holds in memory.
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
	if f.After.ID != "" {
		w.after(f.After.CreatedAt, f.After.ID)
	}
	return w.state(f.Status, f.Now).searchNames(`t.search_text`, f.Search).withinDomains(`t.domain_id`, f.Within)
}

func (t *tx) CreateMailbox(m *store.Mailbox) error {
	addresses, err := t.addressKeys(m)
	if err != nil {
		return err
	}
	d, err := t.enterDomain(m.AccountID, m.DomainID)
	if err != nil {
		return err
	}
	m.DomainName, m.WorkspaceID, m.WorkspaceName = d.name, d.workspaceID, d.workspaceName
	if err := t.insertMailbox(m, addresses); err != nil {
		return cmp.Or(t.countMailboxes(m.DomainID, -1), err)
	}
	report(t, nil, m)
	return nil
}

func (t *tx) insertMailbox(m *store.Mailbox, addresses []addressKey) error {
	if err := insert(t, mailboxes, m); err != nil {
		return err
	}
	for _, k := range addresses {
		if err := t.addAddress(m, k); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) CreateMailboxes(wanted []*store.Mailbox, limit int) (map[*store.Mailbox]bool, error) {
	if len(wanted) == 0 {
		return nil, nil
	}
	accountID, domainID := wanted[0].AccountID, wanted[0].DomainID
	d, err := t.mailboxDomain(accountID, domainID)
	if err != nil {
		return nil, err
	}
	localParts := make([]string, len(wanted))
	for i, m := range wanted {
		localParts[i] = m.LocalPart
	}
	existing := t.inAllAccounts().and(`t.domain_id = ?`, domainID)
	existing.and(existing.in(`t.local_part`, localParts))
	taken, err := column[string](&t.reader, `SELECT t.local_part FROM addresses t`+existing.text, existing.args...)
	if err != nil {
		return nil, err
	}
	newest, err := only(column[int64](&t.reader, `SELECT COALESCE(MAX(created_at), 0) FROM mailboxes WHERE account_id = $1`, accountID))
	if err != nil {
		return nil, err
	}
	known, created := make(map[string]bool), make(map[*store.Mailbox]bool)
	for _, localPart := range taken {
		known[localPart] = true
	}
	var rows, addresses [][]any
	for _, m := range wanted {
		if known[m.LocalPart] || len(rows) >= limit {
			continue
		}
		newest = max(newest+1, m.CreatedAt.UnixMicro())
		m.CreatedAt, known[m.LocalPart], created[m] = time.UnixMicro(newest).UTC(), true, true
		m.UpdatedAt, m.DomainName, m.WorkspaceID, m.WorkspaceName = m.CreatedAt, d.name, d.workspaceID, d.workspaceName
		rows = append(rows, mailboxes.written(m))
		addresses = append(addresses, []any{m.DomainID, m.LocalPart, m.ID})
	}
	if err := t.insertRows(mailboxes.name, mailboxes.stores, rows); err != nil {
		return nil, err
	}
	if err := t.insertRows("addresses", []string{"domain_id", "local_part", "mailbox_id"}, addresses); err != nil {
		return nil, err
	}
	if err := t.countMailboxes(domainID, len(rows)); err != nil {
		return nil, err
	}
	for _, m := range wanted {
		if created[m] {
			report(t, nil, m)
		}
	}
	return created, nil
}

func (t *tx) UpdateMailbox(accountID, id string, change func(*store.Mailbox) error) (store.Mailbox, error) {
	return update(t, mailboxes, accountID, id, change)
}

// DeleteMailbox leaves the addresses to the schema's cascade.
func (t *tx) DeleteMailbox(accountID, id string, at time.Time) error {
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

// mailboxSearchText returns the text that a search matches. A domain's name never
// changes.
func mailboxSearchText(m *store.Mailbox) string {
	return namesText(m.Address()) + "\n" + searchText(m.FirstName+" "+m.LastName)
}

// mailboxFields are a domain's mailboxDomain.
const mailboxFields = `name, workspace_id, (SELECT w.name FROM workspaces w WHERE w.id = workspace_id)`

// mailboxDomain has the fields of a domain that a mailbox repeats.
type mailboxDomain struct {
	name, workspaceID, workspaceName string
}

func (d *mailboxDomain) fields() []any { return []any{&d.name, &d.workspaceID, &d.workspaceName} }

// mailboxDomain returns the domain in which mailboxes are created.
func (t *tx) mailboxDomain(accountID, id string) (mailboxDomain, error) {
	in := domains.byID(&t.reader, accountID, id)
	return only(scan(&t.reader, `SELECT `+mailboxFields+` FROM domains t`+in.text, in.args, (*mailboxDomain).fields))
}

// enterDomain is mailboxDomain, and counts one mailbox more in the same round trip.
func (t *tx) enterDomain(accountID, id string) (mailboxDomain, error) {
	in := domains.byID(&t.reader, accountID, id)
	return only(scan(&t.reader, `UPDATE domains AS t SET mailbox_count = mailbox_count + 1`+in.text+` RETURNING `+mailboxFields, in.args, (*mailboxDomain).fields))
}
