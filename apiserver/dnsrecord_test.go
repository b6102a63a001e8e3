package apiserver_test

import (
	"slices"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

// TestCNAMEOfItsOwnName checks that a CNAME can't point to its own name.
func TestCNAMEOfItsOwnName(t *testing.T) {
	h := apitest.New(t)
	h.Domain("bücher.de")
	h.Domain("example.com")
	for _, tt := range []struct{ domain, name, value string }{
		{"example.com", "alias", "alias.example.com"},
		{"example.com", "ALIAS", "Alias.Example.COM."},
		{"example.com", "alias.example.com.", "alias.example.com"},
		{"example.com", "alias.example.com", "alias.example.com"},
		{"bücher.de", "käse", "käse.bücher.de"},
		{"bücher.de", "xn--kse-qla", "KÄSE.xn--bcher-kva.de."},
		{"example.com", "@", "example.com"}, // this error takes precedence over the conflict with other records
		{"example.com", "example.com.", "EXAMPLE.com"},
	} {
		h.CreateRecord(tt.domain, tt.name, "CNAME", tt.value).Refused(422, "body.value value_error").Says("its own name")
	}
	for _, tt := range []struct{ name, typ, value string }{
		{"alias", "CNAME", "alias.example.net"}, {"other", "CNAME", "alias.example.com"}, {"a.alias", "CNAME", "alias.example.com"}, {"ns", "NS", "ns.example.com"}, {"apex", "CNAME", "example.com"},
	} {
		h.CreateRecord("example.com", tt.name, tt.typ, tt.value).Want(201)
	}
	id := idOf(h.Get("/dns-records?name=alias").Want(200), "items.0.id")
	h.Patch("/dns-records/"+id, obj{"value": "ALIAS.example.com."}).Refused(422, "body.value value_error").Says("its own name")
	h.Patch("/dns-records/"+id, obj{"value": "alias.example.com", "prio": 1}).Refused(422, "body.value value_error", "body.prio value_error")
	h.Get("/dns-records/"+id).Is("value", "alias.example.net")
	h.Patch("/dns-records/"+id, obj{"value": "www.example.com"}).Want(200)
	h.Patch("/dns-records/"+id, obj{"ttl": 60}).Want(200).Is("value", "www.example.com")
}

// TestDNSRecordIDs checks that record ids are random, and small enough for a JSON reader
// that uses floating-point numbers.
func TestDNSRecordIDs(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	h.Domain("other.com")
	all := h.Get("/dns-records").Want(200)
	var ids []int
	for i := range all.Each("type") {
		id := int(all.At("items." + itoa(i) + ".id").(float64))
		assert.Check(t, id >= 1 && id < 1<<53 && !slices.Contains(ids, id), "invalid id %d in %d", id, ids)
		ids = append(ids, id)
	}
	assert.Check(t, !slices.IsSorted(ids) && slices.Max(ids) >= 1<<40, "the ids %d are not random", ids)
}
