package apiserver_test

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
)

// TestDNSRecordIDs checks that record ids are random, and small enough for a JSON reader that uses
// floating-point numbers.
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

// TestDNSRecordsWithOneHash checks that values are compared, not PostgreSQL's hashes of a text,
// which are equal for these two values.
func TestDNSRecordsWithOneHash(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	create := func(value string) *apitest.Response {
		return h.Post("/dns-records", obj{"domain": "example.com", "name": "x", "type": "TXT", "value": value, "ttl": 300})
	}
	const a, b = `|N?YaMgg+!HM=1HHy+6&q$G'`, "HO5jsSqsfqU~~]HO*G{& `Ue"
	create(a).Want(201)
	id := idOf(create(b).Want(201), "id")
	h.Patch("/dns-records/"+id, obj{"value": "c"}).Want(200)
	h.Patch("/dns-records/"+id, obj{"value": b}).Want(200)
	create(b).Refused(409, "body conflict").Says("identical TXT record")
	create(strings.Repeat(`\xZ ü`, 4096)).Want(201)
	create(strings.Repeat(`\xZ ü`, 4096)).Refused(409, "body conflict")
}

// TestManyDNSRecordsAtOneName checks that a create does not read the values at its name.
func TestManyDNSRecordsAtOneName(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	create := func(typ, value string) *apitest.Response {
		return h.Post("/dns-records", obj{"domain": "example.com", "name": "x", "type": typ, "value": value, "ttl": 300})
	}
	const n, size = 100, 60_000
	for i := range n {
		create("TXT", itoa(i)+strings.Repeat("x", size)).Want(201)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	create("TXT", "short").Want(201)
	create("CNAME", "example.net").Refused(409, "body conflict").Says("a CNAME excludes")
	runtime.ReadMemStats(&after)
	got := after.TotalAlloc - before.TotalAlloc
	assert.Check(t, got < n*size/2, "two creates allocate %d bytes", got)
}

// TestDedicatedIPsOfOneAccount checks that one account can't claim all shared addresses.
func TestDedicatedIPsOfOneAccount(t *testing.T) {
	h := apitest.New(t, func(o *apiserver.Options) { o.MaxDedicatedIPs = 0 })
	claim := func() *apitest.Response {
		return h.Post("/dedicated-ips/claim", obj{"option_id": h.Option("eu")})
	}
	var last string
	for range 4 {
		last = claim().Want(201).Str("id")
	}
	claim().Refused(409, "body conflict").Says("limit of 4 dedicated IPs")
	h.Delete("/dedicated-ips/" + last).Want(204)
	claim().Want(201)
}

// TestConcurrentClaims checks that concurrent claims of several accounts get different addresses.
func TestConcurrentClaims(t *testing.T) {
	h := apitest.New(t)
	clients := []*apitest.Client{h.Client, h.Owner(t, nobody)}
	ips := make(chan string, 16)
	var group sync.WaitGroup
	for i := range cap(ips) {
		group.Go(func() {
			c := clients[i%2]
			ips <- c.Post("/dedicated-ips/claim", obj{"option_id": c.Option("us")}).Want(201).Str("ip_addresses.0.ip")
		})
	}
	group.Wait()
	close(ips)
	seen := map[string]bool{}
	for ip := range ips {
		seen[ip] = true
	}
	assert.Check(t, len(seen) == cap(ips), "%d addresses for %d claims: %v", len(seen), cap(ips), seen)
}

// TestFixtureOfSharedAddresses checks that a fixture assigns an address to one account only, and
// the next free address to another account.
func TestFixtureOfSharedAddresses(t *testing.T) {
	h := apitest.New(t)
	document := func(first, second string) string {
		account := func(id, ip string) string {
			return `{"id":"` + id + `","dedicated_ip_options":[{"name":"EU","country_code":"DE","addresses":["192.0.2.1","192.0.2.2"]}],"dedicated_ips":[{"name":"a","option":"EU"` + ip + `}]}`
		}
		return `{"accounts":[` + account(nobody, first) + `,` + account(anotherAccount, second) + `]}`
	}
	const ip = `,"ip":"192.0.2.1"`
	if _, err := fixture.Read(strings.NewReader(document(ip, ip))); err == nil || !strings.Contains(err.Error(), "192.0.2.1") {
		t.Errorf("two accounts have one address: %v", err)
	}
	f, err := fixture.Read(strings.NewReader(document("", "")))
	assert.NilError(t, err)
	assert.Check(t, h.Service.LoadFixture(t.Context(), f))
}
