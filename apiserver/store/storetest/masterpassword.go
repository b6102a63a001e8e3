package storetest

import (
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

func (h *harness) masterPassword(account, name string, scope store.Scope) string {
	h.Helper()
	p := h.newMasterPassword(account, name, scope)
	h.create(&p)
	return p.ID
}

func testMasterPasswordFilter(h *harness) {
	t := h.tenant("a.example")
	elsewhere := h.workspace(t.account, "Elsewhere")
	far := h.domain(t.account, elsewhere, "far.example")
	account := h.masterPassword(t.account, "Account_wide", accountScope(t))
	workspace := h.masterPassword(t.account, "Workspace 100%", workspaceScope(t.workspace))
	domain := h.masterPassword(t.account, "Domäne", domainScope(t.domain))
	remote := h.masterPassword(t.account, "DOMÄNE", domainScope(far))
	other := h.tenant("b.example")
	h.masterPassword(other.account, "other", accountScope(other))

	for _, c := range scopedCases(t, elsewhere, far, account, workspace, domain, remote) {
		lists(h, c.name, masterPasswords(t.account, c.filter), c.want...)
	}
	h.taken(workspace, new(h.newMasterPassword(t.account, "WORKSPACE 100%", workspaceScope(t.workspace)))) // names are compared case-insensitively
	for term, want := range map[string][]string{
		"domäne": {domain, remote}, "_": {account}, "%": {workspace}, `\`: {}, "w": {account, workspace},
	} {
		f := store.ScopedFilter{Search: term}
		lists(h, "search "+term, masterPasswords(t.account, f), want...)
	}
}

// scopedCase is a filter and the ids that it selects.
type scopedCase struct {
	name   string
	filter store.ScopedFilter
	want   []string
}

// scopedCases select among objects scoped to the account, its workspace, its domain, and
// a domain in another workspace.
func scopedCases(t tenant, elsewhere, far, account, workspace, domain, remote string) []scopedCase {
	return []scopedCase{
		{"none", store.ScopedFilter{}, []string{account, workspace, domain, remote}},
		{"domain", store.ScopedFilter{DomainID: t.domain}, []string{domain}},
		{"workspace", store.ScopedFilter{WorkspaceID: t.workspace}, []string{workspace}},
		{"account scope", store.ScopedFilter{ScopeType: vocab.ScopeAccount}, []string{account}},
		{"domain scope", store.ScopedFilter{ScopeType: vocab.ScopeDomain}, []string{domain, remote}},
		{"domain and scope", store.ScopedFilter{DomainID: far, ScopeType: vocab.ScopeDomain}, []string{remote}},
		{"contradiction", store.ScopedFilter{DomainID: far, ScopeType: vocab.ScopeAccount}, nil},
		{"within a domain", store.ScopedFilter{Within: withinDomains(far)}, []string{remote}},
		{"within a workspace", store.ScopedFilter{Within: withinWorkspaces(t.workspace)}, []string{workspace, domain}},
		{"within both", store.ScopedFilter{
			Within: store.Within{Restricted: true, Workspaces: []string{elsewhere}, Domains: []string{t.domain}},
		}, []string{domain, remote}},
		{"within nothing", store.ScopedFilter{Within: nothing}, nil},
		{"within and scope", store.ScopedFilter{
			ScopeType: vocab.ScopeDomain, Within: withinWorkspaces(t.workspace),
		}, []string{domain}},
	}
}
