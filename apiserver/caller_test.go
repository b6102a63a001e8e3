package apiserver_test

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

func TestCapabilitiesAreAskedFor(t *testing.T) {
	h := newHarness(t)
	for _, spec := range api.Specs() {
		t.Run(spec.ID, func(t *testing.T) {
			var others []grant
			for _, c := range api.Capabilities() {
				if c != spec.Capability {
					others = append(others, grant{capability: c})
				}
			}
			if spec.Capability == "" {
				newRequest(t, spec).send(h.limited(t)).want(spec.Status)
				return
			}
			without, only := h.limited(t, others...), h.limited(t, grant{capability: spec.Capability})
			newRequest(t, spec).send(without).refused(403, "header.Authorization permission_denied").says(string(spec.Capability))
			// It comes before anything that the request says is looked at.
			newRequest(t, spec).broken([]string{"query", "page"}, "x").send(without).want(403)
			r := newRequest(t, spec)
			if spec.ID == "grant-authorization" { // no more than the caller has
				r.body = obj{"grant_kind": "capability", "subject_type": "user", "subject_id": "u", "capability_key": spec.Capability}
			}
			if a := r.send(only); a.status == 401 || a.status == 403 {
				t.Errorf("the capability is not enough: %s", a)
			}
		})
	}
}

func TestCapabilityNarrowedElsewhere(t *testing.T) {
	h := newHarness(t)
	c := h.narrowed(t, "domain", h.domain("example.com"))
	for _, spec := range api.Specs() {
		if spec.Narrowable || spec.Capability == "" {
			continue
		}
		newRequest(t, spec).send(c).refused(403, "header.Authorization permission_denied").says(string(spec.Capability))
	}
}

// estate is two of each kind of object, one that a narrowed caller may see and
// one in another domain and workspace.
type estate struct {
	workspace, domain, mailbox, forwarding, password, record [2]string
}

func newEstate(h *harness) (e estate) {
	for i, name := range []string{"seen.com", "hidden.com"} {
		e.workspace[i] = h.workspace(name)
		e.domain[i] = h.domain(name, e.workspace[i])
		e.mailbox[i] = h.mailbox(name, "jane")
		e.forwarding[i] = h.forwarding("jane@example.net", obj{"domain": name})
		e.password[i] = h.password("p", obj{"domain": name})
		e.record[i] = string(h.record(name, "www", "A", "192.0.2.1").want(201).raw)
		_, rest, _ := strings.Cut(e.record[i], `"id":`)
		e.record[i], _, _ = strings.Cut(rest, ",")
	}
	h.forwarding("jane@example.net", nil)
	h.password("p", nil)
	return e
}

func TestNarrowedCallers(t *testing.T) {
	h := newHarness(t)
	e := newEstate(h)
	for _, tt := range []struct{ resourceType, id string }{{"domain", e.domain[0]}, {"workspace", e.workspace[0]}} {
		t.Run(tt.resourceType, func(t *testing.T) {
			c := h.narrowed(t, tt.resourceType, tt.id)
			t.Run("lists", func(t *testing.T) { e.checkLists(c.in(t)) })
			t.Run("objects", func(t *testing.T) { e.checkObjects(c.in(t)) })
			t.Run("creates", func(t *testing.T) { e.checkCreates(c.in(t)) })
			t.Run("export", func(t *testing.T) { e.checkExport(c.in(t)) })
		})
	}
}

func (e estate) checkLists(c *client) {
	for _, path := range []string{
		"/mailboxes", "/mailboxes?search=jane", "/mailboxes?domain=seen.com", "/mailboxes?status=active", "/mailboxes?workspace_id=" + e.workspace[0],
		"/domains", "/domains?search=.com", "/domains?workspace_id=" + e.workspace[0], "/domains?status=active",
		"/forwarding", "/forwarding?search=jane", "/forwarding?scope_type=domain", "/forwarding?domain=seen.com", "/forwarding?verification_state=pending",
		"/credentials", "/credentials?search=p", "/credentials?scope_type=domain", "/credentials?domain=" + e.domain[0],
		"/dns-records?name=www", "/dns-records?type=A", "/dns-records?domain=seen.com&name=www",
	} {
		c.get(path).want(200).is("total", 1, "items.1", nil)
	}
	for _, path := range []string{
		"/mailboxes?domain=hidden.com", "/mailboxes?domain=" + e.domain[1], "/mailboxes?workspace_id=" + e.workspace[1], "/domains?search=hidden",
		"/domains?workspace_id=" + e.workspace[1], "/forwarding?domain=hidden.com", "/forwarding?scope_type=account", "/credentials?scope_type=account",
		"/credentials?domain=hidden.com", "/dns-records?domain=hidden.com", "/mailboxes?page=2",
	} {
		c.get(path).want(200).is("items.0", nil)
	}
	c.get("/dns-records").want(200).is("total", 6)
}

func (e estate) checkObjects(c *client) {
	for path, problem := range map[string]string{
		"/mailboxes/" + e.mailbox[1]: "path.mailbox not_found", "/mailboxes/jane@hidden.com": "path.mailbox not_found",
		"/domains/" + e.domain[1]: "path.domain not_found", "/domains/hidden.com": "path.domain not_found",
		"/forwarding/" + e.forwarding[1]: "path.forwarding_id not_found", "/credentials/" + e.password[1]: "path.credential_id not_found",
		"/dns-records/" + e.record[1]: "path.dns_record_id not_found",
	} {
		c.get(path).refused(404, problem)
		c.delete(path).refused(404, problem)
	}
	for path, body := range map[string]obj{
		"/mailboxes/jane@hidden.com": {"first_name": "x"}, "/domains/hidden.com": {"auto_renew": true}, "/forwarding/" + e.forwarding[1]: {"target_email": "x@example.net"},
		"/forwarding/" + e.forwarding[1] + "/active": {"active": false}, "/credentials/" + e.password[1]: {"name": "x"}, "/dns-records/" + e.record[1]: {"ttl": 60},
	} {
		c.patch(path, body).want(404)
	}
	for _, path := range []string{
		"/mailboxes/" + e.mailbox[0], "/mailboxes/jane@seen.com", "/domains/" + e.domain[0], "/domains/seen.com", "/forwarding/" + e.forwarding[0],
		"/credentials/" + e.password[0], "/dns-records/" + e.record[0],
	} {
		c.get(path).want(200)
	}
	c.patch("/domains/seen.com", obj{"workspace_id": e.workspace[1]}).refused(422, "body.workspace_id value_error")
	c.get("/workspaces/"+e.workspace[1]).refused(404, "path.workspace_id not_found")
}

func (e estate) checkCreates(c *client) {
	item := obj{"first_name": "f", "last_name": "l", "local_part": "jane"}
	c.createMailbox("hidden.com", "jane").refused(422, "body.domain value_error")
	c.post("/mailboxes/bulk", obj{"domain": "hidden.com", "items": []any{item}}).refused(422, "body.domain value_error")
	c.record("hidden.com", "www", "A", "192.0.2.1").refused(422, "body.domain value_error")
	for _, path := range []string{"/forwarding", "/credentials"} {
		body := obj{"target_email": "jane@example.net", "name": "p", "generate": true}
		c.post(path, with(body, "domain", "hidden.com")).refused(422, "body.domain value_error")
		c.post(path, with(body, "workspace_id", e.workspace[1])).refused(422, "body.workspace_id value_error")
		c.post(path, body).refused(403, "header.Authorization permission_denied")
	}
	c.purchase(e.workspace[1], "new.com").refused(422, "body.workspace_id value_error")

	// What they may see they are told of.
	c.createMailbox("seen.com", "jane").refused(409, "body conflict").says(e.mailbox[0])
	c.record("seen.com", "www", "A", "192.0.2.1").refused(409, "body conflict").says(e.record[0])
	c.post("/forwarding", obj{"target_email": "jane@example.net", "domain": "seen.com"}).refused(409, "body conflict").says(e.forwarding[0])
	c.post("/credentials", obj{"name": "p", "domain": "seen.com", "generate": true}).refused(409, "body conflict").says(e.password[0])
	if c.get("/workspaces/"+e.workspace[0]).status != 200 {
		return // narrowed to a domain
	}
	c.purchase(e.workspace[0], "seen.com", "hidden.com").want(200).is("results.0.error_code", "already_owned", "results.0.id", e.domain[0], "results.1.error_code", "unavailable", "results.1.id", nil)
}

func (e estate) checkExport(c *client) {
	a := c.post("/mailboxes/export", obj{}).want(200)
	rows, err := csv.NewReader(strings.NewReader(string(a.raw))).ReadAll()
	if err != nil || len(rows) != 2 || !slices.Contains(rows[1], "jane@seen.com") {
		c.t.Errorf("%s, %v", a, err)
	}
	c.post("/mailboxes/export", obj{"domain": "hidden.com"}).refused(422, "body.domain value_error")
	c.post("/mailboxes/export", obj{"domain": "hidden.com", "mailboxes": []string{e.mailbox[0]}}).refused(422, "body.domain value_error")
	c.post("/mailboxes/export", obj{"mailboxes": []string{e.mailbox[0], e.mailbox[1], "jane@hidden.com"}}).
		refused(422, "body.mailboxes.1 value_error", "body.mailboxes.2 value_error")
}

// One grant widens another.
func TestGrantsAddUp(t *testing.T) {
	h := newHarness(t)
	e := newEstate(h)
	const view = vocab.CapMailboxView
	h.limited(t, grant{view, "domain", e.domain[0]}, grant{view, "workspace", e.workspace[1]}).get("/mailboxes").want(200).is("total", 2)
	h.limited(t, grant{view, "domain", e.domain[0]}, grant{capability: view}).get("/mailboxes").want(200).is("total", 2)
	// One of another capability does not.
	c := h.limited(t, grant{view, "domain", e.domain[0]}, grant{capability: vocab.CapMailboxDelete})
	c.get("/mailboxes").want(200).is("total", 1)
	c.delete("/mailboxes/" + e.mailbox[1]).want(204)
}

// A grant is followed as it is, not as it was.
func TestRevokedGrant(t *testing.T) {
	h := newHarness(t)
	c := h.limited(t, grant{capability: vocab.CapMailboxView})
	c.get("/mailboxes").want(200)
	id := h.get("/auth/authorizations?capability_key=mailbox.view").want(200).str("0.id")
	h.delete("/auth/authorizations/" + id).want(204)
	c.get("/mailboxes").refused(403, "header.Authorization permission_denied")
}

// Whoever may create a thing and not see it is not told which one exists.
func TestConflictsNameWhatTheCallerMaySee(t *testing.T) {
	h := newHarness(t)
	domain := h.domain("example.com")
	www := idOf(h.record("example.com", "www", "A", "192.0.2.1").want(201), "id")
	for _, tt := range []struct {
		create, view vocab.Capability
		path, id     string
		body         obj
	}{
		{vocab.CapMailboxCreate, vocab.CapMailboxView, "/mailboxes", h.mailbox("example.com", "jane"), obj{"domain": "example.com", "local_part": "jane", "first_name": "J", "last_name": "D"}},
		{vocab.CapForwardingManage, vocab.CapForwardingView, "/forwarding", h.forwarding("x@example.net", obj{"domain": domain}), obj{"domain": domain, "target_email": "x@example.net"}},
		{vocab.CapCredentialManage, vocab.CapCredentialView, "/credentials", h.password("p", nil), obj{"name": "p", "generate": true}},
		{vocab.CapWorkspaceManage, vocab.CapWorkspaceView, "/workspaces", h.workspace("w"), obj{"name": "w"}},
		{vocab.CapDNSRecordCreate, vocab.CapDNSRecordView, "/dns-records", www, obj{"domain": "example.com", "name": "www", "type": "A", "value": "192.0.2.1"}},
		{vocab.CapDNSRecordCreate, vocab.CapDNSRecordView, "/dns-records", www, obj{"domain": "example.com", "name": "www", "type": "CNAME", "value": "a.example.net"}},
	} {
		create := grant{capability: tt.create}
		blind := h.limited(t, create).post(tt.path, tt.body).refused(409, "body conflict")
		if msg := strings.ReplaceAll(blind.str("detail.0.msg"), "example", ""); strings.Contains(msg, tt.id) {
			t.Errorf("%s tells %s without %s: %s", tt.path, tt.id, tt.view, blind)
		}
		h.limited(t, create, grant{capability: tt.view}).post(tt.path, tt.body).refused(409, "body conflict").says(tt.id)
	}
}

// A mailbox that the caller may not see is as any other address.
func TestForwardingToAHiddenMailbox(t *testing.T) {
	h := newHarness(t)
	e := newEstate(h)
	c := h.narrowed(t, "domain", e.domain[0])
	for target, state := range map[string]string{"jane@seen.com": "internal", "jane@hidden.com": "pending", "nobody@hidden.com": "pending"} {
		c.post("/forwarding", obj{"domain": "seen.com", "target_email": target}).want(201).is("verification_state", state)
	}
	h.post("/forwarding", obj{"domain": "hidden.com", "target_email": "jane@seen.com"}).want(201).is("verification_state", "internal")
}
