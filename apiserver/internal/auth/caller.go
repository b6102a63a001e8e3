package auth

import (
	"context"
	"net/http"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// Caller is the sender of a request. Authorize fills the grants and the account's
// status; the rest follows from the credential.
type Caller struct {
	// AccountID is empty for a user of the OAuth issuer until Enter sets it.
	AccountID string
	// Subjects are those that a grant may name: the service account, or the user
	// and the user's groups.
	Subjects []store.Subject
	// UserID is empty for a service account; Email and Name are empty if unknown.
	UserID, Email, Name string
	// ExpiresAt is when the credential expires; zero: never.
	ExpiresAt time.Time
	Grants    []store.Authorization
	cancelled bool
}

// Owner returns the owner that every account comes with. It has no credential: only
// in-process requests act for it.
func Owner(accountID string) Caller {
	owner := OwnerSubject(accountID)
	return Caller{AccountID: accountID, Subjects: []store.Subject{owner}, UserID: owner.ID}
}

// OwnerSubject returns the subject of the grant that every account comes with.
func OwnerSubject(accountID string) store.Subject {
	return store.Subject{Type: vocab.SubjectUser, ID: api.DerivedID(accountID, "user:owner")}
}

type (
	callerKey  struct{}
	trustedKey struct{}
)

// WithCaller returns a context that carries the authorized caller of a request.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerFrom returns the authorized caller of a request, or the zero Caller.
func CallerFrom(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

// WithTrusted returns a context whose requests come from c without a credential.
func WithTrusted(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, trustedKey{}, c)
}

// Trusted returns the caller that WithTrusted has set.
func Trusted(ctx context.Context) (Caller, bool) {
	c, ok := ctx.Value(trustedKey{}).(Caller)
	return c, ok
}

// IsServiceAccount reports whether the credential is a service account's token.
func (c Caller) IsServiceAccount() bool { return c.Subjects[0].Type == vocab.SubjectServiceAccount }

// Credential identifies the caller's credential for limits.
func (c Caller) Credential() string { return c.Subjects[0].Type + " " + c.Subjects[0].ID }

// IsBuiltInOwner reports whether the caller is the owner that every account comes with.
func (c Caller) IsBuiltInOwner() bool {
	return c.UserID != "" && c.UserID == OwnerSubject(c.AccountID).ID
}

// Enter returns the caller as one of an account, or a 403 for a credential of another
// account. A user of the OAuth issuer may enter any, see Authenticator.Authorize.
func (c Caller) Enter(accountID string, spec api.Spec) (Caller, error) {
	if c.AccountID == "" && api.IsID(accountID) {
		c = c.in(accountID)
		// The built-in owner's id follows from the account's; an issuer that lets
		// people choose their sub would let anybody choose that one.
		if c.IsBuiltInOwner() {
			return Caller{}, api.PermissionDenied(spec.Capability)
		}
	}
	if c.AccountID != accountID && api.IsID(accountID) {
		return Caller{}, api.PermissionDenied(spec.Capability)
	}
	return c, nil
}

// in returns a user of the OAuth issuer as a caller of an account. The API names users
// by UUID; the issuer need not.
func (c Caller) in(accountID string) Caller {
	c.AccountID = accountID
	if c.UserID = api.CanonicalID(c.Subjects[0].ID); !api.IsID(c.UserID) {
		c.UserID = api.DerivedID(accountID, "oauth-user:"+c.Subjects[0].ID)
	}
	return c
}

// MayChange returns a 403 if the operation would change a cancelled account.
func (c Caller) MayChange(spec api.Spec) error {
	if c.cancelled && spec.Changes() && !spec.WhenCancelled {
		return api.NewError(http.StatusForbidden, api.TypeAccountCancelled, "the account is cancelled: it can be read but not changed").At("path", "account_id")
	}
	return nil
}

// MayGrant reports whether the caller may create a grant, and revoke it from others:
// nobody grants more than they have.
func (c Caller) MayGrant(g store.Authorization) bool {
	for _, own := range c.Grants {
		if own.GrantKind == vocab.GrantSuperAdmin || own.GrantKind == vocab.GrantAccountOwner && g.GrantKind != vocab.GrantSuperAdmin {
			return true
		}
		if own.GrantKind != vocab.GrantCapability || g.GrantKind != vocab.GrantCapability || own.CapabilityKey != g.CapabilityKey {
			continue
		}
		if own.ResourceType == "" || own.ResourceType == g.ResourceType && own.ResourceID == g.ResourceID {
			return true
		}
	}
	return false
}

// mayUse returns a 403 if the caller lacks the operation's capability.
func (c Caller) mayUse(spec api.Spec) error {
	if spec.Capability == "" {
		return nil
	}
	for _, g := range c.Grants {
		if g.GrantKind != vocab.GrantCapability ||
			g.CapabilityKey == string(spec.Capability) && (spec.Narrowable || g.ResourceType == "") {
			return nil
		}
	}
	return api.PermissionDenied(spec.Capability)
}

// Within returns the part of the account that a capability lets the caller see. The
// caller must not learn that anything else exists.
func (c Caller) Within(capability vocab.Capability) store.Within {
	w := store.Within{Restricted: true}
	for _, g := range c.Grants {
		if g.GrantKind != vocab.GrantCapability {
			return store.Within{}
		}
		if g.CapabilityKey != string(capability) {
			continue
		}
		switch g.ResourceType {
		case "":
			return store.Within{}
		case vocab.ResourceWorkspace:
			w.Workspaces = append(w.Workspaces, g.ResourceID)
		case vocab.ResourceDomain:
			w.Domains = append(w.Domains, g.ResourceID)
		}
	}
	return w
}
