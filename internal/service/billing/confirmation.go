package billing

import (
	"context"
	"fmt"
	"net/http"

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
)

const confirmation = "confirm_account_id"

// confirmationAttribute is the attribute that confirms the account of an action.
func confirmationAttribute() schema.Attribute {
	return schema.StringAttribute{
		Required:   true,
		Validators: []validator.String{customtype.UUID.Validator()},
		MarkdownDescription: "UUID of the account to change. If the provider manages another account, the plan fails, so that a wrong provider alias or `account_id` changes nothing. " +
			"Write it as a literal or pass it as a variable; `data.mailhost_account` would confirm any account of the provider.",
	}
}

// confirmed reports whether the client manages the confirmed account, and adds an error if
// not.
func confirmed(diags *diag.Diagnostics, c *client.Client, expected types.String) bool {
	if customtype.UUID.Same(expected.ValueString(), c.AccountID()) {
		return true
	}
	diags.AddAttributeError(path.Root(confirmation), "Not the account that this provider manages",
		fmt.Sprintf("%s is %s, but the provider of this action manages the account %s. Nothing was changed. "+
			"Set the action's provider to the one of that account, or correct %s.", confirmation, expected.ValueString(), c.AccountID(), confirmation))
	return false
}

// readAccount reads the account before a change. It returns nil if the API or the
// credential can't read it, and false after an error.
func readAccount(ctx context.Context, c *client.Client, diags *diag.Diagnostics) (*api.Account, bool) {
	a, err := c.GetAccount(ctx)
	switch {
	case err == nil:
		return a, true
	case client.IsUnsupported(err), client.StatusOf(err) == http.StatusForbidden:
		return nil, true
	}
	service.AddError(diags, err, fmt.Sprintf("Can't read the account %s, so nothing was changed", c.AccountID()), nil)
	return nil, false
}

// describe describes the plan and the status of an account, or nil if it can't be read.
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
