package forwarding

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

type Resource struct {
	service.Resource[api.Forwarding, model]
}

func NewResource() resource.Resource {
	return service.Chain(&Resource{service.Resource[api.Forwarding, model]{Definition: Definition}})
}

func (r *Resource) Create(ctx context.Context, c *client.Client, plan model, req resource.CreateRequest, resp *resource.CreateResponse) {
	created, adopted, err := r.create(ctx, c, plan)
	if err != nil {
		service.AddCreateError(ctx, c, &resp.Diagnostics, explained(err), plan, "", report.Fields{}, plan.conflictAdvice)
		return
	}
	active := plan.Active
	r.SetModel(ctx, c.Domains.Get, &plan, created)
	if isFalse(active) && !switchOffNew(ctx, c, &plan, adopted, &resp.Diagnostics) {
		return
	}
	known := switchState{Off: isFalse(active) && !resp.Diagnostics.HasError()}
	if !resp.Diagnostics.HasError() { // a rule that should be off, and is not, stays pending
		confirmTarget(ctx, c, r.Walk(), &plan, &resp.Diagnostics)
	}
	known.On = active.ValueBool() && !plan.confirmed()
	if known.On || known.Off {
		plan.Active = active
	}
	resp.Diagnostics.Append(service.SetPrivate(ctx, resp.Private, switchKey, known)...)
	r.SetCreated(ctx, resp, c, &plan)
}

// create creates the rule or, if on_existing allows it, adopts the existing rule.
func (r *Resource) create(ctx context.Context, c *client.Client, plan model) (_ *api.Forwarding, adopted bool, err error) {
	if service.Adopts(plan.OnExisting) {
		found, err := c.FindForwarding(ctx, plan.TargetEmail.ValueString(), plan.Expand())
		if err == nil && plan.Active.ValueBool() && !found.Active && confirmed(found.VerificationState) {
			found, err = c.SetForwardingActive(ctx, found.ID, true)
			return found, true, err
		}
		if !client.IsNotFound(err) {
			return found, true, err
		}
	}
	created, err := c.CreateForwarding(ctx, api.CreateForwardingBody{
		TargetEmail: plan.TargetEmail.ValueString(), Domain: plan.Domain.ValueStringPointer(), WorkspaceID: plan.WorkspaceID.ValueStringPointer(),
	})
	return created, false, err
}

// confirmTarget sends the target of a pending rule again if the same apply has created a mailbox with this address
// after the rule. If the mailbox is still to come, its create does that, see [service.ConfirmTargets].
func confirmTarget(ctx context.Context, c *client.Client, walk *session.Walk, m *model, diags *diag.Diagnostics) {
	id, target := m.ID.ValueString(), m.TargetEmail.ValueString()
	if m.confirmed() || !walk.AwaitAddress(id, canonical(target)) {
		return
	}
	if f := service.ConfirmTarget(ctx, c, m.String(), id, target, diags); f != nil {
		Definition.SetModel(ctx, c.Domains.Get, m, f)
	}
}

// canonical returns an address in the form for comparisons.
func canonical(address string) string {
	normalized, _ := customtype.EmailAddress.Normalize(address) // the address is valid
	return normalized
}

func (m model) conflictAdvice() string {
	return "A scope has one rule for a target. For another rule, change target_email, domain or workspace_id. " +
		service.ExistsAdvice("mailhost_forwarding", m.ImportKey(m.target()))
}

// explained adds advice to a refusal because of the limit of verification messages, but not to one
// because of the limit of requests.
func explained(err error) error {
	if client.StatusOf(err) != http.StatusTooManyRequests || len(client.ProblemsAt(err, "body", "target_email")) == 0 {
		return err
	}
	return report.WithAdvice(err,
		"The API limits verification messages for each account, to protect recipients. Run apply again after that time: it continues with the remaining changes. "+
			"Forwarding to an address of the account needs no message and is not limited.")
}

// deleteTimeout limits the deletion of a new rule, which an interrupt of the run does not stop.
const deleteTimeout = 30 * time.Second

// switchOffNew switches a created or adopted rule off, and reports whether the rule goes into the state:
// also if the API can't switch rules off, so that no later plan tries again. After another failure an
// adopted rule stays as it was, and a new one is deleted again, so that it forwards nothing: a rule in the
// state would be tainted, and a plan replaces no existing rule.
func switchOffNew(ctx context.Context, c *client.Client, created *model, adopted bool, diags *diag.Diagnostics) bool {
	f, err := c.SetForwardingActive(ctx, created.ID.ValueString(), false)
	summary := "Can't switch the " + created.String() + " off"
	switch {
	case err == nil:
		Definition.SetModel(ctx, c.Domains.Get, created, f)
		return true
	case errors.Is(err, client.ErrUpdateUnsupported):
		// An error would make Terraform replace the rule with one that can't be switched off
		// either.
		diags.AddAttributeWarning(path.Root("active"), "The "+created.String()+" is not switched off",
			"The rule was created. "+noSwitchAdvice+" "+created.stillForwards())
		return true
	case adopted:
		report.ErrorWithAdvice(diags, err, summary, nil, "The rule existed before, and was not adopted. "+created.stillForwards()+" Run apply again.")
		return false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteTimeout)
	defer cancel()
	if deleteErr := c.Forwarding.Delete(ctx, created.ID.ValueString()); deleteErr != nil {
		report.ErrorWithAdvice(diags, err, summary, nil, fmt.Sprintf("The rule was created with the id %s, and can't be deleted again: %s. %s It is tainted in Terraform's state: run terraform untaint, and apply again.",
			created.ID.ValueString(), deleteErr, created.stillForwards()))
		return true
	}
	report.ErrorWithAdvice(diags, err, summary, nil, "The rule was created, and deleted again, so that it forwards nothing. Run apply again.")
	return false
}

// Read leaves active null after the import of a pending rule, so that a generated configuration omits it: false would
// switch the rule off as soon as the recipient has confirmed.
func (r *Resource) Read(ctx context.Context, c *client.Client, state *model, req resource.ReadRequest, resp *resource.ReadResponse) error {
	known := service.GetPrivate[switchState](ctx, req.Private, switchKey)
	isImport := known.Imported && state.VerificationState.IsNull()
	err := r.Resource.Read(ctx, c, state, req, resp)
	switch {
	case err != nil || state.confirmed():
	case known.On:
		state.Active = types.BoolValue(true)
	case isImport:
		state.Active = types.BoolNull()
	}
	return err
}

// switchKey is the key of switchState in the private state.
const switchKey = "switch"

// switchState stores the facts about a rule's switch that responses do not contain.
//
// The API's field active reports whether mail is forwarded: the rule is switched on and its
// target is confirmed. The API does not return the switch, and refuses to switch a pending rule on.
//
// The attribute active is the API's value if the configuration omits it, and the switch if the
// configuration sets it. A pending rule with active = true keeps true in the state, because a
// difference that no apply can remove must not be planned. If active is omitted, the switch stays as it is.
type switchState struct {
	// Off means that Terraform switched the rule off, which the response for a pending rule does not show.
	Off bool `json:"off,omitempty"`
	// On means that the configuration sets true for a pending rule.
	On bool `json:"on,omitempty"`
	// Imported means that a pending rule may have been switched off before the import.
	// It is not switched off because of the false in a generated configuration.
	Imported bool `json:"imported,omitempty"`
}

// mustSwitchOff reports whether a rule that should be off may be on.
func mustSwitchOff(config types.Bool, m model, s switchState) bool {
	return isFalse(config) && (m.Active.ValueBool() || !m.confirmed() && !s.Off && !s.Imported)
}

// mustSwitchOn reports whether a rule should be on, is off, and can be switched on.
func mustSwitchOn(config types.Bool, m model) bool {
	return config.ValueBool() && m.confirmed() && !m.Active.ValueBool()
}

func isFalse(b types.Bool) bool { return b.Equal(types.BoolValue(false)) }

// noSwitchAdvice is the advice if the API can't switch a rule on or off.
const noSwitchAdvice = "This API has no operation that switches a rule on or off. Remove active from the configuration; to switch the rule, or to delete it, use the service's own control panel."

func (r *Resource) Update(ctx context.Context, c *client.Client, plan, state model, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var active types.Bool
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("active"), &active)...)
	known := service.GetPrivate[switchState](ctx, req.Private, switchKey)
	u := update{c, r.Walk(), &resp.Diagnostics, state, known}
	// Switch off before the target changes, and on after the change, so that no mail is
	// forwarded to the wrong address.
	done := (!mustSwitchOff(active, state, known) || u.switchTo(ctx, false)) &&
		(plan.TargetEmail.Equal(state.TargetEmail) || u.redirect(ctx, plan.TargetEmail.ValueString())) &&
		(!mustSwitchOn(active, u.now) || u.switchTo(ctx, true))
	if done {
		if !plan.Active.IsUnknown() {
			u.now.Active = plan.Active
		}
		u.now.OnExisting = plan.OnExisting
		u.known.On = active.ValueBool() && u.now.Active.ValueBool() && !u.now.confirmed()
	}
	resp.Diagnostics.Append(service.SetPrivate(ctx, resp.Private, switchKey, u.known)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &u.now)...)
}

// update is an update in progress. now and known contain each completed step, even if a later one fails.
type update struct {
	client *client.Client
	walk   *session.Walk
	diags  *diag.Diagnostics
	now    model
	known  switchState
}

// switchTo switches the rule on or off, and reports whether it succeeded.
func (u *update) switchTo(ctx context.Context, on bool) bool {
	f, err := u.client.SetForwardingActive(ctx, u.now.ID.ValueString(), on)
	verb, consequence := "off", " "+u.now.stillForwards()
	if on {
		verb, consequence = "on", ""
	}
	summary := "Can't switch the " + u.now.String() + " " + verb
	switch {
	case errors.Is(err, client.ErrUpdateUnsupported):
		u.diags.AddAttributeError(path.Root("active"), summary, noSwitchAdvice+consequence)
	case err != nil:
		report.Error(u.diags, err, summary, report.Fields{})
	default:
		Definition.SetModel(ctx, u.client.Domains.Get, &u.now, f)
		u.known = switchState{Off: !on}
	}
	return err == nil
}

// redirect changes the rule's target, and reports whether it succeeded.
func (u *update) redirect(ctx context.Context, target string) bool {
	f, err := u.client.UpdateForwarding(ctx, u.now.ID.ValueString(), api.UpdateForwardingBody{TargetEmail: target})
	if client.IsConflict(err) {
		err = report.WithAdvice(err, "A scope has one rule for a target. Change target_email, or delete one of the two rules.")
	}
	if err != nil {
		report.Error(u.diags, explained(err), "Can't change the "+u.now.String(), report.Fields{})
		return false
	}
	Definition.SetModel(ctx, u.client.Domains.Get, &u.now, f)
	confirmTarget(ctx, u.client, u.walk, &u.now, u.diags)
	return true
}
