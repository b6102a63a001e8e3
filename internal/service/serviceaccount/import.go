package serviceaccount

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// ImportState implements resource.ResourceWithImportState: by UUID, by name, or
// by identity.
func (r *Resource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	unsupported := false
	r.Import(ctx, req, resp, func(ctx context.Context, c *client.Client, name string) (string, error) {
		a, err := c.FindServiceAccount(ctx, name)
		if client.IsNotFound(err) {
			err = fmt.Errorf("%w among those that are not revoked. Import by name or by UUID", err)
		}
		if err != nil {
			unsupported = errors.Is(err, client.ErrReadUnsupported)
			return "", err
		}
		return a.ID, nil
	})
	switch {
	case unsupported:
		resp.Diagnostics = nil
		addNoImport(&resp.Diagnostics, req.ID)
	case !resp.Diagnostics.HasError():
		resp.Diagnostics.AddWarning("The token of the imported service account is not known",
			"The API tells a token only once, when the service account is created. After this import token is null and stays so; who has the token goes on using it. For a new token, replace the service account, for instance with terraform apply -replace.")
	}
}

// addNoImport is the error of an import from an API that tells nothing of
// service accounts.
func addNoImport(diags *diag.Diagnostics, key string) {
	diags.AddError(fmt.Sprintf("Can't import the service account %q", key),
		"This API has no operation that reads or lists service accounts, so there is nothing to import from. Create a new one with Terraform, give its token to those who use the old one, and revoke the old one in the service's own control panel.")
}
