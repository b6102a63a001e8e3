package service

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

const conflictAdvice = "- If a resource was renamed or moved, add a moved block with its old and its new address.\n" +
	"- If two blocks, or two keys of for_each, describe the object, remove one of them. Remove its address from the state with a removed block with lifecycle { destroy = false }, or with terraform state rm.\n" +
	"- If the object is in the state twice at one address (the plan calls one of them deposed), run terraform state rm with the address, and import the object again."

// ToSetAdvice is for a plan that destroys single mailboxes which a set keeps.
const ToSetAdvice = `A moved block can't move a mailbox into a set. To end the management by the single resources and keep the mailboxes with their mail, add this in the same plan, with the name of the resource and without a key:

removed {
  from = mailhost_mailbox.NAME

  lifecycle {
    destroy = false
  }
}`

// addKeptInSet adds the error of the first destroy of a single mailbox that a set keeps.
func addKeptInSet(diags *diag.Diagnostics, label string) {
	diags.AddError("Two resources have the "+label,
		paragraphs("The plan destroys this resource, but a mailhost_mailbox_set keeps the mailbox. If this were applied, the mail would be lost. Nothing was changed. Others of the set with the same problem are not listed.", ToSetAdvice))
}

// AddConflict adds the error of a plan in which another resource has the same
// object. id is "" if it is unknown.
func AddConflict(diags *diag.Diagnostics, label, id string, conflict session.Conflict) {
	other := map[session.Conflict]string{
		session.Kept:      "another resource of the configuration keeps it, while this one destroys or replaces it",
		session.Replaced:  "another resource of the configuration has it and is replaced, which deletes it",
		session.Destroyed: "the same plan destroys it at another address, or as a deposed object",
		session.Adopted:   "the same plan adopts it for another resource",
		session.Created:   "another resource of the same plan creates or replaces it",
		session.Acquired:  "another resource of this run has just created or adopted it",
		session.InState:   "it is in the state already, at another address",
	}[conflict]
	named := label
	if id != "" {
		named += ", id " + id
	}
	diags.AddError("Two resources have the "+label,
		paragraphs(fmt.Sprintf("This resource has the %s, but %s. If this were applied, one of the two would delete the object for both, or it would be created twice. Nothing was changed.", named, other), conflictAdvice))
}

// warnShared warns about an object that two resources keep.
func warnShared(diags *diag.Diagnostics, label, id string) {
	diags.AddWarning("Two resources manage the "+label,
		paragraphs("The state has it at two addresses, with different configurations: each apply changes it to one of them, and a destroy of either deletes it for both. Its id is "+id+".", conflictAdvice))
}

// addManaged adds the error of a create of an object that another resource has.
func addManaged(diags *diag.Diagnostics, label, id string) {
	if id != "" {
		id = " Its id is " + id + "."
	}
	diags.AddError(fmt.Sprintf("Another resource of this configuration manages the %s", label),
		paragraphs("The object is in the state for another resource, or this run has just created it for another resource. Nothing was created or changed for this one."+id, conflictAdvice))
}

// addNotDeleted adds the error of a delete of an object that this run acquired.
func addNotDeleted(diags *diag.Diagnostics, label, id string) {
	diags.AddError(fmt.Sprintf("The %s was not deleted", label),
		paragraphs(fmt.Sprintf("This run has just created or adopted it for a resource that stays, and a delete would remove it from that resource. Nothing was deleted. Its id is %s.", id),
			"It is in the state twice now: a resource with create_before_destroy adopted the object that it replaces, or two resources have the same object.\n"+conflictAdvice))
}
