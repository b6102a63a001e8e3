package service

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// AnnounceLoss warns, while it can still be stopped, that a plan gives up
// something that is paid for; consequence says what that means.
func AnnounceLoss(diags *diag.Diagnostics, object, consequence string) {
	diags.AddWarning(fmt.Sprintf("The plan gives up the %s", object),
		join(consequence, "Where the API can't delete it, it stays and is only dropped from Terraform's state.",
			"If Terraform should just forget it, use a removed block with destroy = false (or terraform state rm) instead."))
}

// AnnounceReplacement is [AnnounceLoss] for an object that is replaced; because
// says by which change.
func AnnounceReplacement(diags *diag.Diagnostics, object, because, consequence string) {
	diags.AddWarning(fmt.Sprintf("The plan replaces the %s", object), join(because, consequence,
		"Apply only if that is what you mean; to keep it, undo the change."))
}
