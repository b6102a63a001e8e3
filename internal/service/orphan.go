package service

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// orphan is an object that still exists after its resource was destroyed, because
// the API has no operation that deletes it.
type orphan struct {
	label, id, consequence string
	unreadable             bool
}

// orphanAnnouncedKey is set in the private state if the plan has announced the
// orphan.
const orphanAnnouncedKey = "remains_announced"

func (r *Resource[T, M]) orphan(ctx context.Context, raw tftypes.Value, state M) orphan {
	return orphan{state.String(), attribute(raw, "id"), r.Orphaned(ctx, state), r.Unreadable}
}

// WarnOrphaned warns in a plan that destroys or replaces the object, if the API
// can't delete it, and reports whether it did. The object is replaced if one of the
// attributes replacing changes: ModifyPlan can't see the result of the attributes'
// plan modifiers. Call it at the end of ModifyPlan.
//
// It can't warn about a replacement by -replace: Terraform shows no warnings of the
// second plan, and the first plan does not know about it.
func (r *Resource[T, M]) WarnOrphaned(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse, replacing ...string) bool {
	var state M
	if resp.Diagnostics.HasError() || !DestroysOrReplaces(req, resp, replacing...) {
		return false
	}
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if c := r.ClientForWarning(ctx); resp.Diagnostics.HasError() || c == nil || c.Supports(ctx, r.DeleteOperation, attribute(req.State.Raw, "id")) {
		return false
	}
	r.orphan(ctx, req.State.Raw, state).warnPlanned(&resp.Diagnostics)
	resp.Diagnostics.Append(KeepOrphansAnnounced(ctx, resp.Private)...)
	return true
}

// KeepOrphansAnnounced records in the private state that the plan has announced what
// remains.
func KeepOrphansAnnounced(ctx context.Context, private PrivateState) diag.Diagnostics {
	return private.SetKey(ctx, orphanAnnouncedKey, []byte("true"))
}

// WarnOrphansAnnounced warns after a destroy, in short, if the plan has announced what
// remains, and reports whether it has.
func WarnOrphansAnnounced(ctx context.Context, private PrivateState, label, id string, diags *diag.Diagnostics) bool {
	announced, problems := private.GetKey(ctx, orphanAnnouncedKey)
	diags.Append(problems...)
	if len(announced) == 0 {
		return false
	}
	diags.AddWarning(fmt.Sprintf("The %s still exists", label),
		fmt.Sprintf("It was only dropped from Terraform's state, as the plan announced. Its id is %s.", id))
	return true
}

// warnPlanned warns in the plan of a destroy.
func (o orphan) warnPlanned(diags *diag.Diagnostics) {
	diags.AddWarning(fmt.Sprintf("The %s will still exist", o.label),
		paragraphs(fmt.Sprintf("According to its responses, this API has no operation that deletes it: the apply will only drop it from Terraform's state. Its id is %s.", o.id), o.consequence, o.advice()))
}

// warnDestroyed warns after a destroy that the plan could not announce.
func (o orphan) warnDestroyed(diags *diag.Diagnostics) {
	diags.AddWarning(fmt.Sprintf("The %s still exists", o.label),
		paragraphs(fmt.Sprintf("This API has no operation that deletes it, so it was only dropped from Terraform's state. Its id is %s.", o.id), o.consequence, o.advice()))
}

func (o orphan) advice() string {
	next := "If you no longer need it, remove it in the service's own control panel"
	if o.unreadable {
		return next + ". It can't be imported again, because this API can't read it either."
	}
	return next + "; to manage it again, import it."
}
