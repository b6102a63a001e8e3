package apiserver_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
)

// aliased makes an account whose mailboxes have aliases, and returns its owner's
// client.
func aliased(t *testing.T, h *harness) *client {
	t.Helper()
	f := parseFixture(t, `{"accounts":[{"id":"`+fixtureAccount+`","domains":[
		{"name":"example.com","mailboxes":[{"local_part":"jane","first_name":"Jane","last_name":"Doe","aliases":[
			{"alias":"info@example.com"},{"alias":"*@example.com","is_catch_all":true},{"alias":"jane@example.net"},{"alias":"all@example.net","is_catch_all":true}]}]},
		{"name":"example.net"}]}]}`)
	if err := h.svc.LoadFixture(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	return h.owner(t, fixtureAccount)
}

func TestAnAliasIsAnAddress(t *testing.T) {
	for name, configure := range map[string]func(*apiserver.Options){
		"":         func(*apiserver.Options) {},
		"at quota": func(o *apiserver.Options) { o.MaxMailboxes = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			c := aliased(t, newHarness(t, configure))
			jane := c.get("/mailboxes/jane@example.com").want(200).str("id")
			for _, taken := range []string{"info@example.com", "*@example.com", "INFO@Example.COM", "jane@example.net", "all@example.net"} {
				local, domain, _ := strings.Cut(taken, "@")
				c.createMailbox(domain, local).refused(409, "body conflict").says(strings.ToLower(taken)+" is an alias of the mailbox jane@example.com", jane)
				c.post("/mailboxes/bulk", obj{"domain": domain, "items": []obj{{"local_part": local, "first_name": "A", "last_name": "B"}}}).want(200).
					is("created.0", nil, "failed.0.code", "already_exists")
				// The path takes primary addresses only.
				c.get("/mailboxes/"+taken).refused(404, "path.mailbox not_found")
				c.delete("/mailboxes/"+taken).refused(404, "path.mailbox not_found")
			}
			c.get("/mailboxes").want(200).is("total", 1, "items.0.aliases.3.alias", "all@example.net")
		})
	}
	c := aliased(t, newHarness(t))
	c.mailbox("example.com", "bob") // a catch-all takes its own address only
	c.mailbox("example.net", "info")
	c.delete("/mailboxes/jane@example.com").want(204)
	for _, free := range []string{"info", "*", "jane"} {
		c.mailbox("example.com", free)
	}
}

// A conflict with an alias does not reveal a mailbox that the caller may not see.
func TestAnAliasOfAnUnseenMailbox(t *testing.T) {
	h := newHarness(t)
	aliased(t, h)
	owner := h.owner(t, fixtureAccount)
	h.client = owner
	narrowed := h.narrowed(t, "domain", owner.get("/domains/example.net").want(200).str("id"))
	narrowed.account = fixtureAccount
	a := narrowed.createMailbox("example.net", "jane").refused(409, "body conflict").says("jane@example.net is an alias; use another local part")
	if strings.Contains(string(a.raw), "example.com") {
		t.Errorf("%s", a)
	}
}

func TestForwardingToAnAlias(t *testing.T) {
	h := newHarness(t)
	c := aliased(t, h)
	id := c.post("/forwarding", obj{"target_email": "INFO@example.com"}).want(201).is("verification_state", "internal", "active", true).str("id")
	c.post("/forwarding", obj{"target_email": "jane@example.net"}).want(201).is("verification_state", "internal")
	// Other addresses of a catch-all's domain are none of the account's.
	c.post("/forwarding", obj{"target_email": "other@example.net"}).want(201).is("verification_state", "pending")
	c.delete("/mailboxes/jane@example.com").want(204)
	c.get("/forwarding/"+id).is("verification_state", "pending", "active", false)
	c.get("/forwarding?verification_state=internal").is("total", 0)
}

// The aliases in a deleted domain go with it: nobody else's mailbox at such an
// address is an internal target.
func TestAliasesOfADeletedDomain(t *testing.T) {
	h := newHarness(t)
	c := aliased(t, h)
	id := c.post("/forwarding", obj{"target_email": "jane@example.net"}).want(201).is("verification_state", "internal").str("id")
	c.delete("/domains/example.net").want(204)
	c.get("/mailboxes/jane@example.com").is("aliases.1.alias", "*@example.com", "aliases.2", nil)
	c.get("/forwarding/"+id).is("verification_state", "pending", "active", false)
	h.domain("example.net")
	h.mailbox("example.net", "jane")
	c.get("/forwarding/"+id).is("verification_state", "pending", "active", false)
}

// A rule stops forwarding when its target is deleted, whoever gets the address
// afterwards, and starts its verification only when that is requested.
func TestForwardingFollowsItsTarget(t *testing.T) {
	h := newHarness(t)
	h.domain("example.com")
	h.domain("example.net")
	jane := h.mailbox("example.com", "jane")
	other := h.owner(t, nobody)
	scopes := []obj{{}, {"workspace_id": h.defaultWorkspace()}, {"domain": "example.net"}}
	var rules []string
	for _, scope := range scopes {
		rules = append(rules, h.forwarding("jane@example.com", scope))
	}
	off := h.post("/forwarding", obj{"target_email": "jane@example.com", "workspace_id": h.workspace("Sales")}).want(201).str("id")
	h.patch("/forwarding/"+off+"/active", obj{"active": false}).want(200)
	rules = append(rules, off)
	foreign := other.forwarding("jane@example.com", obj{})
	messages := len(h.svc.Outbox())

	h.clock.Advance(time.Microsecond)
	h.delete("/mailboxes/" + jane).want(204)
	for _, id := range rules {
		h.get("/forwarding/"+id).want(200).is(
			"verification_state", "pending", "active", false, "verification_required", true, "target_email", "jane@example.com",
			"verification_sent_at", nil, "verification_expires_at", nil, "verification_verified_at", nil, "updated_at", "2026-03-14T15:09:26.535898Z")
		h.patch("/forwarding/"+id+"/active", obj{"active": true}).refused(409, "body conflict").says("set target_email again")
	}
	h.clock.Advance(1000 * time.Hour)
	h.get("/forwarding?verification_state=pending").is("total", len(rules)) // without a link, none expires
	if n := len(h.svc.Outbox()); n != messages {
		t.Errorf("%d messages are sent for the deleted mailbox", n-messages)
	}

	// Another account that creates the address gets no mail of the rules.
	h.delete("/domains/example.com").want(204)
	other.domain("example.com")
	other.mailbox("example.com", "jane")
	for _, id := range rules {
		h.get("/forwarding/"+id).is("verification_state", "pending", "active", false)
	}
	// Its own rule does not become internal by itself, and does when it is set again.
	other.get("/forwarding/"+foreign).is("verification_state", "expired")
	other.patch("/forwarding/"+foreign, obj{"target_email": "jane@example.com"}).want(200).is("verification_state", "internal", "active", true)

	h.patch("/forwarding/"+rules[0], obj{"target_email": "Jane@example.com"}).want(200).is("verification_state", "pending", "verification_sent_at", "2026-04-25T07:09:26.535898Z")
	if n := len(h.svc.Outbox()); n != messages+1 {
		t.Fatalf("%d messages are sent", n-messages)
	}
	h.confirm(t, messages)
	h.get("/forwarding/"+rules[0]).is("verification_state", "verified", "active", true)
	h.patch("/forwarding/"+off, obj{"target_email": "jane@example.com"}).want(200)
	h.confirm(t, messages+1)
	h.get("/forwarding/"+off).is("verification_state", "verified", "active", false) // the switch stays off
}

// A mailbox that is created anew does not turn a rule on; a PATCH does.
func TestForwardingToARecreatedMailbox(t *testing.T) {
	h := newHarness(t)
	h.domain("example.com")
	jane := h.mailbox("example.com", "jane")
	id := h.forwarding("jane@example.com", obj{})
	h.delete("/mailboxes/" + jane).want(204)
	h.mailbox("example.com", "jane")
	h.get("/forwarding/"+id).is("verification_state", "pending", "active", false)
	h.patch("/forwarding/"+id, obj{"target_email": "jane@example.com"}).want(200).is("verification_state", "internal", "active", true)
	if n := len(h.svc.Outbox()); n != 0 {
		t.Errorf("%d messages", n)
	}
}

func TestAuditOfReleasedForwarding(t *testing.T) {
	a := newAudited(t)
	a.domain("example.com")
	jane := a.mailbox("example.com", "jane")
	a.forwarding("jane@example.com", obj{})
	a.forwarding("jane@example.com", obj{"domain": "example.com"})
	got := strings.Join(a.during(func() { a.delete("/mailboxes/" + jane).want(204) }), "\n")
	want := "deleted mailbox jane@example.com" + strings.Repeat(", updated forwarding jane@example.com (verification_state)", 2)
	if !strings.HasPrefix(got, "delete-mailbox by ") || !strings.HasSuffix(got, ": "+want) {
		t.Errorf("logged %q, want %q", got, want)
	}
}
