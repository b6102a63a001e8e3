package apiserver_test

import (
	"encoding/base32"
	"encoding/binary"
	"hash/crc32"
	"maps"
	"testing"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// Samples of what an account holds; each returns the object's id.

func contact() obj {
	return obj{
		"address_1": "Hauptstr. 1", "city": "Köln", "country": "DE", "email": "jane@example.net", "first_name": "Jane", "last_name": "Doe",
		"organization": "Example", "phone": "+4922112345", "state": "NRW", "zip": "50667",
	}
}

func (c *client) workspace(name string) string {
	c.t.Helper()
	return c.post("/workspaces", obj{"name": name}).want(201).str("id")
}

func (c *client) defaultWorkspace() string { return api.DefaultWorkspaceID(c.account) }

func (c *client) purchase(workspaceID string, domains ...string) *answer {
	c.t.Helper()
	return c.post("/domains/purchase", obj{"domains": domains, "workspace_id": workspaceID, "contact_info": contact()})
}

// domain buys a domain, by default in the default workspace.
func (c *client) domain(name string, workspaceID ...string) string {
	c.t.Helper()
	workspace := append(workspaceID, c.defaultWorkspace())[0]
	return c.purchase(workspace, name).want(200).is("results.0.status", "purchased").str("results.0.id")
}

func (c *client) mailbox(domain, localPart string) string {
	c.t.Helper()
	return c.createMailbox(domain, localPart).want(201).str("id")
}

func (c *client) createMailbox(domain, localPart string) *answer {
	c.t.Helper()
	return c.post("/mailboxes", obj{"domain": domain, "local_part": localPart, "first_name": "First", "last_name": "Last"})
}

func (c *client) forwarding(target string, scope obj) string {
	c.t.Helper()
	return c.post("/forwarding", with(scope, "target_email", target)).want(201).str("id")
}

func (c *client) password(name string, scope obj) string {
	c.t.Helper()
	return c.post("/credentials", with(scope, "name", name, "generate", true)).want(201).str("id")
}

func (c *client) record(domain, name, typ, value string) *answer {
	c.t.Helper()
	return c.post("/dns-records", obj{"domain": domain, "name": name, "type": typ, "value": value})
}

// with is a copy of an object with more members.
func with(o obj, pairs ...any) obj {
	out := obj{}
	maps.Copy(out, o)
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i].(string)] = pairs[i+1]
	}
	return out
}

// grant is a capability, perhaps narrowed.
type grant struct {
	capability   vocab.Capability
	resourceType string
	resourceID   string
}

// limited returns the client of a service account with those grants alone.
func (h *harness) limited(t *testing.T, grants ...grant) *client {
	t.Helper()
	account := h.post("/auth/service-accounts", obj{"name": "limited"}).want(201)
	id := account.str("id")
	inherited := h.get("/auth/authorizations?subject_id=" + id).want(200)
	for i := range inherited.json.([]any) {
		h.delete("/auth/authorizations/" + inherited.str(itoa(i)+".id")).want(204)
	}
	for _, g := range grants {
		body := obj{"grant_kind": "capability", "subject_type": "service_account", "subject_id": id, "capability_key": g.capability}
		if g.resourceType != "" {
			body = with(body, "resource_type", g.resourceType, "resource_id", g.resourceID)
		}
		h.post("/auth/authorizations", body).want(201)
	}
	return h.as(account.str("token")).in(t)
}

// narrowed returns a client with every capability, narrowed to one resource.
func (h *harness) narrowed(t *testing.T, resourceType, resourceID string) *client {
	t.Helper()
	var grants []grant
	for _, c := range api.Capabilities() {
		grants = append(grants, grant{c, resourceType, resourceID})
	}
	return h.limited(t, grants...)
}

// option returns the id of one of the two options that an account is born with.
func (c *client) option(key string) string {
	return uuid.NewSHA1(uuid.MustParse(c.account), []byte("dedicated-ip-option:"+key)).String()
}

// tokenEncoding is that of tokens, written down a second time.
var tokenEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// tokenChecksum is that of a token.
func tokenChecksum(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	return tokenEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, sum))
}
