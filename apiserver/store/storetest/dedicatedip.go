package storetest

import (
	"slices"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

func testDedicatedIPClaims(h *harness) {
	one, other := h.account(), h.account()
	addresses := []string{"203.0.113.2", "203.0.113.1"}
	option := h.dedicatedIPOption(one, addresses...)
	second := h.dedicatedIPOption(one, addresses...)
	foreign := h.dedicatedIPOption(other, addresses...)

	get := func(id string) store.DedicatedIPOption {
		h.Helper()
		return read(h, of(store.Reader.DedicatedIPOption, one, id))
	}
	equal(h, "inventory", get(option).Addresses, addresses)
	equal(h, "claimed at first", len(get(option).Claimed), 0)
	absent(h, of(store.Reader.DedicatedIPOption, one, foreign))

	d := h.newDedicatedIP(one, option, "203.0.113.1")
	h.create(&d)
	equal(h, "claimed", get(option).Claimed, []string{"203.0.113.1"})
	// No other option and no other account can claim the address.
	for _, again := range []store.DedicatedIP{
		h.newDedicatedIP(one, option, "203.0.113.2", "203.0.113.1"), h.newDedicatedIP(one, second, "203.0.113.1"), h.newDedicatedIP(other, foreign, "203.0.113.1"),
	} {
		h.taken(d.ID, &again)
		absent(h, of(store.Reader.DedicatedIP, again.AccountID, again.ID))
	}
	equal(h, "claimed of the second option", get(second).Claimed, []string{"203.0.113.1"})
	equal(h, "claimed of another account's", read(h, of(store.Reader.DedicatedIPOption, other, foreign)).Claimed, []string{"203.0.113.1"})
	equal(h, "claimed after a refusal", get(option).Claimed, []string{"203.0.113.1"})

	equal(h, "listed option", listed(h, dedicatedIPOptionKind.list(one))[0], get(option))

	h.update(func(tx store.Tx) error { return tx.DeleteDedicatedIP(one, d.ID) })
	equal(h, "claimed in the end", len(get(option).Claimed), 0)
	again := h.newDedicatedIP(one, option, addresses...)
	h.create(&again)
	claimed := get(option).Claimed
	equal(h, "all claimed", slices.Sorted(slices.Values(claimed)), slices.Sorted(slices.Values(addresses)))
}
