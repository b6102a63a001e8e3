package forwarding

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// The API's field active says whether mail is forwarded: the rule is switched on
// and its target is confirmed. The switch alone can't be read. A rule that waits
// for its recipient is not active whatever the switch says, and the API refuses
// to switch it on.
//
// The attribute active is what the API says where the configuration leaves it out,
// and the switch where the configuration sets it. Then true is kept for a rule
// that waits: nothing can be done about it, so that it must not make a plan.
// Left out, a rule that somebody else has switched off is left as it is.
//
// What the state can't tell of the switch lies in the resource's private part.
const switchKey = "switch"

// switchedOffKey is where the first builds of the provider kept note.Off, as true
// or false. Nothing writes it any more.
const switchedOffKey = "switched_off"

// note is what Terraform knows of a rule's switch, besides what the API says.
type note struct {
	// Off: Terraform has switched the rule off. It need not do so again while the
	// rule waits, and switches it on when the configuration no longer says false.
	Off bool `json:"off,omitempty"`
	// On: the configuration says true of a rule that waits.
	On bool `json:"on,omitempty"`
	// Imported: while the rule waits, nothing tells whether it was switched off
	// before the import. What a configuration generated then says, which is
	// false, is no reason to switch it off.
	Imported bool `json:"imported,omitempty"`
}

// private is the part of a resource's private state that is needed here.
type private interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

func readNote(ctx context.Context, p private, diags *diag.Diagnostics) (n note) {
	value, d := p.GetKey(ctx, switchKey)
	diags.Append(d...)
	if len(value) == 0 {
		old, d := p.GetKey(ctx, switchedOffKey)
		diags.Append(d...)
		n.Off = string(old) == "true"
	} else {
		if err := json.Unmarshal(value, &n); err != nil {
			diags.AddError("Broken private state", "What Terraform has kept of the forwarding rule's switch can't be read: "+err.Error()+". Remove the rule from the state and import it.")
		}
	}
	return n
}

func (n note) keep(ctx context.Context, p private) diag.Diagnostics {
	value, err := json.Marshal(n)
	if err != nil {
		panic("forwarding: " + err.Error()) // there is nothing in it that could fail
	}
	return p.SetKey(ctx, switchKey, value)
}

// mustSwitchOff reports whether a rule that is to be off may be on.
func mustSwitchOff(config types.Bool, m model, n note) bool {
	return isFalse(config) && (m.Active.ValueBool() || !m.confirmed() && !n.Off && !n.Imported)
}

// mustSwitchOn reports whether a rule is to be on, is not, and can be switched on.
func mustSwitchOn(config types.Bool, m model, n note) bool {
	return (config.ValueBool() || config.IsNull() && n.Off) && m.confirmed() && !m.Active.ValueBool()
}

func isFalse(b types.Bool) bool { return b.Equal(types.BoolValue(false)) }

// noSwitch says what to do where the API can't switch a rule on or off.
func noSwitch(verb string) string {
	other := "to stop the rule, delete it in the service's own control panel."
	if verb == "on" {
		other = "switch the rule on in the service's own control panel."
	}
	return "This API has no operation that switches a rule " + verb + ". Remove active from the configuration; " + other
}
