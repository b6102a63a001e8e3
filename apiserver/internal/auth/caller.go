package auth

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// Caller is the sender of a request: the built-in owner, a service account, or a user of the OAuth
// issuer. One snapshot or transaction contains its grants and account.
type Caller struct {
	// AccountID is empty for a user until In sets it.
	AccountID string
	// Subjects are the possible subjects of its grants: the service account, or the user and the
	// user's groups.
	Subjects []store.Subject
	// UserID is empty for a service account; Email and Name are empty if unknown.
	UserID, Email, Name string
	// Details describe the job of a workload, for the audit log.
	Details map[string]string
	// ExpiresAt is when the credential expires; zero means never.
	ExpiresAt time.Time
	// Grants are shared between requests and must not be changed.
	Grants    []store.Authorization
	cancelled bool
	// operator is set for an Operator.
	operator bool
	// publicID and secretHash come from a service account's token.
	publicID   string
	secretHash []byte
}

// Owner returns the built-in owner of an account. Only in-process requests use it.
func Owner(accountID string) Caller {
	owner := OwnerSubject(accountID)
	return Caller{AccountID: api.CanonicalID(accountID), Subjects: []store.Subject{owner}, UserID: owner.ID}
}

// Operator returns the caller for a person with access to the database, so that nothing can lock
// them out. An operator is an owner who may also revoke a super_admin and, in a cancelled account,
// manage credentials and delete objects. The audit log contains name.
func Operator(accountID, name string) Caller {
	c := Owner(accountID)
	c.operator, c.Name = true, name
	return c
}

// IsOperator reports whether the caller is an Operator.
func (c Caller) IsOperator() bool { return c.operator }

// operatorGrants returns the grants of an operator, which a service account of theirs inherits.
func (c Caller) operatorGrants() []store.Authorization {
	owner := c.Subjects[0]
	return []store.Authorization{{
		ID: api.DerivedID(c.AccountID, "authorization:owner"), AccountID: c.AccountID, GrantKind: vocab.GrantAccountOwner,
		SubjectType: owner.Type, SubjectID: owner.ID,
	}}
}

// OwnerSubject returns the subject of the owner's grant that every account comes with.
func OwnerSubject(accountID string) store.Subject {
	return store.Subject{Type: vocab.SubjectUser, ID: api.DerivedID(accountID, "user:owner")}
}

// IsServiceAccount reports whether the credential is a service account's token.
func (c Caller) IsServiceAccount() bool { return c.publicID != "" }

// Credential identifies the caller's credential for rate limits.
func (c Caller) Credential() string { return c.Subjects[0].Type + " " + c.Subjects[0].ID }

// IsBuiltInOwner reports whether the caller is the built-in owner.
func (c Caller) IsBuiltInOwner() bool {
	return c.UserID != "" && c.UserID == OwnerSubject(c.AccountID).ID
}

// isUser reports whether the caller is a user of the OAuth issuer.
func (c Caller) isUser() bool { return !c.IsServiceAccount() && !c.IsBuiltInOwner() }

// key identifies the caller in the cache: by the credential of a service account, otherwise by a
// hash of the account and the subjects.
func (c Caller) key() string {
	if c.IsServiceAccount() {
		return "token " + c.publicID
	}
	return fmt.Sprintf("subjects %x", sha256.Sum256(fmt.Appendf(nil, "%q %q", c.AccountID, c.Subjects)))
}

// as returns the caller as the service account of its token.
func (c Caller) as(a store.ServiceAccount) Caller {
	c.AccountID, c.Name, c.ExpiresAt = a.AccountID, a.Name, a.ExpiresAt
	c.Subjects = []store.Subject{{Type: vocab.SubjectServiceAccount, ID: a.ID}}
	return c
}

// In returns the caller in an account, or a 403 for another account's credential. A user of the
// OAuth issuer may be in any account: Authorize refuses a user without a grant. Validation reports
// an invalid accountID.
func (c Caller) In(accountID string, spec api.Spec) (Caller, error) {
	if !api.IsID(accountID) {
		return c, nil
	}
	user := c.AccountID == ""
	if user {
		c.AccountID = accountID
		// The API identifies users by UUID; the issuer may not.
		if c.UserID = api.CanonicalID(c.Subjects[0].ID); !api.IsID(c.UserID) {
			c.UserID = api.DerivedID(accountID, "oauth-user:"+c.Subjects[0].ID)
		}
	}
	// The built-in owner's id is derived from the account's id. Without this check, users who can
	// choose their sub at the issuer could choose that id.
	if c.AccountID != accountID || user && c.IsBuiltInOwner() {
		return Caller{}, api.PermissionDenied(spec.Capability)
	}
	return c, nil
}

// MayChange returns a 403 if the operation would change a cancelled account.
func (c Caller) MayChange(spec api.Spec) error {
	breakGlass := spec.Method == http.MethodDelete || spec.Capability == vocab.CapServiceAccountCreate || spec.Capability == vocab.CapAuthorizationManage
	if c.cancelled && spec.Changes() && !spec.WhenCancelled && !(c.operator && breakGlass) {
		return api.NewError(http.StatusForbidden, api.TypeAccountCancelled, "the account is cancelled: it can be read but not changed").At("path", "account_id")
	}
	return nil
}

// MayGrant reports whether the caller may create or revoke a grant: no more than their own grants
// allow.
func (c Caller) MayGrant(g store.Authorization) bool {
	return c.operator || slices.ContainsFunc(c.Grants, func(own store.Authorization) bool {
		if own.GrantKind != vocab.GrantCapability {
			return own.GrantKind == vocab.GrantSuperAdmin || g.GrantKind != vocab.GrantSuperAdmin
		}
		return g.GrantKind == vocab.GrantCapability && g.CapabilityKey == own.CapabilityKey &&
			(own.ResourceType == "" || own.ResourceType == g.ResourceType && own.ResourceID == g.ResourceID)
	})
}

// mayUse returns a 403 if the caller lacks the operation's capability, or is a user without a
// grant.
func (c Caller) mayUse(spec api.Spec) error {
	if spec.Capability == "" && !c.isUser() || slices.ContainsFunc(c.Grants, func(g store.Authorization) bool {
		return spec.Capability == "" || g.GrantKind != vocab.GrantCapability ||
			g.CapabilityKey == string(spec.Capability) && (spec.Narrowable || g.ResourceType == "")
	}) {
		return nil
	}
	return api.PermissionDenied(spec.Capability)
}

// Within returns the part of the account that a capability lets the caller see.
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
