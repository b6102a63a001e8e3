package account

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
)

// order is the configuration of an action that changes the account's plan.
type order interface {
	// account returns the id by which the user confirms the account.
	account() types.String
	// verb completes "can't ... the plan of the account".
	verb() string
	// effect describes the change, as in "the plan is cancelled at once".
	effect() string
	// done describes an account already changed as requested, and returns "" for any other account and
	// for nil, an unreadable account.
	done(*api.Account) string
	// check checks a configuration; now is zero if unknown.
	check(now time.Time, diags *diag.Diagnostics)
	send(context.Context, *client.Client) (*api.BillingResult, error)
	// rejection describes an unsuccessful response, and returns "" for a success.
	rejection(*api.BillingResult) string
}

// newAction returns an action that changes the account's plan. It checks the configuration before each
// plan, and again with the API's time before it announces the effect.
func newAction[C order](name string, definition schema.Schema) action.Action {
	a := &service.Action[C]{Name: name, Definition: definition}
	a.Validate = func(config C, diags *diag.Diagnostics) { config.check(time.Time{}, diags) }
	a.Plan = func(ctx context.Context, config C, diags *diag.Diagnostics) {
		c := a.Client(ctx, diags)
		if c == nil || !config.account().IsUnknown() && !confirmed(diags, c, config.account()) {
			return
		}
		before, ok := readAccount(ctx, c, diags)
		if !ok || config.done(before) != "" {
			return
		}
		// A date may be in the past because the change took effect already.
		if config.check(time.Now().Add(c.ClockOffset(ctx)), diags); !diags.HasError() {
			diags.AddWarning(fmt.Sprintf("The action will %s the plan of the account %s", config.verb(), c.AccountID()),
				fmt.Sprintf("%s When the action runs, %s. What the account pays changes with it.", describe(before), config.effect()))
		}
	}
	a.Run = func(ctx context.Context, c *client.Client, config C, resp *action.InvokeResponse) {
		if confirmed(&resp.Diagnostics, c, config.account()) {
			run(ctx, c, config, resp)
		}
	}
	return a
}

// run reads the account, sends the request unless the change is already in effect, and reports the result.
func run(ctx context.Context, c *client.Client, o order, resp *action.InvokeResponse) {
	before, ok := readAccount(ctx, c, &resp.Diagnostics)
	if !ok {
		return
	}
	if done := o.done(before); done != "" {
		service.Progress(resp, "%s Nothing was changed.", done)
		return
	}
	service.Progress(resp, "Account %s: %s With this action %s.", c.AccountID(), describe(before), o.effect())
	result, err := o.send(ctx, c)
	summary := fmt.Sprintf("Can't %s the plan of the account %s", o.verb(), c.AccountID())
	cancelled := o.done(&api.Account{ID: c.AccountID(), Status: vocab.AccountCancelled})
	switch {
	case report.IsAccountCancelled(err) && cancelled != "":
		service.Progress(resp, "%s Nothing was changed.", cancelled)
		return
	case err != nil:
		report.Error(&resp.Diagnostics, err, summary, report.Fields{})
		return
	}
	service.Progress(resp, "Response of the API: %s.", summarize(result))
	if why := o.rejection(result); why != "" {
		resp.Diagnostics.AddError(summary, fmt.Sprintf("%s The API responded: %s. Check the plan in the service's own control panel.", why, summarize(result)))
	}
}

// refused reports whether the API changed nothing.
func refused(r *api.BillingResult) bool { return r.Eligible != nil && !*r.Eligible }

func summarize(r *api.BillingResult) string {
	var parts []string
	add := func(format string, value *string) {
		if value != nil && *value != "" {
			parts = append(parts, fmt.Sprintf(format, *value))
		}
	}
	add("%s", &r.Status)
	if refused(r) && r.PreviousPlanID != nil && api.Value(r.PreviousPlanID) == api.Value(r.TargetPlanID) {
		parts = append(parts, "that is the plan already, so that nothing was changed")
	} else if refused(r) {
		parts = append(parts, "the account was not eligible, so that nothing was changed")
	}
	add("the account's status is %s", r.AccountStatus)
	add("the plan before is %s", r.PreviousPlanID)
	add("the plan then is %s", r.TargetPlanID)
	add("it takes effect at %s", r.EffectiveAt)
	if parts == nil {
		return "done, without any detail"
	}
	return strings.Join(parts, ", ")
}

const confirmation = "confirm_account_id"

func confirmationAttribute() schema.Attribute {
	return schema.StringAttribute{
		Required:   true,
		Validators: []validator.String{customtype.UUID.Validator()},
		MarkdownDescription: "UUID of the account to change. If the provider manages another account, the plan fails, so that a wrong provider alias or `account_id` changes nothing. " +
			"Write it as a literal or pass it as a variable; `data.mailhost_account` would confirm any account of the provider.",
	}
}

// confirmed reports whether the client manages the confirmed account, and adds an error if not.
func confirmed(diags *diag.Diagnostics, c *client.Client, expected types.String) bool {
	if customtype.UUID.Same(expected.ValueString(), c.AccountID()) {
		return true
	}
	diags.AddAttributeError(path.Root(confirmation), "Not the account that this provider manages",
		fmt.Sprintf("%s is %s, but the provider of this action manages the account %s. Nothing was changed. "+
			"Set the action's provider to the one of that account, or correct %s.", confirmation, expected.ValueString(), c.AccountID(), confirmation))
	return false
}

// readAccount reads the account before a change. It returns nil if the API or the credential can't read
// it, and false after an error.
func readAccount(ctx context.Context, c *client.Client, diags *diag.Diagnostics) (*api.Account, bool) {
	a, err := c.GetAccount(ctx)
	switch {
	case err == nil:
		return a, true
	case client.IsUnsupported(err), client.StatusOf(err) == http.StatusForbidden:
		return nil, true
	}
	report.Error(diags, err, fmt.Sprintf("Can't read the account %s, so nothing was changed", c.AccountID()), nil)
	return nil, false
}

// describe describes the plan and the status of an account. a is nil if unreadable.
func describe(a *api.Account) string {
	switch {
	case a == nil:
		return "Its current plan can't be read."
	case a.Status == vocab.AccountActive:
		return fmt.Sprintf("It is on the plan %s.", a.PlanID)
	case a.Status == vocab.AccountPendingCancellation && a.CancelsAt != nil:
		return fmt.Sprintf("It is on the plan %s, and its cancellation takes effect at %s.", a.PlanID, *a.CancelsAt)
	}
	return fmt.Sprintf("Its status is %s, and its plan %s.", a.Status, a.PlanID)
}
