package service

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// Remains is an object that stays when it is destroyed, because the API has no
// operation that deletes it.
type Remains struct {
	// Object and ID name it.
	Object, ID string
	// Consequence says what it means that it is still there.
	Consequence string
	// Unread says that an API which can't delete it can't read it either, so that
	// there is no way back to it.
	Unread bool
}

// remainsAnnouncedKey is the key in the private data of a plan that has announced
// that the object remains.
const remainsAnnouncedKey = "remains_announced"

// remind warns, after a destroy, that the object is still there, if the plan has said
// so. The summary is the same for all objects, so that the CLI shows one warning.
func (r Remains) remind(diags *diag.Diagnostics) {
	diags.AddWarning("Objects that this API can't delete still exist",
		fmt.Sprintf("The %s was only dropped from Terraform's state, as the plan announced. Its id is %s.", r.Object, r.ID))
}

// warn warns, after a destroy whose plan could not say so, that the object is still
// there.
func (r Remains) warn(diags *diag.Diagnostics) {
	diags.AddWarning(fmt.Sprintf("The %s still exists", r.Object),
		join(fmt.Sprintf("This API has no operation that deletes it, so it was only dropped from Terraform's state. Its id is %s.", r.ID), r.Consequence, r.next()))
}

// announce warns, in the plan of a destroy, that the object will still be there.
func (r Remains) announce(diags *diag.Diagnostics) {
	diags.AddWarning(fmt.Sprintf("The %s will still exist", r.Object),
		join(fmt.Sprintf("As far as this API's answers tell, it has no operation that deletes it: the apply will only drop it from Terraform's state. Its id is %s.", r.ID), r.Consequence, r.next()))
}

func (r Remains) next() string {
	next := "Remove it in the service's own control panel if it is not wanted any more"
	if r.Unread {
		return next + ". It can't be imported again, because this API can't read it either."
	}
	return next + "; to manage it again, import it."
}

// AnnounceRemains warns in a plan that destroys or replaces the object, if the API
// can't delete it, and reports whether it did; [Deleted] is brief then. A change of
// one of the attributes replacing replaces the object: ModifyPlan can't see what the
// attributes' own plan modifiers have decided. deletion is the operation that deletes
// the object. Call it at the end of ModifyPlan.
//
// A replacement because of -replace can't be announced: Terraform shows no warnings
// of the second plan, and the first one does not know of it.
func (r *Resource) AnnounceRemains(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse,
	left Remains, deletion api.Spec, replacing ...string,
) bool {
	if resp.Diagnostics.HasError() || !GivesUp(req, resp, replacing...) {
		return false
	}
	if c := r.ClientForWarning(ctx); c == nil || c.Supports(ctx, deletion, left.ID) {
		return false
	}
	left.announce(&resp.Diagnostics)
	resp.Diagnostics.Append(resp.Private.SetKey(ctx, remainsAnnouncedKey, []byte("true"))...)
	return true
}
