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
		MarkdownDescription: "Cancels the plan of the account: at the end of the billing period, or at once. " +
			"The plan announces it, and an account that is cancelled already is left as it is. The action has no way back: only the service itself can undo a cancellation.",
		Attributes: map[string]schema.Attribute{
			confirmation: confirmationAttribute(),
			"cancel_at_period_end": schema.BoolAttribute{
				Optional: true,
				MarkdownDescription: "Whether the account goes on until the end of the period that is paid for. Default: `true`, unless `cancel_immediately` is `true`. " +
					"Exactly one of the two can be `true`.",
			},
			"cancel_immediately": schema.BoolAttribute{
				Optional:            true,
				MarkdownDescription: "Whether the account ends now: from then on it can be read but not changed. Default: `false`.",
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
	if p := config.body().CheckFlags(); p != nil {
		service.AddInvalid(&resp.Diagnostics, "cancel_at_period_end", errors.New(p.Msg))
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
	account, ok := look(ctx, c, &resp.Diagnostics)
	if o := config.order(); ok && o.isFilled(account) == "" {
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
	config.order().place(ctx, c, resp)
}

func (asked cancellation) body() api.CancelPlanBody {
	return api.CancelPlanBody{
		CancelAtPeriodEnd: asked.CancelAtPeriodEnd.ValueBoolPointer(), CancelImmediately: asked.CancelImmediately.ValueBoolPointer(),
	}
}

func (asked cancellation) order() order {
	return order{
		verb:   "cancel",
		what:   asked.what(),
		filled: func(a *api.Account) string { return asked.filled(a.Status, value(a.CancelsAt)) },
		send: func(ctx context.Context, c *client.Client) (*api.BillingResult, error) {
			return c.CancelPlan(ctx, asked.body())
		},
		unmet: func(r *api.BillingResult) string {
			if refused(r) && asked.filled(value(r.AccountStatus), "") == "" {
				return "The plan was not cancelled."
			}
			return ""
		},
	}
}

func (asked cancellation) what() string {
	switch {
	case asked.CancelImmediately.IsUnknown():
		return "the plan is cancelled, at once or at the end of the billing period, which is not known yet"
	case asked.body().Immediately():
		return "the plan is cancelled at once, and from then on the account can be read but not changed"
	}
	return "the plan is cancelled at the end of the billing period"
}

// filled says, of an account with a status, that it is cancelled as it was
// ordered; "" if it is not.
func (asked cancellation) filled(status, at string) string {
	account, when := asked.ConfirmAccountID.ValueString(), ""
	if at != "" {
		when = " as of " + at
	}
	switch {
	case status == vocab.AccountCancelled:
		return fmt.Sprintf("The account %s is cancelled%s.", account, when)
	case status == vocab.AccountPendingCancellation && !asked.body().Immediately():
		return fmt.Sprintf("The plan of the account %s is cancelled%s, at the end of the billing period.", account, when)
	}
	return ""
}
