package service

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/diag"
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

// Deleted concludes a delete, which failed to verb the object. That it is gone
// already is a success; of what the API can't delete, a warning tells that it is
// still there.
func Deleted(diags *diag.Diagnostics, err error, verb string, object Remains) {
	switch {
	case err == nil || client.IsNotFound(err):
	case errors.Is(err, client.ErrDeleteUnsupported):
		object.warn(diags)
	default:
		AddError(diags, err, "Can't "+verb+" the "+object.Object, nil)
	}
}
