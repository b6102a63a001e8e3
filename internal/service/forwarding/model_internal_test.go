package forwarding

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

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
		"left out, was switched":      {left, at(vocab.VerificationInternal, false), byUs, ""},
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
		if mustSwitchOn(tt.config, tt.rule) {
			got += "on"
		}
		assert.Check(t, got == tt.turn, "%s: turned %q; want %q", name, got, tt.turn)
	}
}
