package serviceaccount

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
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

func (r *Resource) ModifyPlan(ctx context.Context, plan, state model, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	r.planExpiry(ctx, plan, state, req, resp)
	service.DropEmptyUpdate(req, resp)
	plan, state = service.Models[model](ctx, resp.Plan, req.State, &resp.Diagnostics)
	if !req.State.Raw.IsNull() && !resp.Plan.Raw.IsNull() {
		planReplacement(plan, state, resp)
	}
	r.refuseOwn(ctx, resp, state)
	r.planPermissions(ctx, plan, state, req, resp)
	if !req.State.Raw.IsNull() || req.Plan.Raw.IsNull() {
		return
	}
	r.warnSameName(ctx, plan, &resp.Diagnostics)
	// A replacement is planned as a create too.
	if isSet(plan.ExpiresAt.StringValue) && past(plan.ExpiresAt, r.now(ctx)) {
		resp.Diagnostics.AddAttributeError(path.Root("expires_at"), "The service account would be expired when it is created",
			fmt.Sprintf("expires_at is %s, which is in the past. Set a time in the future, or remove expires_at: then the token expires with the provider's own credential, or never.", plan.ExpiresAt.ValueString()))
	}
}

// planPermissions checks the permissions of a plan. A new service account inherits them if the configuration omits
// them, and so does the successor of a service account whose permissions the configuration does not list any more.
// An update then keeps them.
func (r *Resource) planPermissions(ctx context.Context, plan, state model, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if resp.Plan.Raw.IsNull() {
		return
	}
	var config types.Set
	at := path.Root("permissions")
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, at, &config)...)
	isNew := req.State.Raw.IsNull()
	switch {
	case resp.Diagnostics.HasError():
		return
	case config.IsNull() && isNew:
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, at, types.SetNull(permissionType))...)
		plan.Permissions = config
	case config.IsNull() && len(resp.RequiresReplace) > 0: // core shows no warnings of the successor's plan
		if !state.Permissions.IsNull() {
			service.AddLosses(&resp.Diagnostics, service.Loss{
				Of: []service.Asset{service.Access}, Does: "gives the successor of the " + state.String() + " other rights", At: at,
				Because: "The configuration lists no permissions any more. The service account keeps its own, but the successor, with the next token, gets all rights of the provider's credential.",
				Keep:    "To keep the rights, list them in permissions.",
			})
		}
		plan.Permissions = config
	}
	if isNew || !plan.Permissions.Equal(state.Permissions) {
		r.checkRights(ctx, plan, &resp.Diagnostics)
	}
}

// warnSameName warns in the plan of a new service account about an active service account with the
// same name outside the state, for example after a killed apply: names are not unique, so nothing else
// shows the leftover token. Core plans a create again in the apply, where no refresh shows the state:
// a token that was used is then one that a create_before_destroy replaces.
func (r *Resource) warnSameName(ctx context.Context, plan model, diags *diag.Diagnostics) {
	c := r.ClientIfOpen(ctx)
	if c == nil || plan.Name.IsUnknown() {
		return
	}
	found := service.FindListed(r.Notes(), "", c.ListServiceAccounts(ctx),
		func(a *api.ServiceAccount) string { return a.Name }, plan.Name.ValueString(), func(a *api.ServiceAccount) bool {
			o := session.Object{Type: "mailhost_service_account", ID: a.ID}
			return a.RevokedAt == nil && !r.Walk().IsInState(o) && !r.Walk().IsGone(o) && (r.HasRefreshed() || a.LastUsedAt == nil)
		})
	if found != nil {
		diags.AddAttributeWarning(path.Root("name"), fmt.Sprintf("An active %s exists that the state may not have", plan.String()),
			fmt.Sprintf("Its id is %s, it was created at %s, and its token ends in %s. The apply creates another one with the same name.\n\n"+
				"If a resource has that one (an apply, and a plan with -target, do not see the whole state), or this apply replaces it, as a rotation with create_before_destroy does, nothing is left over. If an earlier apply has created it and lost it, revoke it: nobody may have its token, but whoever has can use it.", found.ID, found.CreatedAt, found.TokenLast4))
	}
}

// losses returns the losses of a planned change. A replacement because of the expiry or of rotation_triggers
// is a rotation, which is meant to end the token; it loses what the successor lacks.
func losses(ctx context.Context, ch service.Change[model]) (all []service.Loss) {
	isReplacedBy := func(name string) bool { return slices.ContainsFunc(ch.Replacing, path.Root(name).Equal) }
	if ch.Fate == service.Destroyed || isReplacedBy("name") {
		l := ch.Ending("revokes", "the "+ch.Before.String(), service.Access)
		l.Consequence = fmt.Sprintf("Its token, which ends in %s, stops working with the apply. Give those who use it another one before.", ch.Before.TokenLast4.ValueString())
		all = append(all, l)
	}
	if ch.Fate != service.Updated && ch.Fate != service.Replaced {
		return all
	}
	object := "the " + ch.Before.String()
	if removed := removedPermissions(ctx, ch.Before, ch.After); len(removed) > 0 {
		all = append(all, service.Loss{
			Of: []service.Asset{service.Access}, Does: "takes permissions from " + object, At: path.Root("permissions"),
			Lists: "Its token can't use them any more:", Items: removed,
		})
	}
	if from, to, isShorter := ch.Before.shortened(ch.After); isShorter && ch.Fate == service.Replaced {
		all = append(all, service.Loss{
			Of: []service.Asset{service.Access}, Does: "shortens the validity of " + object,
			Because:     fmt.Sprintf("Its token is valid %s, and the token of its successor %s.", from, to),
			Consequence: "Whoever uses it is locked out then, unless a later apply replaces it in time.",
		})
	}
	return all
}

// removedPermissions describes the permissions that a plan takes from a service account. It returns nothing
// if the planned permissions are not known.
func removedPermissions(ctx context.Context, before, after model) (removed []string) {
	if after.Permissions.IsNull() || after.Permissions.Equal(before.Permissions) {
		return nil
	}
	if before.Permissions.IsNull() {
		return []string{"all that the credential that created it may do, except those in permissions"}
	}
	if planned, _ := after.Permissions.ToTerraformValue(ctx); !planned.IsFullyKnown() {
		return nil
	}
	kept := permissionsIn(ctx, after.Permissions)
	for _, p := range permissionsIn(ctx, before.Permissions) {
		if slices.ContainsFunc(kept, p.same) {
			continue
		}
		scope := ""
		if !p.ResourceType.IsNull() {
			scope = fmt.Sprintf(" for the %s %s", p.ResourceType.ValueString(), p.ResourceID.ValueString())
		}
		removed = append(removed, p.CapabilityKey.ValueString()+scope)
	}
	slices.Sort(removed)
	return removed
}

// shortened reports whether a plan makes a token valid for a shorter time, and describes both times.
func (m model) shortened(after model) (from, to string, isShorter bool) {
	before, isLasting := duration(m.ValidFor)
	planned, willLast := duration(after.ValidFor)
	if isLasting && willLast {
		return "for " + m.ValidFor.ValueString(), "for " + after.ValidFor.ValueString(), planned < before
	}
	until, err := time.Parse(time.RFC3339, after.ExpiresAt.ValueString())
	if err != nil { // unknown, or never
		never := m.ExpiresAt.IsNull() && willLast
		return "without end", "for " + after.ValidFor.ValueString(), never
	}
	now, err := time.Parse(time.RFC3339, m.ExpiresAt.ValueString())
	if err != nil {
		return "without end", "until " + after.ExpiresAt.ValueString(), m.ExpiresAt.IsNull()
	}
	return "until " + m.ExpiresAt.ValueString(), "until " + after.ExpiresAt.ValueString(), until.Before(now)
}

// stillWorks describes the consequence of a token that can't be revoked.
func stillWorks(state model, now time.Time) string {
	switch {
	case past(state.ExpiresAt, now):
		return "Its token has expired and no longer works."
	case state.ExpiresAt.IsNull():
		return fmt.Sprintf("ITS TOKEN STILL WORKS, and it never expires: whoever has the token that ends in %s can use the account's API.", state.TokenLast4.ValueString())
	}
	return fmt.Sprintf("ITS TOKEN STILL WORKS until %s: whoever has the token that ends in %s can use the account's API.", state.ExpiresAt.ValueString(), state.TokenLast4.ValueString())
}

// refuseOwn refuses a plan that revokes the service account that the provider authenticates as,
// because no run could continue. A plan does not see a replacement by -replace or of a tainted
// object, so Delete checks again.
func (r *Resource) refuseOwn(ctx context.Context, resp *resource.ModifyPlanResponse, state model) {
	if resp.Diagnostics.HasError() || !service.DestroysOrReplaces(resp) {
		return
	}
	if c := r.ClientIfOpen(ctx); c != nil && state.authenticates(c) {
		addOwn(&resp.Diagnostics, state)
	}
}

func (m model) authenticates(c *client.Client) bool {
	return c.UsesServiceAccount(m.TokenPrefix.ValueString(), m.TokenPublicID.ValueString())
}

func addOwn(diags *diag.Diagnostics, state model) {
	diags.AddError(fmt.Sprintf("The %s is the provider's own credential", state.String()),
		fmt.Sprintf("The provider authenticates with the token of this service account, which ends in %s. Revoking it, to destroy or to replace it, would lock out this run and every later one. Nothing was revoked.\n\n"+
			"Set another credential for the provider (MAILHOST_TOKEN, or token in the provider block), and run again. "+
			"To keep the service account and only remove it from the state, use a removed block with destroy = false, or terraform state rm.", state.TokenLast4.ValueString()))
}

// minValidity is the minimum of valid_for and rotate_before.
const minValidity = time.Minute

func validateConfig(ctx context.Context, config model, diags *diag.Diagnostics) {
	if isSet(config.ValidFor) && isSet(config.ExpiresAt.StringValue) {
		diags.AddAttributeError(path.Root("valid_for"), "Both valid_for and expires_at",
			"A token expires at a fixed time, or some time after its creation. Remove valid_for or expires_at; without either it expires with the provider's own credential, or never.")
		return
	}
	config.checkRotateBefore(diags)
	checkPermissions(ctx, config.Permissions, diags)
}

func (m model) checkRotateBefore(diags *diag.Diagnostics) {
	at := path.Root("rotate_before")
	before, set := duration(m.RotateBefore)
	validFor, bounded := duration(m.ValidFor)
	switch {
	case m.RotateBefore.IsNull() || m.ValidFor.IsUnknown():
	case m.ValidFor.IsNull():
		diags.AddAttributeError(at, "rotate_before without valid_for",
			"rotate_before replaces a service account before its token expires, by one that expires later. Set valid_for to the lifetime of each token; with a fixed expires_at the new one would expire together with the old one, and without either no token ever expires.")
	case set && bounded && before >= validFor:
		diags.AddAttributeError(at, "rotate_before is not shorter than valid_for",
			fmt.Sprintf("With rotate_before = %q and valid_for = %q a new service account would be due for replacement at once, and each plan would replace it. Set a shorter rotate_before or a longer valid_for.", m.RotateBefore.ValueString(), m.ValidFor.ValueString()))
	}
}

func isSet(s types.String) bool { return !s.IsNull() && !s.IsUnknown() }

// duration parses an attribute, and reports whether it contains a duration.
func duration(s types.String) (time.Duration, bool) {
	d, err := time.ParseDuration(s.ValueString())
	return d, err == nil
}

func sameDuration(a, b string) bool {
	d, err := time.ParseDuration(a)
	e, err2 := time.ParseDuration(b)
	return err == nil && err2 == nil && d == e
}

// isFirst reports whether a value that follows prior is the first one after an import, and so
// no change.
func (m model) isFirst(prior attr.Value) bool { return m.imported() && prior.IsNull() }

// planReplacement replaces the service account if an argument changes that can't be changed in place: the API
// can't change its expiry or its token. An argument that is removed changes nothing. After an import, the first
// values of arguments that the API does not return are no change.
func planReplacement(plan, state model, resp *resource.ModifyPlanResponse) {
	if !plan.ValidFor.IsNull() && !state.isFirst(state.ValidFor) && !plan.ValidFor.Equal(state.ValidFor) {
		resp.RequiresReplace.Append(path.Root("valid_for"))
	}
	none := !plan.RotationTriggers.IsUnknown() && len(plan.RotationTriggers.Elements()) == 0
	if !none && !state.isFirst(state.RotationTriggers) && !plan.RotationTriggers.Equal(state.RotationTriggers) {
		resp.RequiresReplace.Append(path.Root("rotation_triggers"))
	}
}

// planExpiry replaces the service account for another configured expires_at. Without a configured
// value, it plans the value of the state, or unknown for a due replacement and for a new service
// account, which may inherit its expiry.
func (r *Resource) planExpiry(ctx context.Context, plan, state model, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if resp.Plan.Raw.IsNull() {
		return
	}
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	at := path.Root("expires_at")
	if !config.ExpiresAt.IsNull() && !req.State.Raw.IsNull() && !plan.ExpiresAt.Equal(state.ExpiresAt) {
		resp.RequiresReplace.Append(at)
	}
	if resp.Diagnostics.HasError() || !config.ExpiresAt.IsNull() {
		return
	}
	planned, replace := state.ExpiresAt, false
	switch {
	case req.State.Raw.IsNull():
		planned = customtype.NewUnknown()
	case plan.ValidFor.IsNull():
	case state.due(plan.RotateBefore, r.now(ctx)):
		replace = true
	case state.imported() && state.ExpiresAt.IsNull():
		resp.Diagnostics.AddAttributeWarning(path.Root("valid_for"), fmt.Sprintf("The %s never expires", state.String()),
			"It was imported, and was created without an expiry, which can't be changed: valid_for takes effect at its next replacement. For one that expires, replace it now with terraform apply -replace.")
	}
	if replace {
		planned = customtype.NewUnknown()
		resp.RequiresReplace.Append(at)
	}
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, at, planned)...)
}

// due reports whether the token expired, or expires within the duration before.
func (m model) due(before types.String, now time.Time) bool {
	early, _ := duration(before)
	return past(m.ExpiresAt, now.Add(early))
}

// expiry returns the expiry for a create; nil leaves it to the API.
func (m model) expiry(now func() time.Time) *string {
	if isSet(m.ExpiresAt.StringValue) {
		return m.ExpiresAt.ValueStringPointer()
	}
	validFor, ok := duration(m.ValidFor)
	if !ok {
		return nil
	}
	return new(now().Add(validFor).UTC().Truncate(time.Second).Format(api.TimestampLayout))
}

// fields maps expires_at of the request to valid_for, if valid_for is set.
func (m model) fields() report.Fields {
	if m.ValidFor.IsNull() {
		return report.Fields{}
	}
	return report.Fields{"expires_at": "valid_for"}
}

// addCreateError reports why a service account could not be created. The API may refuse
// a computed expiry because the clocks differ, or because the provider's own credential
// expires earlier.
func addCreateError(diags *diag.Diagnostics, err error, summary string, fields report.Fields) {
	if from := fields["expires_at"]; from != "" && len(client.ProblemsAt(err, "body", "expires_at")) > 0 {
		report.ErrorWithAdvice(diags, err, summary, fields,
			"The time is computed from the API's clock, as in its responses. Set another "+from+", or use a credential that expires later.")
		return
	}
	report.Error(diags, err, summary, fields)
}
