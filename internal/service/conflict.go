package service

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

const conflictAdvice = "- If the resource is tainted, run terraform untaint with its address. If -replace or replace_triggered_by replaces it, remove that.\n" +
	"- If a resource was renamed or moved, add a moved block with its old and its new address.\n" +
	"- To hand the object over to another resource, remove its resource from the state with a removed block with lifecycle { destroy = false }, and import it with an import block in the same plan.\n" +
	"- If two blocks, or two keys of for_each, describe the object, remove one of them. With count, an item that is removed moves the later ones up: use for_each.\n" +
	"- If the object is in the state twice at one address (the plan calls one of them deposed), run terraform state rm with the address, and import the object again.\n" +
	"- To delete the object and create it again, use two applies: remove the resource, apply, and add it again."

// AddConflict adds the error of a plan or an apply in which another resource has an object.
// id is "" if it is unknown.
func AddConflict(diags *diag.Diagnostics, label, id string, conflict session.Conflict) {
	other := map[session.Conflict]string{
		session.Created:   "another resource of the configuration creates or adopts it",
		session.InState:   "Terraform's state has it already, so that it would be deleted for the new one, or two resources would manage it",
		session.Kept:      "another resource of the configuration keeps it, while this one destroys it",
		session.Destroyed: "the same plan destroys it at another address, or as a deposed object",
	}[conflict]
	summary := "Two resources have the " + label
	if conflict == session.InState {
		summary = "The " + label + " is in the state already"
	}
	if id != "" {
		id = " Its id is " + id + "."
	}
	diags.AddError(summary, paragraphs(fmt.Sprintf("This resource creates or has the %s, but %s. Nothing was changed for this resource.%s", label, other, id), conflictAdvice))
}

// Plural returns one if n is 1, and many otherwise.
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// addNotDeleted adds the error of a delete of an object that this run has acquired.
func addNotDeleted(diags *diag.Diagnostics, label, id string) {
	diags.AddError(fmt.Sprintf("The %s was not deleted", label),
		paragraphs(fmt.Sprintf("This run has just created or adopted it for a resource that stays, and a delete would remove it from that resource. Nothing was deleted. Its id is %s.", id), conflictAdvice))
}
