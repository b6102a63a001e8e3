package forwarding

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

const typeName = "mailhost_forwarding"

func (r *Resource) ModifyPlan(ctx context.Context, plan, state model, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	isUpdate := !req.State.Raw.IsNull() && !req.Plan.Raw.IsNull()
	if req.Plan.Raw.IsNull() {
		return
	}
	if req.State.Raw.IsNull() {
		r.planExisting(ctx, plan, &resp.Diagnostics)
	}
	if isUpdate && !resp.Diagnostics.HasError() && len(resp.RequiresReplace) == 0 {
		r.planUpdate(ctx, req, plan, state, resp)
	}
}

// planExisting reports in the plan of a new rule an existing rule with the same scope and target.
func (r *Resource) planExisting(ctx context.Context, plan model, diags *diag.Diagnostics) {
	c := r.ClientIfOpen(ctx)
	if c == nil || plan.TargetEmail.IsUnknown() || plan.Domain.IsUnknown() || plan.WorkspaceID.IsUnknown() || r.CreatesDomain(plan.Domain.ValueString()) {
		return
	}
	target := plan.TargetEmail.ValueString()
	if r.findListed(ctx, c, target, func(*api.Forwarding) bool { return true }) == nil {
		return
	}
	found, err := c.FindForwarding(ctx, target, plan.Expand()) // in this scope
	if err != nil {
		return
	}
	unchanged := []string{"target_email"}
	if plan.Active.IsUnknown() || !confirmed(found.VerificationState) {
		unchanged = append(unchanged, "active")
	}
	e := r.DescribeExisting(ctx, found, plan, plan.ImportKey(plan.target()), unchanged...)
	if isFalse(plan.Active) && !confirmed(found.VerificationState) { // the response does not contain the switch
		e.Changes = append(e.Changes, "active to false, so that the rule stays off when the recipient confirms")
	}
	r.AdoptOrRefuse(diags, plan.OnExisting, e)
}

// findListed returns a rule of the account to a target, in any scope, that matches. All plans of a walk share one list.
func (r *Resource) findListed(ctx context.Context, c *client.Client, target string, match func(*api.Forwarding) bool) *api.Forwarding {
	return service.FindListed(r.Notes(), "", c.ListForwarding(ctx, api.ListForwardingRequest{}),
		func(f *api.Forwarding) string { return canonical(f.TargetEmail) }, canonical(target), match)
}

// checkTarget refuses a new target that another rule of the scope has. The plans of the two rules don't matter:
// two rules never exchange their targets, and otherwise chance decides, because core applies both at once.
func (r *Resource) checkTarget(ctx context.Context, plan, state model, diags *diag.Diagnostics) {
	c := r.ClientIfOpen(ctx)
	if c == nil || plan.TargetEmail.IsUnknown() {
		return
	}
	target := plan.target()
	other := r.findListed(ctx, c, target, func(f *api.Forwarding) bool {
		return !strings.EqualFold(f.ID, state.ID.ValueString()) && f.ScopeType == state.ScopeType.ValueString() && strings.EqualFold(f.ScopeID, state.ScopeID.ValueString()) &&
			!r.Walk().IsGone(session.Object{Type: typeName, ID: f.ID})
	})
	if other == nil {
		return
	}
	diags.AddAttributeError(path.Root("target_email"), "The "+state.String()+" can't forward to "+target,
		"A scope has one rule for a target, and the rule with the id "+other.ID+" has this one. An apply changes and deletes rules in any order, so it may fail even if the plan takes the target from the other rule. Nothing was changed.\n\n"+
			"- If the plan gives the other rule another target, or deletes it, apply that first: terraform apply -target=<address of the other rule>.\n"+
			"- To exchange the targets of two rules a and b, leave the configuration as it is, and exchange the names of the rules in the state, so that nobody has to confirm again:\n\n"+
			"  terraform state mv mailhost_forwarding.a mailhost_forwarding.c\n  terraform state mv mailhost_forwarding.b mailhost_forwarding.a\n  terraform state mv mailhost_forwarding.c mailhost_forwarding.b\n\n"+
			"- Otherwise change target_email, or delete one of the two rules.")
}

// losses returns the losses of a planned change. A rule that begins to forward to an address outside the account
// counts, because people expect a rule for one address, and it forwards the mail of a whole scope.
func losses(ctx context.Context, ch service.Change[model]) []service.Loss {
	if id := ch.Before.ID.ValueString(); id != "" && !ch.Before.confirmed() && ch.Fate != service.Adopted {
		// The state may be old: core destroys an object without a block by the state before the refresh.
		if c := ch.ClientIfOpen(ctx); c != nil {
			if f, err := c.Forwarding.Get(ch.ForPlan(ctx), id); err == nil {
				attribute.Flatten(&ch.Before, f)
			}
		}
	}
	switch ch.Fate {
	case service.Destroyed:
		l := ch.Ending("deletes", "the "+ch.Before.String(), service.Reach)
		l.Consequence = ch.Before.stops()
		return []service.Loss{l}
	case service.Replaced:
		l := ch.Ending("", "the "+ch.Before.String(), service.Reach)
		l.Because = "A rule can't move to another scope: the plan deletes it and creates another one, whose target has to confirm again unless it is an address of the account."
		l.Consequence = ch.Before.stops()
		return append([]service.Loss{l}, beginning(ctx, ch)...)
	case service.Created:
		if adopts(ctx, ch) {
			return nil // its change is Adopted
		}
		return beginning(ctx, ch)
	}
	return changing(ctx, ch)
}

// adopts reports whether the plan of a create adopts an existing rule.
func adopts(ctx context.Context, ch service.Change[model]) bool {
	planned := attribute.Raw{}
	for name, value := range attribute.Values(ch.After) {
		planned[name], _ = value.ToTerraformValue(ctx)
	}
	return ch.Walk().Adopted(session.Object{Type: typeName, Keys: naturalKeys(planned)}) != ""
}

// beginning returns the loss of a new rule that forwards mail to an address outside the account.
func beginning(ctx context.Context, ch service.Change[model]) []service.Loss {
	if isFalse(ch.After.Active) || isOwn(ctx, ch, ch.After) {
		return nil
	}
	return []service.Loss{{
		Of: []service.Asset{service.Reach}, At: path.Root("target_email"), Does: "forwards all mail of " + ch.After.scope() + " to " + ch.After.target(),
		Consequence: "The target gets the mail of every address of " + ch.After.scope() + ", and not that of one mailbox. " + ch.After.confirms(),
	}}
}

// changing returns the loss of a rule that is switched on or off, or that gets another target.
func changing(ctx context.Context, ch service.Change[model]) []service.Loss {
	before := ch.Before
	before.Scope = ch.After.Scope // an adoption has no domain before
	switch on := before.Active.ValueBool(); {
	case isFalse(ch.After.Active) && on && before.confirmed():
		return []service.Loss{{
			Of: []service.Asset{service.Reach}, At: path.Root("active"), Does: "switches off the " + before.String(), Consequence: before.stops(),
			Keep: "The recipient's confirmation remains valid: to forward mail again, set active = true.",
		}}
	case isFalse(ch.After.Active):
		return nil
	case !ch.After.TargetEmail.Equal(before.TargetEmail) && ch.Fate == service.Updated:
		l := service.Loss{
			Of: []service.Asset{service.Reach}, At: path.Root("target_email"), Does: "forwards all mail of " + before.scope() + " to " + ch.After.target() + " instead of " + before.target(),
			Consequence: before.stops() + " " + ch.After.confirms(),
		}
		if isOwn(ctx, ch, ch.After) {
			l.Consequence = before.stops() + " The new target is an address of an own domain: if a mailbox has it, it gets the mail at once."
		}
		return []service.Loss{l}
	case ch.After.Active.ValueBool() && !on && before.VerificationState.ValueString() == vocab.VerificationVerified:
		return []service.Loss{{
			Of: []service.Asset{service.Reach}, At: path.Root("active"), Does: "switches on the " + before.String(),
			Consequence: "All mail of " + before.scope() + " is forwarded to " + before.target() + " from the apply on, which has confirmed.",
			Keep:        "To leave it switched off, set active = false.",
		}}
	}
	return nil
}

// isOwn reports whether the target of a planned rule is in a domain of the account, or in one that the plan creates.
func isOwn(ctx context.Context, ch service.Change[model], m model) bool {
	target := canonical(m.TargetEmail.ValueString())
	switch domain := domainOf(target); domain {
	case "": // an unknown target
		return false
	case attribute.DomainName(m.Domain.ValueString()):
		return true
	default: // the lookup is first, so that the walk knows more of the plan's objects
		return ch.OwnsDomain(ctx, domain) || ch.CreatesDomain(domain) || ch.Walk().IsExpected(session.Named("mailhost_mailbox", target))
	}
}

// domainOf returns the domain of a canonical address, or "".
func domainOf(address string) string { return address[strings.LastIndexByte(address, '@')+1:] }

// scope names the scope of the rule in a message.
func (m model) scope() string {
	switch {
	case m.Domain.IsUnknown():
		return "its domain"
	case m.WorkspaceID.IsUnknown():
		return "its workspace"
	case m.Expand() == client.Scope{}:
		return m.Label()
	default:
		return "the " + m.Label()
	}
}

// confirms describes the confirmation of a target that is no known address of the account.
func (m model) confirms() string {
	if m.TargetEmail.IsUnknown() {
		return "Its recipient has to confirm first, unless it is an address of the account."
	}
	return "Its recipient has to confirm first."
}

// stops describes the consequence for the mail if the rule no longer forwards to its target.
func (m model) stops() string {
	switch {
	case !m.confirmed():
		return "The rule forwards no mail now, because " + m.target() + " has not confirmed."
	case !m.Active.ValueBool():
		return "The rule forwards no mail now, because it is switched off."
	}
	return "Mail of " + m.scope() + " is no longer forwarded to " + m.target() + "."
}

// planUpdate plans an update in place.
func (r *Resource) planUpdate(ctx context.Context, req resource.ModifyPlanRequest, plan, state model, resp *resource.ModifyPlanResponse) {
	var active types.Bool
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("active"), &active)...)
	known := service.GetPrivate[switchState](ctx, req.Private, switchKey)
	if resp.Diagnostics.HasError() {
		return
	}
	touched := mustSwitchOff(active, state, known)
	if plan.TargetEmail.Equal(state.TargetEmail) {
		plan.keepVerification(state)
		if active.IsNull() || active.ValueBool() && !state.confirmed() && !state.Active.IsNull() {
			plan.Active = state.Active
		}
		if mustSwitchOn(active, state) {
			plan.Active, touched = types.BoolValue(true), true
		}
		if isFalse(active) && known.Imported && !state.confirmed() && !touched {
			warnUnknownSwitch(&resp.Diagnostics, state)
		}
		r.warnDead(ctx, state, &resp.Diagnostics)
	} else if r.checkTarget(ctx, plan, state, &resp.Diagnostics); resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
	service.DropEmptyUpdate(req, resp)
	if touched {
		r.warnNoSwitch(ctx, resp, state)
		// This makes the plan an update if nothing else differs.
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("updated_at"), types.StringUnknown())...)
	}
}

// warnDead warns of a rule that forwards no mail until somebody acts. No plan repairs it, because its target may
// belong to somebody else by now. A rule that waits for a recipient outside the account needs no warning.
func (r *Resource) warnDead(ctx context.Context, state model, diags *diag.Diagnostics) {
	c := r.ClientIfOpen(ctx)
	if !state.confirmed() && c != nil && !r.HasRefreshed() { // the state may be old
		if f, err := c.Forwarding.Get(r.ForPlan(ctx), state.ID.ValueString()); err == nil {
			r.SetModel(ctx, c.Domains.Get, &state, f)
		}
	}
	target := state.target()
	again := "To forward mail there, invoke the action mailhost_resend_forwarding_verification, or replace the rule with terraform apply -replace. "
	otherwise := "Otherwise change target_email or remove the rule."
	var because, next string
	switch found := r.findOwn(ctx, c, state); {
	case state.confirmed():
		return
	case state.released():
		because = "The target " + target + " is not confirmed, and no verification message was sent. A rule is in this state after its target was deleted, even if that was created again."
		next = again + "An address of the account then receives mail at once; any other address gets a verification message. " + otherwise
	case found == ownMailbox:
		because = "The target " + target + " is an address of the account, which needs no confirmation. But it was none when the rule was created or changed, so the rule waits for one."
		next = again + "It then receives mail at once."
	case found == ownDomain:
		because = "No mailbox has the address " + target + ", and its domain belongs to the account, so that the verification message may have reached nobody."
		next = "Create the mailbox, and apply. " + again + "Do the same if the address is an alias of a mailbox. " + otherwise
	case state.VerificationState.ValueString() == vocab.VerificationExpired:
		because = "The recipient " + target + " has not confirmed in time: the link of the verification message is expired."
		next = again + "The recipient then gets a new message. " + otherwise
	default:
		return
	}
	diags.AddAttributeWarning(path.Root("target_email"), "The "+state.String()+" forwards no mail", report.Paragraphs(because, next))
}

// ownership is the relation of the account to the target of a rule.
type ownership int

const (
	notOwn ownership = iota // or unknown
	ownDomain
	ownMailbox
)

// findOwn looks up the target of a pending or expired rule in the account.
func (r *Resource) findOwn(ctx context.Context, c *client.Client, m model) ownership {
	target := canonical(m.TargetEmail.ValueString())
	if c == nil || m.confirmed() || m.released() || !r.OwnsDomain(ctx, domainOf(target)) {
		return notOwn
	}
	switch _, err := c.FindMailbox(r.ForPlan(ctx), target); {
	case err == nil:
		return ownMailbox
	case client.IsNotFound(err):
		return ownDomain
	}
	return notOwn
}

func warnUnknownSwitch(diags *diag.Diagnostics, state model) {
	diags.AddAttributeWarning(path.Root("active"), "The "+state.String()+" is not switched off yet",
		"It was imported while its verification is pending, and the API does not return whether a pending rule is switched off. After the recipient has confirmed, the next apply switches it off.\n\n"+
			"If active = false comes from a generated configuration, remove it: without it, Terraform leaves the switch alone.")
}

func (r *Resource) warnNoSwitch(ctx context.Context, resp *resource.ModifyPlanResponse, state model) {
	if c := r.ClientIfOpen(ctx); c != nil && !c.Supports(ctx, api.SetForwardingActive.Spec, state.ID.ValueString()) {
		resp.Diagnostics.AddAttributeWarning(path.Root("active"), "The "+state.String()+" can't be switched on or off",
			"According to its responses, this API has no operation for that: the apply will fail. Leave active as it was.")
	}
}
