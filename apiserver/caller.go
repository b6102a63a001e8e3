package apiserver

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// caller is who makes a request, and what the grants let them do.
type caller struct {
	// accountID is empty for a user of the OAuth issuer until admit.
	accountID string
	// subjects are whom a grant may name: the service account, or the user and
	// the user's groups.
	subjects []store.Subject
	// userID is empty for a service account; email and name where unknown.
	userID, email, name string
	grants              []store.Authorization
	cancelled           bool
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

// mayUse returns the answer to a caller who may not use an operation at all.
func (c caller) mayUse(spec api.Spec) error {
	if spec.Capability != "" && !c.has(spec.Capability, spec.Narrowable) {
		return api.PermissionDenied(spec.Capability)
	}
	return nil
}

// mayChange returns the answer to a request that would change a cancelled
// account.
func (c caller) mayChange(spec api.Spec) error {
	if c.cancelled && spec.Changes() {
		return api.NewError(http.StatusForbidden, api.TypeAccountCancelled, "the account is cancelled: it can be read but not changed").At("path", "account_id")
	}
	return nil
}

// has reports whether some grant names the capability.
func (c caller) has(capability api.Capability, narrowedToo bool) bool {
	for _, g := range c.grants {
		if g.GrantKind != api.GrantCapability ||
			g.CapabilityKey == string(capability) && (narrowedToo || g.ResourceType == "") {
			return true
		}
	}
	return false
}

// within returns what a caller may see with a capability. For them nothing else
// exists.
func (c caller) within(capability api.Capability) store.Within {
	w := store.Within{Restricted: true}
	for _, g := range c.grants {
		if g.GrantKind != api.GrantCapability {
			return store.Within{}
		}
		if g.CapabilityKey != string(capability) {
			continue
		}
		switch g.ResourceType {
		case "":
			return store.Within{}
		case api.ResourceWorkspace:
			w.Workspaces = append(w.Workspaces, g.ResourceID)
		case api.ResourceDomain:
			w.Domains = append(w.Domains, g.ResourceID)
		}
	}
	return w
}

// sees reports whether w holds what lies in a workspace and in a domain; one of
// the two may be empty.
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
