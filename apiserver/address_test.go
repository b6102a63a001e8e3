package apiserver_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

// aliased creates an account whose mailboxes have aliases, and returns its owner's
// client.
func aliased(t *testing.T, h *apitest.Server) *apitest.Client {
	t.Helper()
	f := parseFixture(t, `{"accounts":[{"id":"`+fixtureAccount+`","domains":[
		{"name":"example.com","mailboxes":[{"local_part":"jane","first_name":"Jane","last_name":"Doe","aliases":[
			{"alias":"info@example.com"},{"alias":"*@example.com","is_catch_all":true},{"alias":"jane@example.net"},{"alias":"all@example.net","is_catch_all":true}]}]},
		{"name":"example.net"}]}]}`)
	if err := h.Service.LoadFixture(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	return h.Owner(t, fixtureAccount)
}

func TestAliasIsAnAddress(t *testing.T) {
	for name, configure := range map[string]func(*apiserver.Options){
		"":         func(*apiserver.Options) {},
		"at quota": func(o *apiserver.Options) { o.MaxMailboxes = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			c := aliased(t, apitest.New(t, configure))
			jane := c.Get("/mailboxes/jane@example.com").Want(200).Str("id")
			for _, taken := range []string{"info@example.com", "*@example.com", "INFO@Example.COM", "jane@example.net", "all@example.net"} {
				local, domain, _ := strings.Cut(taken, "@")
				c.CreateMailbox(domain, local).Refused(409, "body conflict").Says(strings.ToLower(taken)+" is an alias of the mailbox jane@example.com", jane)
				c.Post("/mailboxes/bulk", obj{"domain": domain, "items": []obj{{"local_part": local, "first_name": "A", "last_name": "B"}}}).Want(200).
					Is("created.0", nil, "failed.0.code", "already_exists")
				// The path accepts primary addresses only.
				c.Get("/mailboxes/"+taken).Refused(404, "path.mailbox not_found")
				c.Delete("/mailboxes/"+taken).Refused(404, "path.mailbox not_found")
			}
			c.Get("/mailboxes").Want(200).Is("total", 1, "items.0.aliases.3.alias", "all@example.net")
		})
	}
	c := aliased(t, apitest.New(t))
	c.Mailbox("example.com", "bob") // the address of a catch-all mailbox does not reserve any other address
	c.Mailbox("example.net", "info")
	c.Delete("/mailboxes/jane@example.com").Want(204)
	for _, free := range []string{"info", "*", "jane"} {
		c.Mailbox("example.com", free)
	}
}

// TestAliasOfHiddenMailbox checks that a conflict with an alias does not reveal a mailbox
// that the caller may not see.
func TestAliasOfHiddenMailbox(t *testing.T) {
	h := apitest.New(t)
	aliased(t, h)
	owner := h.Owner(t, fixtureAccount)
	h.Client = owner
	restricted := h.Restricted(t, "domain", owner.Get("/domains/example.net").Want(200).Str("id"))
	restricted.Account = fixtureAccount
	a := restricted.CreateMailbox("example.net", "jane").Refused(409, "body conflict").Says("jane@example.net is an alias; use another local part")
	if strings.Contains(string(a.Raw), "example.com") {
		t.Errorf("%s", a)
	}
}

func TestForwardingToAnAlias(t *testing.T) {
	h := apitest.New(t)
	c := aliased(t, h)
	id := c.Post("/forwarding", obj{"target_email": "INFO@example.com"}).Want(201).Is("verification_state", "internal", "active", true).Str("id")
	c.Post("/forwarding", obj{"target_email": "jane@example.net"}).Want(201).Is("verification_state", "internal")
	// A catch-all does not make every address of its domain internal.
	c.Post("/forwarding", obj{"target_email": "other@example.net"}).Want(201).Is("verification_state", "pending")
	c.Delete("/mailboxes/jane@example.com").Want(204)
	c.Get("/forwarding/"+id).Is("verification_state", "pending", "active", false)
	c.Get("/forwarding?verification_state=internal").Is("total", 0)
}

// TestAliasesOfADeletedDomain checks that deleting a domain deletes its aliases, so that
// another account's mailbox at such an address is not an internal target.
func TestAliasesOfADeletedDomain(t *testing.T) {
	h := apitest.New(t)
	c := aliased(t, h)
	id := c.Post("/forwarding", obj{"target_email": "jane@example.net"}).Want(201).Is("verification_state", "internal").Str("id")
	c.Delete("/domains/example.net").Want(204)
	c.Get("/mailboxes/jane@example.com").Is("aliases.1.alias", "*@example.com", "aliases.2", nil)
	c.Get("/forwarding/"+id).Is("verification_state", "pending", "active", false)
	h.Domain("example.net")
	h.Mailbox("example.net", "jane")
	c.Get("/forwarding/"+id).Is("verification_state", "pending", "active", false)
}

// TestForwardingFollowsItsTarget checks that a rule stops forwarding when its target is
// deleted, even if another mailbox gets the address later, and that its verification
// starts only when a request sets the target again.
func TestForwardingFollowsItsTarget(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	h.Domain("example.net")
	jane := h.Mailbox("example.com", "jane")
	other := h.Owner(t, nobody)
	scopes := []obj{{}, {"workspace_id": h.DefaultWorkspace()}, {"domain": "example.net"}}
	var rules []string
	for _, scope := range scopes {
		rules = append(rules, h.Forwarding("jane@example.com", scope))
	}
	off := h.Post("/forwarding", obj{"target_email": "jane@example.com", "workspace_id": h.Workspace("Sales")}).Want(201).Str("id")
	h.Patch("/forwarding/"+off+"/active", obj{"active": false}).Want(200)
	rules = append(rules, off)
	foreign := other.Forwarding("jane@example.com", obj{})
	messages := len(h.Service.Outbox())

	h.Clock.Advance(time.Microsecond)
	h.Delete("/mailboxes/" + jane).Want(204)
	for _, id := range rules {
		h.Get("/forwarding/"+id).Want(200).Is(
			"verification_state", "pending", "active", false, "verification_required", true, "target_email", "jane@example.com",
			"verification_sent_at", nil, "verification_expires_at", nil, "verification_verified_at", nil, "updated_at", "2026-03-14T15:09:26.535898Z")
		h.Patch("/forwarding/"+id+"/active", obj{"active": true}).Refused(409, "body conflict").Says("set target_email again")
	}
	h.Clock.Advance(1000 * time.Hour)
	h.Get("/forwarding?verification_state=pending").Is("total", len(rules)) // a rule without a link never expires
	if n := len(h.Service.Outbox()); n != messages {
		t.Errorf("%d messages were sent for the deleted mailbox", n-messages)
	}

	// Another account's mailbox at the address does not activate the rules.
	h.Delete("/domains/example.com").Want(204)
	other.Domain("example.com")
	other.Mailbox("example.com", "jane")
	for _, id := range rules {
		h.Get("/forwarding/"+id).Is("verification_state", "pending", "active", false)
	}
	// The other account's own rule becomes internal only when its target is set again.
	other.Get("/forwarding/"+foreign).Is("verification_state", "expired")
	other.Patch("/forwarding/"+foreign, obj{"target_email": "jane@example.com"}).Want(200).Is("verification_state", "internal", "active", true)

	h.Patch("/forwarding/"+rules[0], obj{"target_email": "Jane@example.com"}).Want(200).Is("verification_state", "pending", "verification_sent_at", "2026-04-25T07:09:26.535898Z")
	if n := len(h.Service.Outbox()); n != messages+1 {
		t.Fatalf("%d messages were sent", n-messages)
	}
	confirm(t, h, messages)
	h.Get("/forwarding/"+rules[0]).Is("verification_state", "verified", "active", true)
	h.Patch("/forwarding/"+off, obj{"target_email": "jane@example.com"}).Want(200)
	confirm(t, h, messages+1)
	h.Get("/forwarding/"+off).Is("verification_state", "verified", "active", false) // the switch stays off
}

// TestForwardingToARecreatedMailbox checks that recreating the target does not activate a
// rule, but a PATCH does.
func TestForwardingToARecreatedMailbox(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	jane := h.Mailbox("example.com", "jane")
	id := h.Forwarding("jane@example.com", obj{})
	h.Delete("/mailboxes/" + jane).Want(204)
	h.Mailbox("example.com", "jane")
	h.Get("/forwarding/"+id).Is("verification_state", "pending", "active", false)
	h.Patch("/forwarding/"+id, obj{"target_email": "jane@example.com"}).Want(200).Is("verification_state", "internal", "active", true)
	if n := len(h.Service.Outbox()); n != 0 {
		t.Errorf("%d messages", n)
	}
}

func TestAuditOfReleasedForwarding(t *testing.T) {
	a := newAudited(t)
	a.Domain("example.com")
	jane := a.Mailbox("example.com", "jane")
	a.Forwarding("jane@example.com", obj{})
	a.Forwarding("jane@example.com", obj{"domain": "example.com"})
	got := strings.Join(a.during(func() { a.Delete("/mailboxes/" + jane).Want(204) }), "\n")
	want := "deleted mailbox jane@example.com" + strings.Repeat(", updated forwarding jane@example.com (verification_state)", 2)
	if !strings.HasPrefix(got, "delete-mailbox by ") || !strings.HasSuffix(got, ": "+want) {
		t.Errorf("logged %q, want %q", got, want)
	}
}
