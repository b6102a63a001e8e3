package sqlstore

import (
	"fmt"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

var domains = of(kind[store.Domain]{
	table: "domains",
	columns: []string{"id", "account_id", "workspace_id", "name", "status", "status_until", "ready_at",
		"outbound_routing_ready", "auto_renew", "dedicated_ip_id", "redirect_mode", "redirect_url",
		"inbound_tenant", "tags", "registrant", "purchase_batch_id", "created_at", "updated_at"},
	written: []string{"search_text"},
	fields: func(d *store.Domain) []any {
		return []any{&d.ID, &d.AccountID, &d.WorkspaceID, &d.Name,
			&d.State.Status, &d.State.Until, micros{&d.State.ReadyAt},
			&d.OutboundRoutingReady, &d.AutoRenew, optional{&d.DedicatedIPID}, &d.RedirectMode, &d.RedirectURL,
			asJSON[store.InboundTenant]{&d.InboundTenant}, asJSON[[]store.Tag]{&d.Tags}, rawText{&d.Registrant},
			&d.PurchaseBatchID, micros{&d.CreatedAt}, micros{&d.UpdatedAt}}
	},
})

// Domain implements store.DomainReader.
func (r *reader) Domain(accountID, id string) (store.Domain, error) {
	return one(r, domains, r.where(accountID).and(`t.id = ?`, id).paid())
}

// DomainByName implements store.DomainReader.
func (r *reader) DomainByName(accountID, name string) (store.Domain, error) {
	return one(r, domains, r.where(accountID).and(`t.name = ?`, name).paid())
}

// DomainTaken implements store.DomainReader.
func (r *reader) DomainTaken(name string) (bool, error) {
	owners, err := all(r, domains, r.anywhere().and(`t.name = ?`, name).paid())
	return len(owners) > 0, err
}

// Domains implements store.DomainReader.
func (r *reader) Domains(accountID string, f store.DomainFilter, s store.Slice) ([]store.Domain, int, error) {
	w := r.where(accountID).equal(`t.workspace_id`, f.WorkspaceID).state(f.Status, f.Now)
	if f.Tag != "" {
		w.and(`t.id IN (SELECT domain_id FROM domain_tags WHERE tag = ?)`, f.Tag)
	}
	w.searchNames(`t.search_text`, f.Search)
	if f.Within.Restricted {
		w.and(`(` + w.in(`t.id`, f.Within.Domains) + ` OR ` + w.in(`t.workspace_id`, f.Within.Workspaces) + `)`)
	}
	return page(r, domains, w.paid(), s)
}

// DomainsOfPurchase implements store.DomainReader.
func (r *reader) DomainsOfPurchase(batchID string) ([]store.Domain, error) {
	// An empty id is that of no purchase, and is not in the index.
	return all(r, domains, r.anywhere().and(`t.purchase_batch_id = ? AND t.purchase_batch_id <> ''`, batchID).paid())
}

// HideUnpaid implements store.DomainReader.
func (r *reader) HideUnpaid(before time.Time) { r.unpaidBefore = before }

// UnpaidDomains implements store.DomainReader.
func (r *reader) UnpaidDomains(accountID, name string, before time.Time) ([]store.Domain, error) {
	return all(r, domains, (&where{dialect: r.dialect}).and(`t.`+unpaid).and(`t.created_at <= ?`, micros{&before}).
		equal(`t.account_id`, accountID).equal(`t.name`, name))
}

// MailboxCount implements store.DomainReader.
func (r *reader) MailboxCount(domainID string) (int, error) {
	n, err := column[int](r, `SELECT COUNT(*) FROM mailboxes WHERE domain_id = $1`, domainID)
	if err != nil {
		return 0, err
	}
	return n[0], nil
}

// CreateDomain implements store.DomainWriter.
func (t *tx) CreateDomain(d *store.Domain) error {
	at, err := t.stamp(domains.table, d.AccountID, d.CreatedAt)
	if err != nil {
		return err
	}
	d.CreatedAt, d.UpdatedAt = at, at
	ok, err := insert(t, domains, d, namesText(d.Name)) // a name never changes
	if err != nil {
		return err
	}
	if !ok {
		return t.exists(domains.table, d.ID, `name = $1`, d.Name)
	}
	return t.indexTags(d)
}

// UpdateDomain implements store.DomainWriter.
func (t *tx) UpdateDomain(d store.Domain) error {
	clear(t.domains)
	if err := t.change(`UPDATE domains SET workspace_id = $1, status = $2, status_until = $3, ready_at = $4,
		outbound_routing_ready = $5, auto_renew = $6, dedicated_ip_id = $7, redirect_mode = $8, redirect_url = $9,
		inbound_tenant = $10, tags = $11, registrant = $12, purchase_batch_id = $13, updated_at = $14
		WHERE account_id = $15 AND id = $16`,
		d.WorkspaceID, d.State.Status, d.State.Until, micros{&d.State.ReadyAt},
		d.OutboundRoutingReady, d.AutoRenew, optional{&d.DedicatedIPID}, d.RedirectMode, d.RedirectURL,
		asJSON[store.InboundTenant]{&d.InboundTenant}, asJSON[[]store.Tag]{&d.Tags}, rawText{&d.Registrant},
		d.PurchaseBatchID, micros{&d.UpdatedAt}, d.AccountID, d.ID); err != nil {
		return err
	}
	if _, err := t.exec(`DELETE FROM domain_tags WHERE domain_id = $1`, d.ID); err != nil {
		return fmt.Errorf("write tags: %w", err)
	}
	return t.indexTags(&d)
}

// indexTags keeps what a filter may name a domain's tags by.
func (t *tx) indexTags(d *store.Domain) error {
	for _, tag := range d.Tags {
		for _, name := range []string{tag.ID, tag.Name} {
			if _, err := t.exec(`INSERT INTO domain_tags (domain_id, tag) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
				d.ID, name); err != nil {
				return fmt.Errorf("write tags: %w", err)
			}
		}
	}
	return nil
}

// DeleteDomain implements store.DomainWriter. The schema deletes the tags and
// the DNS records with it.
func (t *tx) DeleteDomain(accountID, id string, at time.Time) (affected store.Affected, err error) {
	clear(t.domains)
	d, err := t.Domain(accountID, id)
	if err != nil {
		return affected, err
	}
	for _, table := range []string{masterPasswords.table, forwardingRules.table} {
		if _, err := t.exec(`DELETE FROM `+table+` WHERE account_id = $1 AND scope_type = $2 AND scope_id = $3`,
			accountID, vocab.ScopeDomain, id); err != nil {
			return affected, fmt.Errorf("delete in %s: %w", table, err)
		}
	}
	var aliases []string
	if affected.Mailboxes, aliases, err = t.deleteAliasesIn(d, at); err != nil {
		return affected, err
	}
	if affected.Forwarding, err = t.releaseForwarding(accountID, aliases, at); err != nil {
		return affected, err
	}
	return affected, t.change(`DELETE FROM domains WHERE account_id = $1 AND id = $2`, accountID, id)
}
