package apiserver_test

import (
	"strings"
	"sync"
	"testing"
)

// atOnce sends a request n times at the same time.
func (c *client) atOnce(n int, path string, body func(int) any, headers ...string) []*answer {
	c.t.Helper()
	answers, begin := make([]*answer, n), make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-begin
			a, err := c.try(c.t.Context(), "POST", path, body(i), headers...)
			if err != nil {
				c.t.Error(err)
				return
			}
			answers[i] = a
		})
	}
	close(begin)
	all.Wait()
	for _, a := range answers {
		if a == nil {
			c.t.FailNow()
		}
		a.conforms()
	}
	return answers
}

// split returns the one answer with a 201 and all others.
func split(t *testing.T, answers []*answer) (created *answer, others []*answer) {
	t.Helper()
	for _, a := range answers {
		if a.status != 201 {
			others = append(others, a)
		} else if created != nil {
			t.Fatalf("two are created: %s and %s", created, a)
		} else {
			created = a
		}
	}
	if created == nil {
		t.Fatalf("none is created: %s", others[0])
	}
	return created, others
}

func TestConcurrentCreatesOfOneAddress(t *testing.T) {
	h := newHarness(t)
	h.domain("example.com")
	created, others := split(t, h.atOnce(20, "/mailboxes", func(i int) any {
		return obj{"domain": "example.com", "local_part": []string{"jane", "JANE"}[i%2], "first_name": "f", "last_name": itoa(i)}
	}))
	for _, a := range others {
		a.refused(409, "body conflict").says(created.str("id"))
	}
	h.get("/mailboxes").is("total", 1, "items.0.id", created.str("id"))
}

func TestConcurrentClaimsOfTheLastAddress(t *testing.T) {
	h := newHarness(t)
	claim := obj{"option_id": h.option("us")}
	for range 15 {
		h.post("/dedicated-ips/claim", claim).want(201)
	}
	_, others := split(t, h.atOnce(10, "/dedicated-ips/claim", func(int) any { return claim }))
	for _, a := range others {
		a.refused(409, "body conflict").says(h.option("us"))
	}
	h.get("/dedicated-ips").is("total", 16)
	h.get("/dedicated-ips/options").is("items.1.available", 0)
}

func TestConcurrentClaimsOfOneOption(t *testing.T) {
	h := newHarness(t)
	seen := map[string]bool{}
	for _, a := range h.atOnce(16, "/dedicated-ips/claim", func(int) any { return obj{"option_id": h.option("eu")} }) {
		if ip := a.want(201).str("ip_addresses.0.ip"); seen[ip] {
			t.Errorf("%s is claimed twice", ip)
		} else {
			seen[ip] = true
		}
	}
}

func TestConcurrentRequestsUnderOneKey(t *testing.T) {
	h := newHarness(t)
	ids := map[string]bool{}
	for _, a := range h.atOnce(10, "/auth/service-accounts", func(int) any { return obj{"name": "x"} }, "Idempotency-Key", key) {
		if a.status == 201 {
			ids[a.str("token")] = true
			continue
		}
		a.refused(409, "header.Idempotency-Key conflict")
	}
	if len(ids) != 1 {
		t.Errorf("%d tokens are told", len(ids))
	}
	h.get("/auth/service-accounts").is("total", 1)
}

func TestConcurrentPurchases(t *testing.T) {
	h := newHarness(t)
	bought := 0
	for _, a := range h.atOnce(8, "/domains/purchase", func(int) any {
		return obj{"domains": []string{"example.com"}, "workspace_id": h.defaultWorkspace(), "contact_info": contact()}
	}) {
		if a.want(200).str("results.0.status") == "purchased" {
			bought++
		} else {
			a.is("results.0.error_code", "already_owned")
		}
	}
	if bought != 1 {
		t.Errorf("it is bought %d times", bought)
	}
	h.get("/dns-records").is("total", 5)
}

func TestConcurrentCNAMEs(t *testing.T) {
	h := newHarness(t)
	h.domain("example.com")
	_, others := split(t, h.atOnce(8, "/dns-records", func(i int) any {
		return obj{"domain": "example.com", "name": "www", "type": "CNAME", "value": "t" + itoa(i) + ".example.net"}
	}))
	for _, a := range others {
		a.refused(409, "body conflict")
	}
}

// Bulk requests that overlap share the addresses between them.
func TestConcurrentBulkRequests(t *testing.T) {
	h := newHarness(t)
	h.domain("example.com")
	var items []obj
	for i := range 50 {
		items = append(items, obj{"local_part": "u" + itoa(i), "first_name": "f", "last_name": "l"})
	}
	created := 0
	for _, a := range h.atOnce(4, "/mailboxes/bulk", func(int) any { return obj{"domain": "example.com", "items": items} }) {
		created += len(a.want(200).at("created").([]any))
		if failed := a.str("failed.0.code"); failed != "" && failed != "already_exists" || strings.Contains(string(a.raw), "duplicate") {
			t.Errorf("%s", a)
		}
	}
	if created != 50 {
		t.Errorf("%d are created", created)
	}
	h.get("/mailboxes").is("total", 50)
}
