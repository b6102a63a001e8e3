package service

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// stateAccount is the account of an object of the state. It is stored in the resource identity, which
// not every CLI supports, and in the private state.
type stateAccount struct {
	ID string `json:"id"`
	// CreatedAt is "" unless the account is embedded. It distinguishes a lost account from
	// a new account with the same configured id.
	CreatedAt string `json:"created_at,omitempty"`
	// IsDropped means that a refresh dropped the object from the state. The account is empty then.
	IsDropped bool `json:"dropped,omitempty"`
}

// accountKey is the key of [stateAccount] in the private state.
const accountKey = "account"

// accountOfSession returns the account of a session, and false if it can't be opened.
func accountOfSession(ctx context.Context, s *session.Session) (a stateAccount, ok bool) {
	c, err := s.Client(ctx)
	if err != nil {
		return a, false
	}
	return stateAccount{ID: c.AccountID(), CreatedAt: s.AccountCreatedAt(ctx)}, true
}

// IsReplacement reports whether the plan of a create belongs to a replacement: core passes the private state
// of the replaced object to it, unless the object is tainted.
func IsReplacement(ctx context.Context, private PrivateState) bool {
	return GetPrivate[stateAccount](ctx, private, accountKey).ID != ""
}

// WasDropped reports whether the plan of a create follows a refresh that dropped the object from the state: core
// passes its private state too.
func WasDropped(ctx context.Context, private PrivateState) bool {
	return GetPrivate[stateAccount](ctx, private, accountKey).IsDropped
}

// accountOf returns the account of an object of the state. Its id is empty if the state lacks it, as
// a state of version 0.1.0 in a CLI without identities.
func accountOf(ctx context.Context, identity *tfsdk.ResourceIdentity, private PrivateState, diags *diag.Diagnostics) (a stateAccount) {
	a = GetPrivate[stateAccount](ctx, private, accountKey)
	if identity != nil && !identity.Raw.IsNull() {
		var known Identity
		diags.Append(identity.Get(ctx, &known)...)
		if id := known.AccountID.ValueString(); id != "" {
			a.ID = id
		}
	}
	return a
}

// checkStateAccount adds an error and returns false if an object of the state is in another account
// than the connection's. It returns true if either account is unknown.
func (r *Resource[T, M]) checkStateAccount(ctx context.Context, identity *tfsdk.ResourceIdentity, private PrivateState, diags *diag.Diagnostics) bool {
	s, expected := r.Session, accountOf(ctx, identity, private, diags)
	if expected.ID == "" {
		return true
	}
	own, ok := accountOfSession(ctx, s)
	if !ok {
		return true
	}
	reason := own.mismatch(expected)
	if reason == "" {
		return true
	}
	diags.Append(report.ConnectionError(&s.WrongAccount, "The state belongs to another account", reason+", "+s.Backend.Account+".",
		"Nothing was read, changed or dropped from the state.",
		s.Backend.Other,
		fmt.Sprintf("If the account %s of the state no longer exists, remove its objects from the state with terraform state rm, or start with a new state.", expected.ID)))
	return false
}

// checkCredential adds an error and returns false if the account can't be used. A plan with creates
// only refreshes nothing, and would leave this error to the apply.
func (r *Resource[T, M]) checkCredential(ctx context.Context, diags *diag.Diagnostics) bool {
	s := r.Session
	c := r.ClientForPlan(ctx, diags)
	if c == nil || s.HasRefreshed() {
		return !diags.HasError()
	}
	_, err := r.Caller(ctx, c)
	if err == nil || !r.Walk().MayReport() {
		return true
	}
	summary := "Can't use the account " + c.AccountID()
	if client.IncidentOf(err) != nil || client.StatusOf(err) != http.StatusForbidden {
		report.Error(diags, err, summary, nil)
		return false
	}
	diags.Append(report.ConnectionError(&s.NoAccess, summary, report.Sentence(err.Error()),
		fmt.Sprintf("The credential has no access to the account %s at all. Check that account_id, or MAILHOST_ACCOUNT_ID, is the credential's account; otherwise ask the account's owner for a credential.", c.AccountID()),
		report.CredentialAdvice(err)))
	return false
}

// mismatch describes the difference from the account in a state, or returns "".
func (a stateAccount) mismatch(expected stateAccount) string {
	switch {
	case !strings.EqualFold(expected.ID, a.ID):
		return fmt.Sprintf("According to the state the object is in the account %s, but the provider is connected to the account %s", expected.ID, a.ID)
	case expected.CreatedAt != "" && a.CreatedAt != "" && expected.CreatedAt != a.CreatedAt:
		return fmt.Sprintf("According to the state the object is in the account %s that was created at %s, but the provider is connected to one with the same id that was created at %s", expected.ID, expected.CreatedAt, a.CreatedAt)
	}
	return ""
}

// storeAccount stores the connection's account in the private state.
func (r *Resource[T, M]) storeAccount(ctx context.Context, private PrivateState, diags *diag.Diagnostics) {
	if own, ok := accountOfSession(ctx, r.Session); ok {
		diags.Append(SetPrivate(ctx, private, accountKey, own)...)
	}
}
