package service

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// Import implements the import of an object by its id, by its natural key, or by
// its identity. find returns the id of the object with a natural key.
func (r *Resource) Import(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse, find FindFunc) {
	r.ImportBy(ctx, req, resp, canonicalUUID, find)
}

// FindFunc returns the id of the object with a natural key.
type FindFunc func(ctx context.Context, c *client.Client, key string) (id string, err error)

// ImportBy is [Resource.Import] for objects whose ids are no UUIDs. canonical
// returns an id in the API's own spelling, and false for what is no id.
func (r *Resource) ImportBy(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse, canonical func(string) (id string, ok bool), find FindFunc) {
	c := r.Client(ctx, &resp.Diagnostics)
	if c == nil {
		return
	}
	id := req.ID
	_, isID := canonical(id)
	switch {
	case id == "":
		id = identified(ctx, req.Identity, c.AccountID(), &resp.Diagnostics)
		if _, isID = canonical(id); !isID && !resp.Diagnostics.HasError() {
			// The API would find the object, and tell another identity afterwards.
			resp.Diagnostics.AddError("Import by an identity without the object's id",
				fmt.Sprintf("%q is not the id that the API has given the object, and an identity holds nothing else. To import it by its name, write id = %q in the import block, in place of identity.", id, id))
		}
	case !isID:
		found, err := find(ctx, c, id)
		if err != nil {
			AddErrorAdvising(&resp.Diagnostics, err, fmt.Sprintf("Can't import %q", id), nil, importAdvice(err))
			return
		}
		id = found
	}
	if resp.Diagnostics.HasError() {
		return
	}
	if own, ok := canonical(id); ok {
		id = own // an identity must not change afterwards
	}
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("id"), id)...)
	resp.Diagnostics.Append(SetIdentity(ctx, resp.Identity, c.AccountID(), types.StringValue(id))...)
}

// identified returns the id that the identity of an import has.
func identified(ctx context.Context, given *tfsdk.ResourceIdentity, accountID string, diags *diag.Diagnostics) string {
	var identity Identity
	if given != nil && !given.Raw.IsNull() {
		diags.Append(given.Get(ctx, &identity)...)
	}
	if account := identity.AccountID.ValueString(); account != "" && !strings.EqualFold(account, accountID) {
		diags.AddError("Import from another account",
			fmt.Sprintf("The identity names the account %s, but this provider configuration manages %s. Import with the provider (or its alias) of that account.", account, accountID))
	}
	if !diags.HasError() && identity.ID.ValueString() == "" {
		diags.AddError("Import without an id",
			"The id that was given is empty: a variable that it comes from may not be set.")
	}
	return identity.ID.ValueString()
}

// importAdvice says what to do next when an import has found nothing.
func importAdvice(err error) string {
	if client.IsNotFound(err) {
		return "Check the spelling, and that account_id is the account that has it."
	}
	return advice(err)
}

func canonicalUUID(s string) (string, bool) {
	id, err := uuid.Parse(s)
	return id.String(), err == nil
}
