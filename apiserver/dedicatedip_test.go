package apiserver_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
)

func TestDedicatedIPOptions(t *testing.T) {
	h := newHarness(t)
	a := h.get("/dedicated-ips/options").want(200).is("total", 2)
	for i, want := range []struct{ key, country string }{{"eu", "DE"}, {"us", "US"}} {
		place := "items." + itoa(i) + "."
		a.is(place+"id", h.option(want.key), place+"country_code", want.country, place+"type", "dedicated", place+"available", 16)
	}
	other := h.owner(t, nobody)
	other.get("/dedicated-ips/options").is("items.0.id", other.option("eu"))
	h.post("/dedicated-ips/claim", obj{"option_id": other.option("eu")}).refused(422, "body.option_id value_error")
	h.post("/dedicated-ips/claim", obj{"option_id": nobody}).refused(422, "body.option_id value_error")
}

func TestClaimDedicatedIP(t *testing.T) {
	h := newHarness(t)
	a := h.post("/dedicated-ips/claim", obj{"option_id": h.option("eu")}).want(201).is(
		"status", "active", "type", "dedicated", "country_code", "DE", "ip_addresses.0.fcrdns_confirmed", false, "ip_addresses.1", nil,
		"created_at", "2026-03-14T15:09:26.535897Z")
	if got := h.get("/dedicated-ips/" + a.str("id")).want(200); string(got.raw) != string(a.raw) {
		t.Errorf("%s; want what was claimed: %s", got, a)
	}
	h.get("/dedicated-ips/options").is("items.0.available", 15, "items.1.available", 16)
	seen := map[string]bool{a.str("ip_addresses.0.ip"): true}
	for range 15 {
		ip := h.post("/dedicated-ips/claim", obj{"option_id": h.option("eu")}).want(201).str("ip_addresses.0.ip")
		var n int
		if _, err := fmt.Sscanf(ip, "198.51.100.%d", &n); err != nil || seen[ip] {
			t.Errorf("claimed %s: %v", ip, err)
		}
		seen[ip] = true
	}
	h.post("/dedicated-ips/claim", obj{"option_id": h.option("eu")}).refused(409, "body conflict").says(h.option("eu"))
	h.get("/dedicated-ips/options").is("items.0.available", 0)
	h.post("/dedicated-ips/claim", obj{"option_id": h.option("us")}).want(201).is("country_code", "US")

	h.delete("/dedicated-ips/" + a.str("id")).want(204)
	h.get("/dedicated-ips/"+a.str("id")).refused(404, "path.dedicated_ip_id not_found")
	h.delete("/dedicated-ips/"+a.str("id")).refused(404, "path.dedicated_ip_id not_found")
	h.post("/dedicated-ips/claim", obj{"option_id": h.option("eu")}).want(201).is("ip_addresses.0.ip", a.str("ip_addresses.0.ip"))
}

func TestDedicatedIPFilters(t *testing.T) {
	h := newHarness(t)
	for _, key := range []string{"eu", "us", "us"} {
		h.post("/dedicated-ips/claim", obj{"option_id": h.option(key)}).want(201)
	}
	for query, want := range map[string]string{
		"": "DE US US", "country_code=US": "US US", "country_code=de": "DE", "country_code=FR": "", "status=active": "DE US US", "status=provisioning": "", "status=active&country_code=DE": "DE",
	} {
		checkList(h, "/dedicated-ips", query, "country_code", want)
	}
}

// An address that one account has claimed is not there for another.
func TestDedicatedIPsOfTwoAccounts(t *testing.T) {
	h := newHarness(t)
	other := h.owner(t, nobody)
	claim := func(c *client) *answer { return c.post("/dedicated-ips/claim", obj{"option_id": c.option("eu")}) }
	seen := map[string]string{}
	for range 8 {
		for _, c := range []*client{h.client, other} {
			a := claim(c).want(201)
			ip := a.str("ip_addresses.0.ip")
			if seen[ip] != "" {
				t.Errorf("%s is claimed twice", ip)
			}
			seen[ip] = a.str("id")
		}
	}
	h.get("/dedicated-ips").want(200).is("total", 8)
	for _, c := range []*client{h.client, other} {
		c.get("/dedicated-ips/options").want(200).is("items.0.available", 0, "items.1.available", 16)
		claim(c).refused(409, "body conflict").says("exhausted")
	}
	free := other.get("/dedicated-ips").want(200)
	other.delete("/dedicated-ips/" + free.str("items.3.id")).want(204)
	h.get("/dedicated-ips/options").want(200).is("items.0.available", 1)
	claim(h.client).want(201).is("ip_addresses.0.ip", free.str("items.3.ip_addresses.0.ip"))
}

// Accounts that claim at the same time get different addresses.
func TestConcurrentClaims(t *testing.T) {
	h := newHarness(t)
	clients := []*client{h.client, h.owner(t, nobody)}
	ips := make(chan string, 16)
	var group sync.WaitGroup
	for i := range cap(ips) {
		group.Go(func() {
			c := clients[i%2]
			ips <- c.post("/dedicated-ips/claim", obj{"option_id": c.option("us")}).want(201).str("ip_addresses.0.ip")
		})
	}
	group.Wait()
	close(ips)
	seen := map[string]bool{}
	for ip := range ips {
		seen[ip] = true
	}
	if len(seen) != cap(ips) {
		t.Errorf("%d addresses for %d claims: %v", len(seen), cap(ips), seen)
	}
}

// A fixture gives an address to one account, and the next free one to another.
func TestFixtureOfSharedAddresses(t *testing.T) {
	h := newHarness(t)
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
	if err != nil {
		t.Fatal(err)
	}
	if err := h.svc.LoadFixture(t.Context(), f); err != nil {
		t.Error(err)
	}
}
