package client

import (
	"cmp"
	"context"
	"strings"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// Scope is the scope of a master password or a forwarding rule: a domain (id
// or name), a workspace or, if both are empty, the account.
type Scope struct {
	Domain, WorkspaceID string
}

func newScope(domain, workspaceID *string) Scope {
	return Scope{Domain: api.Value(domain), WorkspaceID: api.Value(workspaceID)}
}

// String names the scope in messages.
func (s Scope) String() string {
	switch {
	case s.Domain != "":
		if name, err := domainname.Normalize(s.Domain); err == nil {
			return "domain " + name
		}
		return "domain " + s.Domain
	case s.WorkspaceID != "":
		return "workspace " + strings.ToLower(s.WorkspaceID)
	}
	return "the account"
}

func (s Scope) scopeType() string {
	switch {
	case s.Domain != "":
		return vocab.ScopeDomain
	case s.WorkspaceID != "":
		return vocab.ScopeWorkspace
	}
	return vocab.ScopeAccount
}

// inScope returns a function that reports whether a scope in a response is s.
func (c *Client) inScope(ctx context.Context, s Scope) (func(scopeType, scopeID string) bool, error) {
	want := normalizeID(cmp.Or(s.Domain, s.WorkspaceID))
	if s.Domain != "" && uuid.Validate(s.Domain) != nil {
		d, err := c.Domains.Get(ctx, s.Domain)
		if err != nil {
			return nil, err
		}
		want = normalizeID(d.ID)
	}
	return func(scopeType, scopeID string) bool {
		return scopeType == s.scopeType() && (scopeType == vocab.ScopeAccount || normalizeID(scopeID) == want)
	}, nil
}
