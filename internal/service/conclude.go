package service

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

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
