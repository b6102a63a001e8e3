package account

import (
	"errors"
	"slices"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// findDomain returns the domain with a UUID or a name if the caller may see it, and
// store.ErrNotFound otherwise.
func (c *Call) findDomain(r store.Reader, ref string) (store.Domain, error) {
	d, err := domainByRef(r, c.caller.AccountID, ref)
	if err == nil && !sees(c.caller.Within(c.spec.Capability), d.WorkspaceID, d.ID) {
		err = store.ErrNotFound
	}
	return d, err
}

func domainByRef(r store.Reader, accountID, ref string) (store.Domain, error) {
	if api.IsID(ref) {
		return r.Domain(accountID, api.CanonicalID(ref))
	}
	name, err := domainname.Normalize(ref)
	if err != nil {
		return store.Domain{}, store.ErrNotFound
	}
	return r.DomainByName(accountID, name)
}

// domainInBody is findDomain for a reference in the request's body: an unknown
// one is invalid input.
func (c *Call) domainInBody(r store.Reader, ref string) (store.Domain, error) {
	d, err := c.findDomain(r, ref)
	if errors.Is(err, store.ErrNotFound) {
		return d, api.Unprocessable(unknownDomain(ref))
	}
	return d, err
}

func unknownDomain(ref string) *api.Problem {
	return api.Invalid("the account has no domain %.255q", ref).InBody("domain")
}

// usableDomain is domainInBody for an object that is created in the domain, which must
// have been paid for.
func (c *Call) usableDomain(r store.Reader, ref string) (store.Domain, error) {
	d, err := c.domainInBody(r, ref)
	if err != nil {
		return d, err
	}
	switch status := d.State.At(c.at); status {
	case vocab.DomainPendingPayment, vocab.DomainFailed:
		return d, api.Conflict("the domain %s (%s) is %s; nothing can be added to it", d.Name, d.ID, status)
	}
	return d, nil
}

// domainFilter is findDomain for a list's filter; ok is false if nothing can match.
func (c *Call) domainFilter(r store.Reader, ref string) (id string, ok bool, err error) {
	if ref == "" {
		return "", true, nil
	}
	d, err := c.findDomain(r, ref)
	if errors.Is(err, store.ErrNotFound) {
		return "", false, nil
	}
	return d.ID, err == nil, err
}

// workspaceInBody checks a workspace that the request's body names.
func (c *Call) workspaceInBody(r store.Reader, id string) error {
	_, err := r.Workspace(c.caller.AccountID, id)
	if err == nil && !sees(c.caller.Within(c.spec.Capability), id, "") {
		err = store.ErrNotFound
	}
	if errors.Is(err, store.ErrNotFound) {
		return api.Unprocessable(api.Invalid("the account has no workspace %s", id).InBody("workspace_id"))
	}
	return err
}

// scopeInBody returns the scope that a create request names: a domain, a
// workspace, or by default the account.
func (c *Call) scopeInBody(r store.Reader, domain, workspaceID *string) (store.Scope, error) {
	switch {
	case domain != nil:
		d, err := c.domainInBody(r, *domain)
		return store.Scope{Type: vocab.ScopeDomain, ID: d.ID}, err
	case workspaceID != nil:
		return store.Scope{Type: vocab.ScopeWorkspace, ID: *workspaceID}, c.workspaceInBody(r, *workspaceID)
	case c.caller.Within(c.spec.Capability).Restricted:
		return store.Scope{}, api.PermissionDenied(c.spec.Capability)
	}
	return store.Scope{Type: vocab.ScopeAccount, ID: c.caller.AccountID}, nil
}

// naming returns words and the id of an existing object for a conflict message, or "" if
// the caller lacks the capability view for the object's scope.
func (c *Call) naming(r store.Reader, view vocab.Capability, scope store.Scope, words, id string) string {
	if ok, err := c.seesScope(r, view, scope); err != nil || !ok {
		return ""
	}
	return words + id
}

func domainScope(domainID string) store.Scope {
	return store.Scope{Type: vocab.ScopeDomain, ID: domainID}
}

// seesScope reports whether a capability lets the caller see the objects of a scope.
func (c *Call) seesScope(r store.Reader, capability vocab.Capability, scope store.Scope) (bool, error) {
	w := c.caller.Within(capability)
	if !w.Restricted {
		return true, nil
	}
	switch scope.Type {
	case vocab.ScopeWorkspace:
		return sees(w, scope.ID, ""), nil
	case vocab.ScopeDomain:
		d, err := r.Domain(c.caller.AccountID, scope.ID)
		return sees(w, d.WorkspaceID, d.ID), err
	}
	return false, nil
}

// sees reports whether w contains an object of a workspace and a domain; one of the
// two may be empty.
func sees(w store.Within, workspaceID, domainID string) bool {
	return !w.Restricted ||
		workspaceID != "" && slices.Contains(w.Workspaces, workspaceID) ||
		domainID != "" && slices.Contains(w.Domains, domainID)
}

// mustSeeScope returns store.ErrNotFound if the caller may not see objects of a
// scope with the operation's capability.
func (c *Call) mustSeeScope(r store.Reader, scope store.Scope) error {
	ok, err := c.seesScope(r, c.spec.Capability, scope)
	if err == nil && !ok {
		err = store.ErrNotFound
	}
	return err
}
