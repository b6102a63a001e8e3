package billing

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

// ChangePlan is the action mailhost_change_plan.
type ChangePlan struct {
	service.Action

	now func() time.Time
}

var (
	_ action.ActionWithConfigure  = (*ChangePlan)(nil)
	_ action.ActionWithModifyPlan = (*ChangePlan)(nil)
)

// NewChangePlan returns the action.
func NewChangePlan() action.Action { return &ChangePlan{now: time.Now} }

type change struct {
	ConfirmAccountID types.String `tfsdk:"confirm_account_id"`
	PlanID           types.String `tfsdk:"plan_id"`
	EffectiveDate    types.String `tfsdk:"effective_date"`
}

// Metadata implements action.Action.
func (*ChangePlan) Metadata(_ context.Context, req action.MetadataRequest, resp *action.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_change_plan"
}

// Schema implements action.Action.
func (*ChangePlan) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	plan := validate.OneOf[api.ChangePlanBody]("plan_id")
	resp.Schema = schema.Schema{
		MarkdownDescription: "Changes the plan of the account, now or at a date. The plan announces it, and an account that is on that plan already is left as it is.",
		Attributes: map[string]schema.Attribute{
			confirmation: confirmationAttribute(),
			"plan_id": schema.StringAttribute{
				Required:   true,
				Validators: []validator.String{plan},
				MarkdownDescription: "The plan to change to: " + plan.MarkdownDescription(context.Background()) + ". " +
					"The API would take the plan after the current one where none is named; the action wants it named, so that running it again does not change back.",
			},
			"effective_date": schema.StringAttribute{
				Optional:            true,
				Validators:          []validator.String{customtype.TimestampType{}.Validator()},
				MarkdownDescription: "When the plan changes (RFC 3339), such as `2027-01-01T00:00:00Z`. It must not be in the past. Default: now.",
			},
		},
	}
}

// ModifyPlan implements action.ActionWithModifyPlan.
func (a *ChangePlan) ModifyPlan(ctx context.Context, req action.ModifyPlanRequest, resp *action.ModifyPlanResponse) {
	var config change
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	c := a.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() || !maybeConfirmed(&resp.Diagnostics, c, config.ConfirmAccountID) {
		return
	}
	account, ok := look(ctx, c, &resp.Diagnostics)
	o := config.order()
	if !ok || o.isFilled(account) != "" {
		return
	}
	// Only now: on a plan that has been reached its date is over, as a rule.
	if config.checkDate(&resp.Diagnostics, a.now()); !resp.Diagnostics.HasError() {
		o.announce(&resp.Diagnostics, c, account)
	}
}

// checkDate refuses a date that is over.
func (asked change) checkDate(diags *diag.Diagnostics, now time.Time) {
	if (&api.ChangePlanRequest{Body: asked.body()}).Timely(now) != nil {
		diags.AddAttributeError(path.Root("effective_date"), "Invalid effective_date",
			fmt.Sprintf("effective_date must not be in the past, got %s. Leave it out to change the plan now, or give a later one.", asked.EffectiveDate.ValueString()))
	}
}

// Invoke implements action.Action.
func (a *ChangePlan) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	var config change
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	c := a.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() || !confirmed(&resp.Diagnostics, c, config.ConfirmAccountID) {
		return
	}
	config.order().place(ctx, c, resp)
}

func (asked change) body() api.ChangePlanBody {
	body := api.ChangePlanBody{PlanID: asked.PlanID.ValueStringPointer()}
	if !asked.EffectiveDate.IsUnknown() {
		body.EffectiveDate = asked.EffectiveDate.ValueStringPointer()
	}
	return body
}

func (asked change) order() order {
	return order{
		verb:   "change",
		what:   asked.what(),
		filled: asked.filled,
		send: func(ctx context.Context, c *client.Client) (*api.BillingResult, error) {
			return c.ChangePlan(ctx, asked.body())
		},
		unmet: asked.unmet,
	}
}

func (asked change) what() string {
	to, when := asked.PlanID.ValueString(), "at once"
	if asked.PlanID.IsUnknown() {
		to = "another one, which is not known yet,"
	}
	switch {
	case asked.EffectiveDate.IsUnknown():
		when = "at a date that is not known yet"
	case !asked.EffectiveDate.IsNull():
		when = "at " + asked.EffectiveDate.ValueString()
	}
	return fmt.Sprintf("the plan changes to %s %s", to, when)
}

func (asked change) filled(a *api.Account) string {
	if a.PlanID != asked.PlanID.ValueString() {
		return ""
	}
	return fmt.Sprintf("The account %s is on the plan %s.", a.ID, a.PlanID)
}

// unmet takes it for an answer that the account was on the plan before. An API
// that tells of another plan has changed to that, whatever it was asked for.
func (asked change) unmet(r *api.BillingResult) string {
	wanted, before, then := asked.PlanID.ValueString(), value(r.PreviousPlanID), value(r.TargetPlanID)
	switch {
	case refused(r) && before != wanted:
		return "The plan was not changed."
	case !refused(r) && then != "" && then != wanted:
		return fmt.Sprintf("The plan changes to %s instead of %s: this API does not take a plan by its name. Correct it in the service's own control panel.", then, wanted)
	}
	return ""
}
