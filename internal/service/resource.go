package service

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// Resource is the base of every resource: it has the account's client, and what
// the walk has seen.
type Resource struct{ connection }

// Configure implements resource.ResourceWithConfigure.
func (r *Resource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	r.connect(req.ProviderData, &resp.Diagnostics)
}

// Identity is the resource identity of every resource: the object's id, in its
// account.
type Identity struct {
	AccountID types.String `tfsdk:"account_id"`
	ID        types.String `tfsdk:"id"`
}

// IdentitySchema implements resource.ResourceWithIdentity.
func (r *Resource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{
		Attributes: map[string]identityschema.Attribute{
			"account_id": identityschema.StringAttribute{OptionalForImport: true, Description: "UUID of the account; default: the provider's."},
			"id":         identityschema.StringAttribute{RequiredForImport: true, Description: "Id of the object."},
		},
	}
}

// SetIdentity sets the identity of an object. In Read and Update it must come
// first, from the prior state: a Read that finds the object gone and has set no
// identity fails the whole plan. A UUID is set in lower case whatever case the API
// answers in, for an identity that changes fails it too.
func SetIdentity(ctx context.Context, identity *tfsdk.ResourceIdentity, accountID string, id types.String) diag.Diagnostics {
	if identity == nil {
		return nil // the caller of this protocol version knows no identity
	}
	if own, ok := canonicalUUID(id.ValueString()); ok {
		id = types.StringValue(own)
	}
	return identity.Set(ctx, Identity{AccountID: types.StringValue(accountID), ID: id})
}

// Found reports whether a read has found the object. Otherwise it has told
// Terraform that the object is gone, or why it can't be read. A Read has set the
// identity before, see [SetIdentity].
func Found(ctx context.Context, resp *resource.ReadResponse, err error, object string) bool {
	switch {
	case err == nil:
		return true
	case client.IsNotFound(err):
		resp.State.RemoveResource(ctx)
	default:
		AddError(&resp.Diagnostics, err, "Can't read the "+object, nil)
	}
	return false
}

// Deleted concludes a delete, whose error says that it could not verb the object. An
// object that is gone already is a success, and one that the API can't delete a
// warning, which is brief if the plan has announced it.
func Deleted(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse, err error, verb string, object Remains) {
	switch {
	case err == nil || client.IsNotFound(err):
	case errors.Is(err, client.ErrDeleteUnsupported):
		announced, diags := req.Private.GetKey(ctx, remainsAnnouncedKey)
		resp.Diagnostics.Append(diags...)
		if len(announced) > 0 {
			object.remind(&resp.Diagnostics)
		} else {
			object.warn(&resp.Diagnostics)
		}
	default:
		AddError(&resp.Diagnostics, err, "Can't "+verb+" the "+object.Object, nil)
	}
}
