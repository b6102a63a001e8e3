package apitest

import (
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest/sample"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// Sample creates an object of the kind of a path parameter, and returns its id. It creates the object
// in the domain if the kind allows it; calls for different domains never conflict.
func (c *Client) Sample(parameter, domain string) string {
	c.T.Helper()
	k := sample.Named(parameter)
	if k == nil || k.New == nil {
		c.T.Fatalf("no sample creates an object for {%s}: run go test ./apiserver/apitest/sample, which says what to add", parameter)
	}
	r := c.Post(strings.TrimPrefix(k.Create().Path, api.Prefix), k.New(c.Account, domain)).Want(http.StatusCreated)
	if n, ok := r.At("id").(float64); ok {
		return strconv.Itoa(int(n))
	}
	return r.Str("id")
}

// With returns a copy of an object with additional members; pairs alternates names and values.
func With(o Object, pairs ...any) Object {
	out := Object{}
	maps.Copy(out, o)
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i].(string)] = pairs[i+1]
	}
	return out
}

// Workspace creates a workspace and returns its id.
func (c *Client) Workspace(name string) string {
	c.T.Helper()
	return c.Post("/workspaces", Object{"name": name}).Want(201).Str("id")
}

// DefaultWorkspace returns the id of the account's default workspace.
func (c *Client) DefaultWorkspace() string { return api.DefaultWorkspaceID(c.Account) }

// Purchase buys domains.
func (c *Client) Purchase(workspaceID string, domains ...string) *Response {
	c.T.Helper()
	return c.Post("/domains/purchase", Object{"domains": domains, "workspace_id": workspaceID, "contact_info": sample.Contact()})
}

// Domain buys a domain in the default or another workspace, and returns its id.
func (c *Client) Domain(name string, workspaceID ...string) string {
	c.T.Helper()
	workspace := append(workspaceID, c.DefaultWorkspace())[0]
	return c.Purchase(workspace, name).Want(200).Is("results.0.status", "purchased").Str("results.0.id")
}

// Mailbox creates a mailbox and returns its id.
func (c *Client) Mailbox(domain, localPart string) string {
	c.T.Helper()
	return c.CreateMailbox(domain, localPart).Want(201).Str("id")
}

// CreateMailbox creates a mailbox.
func (c *Client) CreateMailbox(domain, localPart string) *Response {
	c.T.Helper()
	return c.Post("/mailboxes", Object{"domain": domain, "local_part": localPart, "first_name": "First", "last_name": "Last"})
}

// Forwarding creates a forwarding rule and returns its id.
func (c *Client) Forwarding(target string, scope Object) string {
	c.T.Helper()
	return c.Post("/forwarding", With(scope, "target_email", target)).Want(201).Str("id")
}

// Password creates a master password and returns its id.
func (c *Client) Password(name string, scope Object) string {
	c.T.Helper()
	return c.Post("/credentials", With(scope, "name", name, "generate", true)).Want(201).Str("id")
}

// CreateRecord creates a DNS record.
func (c *Client) CreateRecord(domain, name, typ, value string) *Response {
	c.T.Helper()
	return c.Post("/dns-records", Object{"domain": domain, "name": name, "type": typ, "value": value})
}

// Option returns the id of the account's option "eu" or "us" for dedicated IPs.
func (c *Client) Option(key string) string { return sample.Option(c.Account, key) }

// ServiceAccount creates a service account, which inherits the grants of its creator, and
// returns its id and a client with its token.
func (s *Server) ServiceAccount(creator *Client, body Object) (string, *Client) {
	s.T.Helper()
	r := creator.Post("/auth/service-accounts", body).Want(201)
	return r.Str("id"), s.As(r.Str("token"))
}

// Grant is a capability, restricted to a resource unless ResourceType is empty.
type Grant struct {
	Capability   vocab.Capability
	ResourceType string
	ResourceID   string
}

// GrantOn returns a capability restricted to a domain or a workspace.
func GrantOn(c vocab.Capability, resourceType, resourceID string) Grant {
	return Grant{c, resourceType, resourceID}
}

// GrantTo grants a capability and returns the grant's id.
func (c *Client) GrantTo(subjectType, subjectID string, g Grant) string {
	c.T.Helper()
	body := Object{"grant_kind": "capability", "subject_type": subjectType, "subject_id": subjectID, "capability_key": g.Capability}
	if g.ResourceType != "" {
		body = With(body, "resource_type", g.ResourceType, "resource_id", g.ResourceID)
	}
	return c.Post("/auth/authorizations", body).Want(201).Str("id")
}

// GrantOwner makes a subject an owner of the account and returns the grant's id.
func (c *Client) GrantOwner(subjectType, subjectID string) string {
	c.T.Helper()
	body := Object{"grant_kind": "account_owner", "subject_type": subjectType, "subject_id": subjectID}
	return c.Post("/auth/authorizations", body).Want(201).Str("id")
}

// LimitedAccount creates a service account with only the given grants, and returns its id and token.
func (c *Client) LimitedAccount(name string, grants ...Grant) (id, token string) {
	c.T.Helper()
	r := c.Post("/auth/service-accounts", Object{"name": name}).Want(201)
	id = r.Str("id")
	inherited := c.Get("/auth/authorizations?subject_id=" + id).Want(200)
	for i := range inherited.JSON.([]any) {
		c.Delete("/auth/authorizations/" + inherited.Str(strconv.Itoa(i)+".id")).Want(204)
	}
	for _, g := range grants {
		c.GrantTo("service_account", id, g)
	}
	return id, r.Str("token")
}

// Limited returns the client of a service account with only the given grants.
func (s *Server) Limited(t TB, grants ...Grant) *Client {
	t.Helper()
	_, token := s.LimitedAccount("limited", grants...)
	return s.As(token).In(t)
}

// Restricted returns a client with every capability, restricted to one resource.
func (s *Server) Restricted(t TB, resourceType, resourceID string) *Client {
	t.Helper()
	var grants []Grant
	for _, c := range api.Capabilities() {
		grants = append(grants, Grant{c, resourceType, resourceID})
	}
	return s.Limited(t, grants...)
}
