package storetest

import (
	"errors"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

func masterPasswordID(p store.MasterPassword) string { return p.ID }

func (h *harness) masterPassword(account, name string, scope store.Scope) string {
	h.Helper()
	p := h.newMasterPassword(account, name, scope)
	h.update(func(tx store.Tx) error { return tx.CreateMasterPassword(&p) })
	return p.ID
}

func testMasterPassword(h *harness) {
	t, other := h.tenant("a.example"), h.tenant("b.example")
	p := h.newMasterPassword(t.account, "first", accountScope(t))
	h.update(func(tx store.Tx) error { return tx.CreateMasterPassword(&p) })
	second := h.masterPassword(t.account, "second", accountScope(t))
	h.masterPassword(t.account, "first", domainScope(t.domain)) // another scope
	get := func(account string) func(store.Reader) (store.MasterPassword, error) {
		return func(r store.Reader) (store.MasterPassword, error) { return r.MasterPassword(account, p.ID) }
	}
	equal(h, "master password", read(h, get(t.account)), p)
	absent(h, get(other.account))

	rename := func(account, id, name string) func(store.Tx) error {
		return func(tx store.Tx) error {
			got, err := tx.UpdateMasterPassword(account, id, func(p *store.MasterPassword) error {
				p.Name, p.UpdatedAt = name, at(1)
				return nil
			})
			if !errors.Is(err, store.ErrNotFound) {
				equal(h, "name returned", got.Name, name) // with an ExistsError too
			}
			return err
		}
	}
	h.exists(p.ID, func(tx store.Tx) error {
		again := h.newMasterPassword(t.account, "first", accountScope(t))
		return tx.CreateMasterPassword(&again)
	})
	h.exists(second, rename(t.account, p.ID, "second"))
	h.missing(rename(other.account, p.ID, "third"))
	h.update(rename(t.account, p.ID, "first")) // its own name is free for it
	h.update(rename(t.account, p.ID, "Ünique"))
	p.Name, p.UpdatedAt = "Ünique", at(1)
	equal(h, "renamed", read(h, get(t.account)), p)
	lists(h, "by the new name", masterPasswordID, masterPasswords(t.account, store.ScopedFilter{Search: "üNI"}), p.ID)

	remove := func(account string) func(store.Tx) error {
		return func(tx store.Tx) error { return tx.DeleteMasterPassword(account, p.ID) }
	}
	h.missing(remove(other.account))
	h.update(remove(t.account))
	absent(h, get(t.account))
	h.missing(remove(t.account))
}

func masterPasswords(account string, f store.ScopedFilter) lister[store.MasterPassword] {
	return func(r store.Reader, s store.Slice) ([]store.MasterPassword, int, error) {
		return r.MasterPasswords(account, f, s)
	}
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
		lists(h, c.name, masterPasswordID, masterPasswords(t.account, c.filter), c.want...)
	}
	for term, want := range map[string][]string{
		"domäne": {domain, remote}, "_": {account}, "%": {workspace}, `\`: {}, "w": {account, workspace},
	} {
		f := store.ScopedFilter{Search: term}
		lists(h, "search "+term, masterPasswordID, masterPasswords(t.account, f), want...)
	}
}

// scopedCase is a filter and what it selects.
type scopedCase struct {
	name   string
	filter store.ScopedFilter
	want   []string
}

// scopedCases select among objects with the scopes of the account, its
// workspace, its domain, and a domain that lies elsewhere.
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
