package sqlstore

import "github.com/mailhost/terraform-provider-mailhost/apiserver/store"

var dedicatedIPs = newKind(accounts.name, table[store.DedicatedIP]{
	name: "dedicated_ips", refersTo: []string{dedicatedIPOptions.name}, parts: []string{"dedicated_ip_claims"}, restrict: true,
	planned: map[string]string{"state_ready_at": ""},
})

var dedicatedIPOptions = newKind(accounts.name, table[store.DedicatedIPOption]{name: "dedicated_ip_options", elsewhere: map[string]string{"Claimed": ""}})

func (r *reader) DedicatedIPs(accountID string, f store.DedicatedIPFilter, s store.Slice) ([]store.DedicatedIP, int, error) {
	w := r.inAccount(accountID).state(f.Status, f.Now).equal(`t.country_code`, f.CountryCode)
	return page(r, dedicatedIPs, w, s)
}

func (r *reader) DedicatedIPOptions(accountID string, s store.Slice) ([]store.DedicatedIPOption, int, error) {
	options, total, err := page(r, dedicatedIPOptions, r.inAccount(accountID), s)
	if err != nil {
		return nil, 0, err
	}
	for i := range options { // few per account
		w := r.inAllAccounts()
		w.and(w.in(`address`, options[i].Addresses))
		if options[i].Claimed, err = column[string](r, `SELECT address FROM dedicated_ip_claims`+w.text+` ORDER BY address`, w.args...); err != nil {
			return nil, 0, err
		}
	}
	return options, total, nil
}

// createDedicatedIP also claims the addresses, which the schema's cascade releases.
func (t *tx) createDedicatedIP(d *store.DedicatedIP) error {
	for _, a := range d.Addresses {
		if err := t.taken(`SELECT dedicated_ip_id FROM dedicated_ip_claims WHERE address = $1`, a.IP); err != nil {
			return err
		}
	}
	if err := create(t, dedicatedIPs, d); err != nil {
		return err
	}
	for _, a := range d.Addresses {
		if err := t.exec(`INSERT INTO dedicated_ip_claims (address, dedicated_ip_id) VALUES ($1, $2)`, a.IP, d.ID); err != nil {
			return err
		}
	}
	return nil
}
