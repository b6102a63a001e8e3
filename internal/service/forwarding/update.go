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
	var plan, state model
	var active types.Bool
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("active"), &active)...)
	known := readNote(ctx, req.Private, &resp.Diagnostics)
	c := r.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(service.SetIdentity(ctx, resp.Identity, c.AccountID(), state.ID)...)
	u := update{client: c, resp: resp, was: state, now: state, note: known}
	// A rule goes off before its target changes and on after that, so that no
	// mail goes where none should.
	if mustSwitchOff(active, state, u.note) && !u.turn(ctx, false) {
		return
	}
	if !plan.TargetEmail.Equal(state.TargetEmail) && !u.redirect(ctx, plan.TargetEmail.ValueString()) {
		return
	}
	if mustSwitchOn(active, u.now, u.note) && !u.turn(ctx, true) {
		return
	}
	u.finish(ctx, plan, active)
}

// update is an update on its way: what is done already is kept in the state, even
// where a later step fails.
type update struct {
	client *client.Client
	resp   *resource.UpdateResponse
	was    model
	now    model
	note   note
}

// turn switches the rule on or off, and reports whether that is done.
func (u *update) turn(ctx context.Context, on bool) bool {
	f, err := u.client.SetForwardingActive(ctx, u.was.ID.ValueString(), on)
	verb := "off"
	if on {
		verb = "on"
	}
	summary := "Can't switch the " + u.was.String() + " " + verb
	switch {
	case errors.Is(err, client.ErrUpdateUnsupported):
		detail := noSwitch(verb)
		if !on {
			detail += " " + u.now.goesOn()
		}
		u.resp.Diagnostics.AddAttributeError(path.Root("active"), summary, detail)
	case err != nil:
		service.AddError(&u.resp.Diagnostics, err, summary, service.Fields{})
	default:
		u.done(ctx, f)
		u.note = note{Off: !on}
		u.resp.Diagnostics.Append(u.note.keep(ctx, u.resp.Private)...)
	}
	return err == nil
}

// redirect changes the rule's target, and reports whether that is done.
func (u *update) redirect(ctx context.Context, target string) bool {
	f, err := u.client.UpdateForwarding(ctx, u.was.ID.ValueString(), api.UpdateForwardingBody{TargetEmail: target})
	switch {
	case client.IsConflict(err):
		service.AddErrorAdvising(&u.resp.Diagnostics, err, "Can't change the "+u.was.String(), service.Fields{},
			"There is one rule for a scope and a target. Change target_email, or delete one of the two rules.")
	case err != nil:
		addError(&u.resp.Diagnostics, err, "Can't change the "+u.was.String())
	default:
		u.done(ctx, f)
	}
	return err == nil
}

func (u *update) done(ctx context.Context, f *api.Forwarding) {
	u.now.fill(ctx, u.client, f)
	u.resp.Diagnostics.Append(u.resp.State.Set(ctx, &u.now)...)
}

// finish keeps what the plan promised.
func (u *update) finish(ctx context.Context, plan model, active types.Bool) {
	if plan.TargetEmail.Equal(u.was.TargetEmail) {
		u.now.keepVerification(plan)
	}
	if !plan.Active.IsUnknown() {
		u.now.Active = plan.Active
	}
	u.now.TargetEmail = plan.TargetEmail
	u.note.On = active.ValueBool() && u.now.Active.ValueBool() && !u.now.confirmed()
	u.resp.Diagnostics.Append(u.note.keep(ctx, u.resp.Private)...)
	u.resp.Diagnostics.Append(u.resp.State.Set(ctx, &u.now)...)
}
