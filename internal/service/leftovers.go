package service

import (
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// AddLeftovers warns of objects that earlier attempts of a create have probably
// made besides the one that is managed now; there are none, as a rule.
// consequence says what they mean.
func AddLeftovers(diags *diag.Diagnostics, object string, ids []string, consequence string) {
	if len(ids) == 0 {
		return
	}
	diags.AddWarning(fmt.Sprintf("The %s was probably created more than once", object),
		join(fmt.Sprintf("An answer of the API was lost, and the create was sent again. What the lost attempt has probably created is not managed by Terraform; its id is %s.", strings.Join(ids, " and ")), consequence))
}
