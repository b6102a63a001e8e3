package service

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// AnnounceLoss warns, while it can still be stopped, that a plan gives up
// something that is paid for; consequence says what that means.
func AnnounceLoss(diags *diag.Diagnostics, object, consequence string) {
	diags.AddWarning(fmt.Sprintf("The plan gives up the %s", object),
		join(consequence, "Where the API can't delete it, it stays and is only dropped from Terraform's state.",
			"If Terraform should just forget it, use a removed block with destroy = false (or terraform state rm) instead."))
}

// AnnounceReplacement is [AnnounceLoss] for an object that is replaced; because
// says by which change. unknown are the attributes of which only the apply will
// tell whether they change, where nothing else does, see [StillUnknown].
func AnnounceReplacement(diags *diag.Diagnostics, object, because, consequence string, unknown ...string) {
	next := "Apply only if that is what you mean; to keep it, undo the change."
	if len(unknown) > 0 {
		attributes := strings.Join(unknown, " and ")
		because = fmt.Sprintf("Only the apply will know its %s, and until then that counts as another one: it is replaced even if the apply finds that nothing has changed.", attributes)
		next = fmt.Sprintf("To keep it, give %s a value that the plan knows. What a data source tells is not known while a change is planned of anything in its depends_on.", attributes)
	}
	diags.AddWarning(fmt.Sprintf("The plan replaces the %s", object), join(because, consequence, next))
}

// StillUnknown returns those of the attributes that a plan does not know, unless
// one that it knows differs from the state.
func StillUnknown(plan, state tftypes.Value, attributes ...string) []string {
	var planned map[string]tftypes.Value
	if plan.As(&planned) != nil {
		return nil
	}
	unknown := slices.DeleteFunc(slices.Clone(attributes), func(name string) bool { return planned[name].IsKnown() })
	known := slices.DeleteFunc(slices.Clone(attributes), func(name string) bool { return !planned[name].IsKnown() })
	if anyDiffers(plan, state, known) {
		return nil
	}
	return unknown
}
