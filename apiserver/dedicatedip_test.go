package apiserver_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
)

func TestDedicatedIPOptions(t *testing.T) {
	h := apitest.New(t)
	a := h.Get("/dedicated-ips/options").Want(200).Is("total", 2)
	for i, want := range []struct{ key, country string }{{"eu", "DE"}, {"us", "US"}} {
		place := "items." + itoa(i) + "."
		a.Is(place+"id", h.Option(want.key), place+"country_code", want.country, place+"type", "dedicated", place+"available", 16)
	}
	other := h.Owner(t, nobody)
	other.Get("/dedicated-ips/options").Is("items.0.id", other.Option("eu"))
	h.Post("/dedicated-ips/claim", obj{"option_id": other.Option("eu")}).Refused(422, "body.option_id value_error")
	h.Post("/dedicated-ips/claim", obj{"option_id": nobody}).Refused(422, "body.option_id value_error")
}

func TestClaimDedicatedIP(t *testing.T) {
	h := apitest.New(t)
	a := h.Post("/dedicated-ips/claim", obj{"option_id": h.Option("eu")}).Want(201).Is(
		"status", "active", "type", "dedicated", "country_code", "DE", "ip_addresses.0.fcrdns_confirmed", false, "ip_addresses.1", nil,
		"created_at", "2026-03-14T15:09:26.535897Z")
	if got := h.Get("/dedicated-ips/" + a.Str("id")).Want(200); string(got.Raw) != string(a.Raw) {
		t.Errorf("%s; want the claimed address: %s", got, a)
	}
	h.Get("/dedicated-ips/options").Is("items.0.available", 15, "items.1.available", 16)
	seen := map[string]bool{a.Str("ip_addresses.0.ip"): true}
	for range 15 {
		ip := h.Post("/dedicated-ips/claim", obj{"option_id": h.Option("eu")}).Want(201).Str("ip_addresses.0.ip")
		var n int
		if _, err := fmt.Sscanf(ip, "198.51.100.%d", &n); err != nil || seen[ip] {
			t.Errorf("claimed %s: %v", ip, err)
		}
		seen[ip] = true
	}
	h.Post("/dedicated-ips/claim", obj{"option_id": h.Option("eu")}).Refused(409, "body conflict").Says(h.Option("eu"))
	h.Get("/dedicated-ips/options").Is("items.0.available", 0)
	h.Post("/dedicated-ips/claim", obj{"option_id": h.Option("us")}).Want(201).Is("country_code", "US")

	h.Delete("/dedicated-ips/" + a.Str("id")).Want(204)
	h.Get("/dedicated-ips/"+a.Str("id")).Refused(404, "path.dedicated_ip_id not_found")
	h.Delete("/dedicated-ips/"+a.Str("id")).Refused(404, "path.dedicated_ip_id not_found")
	h.Post("/dedicated-ips/claim", obj{"option_id": h.Option("eu")}).Want(201).Is("ip_addresses.0.ip", a.Str("ip_addresses.0.ip"))
}

// TestDedicatedIPsOfOneAccount checks that no account can claim what all share.
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

func TestDedicatedIPFilters(t *testing.T) {
	h := apitest.New(t)
	for _, key := range []string{"eu", "us", "us"} {
		h.Post("/dedicated-ips/claim", obj{"option_id": h.Option(key)}).Want(201)
	}
	for query, want := range map[string]string{
		"": "DE US US", "country_code=US": "US US", "country_code=de": "DE", "country_code=FR": "", "status=active": "DE US US", "status=provisioning": "", "status=active&country_code=DE": "DE",
	} {
		checkList(h, "/dedicated-ips", query, "country_code", want)
	}
}

// TestDedicatedIPsOfTwoAccounts checks that an address that one account has claimed is
// not available to another.
func TestDedicatedIPsOfTwoAccounts(t *testing.T) {
	h := apitest.New(t)
	other := h.Owner(t, nobody)
	claim := func(c *apitest.Client) *apitest.Response {
		return c.Post("/dedicated-ips/claim", obj{"option_id": c.Option("eu")})
	}
	seen := map[string]string{}
	for range 8 {
		for _, c := range []*apitest.Client{h.Client, other} {
			a := claim(c).Want(201)
			ip := a.Str("ip_addresses.0.ip")
			if seen[ip] != "" {
				t.Errorf("%s is claimed twice", ip)
			}
			seen[ip] = a.Str("id")
		}
	}
	h.Get("/dedicated-ips").Want(200).Is("total", 8)
	for _, c := range []*apitest.Client{h.Client, other} {
		c.Get("/dedicated-ips/options").Want(200).Is("items.0.available", 0, "items.1.available", 16)
		claim(c).Refused(409, "body conflict").Says("exhausted")
	}
	free := other.Get("/dedicated-ips").Want(200)
	other.Delete("/dedicated-ips/" + free.Str("items.3.id")).Want(204)
	h.Get("/dedicated-ips/options").Want(200).Is("items.0.available", 1)
	claim(h.Client).Want(201).Is("ip_addresses.0.ip", free.Str("items.3.ip_addresses.0.ip"))
}

// TestConcurrentClaims checks that accounts that claim at the same time get different
// addresses.
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
	if len(seen) != cap(ips) {
		t.Errorf("%d addresses for %d claims: %v", len(seen), cap(ips), seen)
	}
}

// TestFixtureOfSharedAddresses checks that a fixture assigns an address to one account
// only, and the next free one to another.
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
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Service.LoadFixture(t.Context(), f); err != nil {
		t.Error(err)
	}
}
