package sqlstore

import (
	"slices"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// repairedReadiness keeps the distance from the purchase. If that was before, a payment may have made the domain
// pending, and then the time is moved as the update is: but not before the purchase, as it would be if the update was
// another one. A fixture chooses the time of domains without a purchase.
const repairedReadiness = `CASE
	WHEN domains.purchase_batch_id = '' OR domains.state_ready_at <= $now THEN domains.state_ready_at
	WHEN domains.created_at > $limit AND domains.state_ready_at >= domains.created_at THEN domains.state_ready_at - (domains.created_at - $now)
	WHEN domains.created_at <= $limit AND domains.updated_at > $limit AND domains.state_ready_at - (domains.updated_at - $now) >= domains.created_at
		THEN domains.state_ready_at - (domains.updated_at - $now)
	ELSE domains.state_ready_at END`

var domains = newKind(accounts.name, table[store.Domain]{
	name: "domains", refersTo: []string{workspaces.name, dedicatedIPs.name}, parts: []string{"mailbox_counts", "domain_tags"}, restrict: true,
	derived: "search_text", derive: func(d *store.Domain) string { return namesText(d.Name) },
	optional: "dedicated_ip_id", planned: map[string]string{"state_ready_at": repairedReadiness},
	unique:  func(w *where, d *store.Domain) *where { return w.and(`t.name = ?`, d.Name) },
	visible: (*where).withoutUnpaid,
	changed: (*tx).indexTags,
})

func (r *reader) DomainByName(accountID, name string) (store.Domain, error) {
	w := r.inAccount(accountID).and(`t.name = ?`, name).withoutUnpaid()
	return one(r, domains, w)
}

func (r *reader) DomainTaken(name string) (bool, error) {
	w := r.inAllAccounts().and(`t.name = ?`, name).withoutUnpaid()
	taken, err := column[string](r, `SELECT t.id FROM domains t`+w.text, w.args...)
	return len(taken) > 0, err
}

func (r *reader) Domains(accountID string, f store.DomainFilter, s store.Slice) ([]store.Domain, int, error) {
	w := r.inAccount(accountID).equal(`t.workspace_id`, f.WorkspaceID).equal(`t.dedicated_ip_id`, f.DedicatedIPID).state(f.Status, f.Now)
	if f.Tag != "" {
		w.and(`t.id IN (SELECT domain_id FROM domain_tags WHERE tag = ?)`, f.Tag)
	}
	w.search(`t.search_text`, f.Search)
	if f.Within.Restricted {
		w.and(`(` + w.in(`t.id`, f.Within.Domains) + ` OR ` + w.in(`t.workspace_id`, f.Within.Workspaces) + `)`)
	}
	return page(r, domains, w, s)
}

func (r *reader) DomainsOfPurchase(batchID string) ([]store.Domain, error) {
	// The index omits the empty id, which means that there was no purchase.
	return all(r, domains, r.inAllAccounts().and(`t.purchase_batch_id = ? AND t.purchase_batch_id <> ''`, batchID).withoutUnpaid())
}

func (r *reader) HideUnpaid(before time.Time) { r.unpaidBefore = before }

func (r *reader) UnpaidDomains(accountID, name string, before time.Time) ([]store.Domain, error) {
	return all(r, domains, (&where{r: r}).and(`t.`+unpaid).and(`t.created_at <= ?`, before).
		equal(`t.account_id`, accountID).equal(`t.name`, name))
}

// hasUnpaid reports whether HideUnpaid hides a domain of an account. Most accounts have no unpaid
// domain, and their lists are then counted without a look at each row's domain.
func (r *reader) hasUnpaid(accountID string) (bool, error) {
	if r.unpaidBefore.IsZero() {
		return false, nil
	}
	w := r.inAccount(accountID).and(`t.`+unpaid).and(`t.created_at <= ?`, r.unpaidBefore)
	found, err := column[string](r, `SELECT t.id FROM domains t`+w.text+` LIMIT 1`, w.args...)
	return len(found) > 0, err
}

// indexTags stores the ids and names of a domain's tags for filters.
func (t *tx) indexTags(d *store.Domain) error {
	if err := t.exec(`DELETE FROM domain_tags WHERE domain_id = $1`, d.ID); err != nil {
		return err
	}
	for _, tag := range d.Tags {
		for _, name := range []string{tag.ID, tag.Name} {
			if err := t.exec(`INSERT INTO domain_tags (domain_id, tag) VALUES ($1, $2) ON CONFLICT DO NOTHING`, d.ID, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// deleteDomain leaves the parts to the schema's cascade. The audit log keeps the order of deletions.
func (t *tx) deleteDomain(accountID string, id any, at time.Time) error {
	d, err := get(&t.reader, domains, accountID, id)
	if err != nil {
		return err
	}
	report(t, &d, nil)
	for _, scoped := range []bool{false, true} {
		for _, k := range slices.Backward(kinds) {
			if inDomain := k.parent == domains.name || k.scoped; !inDomain || k.restrict || k.scoped != scoped {
				continue
			}
			if err := k.removeIn(t, d); err != nil {
				return err
			}
		}
	}
	if err := t.deleteAliasesIn(d, at); err != nil {
		return err
	}
	if d.State.Status != vocab.DomainPendingPayment { // otherwise no mail went through the account
		if err := t.releaseForwarding([]string{"@" + d.Name}, at); err != nil {
			return err
		}
	}
	return t.exec(`DELETE FROM domains WHERE id = $1`, id)
}
