package forwarding

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

func TestFill(t *testing.T) {
	t.Parallel()
	var m model
	m.fill(t.Context(), nil, &api.Forwarding{
		ID: "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e", ScopeType: api.ScopeAccount, ScopeID: "account", TargetEmail: "jane@example.org",
		VerificationRequired: true, VerificationState: api.VerificationPending, VerificationSentAt: new("sent"), CreatedAt: "created", UpdatedAt: "updated",
	})
	if m.ID.ValueString() != "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e" || m.ScopeID.ValueString() != "account" || !m.Domain.IsNull() || !m.WorkspaceID.IsNull() ||
		m.Active.ValueBool() || m.VerificationSentAt.ValueString() != "sent" || !m.VerificationVerifiedAt.IsNull() || m.CreatedAt.ValueString() != "created" {
		t.Errorf("filled %+v", m)
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	target := customtype.New[customtype.EmailAddress]("jane@example.org")
	account := model{TargetEmail: target}
	domain, workspace := account, account
	domain.Domain = customtype.New[customtype.DomainRef]("example.com")
	workspace.WorkspaceID = customtype.New[customtype.UUID]("w")
	for want, got := range map[string]string{
		"forwarding rule 1": model{ID: types.StringValue("1")}.String(),
		"forwarding rule to jane@example.org of the account":        account.String(),
		"forwarding rule to jane@example.org of domain example.com": domain.String(),
		"forwarding rule to jane@example.org of workspace w":        workspace.String(),
		"jane@example.org":             account.key(),
		"example.com/jane@example.org": domain.key(),
		"w/jane@example.org":           workspace.key(),
	} {
		if got != want {
			t.Errorf("got %q; want %q", got, want)
		}
	}
}

func TestSwitch(t *testing.T) {
	t.Parallel()
	no, left := types.BoolValue(false), types.BoolNull()
	at := func(state string, active bool) model {
		return model{VerificationState: types.StringValue(state), Active: types.BoolValue(active)}
	}
	for name, tt := range map[string]struct {
		config types.Bool
		rule   model
		off    bool
		turn   string
	}{
		"off, is on":                  {no, at(api.VerificationInternal, true), false, "off"},
		"off, is off":                 {no, at(api.VerificationVerified, false), false, ""},
		"off, on again outside":       {no, at(api.VerificationVerified, true), true, "off"},
		"off, waits":                  {no, at(api.VerificationPending, false), false, "off"},
		"off, waits and was switched": {no, at(api.VerificationExpired, false), true, ""},
		"left out, is on":             {left, at(api.VerificationVerified, true), false, ""},
		"left out, off outside":       {left, at(api.VerificationVerified, false), false, ""},
		"left out, was switched":      {left, at(api.VerificationInternal, false), true, "on"},
		"left out, waits":             {left, at(api.VerificationPending, false), true, ""},
		"not known":                   {types.BoolUnknown(), at(api.VerificationVerified, true), true, ""},
	} {
		got := ""
		if mustSwitchOff(tt.config, tt.rule, tt.off) {
			got += "off"
		}
		if mustSwitchOn(tt.config, tt.rule, tt.off) {
			got += "on"
		}
		if got != tt.turn {
			t.Errorf("%s: turned %q; want %q", name, got, tt.turn)
		}
	}
}
