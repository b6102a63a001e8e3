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

// confirmationAttribute is what an action names its account by.
func confirmationAttribute() schema.Attribute {
	return schema.StringAttribute{
		Required:   true,
		Validators: []validator.String{customtype.UUIDType{}.Validator()},
		MarkdownDescription: "UUID of the account that is meant. The action is refused, in the plan already, where its provider manages another one, so that a wrong provider alias or `account_id` changes nothing. " +
			"Write it out or pass it in as a variable; `data.mailhost_account` would confirm whatever account the provider has.",
	}
}

// confirmed reports whether the client manages the account that an action is
// meant for, and adds an error if not.
func confirmed(diags *diag.Diagnostics, c *client.Client, meant types.String) bool {
	if customtype.Equal[customtype.UUID](meant.ValueString(), c.AccountID()) {
		return true
	}
	diags.AddAttributeError(path.Root(confirmation), "Not the account that this provider manages",
		fmt.Sprintf("%s is %s, but the provider of this action manages the account %s. Nothing was changed. "+
			"Set the action's provider to the one of the account that is meant, or correct %s.", confirmation, meant.ValueString(), c.AccountID(), confirmation))
	return false
}

// maybeConfirmed is confirmed for a plan, which refuses nothing that it does not know
// yet, and announces what the action does to its provider's account all the same.
func maybeConfirmed(diags *diag.Diagnostics, c *client.Client, meant types.String) bool {
	return meant.IsUnknown() || confirmed(diags, c, meant)
}

// look reads the account before anything is changed: nil where this API or this
// credential can't. It reports whether to go on.
func look(ctx context.Context, c *client.Client, diags *diag.Diagnostics) (*api.Account, bool) {
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

// standing says how an account stands; nil is one that can't be read.
func standing(a *api.Account) string {
	switch {
	case a == nil:
		return "What plan it is on can't be read here."
	case a.Status == vocab.AccountActive:
		return fmt.Sprintf("It is on the plan %s.", a.PlanID)
	case a.Status == vocab.AccountPendingCancellation && a.CancelsAt != nil:
		return fmt.Sprintf("It is on the plan %s, and its cancellation takes effect at %s.", a.PlanID, *a.CancelsAt)
	}
	return fmt.Sprintf("Its status is %s, and its plan %s.", a.Status, a.PlanID)
}
