package storetest

import (
	"slices"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

func dedicatedIPID(d store.DedicatedIP) string { return d.ID }

func getDedicatedIP(account, id string) func(store.Reader) (store.DedicatedIP, error) {
	return func(r store.Reader) (store.DedicatedIP, error) { return r.DedicatedIP(account, id) }
}

func testDedicatedIP(h *harness) {
	t, other := h.tenant("a.example"), h.tenant("b.example")
	option := h.dedicatedIPOption(t.account, "198.51.100.1", "198.51.100.2")
	d := h.newDedicatedIP(t.account, option)
	d.State = store.Provisioning{Status: "active", Until: "provisioning", ReadyAt: at(1)}
	d.ASN, d.CountryCode = 64500, "DE"
	d.Addresses = []store.IPAddress{{IP: "198.51.100.1", FCrDNSConfirmed: true, Healthy: new(false), RDNS: "a.example"}}
	h.update(func(tx store.Tx) error { return tx.CreateDedicatedIP(&d) })
	equal(h, "dedicated IP", read(h, getDedicatedIP(t.account, d.ID)), d)
	absent(h, getDedicatedIP(other.account, d.ID))
	h.exists(d.ID, func(tx store.Tx) error {
		again := d
		again.Addresses = nil
		return tx.CreateDedicatedIP(&again)
	})

	users := func(account string) []string {
		return read(h, func(r store.Reader) ([]string, error) { return r.DomainsOfDedicatedIP(account, d.ID) })
	}
	equal(h, "users", len(users(t.account)), 0)
	assign := func(id string) {
		h.Helper()
		h.update(func(tx store.Tx) error {
			_, err := tx.UpdateDomain(t.account, t.domain, func(d *store.Domain) error { d.DedicatedIPID = id; return nil })
			return err
		})
	}
	assign(d.ID)
	equal(h, "users", users(t.account), []string{t.domain})
	equal(h, "users in another account", len(users(other.account)), 0)

	assign("")
	h.missing(func(tx store.Tx) error { return tx.DeleteDedicatedIP(other.account, d.ID) })
	h.update(func(tx store.Tx) error { return tx.DeleteDedicatedIP(t.account, d.ID) })
	absent(h, getDedicatedIP(t.account, d.ID))
}

func testDedicatedIPFilter(h *harness) {
	account := h.account()
	option := h.dedicatedIPOption(account, "198.51.100.1")
	german, american := h.newDedicatedIP(account, option), h.newDedicatedIP(account, option)
	german.CountryCode, american.CountryCode = "DE", "US"
	american.State = store.Provisioning{Status: "active", Until: "provisioning", ReadyAt: at(10)}
	h.update(func(tx store.Tx) error { return tx.CreateDedicatedIP(&german) })
	h.update(func(tx store.Tx) error { return tx.CreateDedicatedIP(&american) })

	for _, c := range []struct {
		name   string
		filter store.DedicatedIPFilter
		want   []string
	}{
		{"none", store.DedicatedIPFilter{}, []string{german.ID, american.ID}},
		{"country", store.DedicatedIPFilter{CountryCode: "DE"}, []string{german.ID}},
		{"active", store.DedicatedIPFilter{Status: "active", Now: at(9)}, []string{german.ID}},
		{"active later", store.DedicatedIPFilter{Status: "active", Now: at(10)}, []string{german.ID, american.ID}},
		{"both", store.DedicatedIPFilter{Status: "provisioning", Now: at(9), CountryCode: "US"}, []string{american.ID}},
		{"contradiction", store.DedicatedIPFilter{Status: "provisioning", Now: at(9), CountryCode: "DE"}, nil},
	} {
		lists(h, c.name, dedicatedIPID, func(r store.Reader, s store.Slice) ([]store.DedicatedIP, int, error) {
			return r.DedicatedIPs(account, c.filter, s)
		}, c.want...)
	}
}

func testDedicatedIPClaims(h *harness) {
	one, other := h.account(), h.account()
	addresses := []string{"203.0.113.2", "203.0.113.1"}
	option := h.dedicatedIPOption(one, addresses...)
	second := h.dedicatedIPOption(one, addresses...)
	foreign := h.dedicatedIPOption(other, addresses...)

	get := func(id string) store.DedicatedIPOption {
		h.Helper()
		return read(h, func(r store.Reader) (store.DedicatedIPOption, error) { return r.DedicatedIPOption(one, id) })
	}
	equal(h, "inventory", get(option).Addresses, addresses)
	equal(h, "claimed at first", len(get(option).Claimed), 0)
	absent(h, func(r store.Reader) (store.DedicatedIPOption, error) { return r.DedicatedIPOption(one, foreign) })

	d := h.newDedicatedIP(one, option, "203.0.113.1")
	h.update(func(tx store.Tx) error { return tx.CreateDedicatedIP(&d) })
	equal(h, "claimed", get(option).Claimed, []string{"203.0.113.1"})
	// Neither another option nor another account can claim it.
	for _, again := range []store.DedicatedIP{
		h.newDedicatedIP(one, option, "203.0.113.2", "203.0.113.1"), h.newDedicatedIP(one, second, "203.0.113.1"), h.newDedicatedIP(other, foreign, "203.0.113.1"),
	} {
		h.exists(d.ID, func(tx store.Tx) error { return tx.CreateDedicatedIP(&again) })
		absent(h, getDedicatedIP(again.AccountID, again.ID))
	}
	equal(h, "claimed of the second option", get(second).Claimed, []string{"203.0.113.1"})
	equal(h, "claimed of another account's", read(h, func(r store.Reader) (store.DedicatedIPOption, error) {
		return r.DedicatedIPOption(other, foreign)
	}).Claimed, []string{"203.0.113.1"})
	equal(h, "claimed after a refusal", get(option).Claimed, []string{"203.0.113.1"})

	options := func(r store.Reader, s store.Slice) ([]store.DedicatedIPOption, int, error) {
		return r.DedicatedIPOptions(one, s)
	}
	lists(h, "options", func(o store.DedicatedIPOption) string { return o.ID }, options, option, second)
	equal(h, "listed option", listed(h, options)[0], get(option))

	h.update(func(tx store.Tx) error { return tx.DeleteDedicatedIP(one, d.ID) })
	equal(h, "claimed in the end", len(get(option).Claimed), 0)
	again := h.newDedicatedIP(one, option, addresses...)
	h.update(func(tx store.Tx) error { return tx.CreateDedicatedIP(&again) })
	claimed := get(option).Claimed
	equal(h, "all claimed", slices.Sorted(slices.Values(claimed)), slices.Sorted(slices.Values(addresses)))
	h.exists(option, func(tx store.Tx) error {
		return tx.CreateDedicatedIPOption(&store.DedicatedIPOption{ID: option, AccountID: one, CreatedAt: epoch})
	})
}
