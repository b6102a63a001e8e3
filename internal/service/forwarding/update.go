package forwarding

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// Update implements resource.Resource.
func (r *Resource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var active types.Bool
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("active"), &active)...)
	known := readSwitchState(ctx, req.Private, &resp.Diagnostics)
	plan, state, c := r.Changed(ctx, req, resp)
	if c == nil {
		return
	}
	u := update{client: c, resp: resp, was: state, now: state, known: known}
	// Switch off before the target changes and on after that, so that no mail is
	// forwarded to the wrong address.
	if mustSwitchOff(active, state, u.known) && !u.switchTo(ctx, false) {
		return
	}
	if !plan.TargetEmail.Equal(state.TargetEmail) && !u.redirect(ctx, plan.TargetEmail.ValueString()) {
		return
	}
	if mustSwitchOn(active, u.now, u.known) && !u.switchTo(ctx, true) {
		return
	}
	u.finish(ctx, plan, active)
}

// update is an update in progress. The state has each completed step, even if a later
// one fails.
type update struct {
	client *client.Client
	resp   *resource.UpdateResponse
	was    model
	now    model
	known  switchState
}

// switchTo switches the rule on or off, and reports whether it succeeded.
func (u *update) switchTo(ctx context.Context, on bool) bool {
	f, err := u.client.SetForwardingActive(ctx, u.was.ID.ValueString(), on)
	verb := "off"
	if on {
		verb = "on"
	}
	summary := "Can't switch the " + u.was.String() + " " + verb
	switch {
	case errors.Is(err, client.ErrUpdateUnsupported):
		detail := noSwitchAdvice(verb)
		if !on {
			detail += " " + u.now.stillForwards()
		}
		u.resp.Diagnostics.AddAttributeError(path.Root("active"), summary, detail)
	case err != nil:
		service.AddError(&u.resp.Diagnostics, err, summary, service.Fields{})
	default:
		u.done(ctx, f)
		u.known = switchState{Off: !on}
		u.resp.Diagnostics.Append(u.known.store(ctx, u.resp.Private)...)
	}
	return err == nil
}

// redirect changes the rule's target, and reports whether it succeeded.
func (u *update) redirect(ctx context.Context, target string) bool {
	f, err := u.client.UpdateForwarding(ctx, u.was.ID.ValueString(), api.UpdateForwardingBody{TargetEmail: target})
	switch {
	case client.IsConflict(err):
		service.AddErrorWithAdvice(&u.resp.Diagnostics, err, "Can't change the "+u.was.String(), service.Fields{},
			"A scope has one rule for a target. Change target_email, or delete one of the two rules.")
	case err != nil:
		addError(&u.resp.Diagnostics, err, "Can't change the "+u.was.String())
	default:
		u.done(ctx, f)
	}
	return err == nil
}

func (u *update) done(ctx context.Context, f *api.Forwarding) {
	Definition.SetModel(ctx, u.client, &u.now, f)
	u.resp.Diagnostics.Append(u.resp.State.Set(ctx, &u.now)...)
}

// finish sets the planned values in the state.
func (u *update) finish(ctx context.Context, plan model, active types.Bool) {
	if plan.TargetEmail.Equal(u.was.TargetEmail) {
		u.now.keepVerification(plan)
	}
	if !plan.Active.IsUnknown() {
		u.now.Active = plan.Active
	}
	u.now.TargetEmail, u.now.OnExisting = plan.TargetEmail, plan.OnExisting
	u.known.On = active.ValueBool() && u.now.Active.ValueBool() && !u.now.confirmed()
	u.resp.Diagnostics.Append(u.known.store(ctx, u.resp.Private)...)
	u.resp.Diagnostics.Append(u.resp.State.Set(ctx, &u.now)...)
}
