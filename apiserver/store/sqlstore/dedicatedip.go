package sqlstore

import (
	"fmt"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

var dedicatedIPs = newTable(table[store.DedicatedIP]{
	name: "dedicated_ips",
	columns: []string{"id", "account_id", "option_id", "name", "type", "status", "status_until", "ready_at",
		"asn", "country_code", "addresses", "created_at", "updated_at"},
	fields: func(d *store.DedicatedIP) []any {
		return []any{&d.ID, &d.AccountID, &d.OptionID, &d.Name, &d.Type,
			&d.State.Status, &d.State.Until, micros{&d.State.ReadyAt},
			&d.ASN, &d.CountryCode, asJSON[[]store.IPAddress]{&d.Addresses},
			micros{&d.CreatedAt}, micros{&d.UpdatedAt}}
	},
})

var dedicatedIPOptions = newTable(table[store.DedicatedIPOption]{
	name: "dedicated_ip_options",
	columns: []string{"id", "account_id", "name", "type", "country_code", "asn", "addresses",
		"created_at", "updated_at"},
	fields: func(o *store.DedicatedIPOption) []any {
		return []any{&o.ID, &o.AccountID, &o.Name, &o.Type, &o.CountryCode, &o.ASN, asJSON[[]string]{&o.Addresses},
			micros{&o.CreatedAt}, micros{&o.UpdatedAt}}
	},
})

func (r *reader) DedicatedIP(accountID, id string) (store.DedicatedIP, error) {
	return get(r, dedicatedIPs, accountID, id)
}

func (r *reader) DedicatedIPs(accountID string, f store.DedicatedIPFilter, s store.Slice) ([]store.DedicatedIP, int, error) {
	w := r.inAccount(accountID).state(f.Status, f.Now).equal(`t.country_code`, f.CountryCode)
	return page(r, dedicatedIPs, w, s)
}

func (r *reader) DedicatedIPOption(accountID, id string) (store.DedicatedIPOption, error) {
	o, err := get(r, dedicatedIPOptions, accountID, id)
	if err != nil {
		return o, err
	}
	o.Claimed, err = r.claimed(o.Addresses)
	return o, err
}

func (r *reader) DedicatedIPOptions(accountID string, s store.Slice) ([]store.DedicatedIPOption, int, error) {
	options, total, err := page(r, dedicatedIPOptions, r.inAccount(accountID), s)
	if err != nil {
		return nil, 0, err
	}
	for i := range options { // an account has few
		if options[i].Claimed, err = r.claimed(options[i].Addresses); err != nil {
			return nil, 0, err
		}
	}
	return options, total, nil
}

// claimed returns which of some addresses any account has claimed.
func (r *reader) claimed(addresses []string) ([]string, error) {
	w := r.inAllAccounts()
	w.and(w.in(`address`, addresses))
	return column[string](r, `SELECT address FROM dedicated_ip_claims`+w.text.String()+` ORDER BY address`, w.args...)
}

func (r *reader) DomainsOfDedicatedIP(accountID, id string) ([]string, error) {
	return column[string](r, `SELECT t.id FROM domains t WHERE t.account_id = $1 AND t.dedicated_ip_id = $2`+inOrder,
		accountID, id)
}

func (t *tx) CreateDedicatedIP(d *store.DedicatedIP) error {
	for _, a := range d.Addresses {
		if err := t.claimedBy(a.IP); err != nil {
			return err
		}
	}
	if err := insert(t, dedicatedIPs, d); err != nil {
		return err
	}
	if err := t.claim(d); err != nil {
		return err
	}
	report(t, nil, d)
	return nil
}

// claim claims the addresses of a dedicated IP. If the engine runs transactions of two
// accounts concurrently, the primary key decides, and the second dedicated IP is
// deleted again.
func (t *tx) claim(d *store.DedicatedIP) error {
	for _, a := range d.Addresses {
		n, err := t.exec(`INSERT INTO dedicated_ip_claims (address, dedicated_ip_id) VALUES ($1, $2)
			ON CONFLICT DO NOTHING`, a.IP, d.ID)
		if err != nil {
			return fmt.Errorf("claim %s: %w", a.IP, err)
		}
		if n == 0 {
			if err := t.change(`DELETE FROM dedicated_ips WHERE id = $1`, d.ID); err != nil {
				return err
			}
			if err := t.claimedBy(a.IP); err != nil {
				return err
			}
			return &store.ExistsError{ID: d.ID}
		}
	}
	return nil
}

// claimedBy returns an *store.ExistsError for the dedicated IP, of any account, that
// has an address.
func (t *tx) claimedBy(address string) error {
	return t.taken(`SELECT dedicated_ip_id FROM dedicated_ip_claims WHERE address = $1`, address)
}

// DeleteDedicatedIP leaves the claims to the schema's cascade.
func (t *tx) DeleteDedicatedIP(accountID, id string) error {
	_, err := removeOne(t, dedicatedIPs, accountID, id)
	return err
}

func (t *tx) CreateDedicatedIPOption(o *store.DedicatedIPOption) error {
	return create(t, dedicatedIPOptions, o)
}
