package forwarding

import (
	"context"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

func TestFlatten(t *testing.T) {
	t.Parallel()
	var m model
	Definition.SetModel(t.Context(), nil, &m, &api.Forwarding{
		ID: "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e", ScopeType: vocab.ScopeAccount, ScopeID: "account", TargetEmail: "jane@example.org",
		VerificationRequired: true, VerificationState: vocab.VerificationPending, VerificationSentAt: new("sent"), CreatedAt: "created", UpdatedAt: "updated",
	})
	if m.ID.ValueString() != "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e" || m.ScopeID.ValueString() != "account" || !m.Domain.IsNull() || !m.WorkspaceID.IsNull() ||
		m.Active.ValueBool() || m.VerificationSentAt.ValueString() != "sent" || !m.VerificationVerifiedAt.IsNull() || m.CreatedAt.ValueString() != "created" {
		t.Errorf("flattened %+v", m)
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	target := customtype.New("jane@example.org")
	account := model{TargetEmail: target}
	domain, workspace := account, account
	domain.Domain = customtype.New("example.com")
	workspace.WorkspaceID = customtype.New("w")
	for want, got := range map[string]string{
		"forwarding rule 1": model{ID: types.StringValue("1")}.String(),
		"forwarding rule to jane@example.org of the account":        account.String(),
		"forwarding rule to jane@example.org of domain example.com": domain.String(),
		"forwarding rule to jane@example.org of workspace w":        workspace.String(),
		"jane@example.org":             account.ImportKey("jane@example.org"),
		"example.com/jane@example.org": domain.ImportKey("jane@example.org"),
		"w/jane@example.org":           workspace.ImportKey("jane@example.org"),
	} {
		if got != want {
			t.Errorf("got %q; want %q", got, want)
		}
	}
}

// kept is the private state of a resource.
type kept map[string]string

func (k kept) GetKey(_ context.Context, key string) ([]byte, diag.Diagnostics) {
	return []byte(k[key]), nil
}

func (k kept) SetKey(_ context.Context, key string, value []byte) diag.Diagnostics {
	k[key] = string(value)
	return nil
}

func TestReadNote(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		kept kept
		want switchState
	}{
		"nothing":          {kept{}, switchState{}},
		"switched off":     {kept{"switch": `{"off":true}`}, switchState{Off: true}},
		"old, off":         {kept{"switched_off": "true"}, switchState{Off: true}},
		"old, on again":    {kept{"switched_off": "false"}, switchState{}},
		"old, changed now": {kept{"switched_off": "true", "switch": `{}`}, switchState{}},
	} {
		var diags diag.Diagnostics
		if got := readSwitchState(t.Context(), tt.kept, &diags); got != tt.want || len(diags) > 0 {
			t.Errorf("%s: %+v, %v; want %+v", name, got, diags, tt.want)
		}
	}
}

func TestSwitch(t *testing.T) {
	t.Parallel()
	yes, no, left := types.BoolValue(true), types.BoolValue(false), types.BoolNull()
	byUs, imported := switchState{Off: true}, switchState{Imported: true}
	at := func(state string, active bool) model {
		return model{VerificationState: types.StringValue(state), Active: types.BoolValue(active)}
	}
	for name, tt := range map[string]struct {
		config      types.Bool
		rule        model
		switchState switchState
		turn        string
	}{
		"off, is on":                  {no, at(vocab.VerificationInternal, true), switchState{}, "off"},
		"off, is off":                 {no, at(vocab.VerificationVerified, false), switchState{}, ""},
		"off, on again outside":       {no, at(vocab.VerificationVerified, true), byUs, "off"},
		"off, waits":                  {no, at(vocab.VerificationPending, false), switchState{}, "off"},
		"off, waits and was switched": {no, at(vocab.VerificationExpired, false), byUs, ""},
		"left out, is on":             {left, at(vocab.VerificationVerified, true), switchState{}, ""},
		"left out, off outside":       {left, at(vocab.VerificationVerified, false), switchState{}, ""},
		"left out, was switched":      {left, at(vocab.VerificationInternal, false), byUs, "on"},
		"left out, waits":             {left, at(vocab.VerificationPending, false), byUs, ""},
		"off, waits since its import": {no, at(vocab.VerificationPending, false), imported, ""},
		"off, imported and confirmed": {no, at(vocab.VerificationVerified, true), imported, "off"},
		"left out, off at its import": {left, at(vocab.VerificationVerified, false), imported, ""},
		"on, is on":                   {yes, at(vocab.VerificationVerified, true), switchState{}, ""},
		"on, off outside":             {yes, at(vocab.VerificationInternal, false), switchState{}, "on"},
		"on, was switched":            {yes, at(vocab.VerificationVerified, false), byUs, "on"},
		"on, waits":                   {yes, at(vocab.VerificationExpired, false), byUs, ""},
		"not known":                   {types.BoolUnknown(), at(vocab.VerificationVerified, true), byUs, ""},
	} {
		got := ""
		if mustSwitchOff(tt.config, tt.rule, tt.switchState) {
			got += "off"
		}
		if mustSwitchOn(tt.config, tt.rule, tt.switchState) {
			got += "on"
		}
		if got != tt.turn {
			t.Errorf("%s: turned %q; want %q", name, got, tt.turn)
		}
	}
}
