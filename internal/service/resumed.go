package service

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// AddResumed warns that a create took over what an earlier run had created just
// so, without coming to keep its id.
func AddResumed(diags *diag.Diagnostics, object, id string) {
	diags.AddWarning(fmt.Sprintf("The %s was created by an earlier run", object),
		join("Just this was created within the last day, most likely by a run that was cut off before Terraform could note it. So this run goes on with it and creates no second one. Its id is "+id+".",
			"Nothing is left to do, unless another resource already manages it. Then take one of the two out with terraform state rm (or a removed block with destroy = false): a destroy of either deletes it for both."))
}
