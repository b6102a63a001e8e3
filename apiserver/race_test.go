package apiserver_test

import (
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

// split returns the only response with status 201, and all others.
func split(t *testing.T, responses []*apitest.Response) (created *apitest.Response, others []*apitest.Response) {
	t.Helper()
	for _, a := range responses {
		if a.Status != 201 {
			others = append(others, a)
		} else if created != nil {
			t.Fatalf("two were created: %s and %s", created, a)
		} else {
			created = a
		}
	}
	if created == nil {
		t.Fatalf("none was created: %s", others[0])
	}
	return created, others
}

func TestConcurrentCreatesOfOneAddress(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	created, others := split(t, h.PostAtOnce(20, "/mailboxes", func(i int) any {
		return obj{"domain": "example.com", "local_part": []string{"jane", "JANE"}[i%2], "first_name": "f", "last_name": itoa(i)}
	}))
	for _, a := range others {
		a.Refused(409, "body conflict").Says(created.Str("id"))
	}
	h.Get("/mailboxes").Is("total", 1, "items.0.id", created.Str("id"))
}

func TestConcurrentClaimsOfTheLastAddress(t *testing.T) {
	h := apitest.New(t)
	claim := obj{"option_id": h.Option("us")}
	for range 15 {
		h.Post("/dedicated-ips/claim", claim).Want(201)
	}
	_, others := split(t, h.PostAtOnce(10, "/dedicated-ips/claim", func(int) any { return claim }))
	for _, a := range others {
		a.Refused(409, "body conflict").Says(h.Option("us"))
	}
	h.Get("/dedicated-ips").Is("total", 16)
	h.Get("/dedicated-ips/options").Is("items.1.available", 0)
}

func TestConcurrentClaimsOfOneOption(t *testing.T) {
	h := apitest.New(t)
	seen := map[string]bool{}
	for _, a := range h.PostAtOnce(16, "/dedicated-ips/claim", func(int) any { return obj{"option_id": h.Option("eu")} }) {
		if ip := a.Want(201).Str("ip_addresses.0.ip"); seen[ip] {
			t.Errorf("%s is claimed twice", ip)
		} else {
			seen[ip] = true
		}
	}
}

func TestConcurrentRequestsUnderOneKey(t *testing.T) {
	h := apitest.New(t)
	ids := map[string]bool{}
	for _, a := range h.PostAtOnce(10, "/auth/service-accounts", func(int) any { return obj{"name": "x"} }, "Idempotency-Key", key) {
		if a.Status == 201 {
			ids[a.Str("token")] = true
			continue
		}
		a.Refused(409, "header.Idempotency-Key conflict")
	}
	if len(ids) != 1 {
		t.Errorf("%d tokens were returned", len(ids))
	}
	h.Get("/auth/service-accounts").Is("total", 1)
}

func TestConcurrentPurchases(t *testing.T) {
	h := apitest.New(t)
	bought := 0
	for _, a := range h.PostAtOnce(8, "/domains/purchase", func(int) any {
		return obj{"domains": []string{"example.com"}, "workspace_id": h.DefaultWorkspace(), "contact_info": contact()}
	}) {
		if a.Want(200).Str("results.0.status") == "purchased" {
			bought++
		} else {
			a.Is("results.0.error_code", "already_owned")
		}
	}
	if bought != 1 {
		t.Errorf("the domain was bought %d times", bought)
	}
	h.Get("/dns-records").Is("total", 5)
}

func TestConcurrentCNAMEs(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	_, others := split(t, h.PostAtOnce(8, "/dns-records", func(i int) any {
		return obj{"domain": "example.com", "name": "www", "type": "CNAME", "value": "t" + itoa(i) + ".example.net"}
	}))
	for _, a := range others {
		a.Refused(409, "body conflict")
	}
}

// TestConcurrentBulkRequests checks that overlapping bulk requests create each address
// once.
func TestConcurrentBulkRequests(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	var items []obj
	for i := range 50 {
		items = append(items, obj{"local_part": "u" + itoa(i), "first_name": "f", "last_name": "l"})
	}
	created := 0
	for _, a := range h.PostAtOnce(4, "/mailboxes/bulk", func(int) any { return obj{"domain": "example.com", "items": items} }) {
		created += len(a.Want(200).At("created").([]any))
		if failed := a.Str("failed.0.code"); failed != "" && failed != "already_exists" || strings.Contains(string(a.Raw), "duplicate") {
			t.Errorf("%s", a)
		}
	}
	if created != 50 {
		t.Errorf("%d mailboxes were created", created)
	}
	h.Get("/mailboxes").Is("total", 50)
}
