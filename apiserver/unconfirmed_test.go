package apiserver_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

// lostCreates are creates whose objects the client of a configuration may lose. again is
// the status of the same create by anybody else.
var lostCreates = []struct {
	objectType, path string
	body             func(h *apitest.Server) obj
	again            int
}{
	{"mailbox", "/mailboxes", func(*apitest.Server) obj {
		return obj{"domain": "example.com", "local_part": "jane", "first_name": "Jane", "last_name": "Doe"}
	}, 409},
	{"forwarding", "/forwarding", func(*apitest.Server) obj { return obj{"target_email": "to@example.net", "domain": "example.com"} }, 409},
	{"dns_record", "/dns-records", func(*apitest.Server) obj {
		return obj{"domain": "example.com", "name": "www", "type": "A", "value": "192.0.2.1"}
	}, 409},
	{"master_password", "/credentials", func(*apitest.Server) obj { return obj{"name": "ops", "generate": true} }, 409},
	{"service_account", "/auth/service-accounts", func(*apitest.Server) obj { return obj{"name": "ci"} }, 201},
	{"dedicated_ip", "/dedicated-ips/claim", func(h *apitest.Server) obj {
		return obj{"option_id": h.Get("/dedicated-ips/options").Want(200).At("items.0.id")}
	}, 201},
}

const here = "5f0c"

func review(c *apitest.Client, body obj) *apitest.Response {
	c.T.Helper()
	body["origin"] = here
	return c.Patch("/creates", body).Want(200)
}

// createdBy sends a create of a run.
func createdBy(c *apitest.Client, run, path string, body obj) *apitest.Response {
	c.T.Helper()
	return c.Do("POST", path, body, "Idempotency-Key", uuid.NewString(), "Idempotency-Origin", here+" "+run)
}

func idIn(a *apitest.Response) string {
	a.T.Helper()
	if n, ok := a.At("id").(float64); ok {
		return itoa(int(n))
	}
	return a.At("id").(string)
}

// TestLostCreate checks that the create of another run returns an object that a complete
// review has not confirmed, once, and which other creates do not.
func TestLostCreate(t *testing.T) {
	for _, create := range lostCreates {
		for name, tt := range map[string]struct {
			meanwhile func(h *apitest.Server, id string)
			run       string
			resumed   bool
		}{
			"lost": {func(h *apitest.Server, _ string) { review(h.Client, obj{"complete": true}) }, "2", true},
			"lost, then seen by a plan that is not complete": {func(h *apitest.Server, _ string) {
				review(h.Client, obj{"complete": true})
				review(h.Client, obj{})
			}, "2", true},
			"no review":             {func(*apitest.Server, string) {}, "2", false},
			"the review is partial": {func(h *apitest.Server, _ string) { review(h.Client, obj{"objects": []obj{}}) }, "2", false},
			"the same run sends it": {func(h *apitest.Server, _ string) { review(h.Client, obj{"complete": true}) }, "1", false},
			"the run is confirmed":  {func(h *apitest.Server, _ string) { review(h.Client, obj{"run": "1", "complete": true}) }, "2", false},
			"the object is confirmed": {func(h *apitest.Server, id string) {
				review(h.Client, obj{"objects": []obj{{"type": create.objectType, "ids": []string{id}}}, "complete": true})
			}, "2", false},
			"the object is confirmed after it was lost": {func(h *apitest.Server, id string) {
				review(h.Client, obj{"complete": true})
				review(h.Client, obj{"objects": []obj{{"type": create.objectType, "ids": []string{id}}}})
			}, "2", false},
			"another object is confirmed": {func(h *apitest.Server, _ string) {
				review(h.Client, obj{"run": "3", "objects": []obj{{"type": create.objectType, "ids": []string{uuid.NewString()}}, {"type": "domain", "ids": []string{}}}, "complete": true})
			}, "2", true},
			"another caller": {func(h *apitest.Server, _ string) {
				review(h.Client, obj{"complete": true})
				token, err := h.Service.IssueOwnerToken(h.T.Context(), h.Account, "other")
				if err != nil {
					h.T.Fatal(err)
				}
				*h.Client = *h.As(token)
			}, "2", false},
			"a week later": {func(h *apitest.Server, _ string) {
				review(h.Client, obj{"complete": true})
				h.Clock.Advance(7 * 24 * time.Hour)
			}, "2", false},
			"without an origin": {func(h *apitest.Server, _ string) { review(h.Client, obj{"complete": true}) }, "", false},
		} {
			t.Run(create.objectType+"/"+name, func(t *testing.T) {
				h := apitest.New(t)
				h.Domain("example.com")
				body := create.body(h)
				first := createdBy(h.Client, "1", create.path, body).Want(201)
				if first.Resumed() {
					t.Error("the first create was resumed")
				}
				tt.meanwhile(h, idIn(first))
				again := createdBy(h.Client, tt.run, create.path, body)
				if again.Resumed() != tt.resumed {
					t.Fatalf("resumed %t: %s", again.Resumed(), again)
				}
				if !tt.resumed {
					again.Want(create.again)
					return
				}
				if again.Want(201); idIn(again) != idIn(first) {
					t.Errorf("the create returns another object: %s, then %s", first, again)
				}
				// Not a second time, unless that was lost too.
				if third := createdBy(h.Client, "3", create.path, body).Want(create.again); third.Resumed() {
					t.Errorf("resumed twice: %s", third)
				}
			})
		}
	}
}

// TestLostSecret checks that a service account that was lost has the token of the create
// that returns it, and that one that was used, or has other grants, is not returned.
func TestLostSecret(t *testing.T) {
	const path = "/auth/service-accounts"
	body := obj{"name": "ci"}
	for name, tt := range map[string]struct {
		meanwhile func(h *apitest.Server, first *apitest.Response)
		resumed   bool
	}{
		"unused": {func(*apitest.Server, *apitest.Response) {}, true},
		"used":   {func(h *apitest.Server, first *apitest.Response) { h.As(first.Str("token")).Get("").Want(200) }, false},
		"revoked": {func(h *apitest.Server, first *apitest.Response) {
			h.Delete(path + "/" + first.Str("id")).Want(204)
		}, false},
		"with another grant": {func(h *apitest.Server, first *apitest.Response) {
			h.Post("/auth/authorizations", obj{
				"grant_kind": "capability", "subject_type": "service_account", "subject_id": first.Str("id"), "capability_key": "mailbox.view",
			}).Want(201)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := apitest.New(t)
			first := createdBy(h.Client, "1", path, body).Want(201)
			tt.meanwhile(h, first)
			review(h.Client, obj{"complete": true})
			again := createdBy(h.Client, "2", path, body).Want(201)
			if again.Resumed() != tt.resumed || (again.Str("id") == first.Str("id")) != tt.resumed {
				t.Errorf("resumed %t: %s", again.Resumed(), again)
			}
			h.As(again.Str("token")).Get("").Want(200)
			if tt.resumed {
				h.As(first.Str("token")).Get("").Want(401)
			}
		})
	}
}

// TestLostBulk checks that a bulk request returns the mailboxes that single creates and
// bulk requests have lost, and that other names are conflicts.
func TestLostBulk(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	item := func(localPart, lastName string) obj {
		return obj{"local_part": localPart, "first_name": "Jane", "last_name": lastName}
	}
	send := func(run string, items ...obj) *apitest.Response {
		return createdBy(h.Client, run, "/mailboxes/bulk", obj{"domain": "example.com", "items": items}).Want(200)
	}
	single := item("a", "Doe")
	single["domain"] = "example.com"
	createdBy(h.Client, "1", "/mailboxes", single).Want(201)
	send("1", item("b", "Doe"), item("c", "Doe"), item("d", "Doe"))
	review(h.Client, obj{"complete": true, "objects": []obj{{"type": "mailbox", "ids": []string{h.Get("/mailboxes/d@example.com").Want(200).Str("id")}}}})
	got := send("2", item("a", "Doe"), item("b", "Doe"), item("c", "Roe"), item("d", "Doe"), item("e", "Doe"))
	if n, failed := len(got.At("created").([]any)), len(got.At("failed").([]any)); n != 3 || failed != 2 || !got.Resumed() {
		t.Errorf("created %d, failed %d, resumed %t: %s", n, failed, got.Resumed(), got)
	}
}

// TestUnconfirmedHeader checks that a GET request learns whether its origin has unconfirmed
// creates.
func TestUnconfirmedHeader(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	unconfirmed := func(origin, want string) {
		t.Helper()
		if got := h.Do("GET", "/domains", nil, "Idempotency-Origin", origin).Want(200).Header.Get("Idempotency-Unconfirmed"); got != want {
			t.Errorf("with the origin %q: %q, want %q", origin, got, want)
		}
	}
	unconfirmed(here, "false")
	body := obj{"domain": "example.com", "local_part": "jane", "first_name": "Jane", "last_name": "Doe"}
	h.Post("/mailboxes", body).Want(201)
	unconfirmed(here, "false")
	body["local_part"] = "john"
	created := createdBy(h.Client, "1", "/mailboxes", body).Want(201)
	unconfirmed(here, "true")
	unconfirmed("other", "false")
	unconfirmed("", "")
	unconfirmed("not one!", "")
	left := review(h.Client, obj{"complete": true})
	left.Is("lost.0.type", "mailbox").Is("lost.0.ids.0", created.Str("id"))
	unconfirmed(here, "true")
	review(h.Client, obj{"run": "1"})
	unconfirmed(here, "false")

	published := apitest.New(t, func(o *apiserver.Options) { o.PublishedOnly = true })
	if got := published.Do("GET", "/domains", nil, "Idempotency-Origin", here).Want(200).Header.Get("Idempotency-Unconfirmed"); got != "" {
		t.Errorf("an API without lifecycle operations responds with %q", got)
	}
}
