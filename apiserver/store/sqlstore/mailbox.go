package sqlstore

import (
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

var mailboxes = newTable(table[store.Mailbox]{
	name: "mailboxes",
	columns: []string{"id", "account_id", "domain_id", "local_part", "first_name", "last_name",
		"status", "status_until", "ready_at", "quota_allowed", "quota_used", "aliases",
		"created_at", "updated_at"},
	derived: []string{"search_text"},
	derive:  func(m *store.Mailbox) []any { return []any{mailboxSearchText(m)} },
	fixed:   []string{"domain_id", "local_part", "aliases"},
	visible: func(w *where) *where { return w.outsideUnpaid(`t.domain_id`) },
	joined:  []string{"d.name", "d.workspace_id", "w.name"},
	joins:   ` JOIN domains d ON d.id = t.domain_id JOIN workspaces w ON w.id = d.workspace_id`,
	fields: func(m *store.Mailbox) []any {
		return []any{&m.ID, &m.AccountID, &m.DomainID, &m.LocalPart, &m.FirstName, &m.LastName,
			&m.State.Status, &m.State.Until, micros{&m.State.ReadyAt}, &m.QuotaAllowed, &m.QuotaUsed,
			asJSON[[]store.MailboxAlias]{&m.Aliases},
			micros{&m.CreatedAt}, micros{&m.UpdatedAt},
			&m.DomainName, &m.WorkspaceID, &m.WorkspaceName}
	},
})

func (r *reader) Mailbox(accountID, id string) (store.Mailbox, error) {
	return get(r, mailboxes, accountID, id)
}

func (r *reader) MailboxByAddress(accountID, localPart, domainName string) (store.Mailbox, error) {
	return one(r, mailboxes, r.inAccount(accountID).and(`t.id = (SELECT a.mailbox_id FROM addresses a JOIN domains ad ON ad.id = a.domain_id
		WHERE ad.name = ? AND a.local_part = ?)`, domainName, localPart).outsideUnpaid(`t.domain_id`))
}

func (r *reader) Mailboxes(accountID string, f store.MailboxFilter, s store.Slice) ([]store.Mailbox, int, error) {
	return page(r, mailboxes, r.mailboxesWhere(accountID, f), s)
}

// mailboxChunk is how many mailboxes EachMailbox holds in memory.
const mailboxChunk = 500

// EachMailbox reads in chunks, so that fn may read too.
func (r *reader) EachMailbox(accountID string, f store.MailboxFilter, fn func(store.Mailbox) error) error {
	for {
		w := r.mailboxesWhere(accountID, f)
		chunk, err := first(r, mailboxes, w, store.Slice{Limit: mailboxChunk})
		if err != nil {
			return err
		}
		for _, m := range chunk {
			if err := fn(m); err != nil {
				return err
			}
		}
		if len(chunk) < mailboxChunk {
			return nil
		}
		f.After = chunk[len(chunk)-1].Position()
	}
}

func (r *reader) mailboxesWhere(accountID string, f store.MailboxFilter) *where {
	w := r.inAccount(accountID).equal(`t.domain_id`, f.DomainID)
	if f.WorkspaceID != "" {
		w.and(`t.domain_id IN (SELECT id FROM domains WHERE workspace_id = ?)`, f.WorkspaceID)
	}
	if f.IDs != nil {
		w.and(w.in(`t.id`, f.IDs))
	}
	if f.After.ID != "" {
		w.and(`(t.created_at, t.id) > (?, ?)`, micros{&f.After.CreatedAt}, f.After.ID)
	}
	return w.state(f.Status, f.Now).searchNames(`t.search_text`, f.Search).withinDomains(`t.domain_id`, f.Within).outsideUnpaid(`t.domain_id`)
}

func (t *tx) CreateMailbox(m *store.Mailbox) error {
	d, err := t.mailboxDomain(m.AccountID, m.DomainID)
	if err != nil {
		return err
	}
	addresses, err := t.addressKeys(m)
	if err != nil {
		return err
	}
	m.DomainName, m.WorkspaceID, m.WorkspaceName = d.name, d.workspaceID, d.workspaceName
	if err := insert(t, mailboxes, m); err != nil {
		return err
	}
	if err := t.addAddresses(m, addresses); err != nil {
		return err
	}
	report(t, nil, m)
	return nil
}

func (t *tx) UpdateMailbox(accountID, id string, change func(*store.Mailbox) error) (store.Mailbox, error) {
	return update(t, mailboxes, accountID, id, change)
}

func (t *tx) DeleteMailbox(accountID, id string, at time.Time) error {
	m, err := t.Mailbox(accountID, id)
	if err != nil {
		return err
	}
	keys, err := t.addressKeys(&m)
	if err != nil {
		return err
	}
	if err := t.removeMailbox(&m, keys); err != nil {
		return err
	}
	report(t, &m, nil)
	addresses := []string{m.Address()}
	for _, a := range m.Aliases {
		addresses = append(addresses, a.Alias)
	}
	return t.releaseForwarding(accountID, addresses, at)
}

// mailboxSearchText returns the text that a search matches. A domain's name never
// changes.
func mailboxSearchText(m *store.Mailbox) string {
	return namesText(m.Address()) + "\n" + searchText(m.FirstName+" "+m.LastName)
}

// mailboxDomain has the fields of a domain that a mailbox repeats.
type mailboxDomain struct {
	accountID, name, workspaceID, workspaceName string
}

// mailboxDomain returns the domain in which a mailbox is created. It is cached,
// because a transaction often creates many mailboxes in one domain.
func (t *tx) mailboxDomain(accountID, id string) (mailboxDomain, error) {
	if d, known := t.domains[id]; known && d.accountID == accountID {
		return d, nil
	}
	domain, err := t.Domain(accountID, id)
	if err != nil {
		return mailboxDomain{}, err
	}
	w, err := t.Workspace(accountID, domain.WorkspaceID)
	if err != nil {
		return mailboxDomain{}, err
	}
	d := mailboxDomain{accountID, domain.Name, w.ID, w.Name}
	t.domains[id] = d
	return d, nil
}
