package client

import (
	"context"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// Scope is what a master password or a forwarding rule applies to: a domain (id
// or name), a workspace, or, where both are empty, the account.
type Scope struct {
	Domain, WorkspaceID string
}

func scopeFrom(domain, workspaceID *string) Scope {
	return Scope{Domain: value(domain), WorkspaceID: value(workspaceID)}
}

// String names the scope in messages.
func (s Scope) String() string {
	switch {
	case s.Domain != "":
		return "domain " + s.Domain
	case s.WorkspaceID != "":
		return "workspace " + s.WorkspaceID
	}
	return "the account"
}

// kind returns the type of scope, as the API calls it.
func (s Scope) kind() string {
	switch {
	case s.Domain != "":
		return vocab.ScopeDomain
	case s.WorkspaceID != "":
		return vocab.ScopeWorkspace
	}
	return vocab.ScopeAccount
}

// inScope returns a function that reports whether a scope of an answer is s.
func (c *Client) inScope(ctx context.Context, s Scope) (func(scopeType, scopeID string) bool, error) {
	want := foldID(s.WorkspaceID)
	if s.Domain != "" {
		var err error
		if want, err = c.domainID(ctx, s.Domain); err != nil {
			return nil, err
		}
	}
	return func(scopeType, scopeID string) bool {
		return scopeType == s.kind() && (scopeType == vocab.ScopeAccount || foldID(scopeID) == want)
	}, nil
}
