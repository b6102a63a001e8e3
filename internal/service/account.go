package service

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// account is the account of an object. A state has it in one of three places: in the
// resource identity, which not every CLI supports; in the attributes, if the object is in
// the account's default workspace, whose id is derived from the account's; and otherwise
// in the private state. Where the attributes suffice the private state is left empty,
// because a CLI copies it for each pair of instances of a resource.
type account struct {
	ID string `json:"id"`
	// CreatedAt is "" unless the account is embedded.
	CreatedAt string `json:"created_at,omitempty"`
}

// accountKey is the key of [account] in the private state.
const accountKey = "account"

// accountOfSession returns the account of a session, or false if it can't be opened.
func accountOfSession(ctx context.Context, s *session.Session) (a account, ok bool) {
	c, err := s.Client(ctx)
	if err != nil {
		return a, false
	}
	return account{ID: c.AccountID(), CreatedAt: s.AccountCreatedAt(ctx)}, true
}

// isProvenBy reports whether an object in a workspace is in the account of the session for
// certain, so that its private state need not have the account.
func (a account) isProvenBy(workspaceID string, s *session.Session) bool {
	return !s.Origin.SharedID && workspaceID == api.DefaultWorkspaceID(a.ID)
}

// checkAccount adds an error and returns false if an object of the state is in
// another account than the connection's. It returns true if either is unknown: a
// connection that can't be opened has an error of its own.
func (m *managed) checkAccount(ctx context.Context, state tftypes.Value, identity *tfsdk.ResourceIdentity, private PrivateState, diags *diag.Diagnostics) bool {
	s := m.base().session
	expected, isKept := accountOf(ctx, identity, private, diags)
	if s == nil {
		return true
	}
	own, ok := accountOfSession(ctx, s)
	if !ok {
		return true
	}
	reason := own.mismatch(expected)
	if reason == "" && !isKept {
		reason = own.disproof(s, expected, state)
	}
	if reason == "" {
		return true
	}
	former := "the account"
	if expected.ID != "" {
		former += " " + expected.ID
	}
	diags.Append(newConnectionError(&s.WrongAccount, "The state belongs to another account", reason+", "+s.Origin.Account+".",
		"Nothing was read, changed or dropped from the state.",
		s.Origin.Other,
		fmt.Sprintf("If %s of the state no longer exists, remove its objects from the state with terraform state rm, or start with a new state.", former)))
	return false
}

// mismatch describes how the account differs from the one in a state, as far as that is
// known, or returns "".
func (a account) mismatch(expected account) string {
	switch {
	case expected.ID != "" && !strings.EqualFold(expected.ID, a.ID):
		return fmt.Sprintf("According to the state the object is in the account %s, but the provider is connected to the account %s", expected.ID, a.ID)
	case expected.CreatedAt != "" && a.CreatedAt != "" && expected.CreatedAt != a.CreatedAt:
		return fmt.Sprintf("According to the state the object is in the account %s that was created at %s, but the provider is connected to one with the same id that was created at %s", expected.ID, expected.CreatedAt, a.CreatedAt)
	}
	return ""
}

// disproof describes why the attributes of a state show that its object is not in the
// account, or returns "". The private state does not have the account, because the
// attributes proved it. An account that was lost and created again under the same id is
// younger than its former objects.
func (a account) disproof(s *session.Session, expected account, state tftypes.Value) string {
	workspaceID, createdAt := attribute(state, "workspace_id"), attribute(state, "created_at")
	switch {
	case workspaceID == "" || a.isProvenBy(workspaceID, s):
		return ""
	case workspaceID == api.DefaultWorkspaceID(a.ID):
		if createdAt >= a.CreatedAt {
			return ""
		}
		return fmt.Sprintf("According to the state the object was created at %s, but the provider is connected to the account %s that was created later, at %s", createdAt, a.ID, a.CreatedAt)
	case expected.ID == "":
		return fmt.Sprintf("According to the state the object is in the workspace %s of another account, but the provider is connected to the account %s", workspaceID, a.ID)
	}
	return ""
}

// accountOf returns the account of an object in the state, from its identity and its
// private state, and whether it is in the private state. Its id is "" if it is in neither.
func accountOf(ctx context.Context, identity *tfsdk.ResourceIdentity, private PrivateState, diags *diag.Diagnostics) (a account, isKept bool) {
	value, problems := private.GetKey(ctx, accountKey)
	diags.Append(problems...)
	if json.Unmarshal(value, &a) != nil {
		a = account{}
	}
	isKept = a.ID != ""
	if identity != nil && !identity.Raw.IsNull() {
		var known Identity
		diags.Append(identity.Get(ctx, &known)...)
		if id := known.AccountID.ValueString(); id != "" {
			a.ID = id
		}
	}
	return a, isKept
}

// keepAccount stores the connection's account in the private state, unless the new state
// proves it.
func (m *managed) keepAccount(ctx context.Context, state tftypes.Value, private PrivateState, diags *diag.Diagnostics) {
	s := m.base().session
	if s == nil || state.IsNull() {
		return
	}
	switch own, ok := accountOfSession(ctx, s); {
	case !ok:
	case own.isProvenBy(attribute(state, "workspace_id"), s):
		diags.Append(private.SetKey(ctx, accountKey, nil)...)
	default:
		diags.Append(SetPrivate(ctx, private, accountKey, own)...)
	}
}
