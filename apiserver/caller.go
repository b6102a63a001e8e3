package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// caller is the sender of a request. authorize fills the grants and the account's
// state; the rest follows from the credential.
type caller struct {
	// accountID is empty for a user of the OAuth issuer until enter sets it.
	accountID string
	// subjects are those that a grant may name: the service account, or the user
	// and the user's groups.
	subjects []store.Subject
	// userID is empty for a service account; email and name are where unknown.
	userID, email, name string
	// expiresAt is when the credential expires; zero: never.
	expiresAt time.Time
	grants    []store.Authorization
	cancelled bool
}

type (
	callerKey  struct{}
	trustedKey struct{}
)

func (c caller) attach(ctx context.Context) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

func callerFrom(ctx context.Context) caller {
	c, _ := ctx.Value(callerKey{}).(caller)
	return c
}

// isServiceAccount reports whether the credential is a service account's token.
func (c caller) isServiceAccount() bool { return c.subjects[0].Type == vocab.SubjectServiceAccount }

// credential identifies the caller's credential for limits.
func (c caller) credential() string { return c.subjects[0].Type + " " + c.subjects[0].ID }

// isBuiltInOwner reports whether the caller is the owner that every account comes
// with, who has no credential: only an OwnerClient acts for it.
func (c caller) isBuiltInOwner() bool { return c.userID != "" && c.userID == ownerID(c.accountID) }

// enter returns the caller as one of an account, or the refusal of a credential of
// another account. A user of the OAuth issuer may enter any; see authorize.
func (c caller) enter(accountID string, spec api.Spec) (caller, error) {
	if c.accountID == "" && isID(accountID) {
		c = c.in(accountID)
		// The built-in owner's id follows from the account's; an issuer that lets
		// people choose their sub would let anybody choose that one.
		if c.isBuiltInOwner() {
			return caller{}, api.PermissionDenied(spec.Capability)
		}
	}
	if c.accountID != accountID && isID(accountID) {
		return caller{}, api.PermissionDenied(spec.Capability)
	}
	return c, nil
}

// authorize returns the caller with the grants and the account state that r holds
// at this time, or the refusal if the credential no longer works or lacks the
// operation's capability. It runs before the body is read, and again in the
// snapshot or transaction of the operation: meanwhile the credential may have
// expired or been revoked, and the grants and the account may have changed.
func (s *Service) authorize(r store.Reader, who caller, spec api.Spec) (caller, error) {
	now := s.now()
	if who.isServiceAccount() {
		account, err := r.ServiceAccount(who.accountID, who.subjects[0].ID)
		if errors.Is(err, store.ErrNotFound) {
			err = unknownToken()
		}
		if err == nil {
			err = checkServiceAccount(account, now)
		}
		if err != nil {
			return caller{}, err
		}
		who.expiresAt = account.ExpiresAt
	} else if expired(who.expiresAt, now) {
		return caller{}, invalidToken(api.TypeTokenExpired, ErrTokenExpired.Error())
	}
	grants, err := r.GrantsOf(who.accountID, who.subjects)
	if err != nil {
		return caller{}, err
	}
	// For users of the OAuth issuer, only the accounts exist that grant them something.
	if len(grants) == 0 && !who.isServiceAccount() && !who.isBuiltInOwner() {
		return caller{}, api.PermissionDenied(spec.Capability)
	}
	who.grants = distinct(grants)
	account, err := r.Account(who.accountID)
	if err != nil {
		return caller{}, fmt.Errorf("account of an accepted credential: %w", err)
	}
	who.cancelled = accountStatus(account, now) == vocab.AccountCancelled
	return who, who.mayUse(spec)
}

// mayUse returns the refusal of a caller without the operation's capability.
func (c caller) mayUse(spec api.Spec) error {
	if spec.Capability != "" && !c.has(spec.Capability, spec.Narrowable) {
		return api.PermissionDenied(spec.Capability)
	}
	return nil
}

// mayChange returns the refusal of a change to a cancelled account.
func (c caller) mayChange(spec api.Spec) error {
	if c.cancelled && spec.Changes() && !spec.WhenCancelled {
		return api.NewError(http.StatusForbidden, api.TypeAccountCancelled, "the account is cancelled: it can be read but not changed").At("path", "account_id")
	}
	return nil
}

// mayGrant reports whether the caller may give a grant, and revoke it from
// others: nobody grants more than they have.
func (c caller) mayGrant(g store.Authorization) bool {
	for _, own := range c.grants {
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

// has reports whether some grant names the capability.
func (c caller) has(capability vocab.Capability, narrowedToo bool) bool {
	for _, g := range c.grants {
		if g.GrantKind != vocab.GrantCapability ||
			g.CapabilityKey == string(capability) && (narrowedToo || g.ResourceType == "") {
			return true
		}
	}
	return false
}

// within returns the part of the account that a caller may see with a capability.
// For them nothing else exists.
func (c caller) within(capability vocab.Capability) store.Within {
	w := store.Within{Restricted: true}
	for _, g := range c.grants {
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

// sees reports whether w contains an object of a workspace and a domain; one of the
// two may be empty.
func sees(w store.Within, workspaceID, domainID string) bool {
	if !w.Restricted {
		return true
	}
	return contains(w.Workspaces, workspaceID) || contains(w.Domains, domainID)
}

func contains(ids []string, id string) bool {
	for _, have := range ids {
		if have == id && id != "" {
			return true
		}
	}
	return false
}

// canonicalID returns the canonical form of a UUID, and anything else as it is.
func canonicalID(s string) string {
	if id, err := uuid.Parse(s); err == nil {
		return id.String()
	}
	return s
}

func isID(s string) bool {
	_, err := uuid.Parse(s)
	return err == nil
}
