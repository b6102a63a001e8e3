package forwarding

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// The API's field active reports whether mail is forwarded: the rule is switched on and
// its target is confirmed. The API does not return the switch. A pending rule is never
// active, and the API refuses to switch it on.
//
// The attribute active is the API's value if the configuration omits it, and the switch
// if the configuration sets it. A pending rule with active = true keeps true in the
// state, because a difference that no apply can remove must not be planned. If active
// is omitted, a rule that was switched off outside Terraform stays off.
//
// switchState has the part of the switch that the state can't show.

// switchKey is the key of switchState in the private state.
const switchKey = "switch"

// switchedOffKey is the key of switchState.Off, as true or false, in the first builds of
// the provider. It is only read.
const switchedOffKey = "switched_off"

// switchState is what Terraform knows about a rule's switch beyond the response.
type switchState struct {
	// Off means that Terraform has switched the rule off. It need not do so again while
	// the rule is pending, and switches the rule on when the configuration no longer says
	// false.
	Off bool `json:"off,omitempty"`
	// On means that the configuration sets true for a pending rule.
	On bool `json:"on,omitempty"`
	// Imported means that a pending rule may have been switched off before the import.
	// The false of a generated configuration is no reason to switch it off.
	Imported bool `json:"imported,omitempty"`
}

func readSwitchState(ctx context.Context, p service.PrivateState, diags *diag.Diagnostics) (s switchState) {
	value, d := p.GetKey(ctx, switchKey)
	diags.Append(d...)
	if len(value) == 0 {
		old, d := p.GetKey(ctx, switchedOffKey)
		diags.Append(d...)
		s.Off = string(old) == "true"
	} else if err := json.Unmarshal(value, &s); err != nil {
		diags.AddError("Broken private state", "The private state of the forwarding rule's switch can't be read: "+err.Error()+". Remove the rule from the state and import it.")
	}
	return s
}

func (s switchState) store(ctx context.Context, p service.PrivateState) diag.Diagnostics {
	return service.SetPrivate(ctx, p, switchKey, s)
}

// mustSwitchOff reports whether a rule that should be off may be on.
func mustSwitchOff(config types.Bool, m model, s switchState) bool {
	return isFalse(config) && (m.Active.ValueBool() || !m.confirmed() && !s.Off && !s.Imported)
}

// mustSwitchOn reports whether a rule should be on, is off, and can be switched on.
func mustSwitchOn(config types.Bool, m model, s switchState) bool {
	return (config.ValueBool() || config.IsNull() && s.Off) && m.confirmed() && !m.Active.ValueBool()
}

func isFalse(b types.Bool) bool { return b.Equal(types.BoolValue(false)) }

// noSwitchAdvice returns what to do if the API can't switch a rule on or off.
func noSwitchAdvice(verb string) string {
	other := "to stop the rule, delete it in the service's own control panel."
	if verb == "on" {
		other = "switch the rule on in the service's own control panel."
	}
	return "This API has no operation that switches a rule " + verb + ". Remove active from the configuration; " + other
}
