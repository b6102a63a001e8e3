package apiserver_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

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
			a := r.send(only)
			assert.Check(t, a.Status != 401 && a.Status != 403, "the capability is not enough: %s", a)
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

// TestRevokedGrant checks that the revocation of a grant takes effect at once, also for a
// request that does not reach its operation, and so does a new grant.
func TestRevokedGrant(t *testing.T) {
	h := apitest.New(t)
	c := h.Limited(t, apitest.Grant{Capability: vocab.CapMailboxView})
	c.Get("/mailboxes").Want(200)
	id := h.Get("/auth/authorizations?capability_key=mailbox.view").Want(200).Str("0.id")
	h.Delete("/auth/authorizations/" + id).Want(204)
	c.Get("/mailboxes?page=x").Refused(403, "header.Authorization permission_denied")
	c.Get("/mailboxes").Refused(403, "header.Authorization permission_denied")
	id = h.Get("/auth/service-accounts").Want(200).Str("items.0.id")
	h.GrantTo("service_account", id, apitest.Grant{Capability: vocab.CapMailboxView})
	c.Get("/mailboxes").Want(200)
	h.Delete("/auth/service-accounts/" + id).Want(204)
	c.Get("/mailboxes?page=x").Refused(401, "header.Authorization token_revoked")
}
