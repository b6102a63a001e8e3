package service

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// AddResumed warns that a create took over what an earlier run had created just
// so, without coming to keep its id.
func AddResumed(diags *diag.Diagnostics, object, id string) {
	diags.AddWarning(fmt.Sprintf("The %s was created by an earlier run", object),
		join("That run was cut off before Terraform could note it, so this one goes on with it and creates no second one. Its id is "+id+".",
			"Nothing is left to do, unless another resource of your configurations already manages it: then remove one of the two."))
}
