package forwarding

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// The API's field active says whether mail is forwarded: the rule is switched on
// and its target is confirmed. The switch alone can't be read. A rule that waits
// for its recipient is not active whatever the switch says, and the API refuses
// to switch it on. So the configuration can only ask for false: true is nothing
// that a create could promise. Left out, the attribute tells what the API says.
//
// What the state can't tell, whether Terraform has switched the rule off, lies in
// its private part. It makes sure that a rule which waits is switched off all the
// same, and that it is switched on again when the configuration no longer says
// false. A rule that somebody else has switched off is left as it is.
const switchedOffKey = "switched_off"

// noSwitch says what to do where the API can't switch a rule off.
const noSwitch = "This API has no operation that switches a rule off. Remove active from the configuration; to stop the rule, delete it in the service's own control panel."

// private is the part of a resource's private state that is needed here.
type private interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// switchedOff reports whether Terraform has switched the rule off.
func switchedOff(ctx context.Context, p private, diags *diag.Diagnostics) bool {
	value, d := p.GetKey(ctx, switchedOffKey)
	diags.Append(d...)
	return string(value) == "true"
}

func noteSwitch(ctx context.Context, p private, off bool) diag.Diagnostics {
	if off {
		return p.SetKey(ctx, switchedOffKey, []byte("true"))
	}
	return p.SetKey(ctx, switchedOffKey, []byte("false"))
}

// mustSwitchOff reports whether a rule that is to be off may be on.
func mustSwitchOff(config types.Bool, m model, off bool) bool {
	return isFalse(config) && (m.Active.ValueBool() || !m.confirmed() && !off)
}

// mustSwitchOn reports whether a rule that Terraform has switched off is no
// longer to be off, and can be switched on.
func mustSwitchOn(config types.Bool, m model, off bool) bool {
	return config.IsNull() && off && m.confirmed() && !m.Active.ValueBool()
}

func isFalse(b types.Bool) bool { return b.Equal(types.BoolValue(false)) }

// onlyOff is the validator of active.
type onlyOff struct{}

// Description implements validator.Describer.
func (onlyOff) Description(context.Context) string { return "false, or left out" }

// MarkdownDescription implements validator.Describer.
func (onlyOff) MarkdownDescription(context.Context) string { return "`false`, or left out" }

// ValidateBool implements validator.Bool.
func (onlyOff) ValidateBool(_ context.Context, req validator.BoolRequest, resp *validator.BoolResponse) {
	if req.ConfigValue.ValueBool() {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid active",
			"active can only be set to false, which switches the rule off. Leave it out to have the rule on: it is active as soon as its target is a mailbox of the account, "+
				"or its recipient has confirmed, and nothing else can make it so. To switch by a variable, write `active = var.paused ? false : null`.")
	}
}
