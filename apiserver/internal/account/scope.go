package account

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// An object outside of a restricted grant is store.ErrNotFound, so that a caller can't probe for
// objects.

// within returns the part of the account that the operation's capability lets the caller see.
func (c *Call) within() store.Within { return c.Caller.Within(c.Spec.Capability) }

// ifVisible returns store.ErrNotFound if the caller may see neither the workspace nor the domain of
// an object. Either id may be empty.
func (c *Call) ifVisible(err error, workspaceID, domainID string) error {
	if err == nil && !sees(c.within(), workspaceID, domainID) {
		return store.ErrNotFound
	}
	return err
}

func (c *Call) ifScopeVisible(r store.Reader, err error, scope store.Scope) error {
	if err != nil {
		return err
	}
	visible, err := c.seesScope(r, c.Spec.Capability, scope)
	if err == nil && !visible {
		return store.ErrNotFound
	}
	return err
}

// sees reports whether w contains an object with this workspace and domain.
func sees(w store.Within, workspaceID, domainID string) bool {
	return !w.Restricted ||
		workspaceID != "" && slices.Contains(w.Workspaces, workspaceID) ||
		domainID != "" && slices.Contains(w.Domains, domainID)
}

// seesScope reports whether a capability lets the caller see the objects of a scope.
func (c *Call) seesScope(r store.Reader, capability vocab.Capability, scope store.Scope) (bool, error) {
	w := c.Caller.Within(capability)
	switch {
	case !w.Restricted:
		return true, nil
	case scope.Type == vocab.ScopeWorkspace:
		return sees(w, scope.ID, ""), nil
	case scope.Type == vocab.ScopeDomain:
		d, err := store.Get[store.Domain](r, c.Caller.AccountID, scope.ID)
		return sees(w, d.WorkspaceID, d.ID), err
	}
	return false, nil
}

func domainScope(domainID string) store.Scope {
	return store.Scope{Type: vocab.ScopeDomain, ID: domainID}
}

// existingID returns words and the id of an existing object for a conflict message, or "" if the
// caller may not view the object's scope.
func (c *Call) existingID(r store.Reader, view vocab.Capability, scope store.Scope, words, id string) string {
	if visible, err := c.seesScope(r, view, scope); err != nil || !visible {
		return ""
	}
	return words + id
}

// ifExists converts an *store.ExistsError to a conflict that ends with existingID, and returns any
// other error unchanged.
func (c *Call) ifExists(r store.Reader, err error, view vocab.Capability, scope store.Scope, words, format string, args ...any) error {
	if exists, ok := errors.AsType[*store.ExistsError](err); ok {
		return api.Conflict(format+"%s", append(args, c.existingID(r, view, scope, words, exists.ID))...)
	}
	return err
}

// findDomain finds a domain by its UUID or name.
func (c *Call) findDomain(r store.Reader, ref string) (d store.Domain, err error) {
	if api.IsID(ref) {
		d, err = store.Get[store.Domain](r, c.Caller.AccountID, api.CanonicalID(ref))
	} else {
		name, _ := domainname.Normalize(ref) // "" if invalid; no domain matches it
		d, err = r.DomainByName(c.Caller.AccountID, name)
	}
	return d, c.ifVisible(err, d.WorkspaceID, d.ID)
}

func (c *Call) findWorkspace(r store.Reader, id string) (store.Workspace, error) {
	w, err := store.Get[store.Workspace](r, c.Caller.AccountID, id)
	return w, c.ifVisible(err, w.ID, "")
}

// noDomain is a domain filter without a match.
const noDomain = "none"

// domainFilter returns the domain that filters a list. The id is "" without a filter, and noDomain
// for an unknown domain.
func (c *Call) domainFilter(r store.Reader, ref string) (d store.Domain, err error) {
	if ref == "" {
		return d, nil
	}
	if d, err = c.findDomain(r, ref); errors.Is(err, store.ErrNotFound) {
		return store.Domain{ID: noDomain}, nil
	}
	return d, err
}

// scopedFilter builds the filter of master passwords and forwarding rules.
func (c *Call) scopedFilter(r store.Reader, domain, workspaceID, scopeType, search string) (store.ScopedFilter, error) {
	d, err := c.domainFilter(r, domain)
	return store.ScopedFilter{DomainID: d.ID, WorkspaceID: workspaceID, ScopeType: scopeType, Search: search, Within: c.within()}, err
}

// An unknown object in a request body is a 422, not a 404.

// ifUnknown converts store.ErrNotFound to a 422, and returns any other error unchanged.
func ifUnknown(err error, problem *api.Problem) error {
	if errors.Is(err, store.ErrNotFound) {
		return api.Unprocessable(problem)
	}
	return err
}

// domainInBody finds the domain in a request body.
func (c *Call) domainInBody(r store.Reader, ref string) (store.Domain, error) {
	d, err := c.findDomain(r, ref)
	return d, ifUnknown(err, unknownDomain(ref))
}

func unknownDomain(ref string) *api.Problem {
	return api.Invalid("the account has no domain %.255q", ref).InBody("domain")
}

// workspaceInBody checks the workspace in a request body.
func (c *Call) workspaceInBody(r store.Reader, id string) error {
	_, err := c.findWorkspace(r, id)
	return ifUnknown(err, api.Invalid("the account has no workspace %s", id).InBody("workspace_id"))
}

// usableDomain is domainInBody for a new object in the domain. The domain must be paid.
func (c *Call) usableDomain(r store.Reader, ref string) (store.Domain, error) {
	d, err := c.domainInBody(r, ref)
	if err != nil {
		return d, err
	}
	switch status := d.State.At(c.Arrival); status {
	case vocab.DomainPendingPayment, vocab.DomainFailed:
		return d, api.Conflict("the domain %s (%s) is %s; nothing can be added to it", d.Name, d.ID, status)
	}
	return d, nil
}

// scopeInBody returns the scope in the body of a create: a domain, a workspace, or else the
// account.
func (c *Call) scopeInBody(r store.Reader, domain, workspaceID *string) (store.Scope, error) {
	switch {
	case domain != nil:
		d, err := c.domainInBody(r, *domain)
		return domainScope(d.ID), err
	case workspaceID != nil:
		return store.Scope{Type: vocab.ScopeWorkspace, ID: *workspaceID}, c.workspaceInBody(r, *workspaceID)
	case c.within().Restricted:
		return store.Scope{}, api.PermissionDenied(c.Spec.Capability)
	}
	return store.Scope{Type: vocab.ScopeAccount, ID: c.Caller.AccountID}, nil
}

// ReferenceErrors returns a problem for each unknown domain or workspace in the body of a request
// that is invalid for another reason. The operation reports them for a valid request.
func ReferenceErrors(c *Call, body map[string]any) ([]*api.Problem, error) {
	declared, _ := c.Spec.Request.FieldByName("Body")
	return view(c, func(r store.Reader) (found []*api.Problem, _ error) {
		for _, field := range reflect.VisibleFields(declared.Type) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			ref, _ := body[name].(string)
			var err error
			switch {
			case ref == "":
				continue
			case name == "domain":
				_, err = c.domainInBody(r, ref)
			case name == "workspace_id":
				err = c.workspaceInBody(r, api.CanonicalID(ref))
			}
			if unknown, ok := errors.AsType[*api.Error](err); ok {
				found = append(found, unknown.Detail...)
			}
		}
		return found, nil
	})
}
