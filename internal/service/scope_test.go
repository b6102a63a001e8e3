package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

const (
	domainUUID = "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"
	otherUUID  = "8f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"
)

func ref(s string) customtype.String { return customtype.New(s) }

func id(s string) customtype.String { return customtype.New(s) }

// oneDomain is an account with the domain bücher.com.
type oneDomain struct{ err error }

func (d oneDomain) get(_ context.Context, key string) (*api.Domain, error) {
	switch {
	case d.err != nil:
		return nil, d.err
	case customtype.RefersTo(key, domainUUID, "xn--bcher-kva.com"):
		return &api.Domain{ID: domainUUID, Name: "xn--bcher-kva.com"}, nil
	}
	return nil, fmt.Errorf("domain %s: %w", key, client.ErrNotFound)
}

func TestScopeFill(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prior           Scope
		scopeType, id   string
		domain, inSpace string
	}{
		"as written, name":      {Scope{Domain: ref("BÜCHER.com")}, vocab.ScopeDomain, domainUUID, "BÜCHER.com", ""},
		"as written, id":        {Scope{Domain: ref(strings.ToUpper(domainUUID))}, vocab.ScopeDomain, domainUUID, strings.ToUpper(domainUUID), ""},
		"imported":              {Scope{}, vocab.ScopeDomain, domainUUID, "xn--bcher-kva.com", ""},
		"imported, no name":     {Scope{}, vocab.ScopeDomain, otherUUID, otherUUID, ""},
		"moved to a domain":     {Scope{Domain: ref(otherUUID), WorkspaceID: id(otherUUID)}, vocab.ScopeDomain, domainUUID, "xn--bcher-kva.com", ""},
		"workspace, as written": {Scope{WorkspaceID: id(strings.ToUpper(otherUUID))}, vocab.ScopeWorkspace, otherUUID, "", strings.ToUpper(otherUUID)},
		"workspace, imported":   {Scope{}, vocab.ScopeWorkspace, otherUUID, "", otherUUID},
		"workspace, moved":      {Scope{Domain: ref("a.com"), WorkspaceID: id(domainUUID)}, vocab.ScopeWorkspace, otherUUID, "", otherUUID},
		"account":               {Scope{Domain: ref("a.com")}, vocab.ScopeAccount, otherUUID, "", ""},
		"of a later API":        {Scope{Domain: ref("a.com")}, "team", otherUUID, "a.com", ""},
	} {
		got := c.prior
		got.ScopeType, got.ScopeID = types.StringValue(c.scopeType), types.StringValue(c.id)
		got.setReferences(t.Context(), oneDomain{}.get)
		if got.ScopeType.ValueString() != c.scopeType || got.ScopeID.ValueString() != c.id || got.Domain.ValueString() != c.domain || got.WorkspaceID.ValueString() != c.inSpace ||
			got.Domain.IsNull() != (c.domain == "") || got.WorkspaceID.IsNull() != (c.inSpace == "") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestScopeCovers(t *testing.T) {
	t.Parallel()
	failure := errors.New("no response")
	state := func(scopeType, scopeID, domain string) Scope {
		s := Scope{ScopeType: types.StringValue(scopeType), ScopeID: types.StringValue(scopeID)}
		if domain != "" {
			s.Domain = ref(domain)
		}
		return s
	}
	byName, byID := state(vocab.ScopeDomain, domainUUID, "bücher.com"), state(vocab.ScopeDomain, domainUUID, domainUUID)
	space, account := state(vocab.ScopeWorkspace, otherUUID, ""), state(vocab.ScopeAccount, otherUUID, "")
	for name, c := range map[string]struct {
		state, config Scope
		api           oneDomain
		want          bool
		err           error
	}{
		"name, name":           {state: byName, config: Scope{Domain: ref("xn--bcher-kva.COM.")}, api: oneDomain{failure}, want: true},
		"name, id":             {state: byName, config: Scope{Domain: ref(strings.ToUpper(domainUUID))}, api: oneDomain{failure}, want: true},
		"name, other name":     {state: byName, config: Scope{Domain: ref("a.com")}, api: oneDomain{failure}},
		"name, other id":       {state: byName, config: Scope{Domain: ref(otherUUID)}, api: oneDomain{failure}},
		"id, its name":         {state: byID, config: Scope{Domain: ref("Bücher.com")}, want: true},
		"id, another name":     {state: byID, config: Scope{Domain: ref("a.com")}},
		"id, no response":      {state: byID, config: Scope{Domain: ref("bücher.com")}, api: oneDomain{failure}, err: failure},
		"domain, none":         {state: byName, config: Scope{}},
		"domain, workspace":    {state: byName, config: Scope{WorkspaceID: id(domainUUID)}},
		"domain, both":         {state: byName, config: Scope{Domain: ref("bücher.com"), WorkspaceID: id(otherUUID)}},
		"domain, unknown":      {state: byName, config: Scope{Domain: customtype.NewUnknown()}},
		"workspace":            {state: space, config: Scope{WorkspaceID: id(strings.ToUpper(otherUUID))}, want: true},
		"workspace, other":     {state: space, config: Scope{WorkspaceID: id(domainUUID)}},
		"workspace, none":      {state: space, config: Scope{}},
		"workspace, unknown":   {state: space, config: Scope{WorkspaceID: customtype.NewUnknown()}},
		"account":              {state: account, config: Scope{}, want: true},
		"account, workspace":   {state: account, config: Scope{WorkspaceID: id(otherUUID)}},
		"account, domain":      {state: account, config: Scope{Domain: ref("a.com")}},
		"of a later API":       {state: state("team", otherUUID, "a.com"), config: Scope{Domain: ref("a.com")}, want: true},
		"of a later API, else": {state: state("team", otherUUID, "a.com"), config: Scope{Domain: ref("b.com")}},
	} {
		got, err := c.state.covers(t.Context(), c.config, c.api.get)
		assert.Check(t, got == c.want && errors.Is(err, c.err), "%s: %t, %v", name, got, err)
	}
}

func TestFindScoped(t *testing.T) {
	t.Parallel()
	const id = "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"
	for key, want := range map[string][]string{
		"jane@example.org":             {"the account: jane@example.org"},
		"example.com/jane@example.org": {"domain example.com: jane@example.org", "the account: example.com/jane@example.org"},
		"example.com/a/b@example.org":  {"domain example.com: a/b@example.org", "the account: example.com/a/b@example.org"},
		"a/b@example.org":              {"the account: a/b@example.org"},
		"example.com/":                 {"the account: example.com/"},
		id + "/x":                      {"workspace " + id + ": x", "domain " + id + ": x", "the account: " + id + "/x"},
	} {
		var requested []string
		find := func(foundAt int) func(client.Scope, string) (*string, error) {
			requested = nil
			return func(scope client.Scope, name string) (*string, error) {
				requested = append(requested, scope.String()+": "+name)
				if len(requested) == foundAt {
					return &name, nil
				}
				return nil, fmt.Errorf("%d: %w", len(requested), client.ErrNotFound)
			}
		}
		_, err := findScoped(key, find(0))
		assert.Check(t, slices.Equal(requested, want) && client.IsNotFound(err) && err.Error() == "1: not found", "%s: requested %q, %v; want %q, and the first error", key, requested, err, want)
		for n := range want {
			found, err := findScoped(key, find(n+1))
			assert.Check(t, err == nil && found != nil && len(requested) == n+1, "%s, found in scope %d: %v, %v after %q", key, n, found, err, requested)
		}
	}
	broken := errors.New("broken")
	calls := 0
	_, err := findScoped("example.com/x", func(client.Scope, string) (*string, error) { calls++; return nil, broken })
	assert.Check(t, errors.Is(err, broken) && calls == 1, "a failure is %v after %d calls", err, calls)
}
