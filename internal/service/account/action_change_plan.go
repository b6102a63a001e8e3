package account

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
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

type change struct {
	ConfirmAccountID types.String `tfsdk:"confirm_account_id"`
	PlanID           types.String `tfsdk:"plan_id"`
	EffectiveDate    types.String `tfsdk:"effective_date"`
}

func NewChangePlan() action.Action {
	plan := validate.OneOf[api.ChangePlanBody]("plan_id")
	return newAction[change]("change_plan", schema.Schema{
		MarkdownDescription: "Changes the plan of the account, now or at a date. The plan warns about it, and an account that is on that plan already does not change.",
		Attributes: map[string]schema.Attribute{
			confirmation: confirmationAttribute(),
			"plan_id": schema.StringAttribute{
				Required:   true,
				Validators: []validator.String{plan},
				MarkdownDescription: "The plan to change to: " + plan.MarkdownDescription(context.Background()) + ". " +
					"It is required, although the API changes to the next plan by default, so that running the action again does not change the plan back.",
			},
			"effective_date": schema.StringAttribute{
				Optional:            true,
				Validators:          []validator.String{customtype.Timestamp.Validator()},
				MarkdownDescription: "When the plan changes (RFC 3339), such as `2027-01-01T00:00:00Z`. It must not be in the past. Default: now.",
			},
		},
	})
}

func (c change) check(now time.Time, diags *diag.Diagnostics) {
	if c.expand().Timely(now) != nil {
		diags.AddAttributeError(path.Root("effective_date"), "Invalid effective_date",
			fmt.Sprintf("effective_date must not be in the past, got %s. Remove it to change the plan now, or set a later one.", c.EffectiveDate.ValueString()))
	}
}

func (c change) expand() api.ChangePlanBody {
	body := api.ChangePlanBody{PlanID: c.PlanID.ValueStringPointer()}
	if !c.EffectiveDate.IsUnknown() {
		body.EffectiveDate = c.EffectiveDate.ValueStringPointer()
	}
	return body
}

func (c change) account() types.String { return c.ConfirmAccountID }

func (change) verb() string { return "change" }

func (c change) effect() string {
	to, when := c.PlanID.ValueString(), "at once"
	if c.PlanID.IsUnknown() {
		to = "another one, which is not known yet,"
	}
	switch {
	case c.EffectiveDate.IsUnknown():
		when = "at a date that is not known yet"
	case !c.EffectiveDate.IsNull():
		when = "at " + c.EffectiveDate.ValueString()
	}
	return fmt.Sprintf("the plan changes to %s %s", to, when)
}

func (c change) done(a *api.Account) string {
	if a == nil || a.PlanID != c.PlanID.ValueString() {
		return ""
	}
	return fmt.Sprintf("The account %s is on the plan %s.", a.ID, a.PlanID)
}

func (c change) send(ctx context.Context, cl *client.Client) (*api.BillingResult, error) {
	return cl.ChangePlan(ctx, c.expand())
}

// rejection describes a response without the requested change. A refusal is a success if the account was
// already on the plan. A change to another plan is no success.
func (c change) rejection(r *api.BillingResult) string {
	wanted, before, then := c.PlanID.ValueString(), api.Value(r.PreviousPlanID), api.Value(r.TargetPlanID)
	switch {
	case refused(r) && before != wanted:
		return "The plan was not changed."
	case !refused(r) && then != "" && then != wanted:
		return fmt.Sprintf("The plan changes to %s instead of %s: this API does not accept a plan by its name. Correct it in the service's own control panel.", then, wanted)
	}
	return ""
}
