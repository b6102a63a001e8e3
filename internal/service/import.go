package service

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
)

// ImportState imports by id, by natural key, or by identity.
func (r *Resource[T, M]) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	c := r.Client(ctx, &resp.Diagnostics)
	if c == nil {
		return
	}
	id, canonical := req.ID, r.CanonicalID
	if canonical == nil {
		canonical = canonicalUUID
	}
	_, isID := canonical(id)
	switch {
	case id == "":
		id = identityID(ctx, req.Identity, c.AccountID(), &resp.Diagnostics)
		if _, isID = canonical(id); !isID && !resp.Diagnostics.HasError() {
			// The API may find the object, but then the read would change the identity.
			resp.Diagnostics.AddError("Import by an identity without the object's id",
				fmt.Sprintf("%q is not the id of an object in the API, and an identity contains nothing else. To import the object by its name, write id = %q in the import block, in place of identity.", id, id))
		}
	case !isID:
		found, err := r.findID(ctx, c, id)
		if errors.Is(err, client.ErrReadUnsupported) {
			r.addNoImport(&resp.Diagnostics, id)
			return
		}
		if client.IsNotFound(err) {
			if r.ImportBy != "" {
				err = fmt.Errorf("%w. Import by %s", err, r.ImportBy)
			}
			err = report.WithAdvice(err, "Check the spelling, and that account_id is the account that has the object.")
		}
		if err != nil {
			report.Error(&resp.Diagnostics, err, fmt.Sprintf("Can't import %q", id), nil)
			return
		}
		id = found
	}
	if resp.Diagnostics.HasError() {
		return
	}
	if own, ok := canonical(id); ok {
		id = own
	}
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("id"), id)...)
	resp.Diagnostics.Append(setIdentity(ctx, resp.Identity, c.AccountID(), id)...)
	for key, value := range r.ImportNotes {
		resp.Diagnostics.Append(SetPrivate(ctx, resp.Private, key, value)...)
	}
}

// addNoImport adds the error of an import from an API that can't read the object.
func (d *Definition[T, M]) addNoImport(diags *diag.Diagnostics, key string) {
	diags.AddError(fmt.Sprintf("Can't import the %s %q", d.Noun, key),
		fmt.Sprintf("This API has no operation that reads or lists %s, so none can be imported. Create a new one with Terraform, and remove the old one in the service's own control panel.", d.Nouns))
}

// hasOnlyID reports whether a state comes from an import without a read so far.
func hasOnlyID(state tftypes.Value) bool {
	others := attribute.RawOf(state)
	delete(others, "id")
	for _, v := range others {
		if !v.IsNull() {
			return false
		}
	}
	return true
}

func ImportedID(resp *resource.ImportStateResponse) string {
	return attribute.TextOf(resp.State.Raw, "id")
}

func identityID(ctx context.Context, value *tfsdk.ResourceIdentity, accountID string, diags *diag.Diagnostics) string {
	var identity Identity
	if value != nil && !value.Raw.IsNull() {
		diags.Append(value.Get(ctx, &identity)...)
	}
	if account := identity.AccountID.ValueString(); account != "" && !strings.EqualFold(account, accountID) {
		diags.AddError("Import from another account",
			fmt.Sprintf("The identity names the account %s, but this provider configuration manages %s. Import with the provider (or its alias) of that account.", account, accountID))
	}
	if !diags.HasError() && identity.ID.ValueString() == "" {
		diags.AddError("Import without an id",
			"The id of the import is empty. If it comes from a variable, check that the variable is set.")
	}
	return identity.ID.ValueString()
}
