package apiserver_test

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

func TestRequiredCapabilities(t *testing.T) {
	h := apitest.New(t)
	for _, spec := range api.Specs() {
		t.Run(spec.ID, func(t *testing.T) {
			var others []apitest.Grant
			for _, c := range api.Capabilities() {
				if c != spec.Capability {
					others = append(others, apitest.Grant{Capability: c})
				}
			}
			if spec.Capability == "" {
				newRequest(t, spec).send(h.Limited(t)).Want(spec.Status)
				return
			}
			without, only := h.Limited(t, others...), h.Limited(t, apitest.Grant{Capability: spec.Capability})
			newRequest(t, spec).send(without).Refused(403, "header.Authorization permission_denied").Says(string(spec.Capability))
			// The capability is checked before the input is validated.
			newRequest(t, spec).broken([]string{"query", "page"}, "x").send(without).Want(403)
			r := newRequest(t, spec)
			if spec.ID == "grant-authorization" { // a caller can't grant more than it has
				r.body = obj{"grant_kind": "capability", "subject_type": "user", "subject_id": "u", "capability_key": spec.Capability}
			}
			if a := r.send(only); a.Status == 401 || a.Status == 403 {
				t.Errorf("the capability is not enough: %s", a)
			}
		})
	}
}

func TestRestrictedGrantIsNotSufficient(t *testing.T) {
	h := apitest.New(t)
	c := h.Restricted(t, "domain", h.Domain("example.com"))
	for _, spec := range api.Specs() {
		if spec.Narrowable || spec.Capability == "" {
			continue
		}
		newRequest(t, spec).send(c).Refused(403, "header.Authorization permission_denied").Says(string(spec.Capability))
	}
}

// estate contains two objects of each kind: index 0 is visible to a restricted caller,
// and index 1 is in another domain and workspace.
type estate struct {
	workspace, domain, mailbox, forwarding, password, record [2]string
}

func newEstate(h *apitest.Server) (e estate) {
	for i, name := range []string{"seen.com", "hidden.com"} {
		e.workspace[i] = h.Workspace(name)
		e.domain[i] = h.Domain(name, e.workspace[i])
		e.mailbox[i] = h.Mailbox(name, "jane")
		e.forwarding[i] = h.Forwarding("jane@example.net", obj{"domain": name})
		e.password[i] = h.Password("p", obj{"domain": name})
		e.record[i] = string(h.CreateRecord(name, "www", "A", "192.0.2.1").Want(201).Raw)
		_, rest, _ := strings.Cut(e.record[i], `"id":`)
		e.record[i], _, _ = strings.Cut(rest, ",")
	}
	h.Forwarding("jane@example.net", nil)
	h.Password("p", nil)
	return e
}

func TestRestrictedCallers(t *testing.T) {
	h := apitest.New(t)
	e := newEstate(h)
	for _, tt := range []struct{ resourceType, id string }{{"domain", e.domain[0]}, {"workspace", e.workspace[0]}} {
		t.Run(tt.resourceType, func(t *testing.T) {
			c := h.Restricted(t, tt.resourceType, tt.id)
			t.Run("lists", func(t *testing.T) { e.checkLists(c.In(t)) })
			t.Run("objects", func(t *testing.T) { e.checkObjects(c.In(t)) })
			t.Run("creates", func(t *testing.T) { e.checkCreates(c.In(t)) })
			t.Run("export", func(t *testing.T) { e.checkExport(c.In(t)) })
		})
	}
}

func (e estate) checkLists(c *apitest.Client) {
	for _, path := range []string{
		"/mailboxes", "/mailboxes?search=jane", "/mailboxes?domain=seen.com", "/mailboxes?status=active", "/mailboxes?workspace_id=" + e.workspace[0],
		"/domains", "/domains?search=.com", "/domains?workspace_id=" + e.workspace[0], "/domains?status=active",
		"/forwarding", "/forwarding?search=jane", "/forwarding?scope_type=domain", "/forwarding?domain=seen.com", "/forwarding?verification_state=pending",
		"/credentials", "/credentials?search=p", "/credentials?scope_type=domain", "/credentials?domain=" + e.domain[0],
		"/dns-records?name=www", "/dns-records?type=A", "/dns-records?domain=seen.com&name=www",
	} {
		c.Get(path).Want(200).Is("total", 1, "items.1", nil)
	}
	for _, path := range []string{
		"/mailboxes?domain=hidden.com", "/mailboxes?domain=" + e.domain[1], "/mailboxes?workspace_id=" + e.workspace[1], "/domains?search=hidden",
		"/domains?workspace_id=" + e.workspace[1], "/forwarding?domain=hidden.com", "/forwarding?scope_type=account", "/credentials?scope_type=account",
		"/credentials?domain=hidden.com", "/dns-records?domain=hidden.com", "/mailboxes?page=2",
	} {
		c.Get(path).Want(200).Is("items.0", nil)
	}
	c.Get("/dns-records").Want(200).Is("total", 6)
}

func (e estate) checkObjects(c *apitest.Client) {
	for path, problem := range map[string]string{
		"/mailboxes/" + e.mailbox[1]: "path.mailbox not_found", "/mailboxes/jane@hidden.com": "path.mailbox not_found",
		"/domains/" + e.domain[1]: "path.domain not_found", "/domains/hidden.com": "path.domain not_found",
		"/forwarding/" + e.forwarding[1]: "path.forwarding_id not_found", "/credentials/" + e.password[1]: "path.credential_id not_found",
		"/dns-records/" + e.record[1]: "path.dns_record_id not_found",
	} {
		c.Get(path).Refused(404, problem)
		c.Delete(path).Refused(404, problem)
	}
	for path, body := range map[string]obj{
		"/mailboxes/jane@hidden.com": {"first_name": "x"}, "/domains/hidden.com": {"auto_renew": true}, "/forwarding/" + e.forwarding[1]: {"target_email": "x@example.net"},
		"/forwarding/" + e.forwarding[1] + "/active": {"active": false}, "/credentials/" + e.password[1]: {"name": "x"}, "/dns-records/" + e.record[1]: {"ttl": 60},
	} {
		c.Patch(path, body).Want(404)
	}
	for _, path := range []string{
		"/mailboxes/" + e.mailbox[0], "/mailboxes/jane@seen.com", "/domains/" + e.domain[0], "/domains/seen.com", "/forwarding/" + e.forwarding[0],
		"/credentials/" + e.password[0], "/dns-records/" + e.record[0],
	} {
		c.Get(path).Want(200)
	}
	c.Patch("/domains/seen.com", obj{"workspace_id": e.workspace[1]}).Refused(422, "body.workspace_id value_error")
	c.Get("/workspaces/"+e.workspace[1]).Refused(404, "path.workspace_id not_found")
}

func (e estate) checkCreates(c *apitest.Client) {
	item := obj{"first_name": "f", "last_name": "l", "local_part": "jane"}
	c.CreateMailbox("hidden.com", "jane").Refused(422, "body.domain value_error")
	c.Post("/mailboxes/bulk", obj{"domain": "hidden.com", "items": []any{item}}).Refused(422, "body.domain value_error")
	c.CreateRecord("hidden.com", "www", "A", "192.0.2.1").Refused(422, "body.domain value_error")
	for _, path := range []string{"/forwarding", "/credentials"} {
		body := obj{"target_email": "jane@example.net", "name": "p", "generate": true}
		c.Post(path, with(body, "domain", "hidden.com")).Refused(422, "body.domain value_error")
		c.Post(path, with(body, "workspace_id", e.workspace[1])).Refused(422, "body.workspace_id value_error")
		c.Post(path, body).Refused(403, "header.Authorization permission_denied")
	}
	c.Purchase(e.workspace[1], "new.com").Refused(422, "body.workspace_id value_error")

	// Conflicts name the objects that the caller may see.
	c.CreateMailbox("seen.com", "jane").Refused(409, "body conflict").Says(e.mailbox[0])
	c.CreateRecord("seen.com", "www", "A", "192.0.2.1").Refused(409, "body conflict").Says(e.record[0])
	c.Post("/forwarding", obj{"target_email": "jane@example.net", "domain": "seen.com"}).Refused(409, "body conflict").Says(e.forwarding[0])
	c.Post("/credentials", obj{"name": "p", "domain": "seen.com", "generate": true}).Refused(409, "body conflict").Says(e.password[0])
	if c.Get("/workspaces/"+e.workspace[0]).Status != 200 {
		return // restricted to a domain
	}
	c.Purchase(e.workspace[0], "seen.com", "hidden.com").Want(200).Is("results.0.error_code", "already_owned", "results.0.id", e.domain[0], "results.1.error_code", "unavailable", "results.1.id", nil)
}

func (e estate) checkExport(c *apitest.Client) {
	a := c.Post("/mailboxes/export", obj{}).Want(200)
	rows, err := csv.NewReader(strings.NewReader(string(a.Raw))).ReadAll()
	if err != nil || len(rows) != 2 || !slices.Contains(rows[1], "jane@seen.com") {
		c.T.Errorf("%s, %v", a, err)
	}
	c.Post("/mailboxes/export", obj{"domain": "hidden.com"}).Refused(422, "body.domain value_error")
	c.Post("/mailboxes/export", obj{"domain": "hidden.com", "mailboxes": []string{e.mailbox[0]}}).Refused(422, "body.domain value_error")
	c.Post("/mailboxes/export", obj{"mailboxes": []string{e.mailbox[0], e.mailbox[1], "jane@hidden.com"}}).
		Refused(422, "body.mailboxes.1 value_error", "body.mailboxes.2 value_error")
}

// TestGrantsAddUp checks that a caller has the permissions of all its grants together.
func TestGrantsAddUp(t *testing.T) {
	h := apitest.New(t)
	e := newEstate(h)
	const view = vocab.CapMailboxView
	h.Limited(t, apitest.GrantOn(view, "domain", e.domain[0]), apitest.GrantOn(view, "workspace", e.workspace[1])).Get("/mailboxes").Want(200).Is("total", 2)
	h.Limited(t, apitest.GrantOn(view, "domain", e.domain[0]), apitest.Grant{Capability: view}).Get("/mailboxes").Want(200).Is("total", 2)
	// A grant of another capability does not extend the list.
	c := h.Limited(t, apitest.GrantOn(view, "domain", e.domain[0]), apitest.Grant{Capability: vocab.CapMailboxDelete})
	c.Get("/mailboxes").Want(200).Is("total", 1)
	c.Delete("/mailboxes/" + e.mailbox[1]).Want(204)
}

// TestRevokedGrant checks that the revocation of a grant takes effect at once.
func TestRevokedGrant(t *testing.T) {
	h := apitest.New(t)
	c := h.Limited(t, apitest.Grant{Capability: vocab.CapMailboxView})
	c.Get("/mailboxes").Want(200)
	id := h.Get("/auth/authorizations?capability_key=mailbox.view").Want(200).Str("0.id")
	h.Delete("/auth/authorizations/" + id).Want(204)
	c.Get("/mailboxes").Refused(403, "header.Authorization permission_denied")
}

// TestConflictsNameVisibleObjects checks that a conflict names the existing object only
// if the caller may see it.
func TestConflictsNameVisibleObjects(t *testing.T) {
	h := apitest.New(t)
	domain := h.Domain("example.com")
	www := idOf(h.CreateRecord("example.com", "www", "A", "192.0.2.1").Want(201), "id")
	for _, tt := range []struct {
		create, view vocab.Capability
		path, id     string
		body         obj
	}{
		{vocab.CapMailboxCreate, vocab.CapMailboxView, "/mailboxes", h.Mailbox("example.com", "jane"), obj{"domain": "example.com", "local_part": "jane", "first_name": "J", "last_name": "D"}},
		{vocab.CapForwardingManage, vocab.CapForwardingView, "/forwarding", h.Forwarding("x@example.net", obj{"domain": domain}), obj{"domain": domain, "target_email": "x@example.net"}},
		{vocab.CapCredentialManage, vocab.CapCredentialView, "/credentials", h.Password("p", nil), obj{"name": "p", "generate": true}},
		{vocab.CapWorkspaceManage, vocab.CapWorkspaceView, "/workspaces", h.Workspace("w"), obj{"name": "w"}},
		{vocab.CapDNSRecordCreate, vocab.CapDNSRecordView, "/dns-records", www, obj{"domain": "example.com", "name": "www", "type": "A", "value": "192.0.2.1"}},
		{vocab.CapDNSRecordCreate, vocab.CapDNSRecordView, "/dns-records", www, obj{"domain": "example.com", "name": "www", "type": "CNAME", "value": "a.example.net"}},
	} {
		create := apitest.Grant{Capability: tt.create}
		blind := h.Limited(t, create).Post(tt.path, tt.body).Refused(409, "body conflict")
		if msg := strings.ReplaceAll(blind.Str("detail.0.msg"), "example", ""); strings.Contains(msg, tt.id) {
			t.Errorf("%s reveals %s without %s: %s", tt.path, tt.id, tt.view, blind)
		}
		h.Limited(t, create, apitest.Grant{Capability: tt.view}).Post(tt.path, tt.body).Refused(409, "body conflict").Says(tt.id)
	}
}

// TestForwardingToAHiddenMailbox checks that a mailbox that the caller may not see is
// treated like an external address.
func TestForwardingToAHiddenMailbox(t *testing.T) {
	h := apitest.New(t)
	e := newEstate(h)
	c := h.Restricted(t, "domain", e.domain[0])
	for target, state := range map[string]string{"jane@seen.com": "internal", "jane@hidden.com": "pending", "nobody@hidden.com": "pending"} {
		c.Post("/forwarding", obj{"domain": "seen.com", "target_email": target}).Want(201).Is("verification_state", state)
	}
	h.Post("/forwarding", obj{"domain": "hidden.com", "target_email": "jane@seen.com"}).Want(201).Is("verification_state", "internal")
}
