package dedicatedip

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// maxOptions is how many options a message offers.
const maxOptions = 10

// addClaimError says why no address was claimed, or that this is unknown.
func addClaimError(ctx context.Context, c *client.Client, diags *diag.Diagnostics, err error, optionID string) {
	summary := "Can't claim a dedicated IP out of the option " + optionID
	_, unknown := errors.AsType[*client.UnknownOutcomeError](err)
	switch {
	case unknown:
		service.AddErrorAdvising(diags, err, summary, nil,
			"If an address is there that belongs to no Terraform state, import it by its id or IP, or it is paid for unused. If there is none, nothing was claimed: run apply again.")
	case client.IsConflict(err):
		var exhausted diag.Diagnostics
		service.AddErrorAdvising(&exhausted, err, summary, nil, "Nothing was claimed. "+offer(ctx, c))
		for _, d := range exhausted {
			diags.Append(diag.WithPath(path.Root("option_id"), d))
		}
	case len(client.ProblemsAt(err, "body", "option_id")) > 0:
		service.AddErrorAdvising(diags, err, summary, service.Fields{}, offer(ctx, c))
	default:
		service.AddError(diags, service.CreateError(ctx, err), summary, service.Fields{})
	}
}

// addOptionMissing says that no address can be claimed without an option.
func addOptionMissing(ctx context.Context, c *client.Client, diags *diag.Diagnostics) {
	diags.AddAttributeError(path.Root("option_id"), "option_id is missing to claim a dedicated IP",
		"No address is in the state, so this resource has to claim one, and a claim is out of an option.\n\n"+
			offer(ctx, c)+" If the address is there already, import it: an import needs no option_id.")
}

// offer says which option to take, or where to look for one where the API can't
// list them.
func offer(ctx context.Context, c *client.Client) string {
	var left []string
	for o, err := range c.ListDedicatedIPOptions(ctx) {
		switch {
		case err != nil:
			return "Set option_id to an option that has addresses left; the service's own control panel shows them."
		case o.Available > 0 && len(left) < maxOptions:
			left = append(left, fmt.Sprintf("%s (%s, %s, %d left)", o.ID, o.Name, o.CountryCode, o.Available))
		}
	}
	if len(left) == 0 {
		return "No option has addresses left: give a dedicated IP back that is not needed any more, or try again later."
	}
	return "Set option_id to an option that has addresses left: " + strings.Join(left, "; ") + "."
}
