package billing

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// CancelPlan is the action mailhost_cancel_plan.
type CancelPlan struct{ service.Action }

var (
	_ action.ActionWithConfigure      = (*CancelPlan)(nil)
	_ action.ActionWithValidateConfig = (*CancelPlan)(nil)
	_ action.ActionWithModifyPlan     = (*CancelPlan)(nil)
)

// NewCancelPlan returns the action.
func NewCancelPlan() action.Action { return &CancelPlan{} }

type cancellation struct {
	ConfirmAccountID  types.String `tfsdk:"confirm_account_id"`
	CancelAtPeriodEnd types.Bool   `tfsdk:"cancel_at_period_end"`
	CancelImmediately types.Bool   `tfsdk:"cancel_immediately"`
}

// Metadata implements action.Action.
func (*CancelPlan) Metadata(_ context.Context, req action.MetadataRequest, resp *action.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_cancel_plan"
}

// Schema implements action.Action.
func (*CancelPlan) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Cancels the plan of the account, at the end of the billing period or at once. " +
			"The plan warns about it, and an account that is cancelled already does not change. You can't undo the action: only the service itself can reverse a cancellation.",
		Attributes: map[string]schema.Attribute{
			confirmation: confirmationAttribute(),
			"cancel_at_period_end": schema.BoolAttribute{
				Optional: true,
				MarkdownDescription: "Whether the account stays active until the end of the paid period. Default: `true`, unless `cancel_immediately` is `true`. " +
					"Exactly one of the two can be `true`.",
			},
			"cancel_immediately": schema.BoolAttribute{
				Optional:            true,
				MarkdownDescription: "Whether the account ends at once: it can then be read but not changed. Default: `false`.",
			},
		},
	}
}

// ValidateConfig implements action.ActionWithValidateConfig.
func (*CancelPlan) ValidateConfig(ctx context.Context, req action.ValidateConfigRequest, resp *action.ValidateConfigResponse) {
	var config cancellation
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() || config.CancelAtPeriodEnd.IsUnknown() || config.CancelImmediately.IsUnknown() {
		return
	}
	if p := config.expand().CheckFlags(); p != nil {
		service.AddInvalidValue(&resp.Diagnostics, "cancel_at_period_end", errors.New(p.Msg))
	}
}

// ModifyPlan implements action.ActionWithModifyPlan.
func (a *CancelPlan) ModifyPlan(ctx context.Context, req action.ModifyPlanRequest, resp *action.ModifyPlanResponse) {
	var config cancellation
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	c := a.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() || !maybeConfirmed(&resp.Diagnostics, c, config.ConfirmAccountID) {
		return
	}
	account, ok := readAccount(ctx, c, &resp.Diagnostics)
	if o := config.order(); ok && o.reached(account) == "" {
		o.announce(&resp.Diagnostics, c, account)
	}
}

// Invoke implements action.Action.
func (a *CancelPlan) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	var config cancellation
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	c := a.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() || !confirmed(&resp.Diagnostics, c, config.ConfirmAccountID) {
		return
	}
	config.order().run(ctx, c, resp)
}

func (c cancellation) expand() api.CancelPlanBody {
	return api.CancelPlanBody{
		CancelAtPeriodEnd: c.CancelAtPeriodEnd.ValueBoolPointer(), CancelImmediately: c.CancelImmediately.ValueBoolPointer(),
	}
}

func (c cancellation) order() order {
	return order{
		verb:   "cancel",
		effect: c.effect(),
		done:   func(a *api.Account) string { return c.done(a.Status, value(a.CancelsAt)) },
		send: func(ctx context.Context, cl *client.Client) (*api.BillingResult, error) {
			return cl.CancelPlan(ctx, c.expand())
		},
		rejection: func(r *api.BillingResult) string {
			if refused(r) && c.done(value(r.AccountStatus), "") == "" {
				return "The plan was not cancelled."
			}
			return ""
		},
	}
}

func (c cancellation) effect() string {
	switch {
	case c.CancelImmediately.IsUnknown():
		return "the plan is cancelled, at once or at the end of the billing period, which is not known yet"
	case c.expand().Immediately():
		return "the plan is cancelled at once, and from then on the account can be read but not changed"
	}
	return "the plan is cancelled at the end of the billing period"
}

// done describes an account with a status that is cancelled as configured, and is "" for
// any other.
func (c cancellation) done(status, at string) string {
	account, when := c.ConfirmAccountID.ValueString(), ""
	if at != "" {
		when = " as of " + at
	}
	switch {
	case status == vocab.AccountCancelled:
		return fmt.Sprintf("The account %s is cancelled%s.", account, when)
	case status == vocab.AccountPendingCancellation && !c.expand().Immediately():
		return fmt.Sprintf("The plan of the account %s is cancelled%s, at the end of the billing period.", account, when)
	}
	return ""
}
