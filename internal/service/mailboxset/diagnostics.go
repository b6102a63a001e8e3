package mailboxset

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

var mailboxesPath, retiredPath = path.Root("mailboxes"), path.Root("retired")

func mailboxes(n int) string {
	return fmt.Sprintf("%d %s", n, report.Plural(n, "mailbox", "mailboxes"))
}

// deletion returns the loss of deleted mailboxes, of which the unnamed ones count for max_deletions. keep
// says how to keep one, and next is the advice for a refusal.
func (m model) deletion(deleted, unnamed []item, allowed types.Int64, keep, next string) service.Loss {
	return service.Loss{
		Of: []service.Asset{service.Mail}, At: mailboxesPath,
		Does:  fmt.Sprintf("deletes %s of %s with %s mail", mailboxes(len(deleted)), m.domain(), report.Plural(len(deleted), "its", "their")),
		Lists: "The mail in these mailboxes is lost, and somebody else in the account can use their addresses:", Items: addresses(deleted),
		Keep: keep,
		Guard: &service.Guard{
			Lists: "The mail in these mailboxes would be lost, and somebody else in the account could use their addresses:",
			Does:  fmt.Sprintf("delete %s of %s", mailboxes(len(unnamed)), m.domain()), Counted: addresses(unnamed), Max: allowed, Next: next,
		},
	}
}

// The advice how to keep a mailbox that a plan deletes: after its entry was removed, or before the
// set is destroyed or replaced.
const (
	keepEntry  = "To keep one, add its entry again, or its key to retired with the value \"keep\"."
	keepBefore = "To keep one, add its key to retired with the value \"keep\", and apply that alone before this plan."
)

// changedKeys is for a plan that deletes and creates mailboxes.
const changedKeys = "The plan also creates mailboxes. A changed key is a new address: it deletes the mailbox with the old one, and does not rename it."

// The reasons why a plan may not delete mailboxes, with advice.
const (
	updateRefused = "To delete them, name them, as in retired = { \"jane.doe\" = \"delete\" }, or set max_deletions to at least their number. " +
		"To keep a mailbox without this set, name it with \"keep\"; to keep it in the set, add its entry again. If the set was renamed or moved, add a moved block with its old and its new address."
	destroyRefused = "If the set was renamed or moved, add a moved block with its old and its new address. To delete the mailboxes, set max_deletions in the configuration to at least their number and apply, and then destroy the set: for a destroy the value in the state counts. " +
		"To keep them, remove the set from the state with a removed block with lifecycle { destroy = false }, or with terraform state rm."
	replacementRefused = "The plan replaces the set, because its domain changes. " +
		"To delete the mailboxes, set max_deletions to at least their number and apply that first: for a replacement the value in the state counts too. To keep them, undo the change, or remove the set from the state with a removed block with lifecycle { destroy = false } and add another set."
)

// addUnknownMap refuses a plan that can't name the mailboxes that it may delete.
func addUnknownMap(diags *diag.Diagnostics) {
	diags.AddAttributeError(mailboxesPath, "The plan can't name the mailboxes that it would delete",
		"Only the apply will know the keys of mailboxes, and max_deletions or retired may allow it to delete mailboxes that this plan does not name.\n\n"+
			"Set mailboxes to a map whose keys the plan knows, or set max_deletions to 0 (or remove it) for this apply, and retired to a value that the plan knows.")
}

// warnRetired warns in each plan about entries of mailboxes that retired names, because they would leave
// unnoticed, for instance when a list loses the line of somebody who got the address of a leaver.
func warnRetired(diags *diag.Diagnostics, set model, c *contents) {
	var lines []string
	for part, how := range set.retiring() {
		if i, ok := c.items[part]; ok && how != "" {
			lines = append(lines, fmt.Sprintf("%s: %s", i.key, how))
		}
	}
	if len(lines) == 0 {
		return
	}
	slices.Sort(lines)
	diags.AddAttributeWarning(retiredPath, fmt.Sprintf("The %s retires %s that it still contains", set, mailboxes(len(lines))),
		"These keys are in mailboxes and in retired:"+report.FirstBullets(lines)+
			"\n\nOnce such a key is missing in mailboxes, also by mistake, \"delete\" deletes the mailbox with its mail and without a refusal by max_deletions, and \"keep\" drops it from the set.\n\n"+
			"Remove these keys from retired. Only before you destroy the set or change its domain, leave them until then.")
}

// warnReleased warns in a plan that drops mailboxes from the set without deleting them.
func warnReleased(diags *diag.Diagnostics, set model, released []item, imported, destroyed bool) {
	if len(released) == 0 {
		return
	}
	because, next := "Their entries are gone, and retired keeps them:", ", in unmanaged. To manage one with this set, add its entry to mailboxes before the apply."
	switch {
	case destroyed:
		because, next = "The set leaves the domain, and retired, as it was last applied, keeps them:", "."
	case imported:
		because = "They were imported with the domain, and the configuration does not have them:"
	}
	diags.AddAttributeWarning(mailboxesPath, fmt.Sprintf("The %s releases %s", set, mailboxes(len(released))),
		because+report.FirstBullets(addresses(released))+"\n\nThey stay as they are"+next)
}

// warnRemaining warns, in the plan and in the apply, about mailboxes that the API can't delete.
func warnRemaining(diags *diag.Diagnostics, set model, addresses []string) {
	if len(addresses) == 0 {
		return
	}
	diags.AddAttributeWarning(mailboxesPath, mailboxes(len(addresses))+" of "+set.domain()+" will still exist",
		"This API has no operation that deletes a mailbox, so these are only dropped from Terraform's state:"+report.Bullets(addresses)+
			"\n\nThey keep receiving mail, and they are still paid for. If you no longer need one, remove it in the service's own control panel.")
}

// addExisting refuses to create or adopt mailboxes. isNew means that the set is not in the state, so
// that an import is possible. If the list failed, an existing match contains no mailbox.
func addExisting(diags *diag.Diagnostics, existing []match, isNew bool) {
	var lines []string
	orImport := ""
	if isNew {
		orImport = ", or import the domain into the set"
	}
	for _, e := range existing {
		line := at(e.key).String()
		if e.mailbox != nil {
			line = fmt.Sprintf("%s is %s, id %s", line, e.mailbox.PrimaryEmail, e.mailbox.ID)
		}
		if e.conflict != session.NoConflict {
			line += ": " + string(e.conflict)
		}
		lines = append(lines, line)
	}
	diags.AddAttributeError(mailboxesPath, fmt.Sprintf("%s to be created %s already", mailboxes(len(existing)), report.Plural(len(existing), "exists", "exist")),
		"The domain has these mailboxes:"+report.FirstBullets(lines)+
			"\n\nNothing was changed. To manage them with this set, set on_existing = \"adopt\""+orImport+"; that is also the way if an apply has created them and was killed before Terraform stored its state. "+
			"Otherwise remove their entries, or choose other keys.\n\n"+
			"If Terraform's state has them already, do none of that. "+service.WaysOut)
}

func addCreatedTwice(diags *diag.Diagnostics, items []item) {
	diags.AddAttributeError(mailboxesPath, "Another resource creates "+mailboxes(len(items))+" of the set",
		"Another set, or a mailhost_mailbox, of the same configuration has these entries too:"+report.FirstBullets(addresses(items))+
			"\n\nNothing was changed. Remove them from one of the two. For other ways out see "+service.ExistingGuide)
}

func addConflicts(diags *diag.Diagnostics, items []item) {
	diags.AddAttributeError(mailboxesPath, "Other resources have "+mailboxes(len(items))+" of the set",
		"The same plan creates, adopts, imports or keeps them for other resources, or one of the two destroys what the other one keeps:"+report.FirstBullets(addresses(items))+
			"\n\nNothing was changed. To leave them to the other resources, remove their entries and name them in retired with the value \"keep\". "+
			"To keep them in the set, remove the other resources from the state with removed blocks with lifecycle { destroy = false }.\n\n"+service.WaysOut)
}

// warnAdoption warns in a plan that adopts mailboxes. It lists mailboxes that change, or that the
// service is deleting, first. It does not show people's names, because the map may be sensitive,
// which a provider can't see.
func warnAdoption(diags *diag.Diagnostics, plan model, existing []match) {
	var changed, same []string
	for _, e := range existing {
		switch m := e.mailbox; {
		case m.Status == vocab.MailboxDeleting:
			changed = append(changed, m.PrimaryEmail+", whose status is deleting: it will disappear, and a later plan creates it again")
		case e.entry.same(entryOf(m)):
			same = append(same, m.PrimaryEmail)
		default:
			changed = append(changed, m.PrimaryEmail+", whose name changes")
		}
	}
	diags.AddAttributeWarning(mailboxesPath, "The plan adopts "+mailboxes(len(existing))+" of "+plan.domain(),
		"The domain has these mailboxes already. The set manages them after the apply: removing an entry then deletes its mailbox."+report.Bullets(changed)+report.FirstBullets(same)+
			"\n\nTo make that an error, remove on_existing.")
}

// failure is the error of one entry of the map.
type failure struct {
	key, summary string
	err          error
}

// maxFailures limits the diagnostics of one apply. One more lists the remaining failures.
const maxFailures = 100

// addFailures reports each failure at the key of its entry. Failures with the same reason share a
// diagnostic. asWarnings is for a create that succeeded in part.
func addFailures(diags *diag.Diagnostics, failures []failure, asWarnings bool) {
	add := func(at path.Path, summary, detail string) {
		if asWarnings {
			diags.AddAttributeWarning(at, summary, detail)
		} else {
			diags.AddAttributeError(at, summary, detail)
		}
	}
	slices.SortFunc(failures, func(a, b failure) int { return strings.Compare(a.key, b.key) })
	var reasons, rest []string
	byReason := map[string][]failure{}
	for _, f := range failures {
		reason := f.err.Error()
		if refused, ok := errors.AsType[*client.Error](f.err); ok {
			reason = refused.Reason()
		}
		if byReason[reason] = append(byReason[reason], f); len(byReason[reason]) == 1 {
			reasons = append(reasons, reason)
		}
	}
	for n, reason := range reasons {
		var paths, summaries []string
		for _, f := range byReason[reason] {
			paths, summaries = append(paths, at(f.key).String()), append(summaries, f.summary)
		}
		if n >= maxFailures {
			rest = append(rest, summaries...)
			continue
		}
		f := byReason[reason][0]
		var own diag.Diagnostics
		report.Error(&own, f.err, f.summary, nil)
		if client.IncidentOf(f.err) != nil && !asWarnings {
			diags.Append(own...) // reported in full once per walk
			continue
		}
		for _, d := range own {
			if len(paths) > 1 {
				add(mailboxesPath, fmt.Sprintf("%s, and %d more", d.Summary(), len(paths)-1), d.Detail()+"\n\nIt concerns:"+report.FirstBullets(paths))
			} else {
				add(at(f.key), d.Summary(), paths[0]+": "+d.Detail())
			}
		}
	}
	if len(rest) > 0 {
		add(mailboxesPath, fmt.Sprintf("%d further entries were not applied", len(rest)), "They are:"+report.FirstBullets(rest))
	}
}

func warnIncomplete(diags *diag.Diagnostics, set model, failed, all int) {
	diags.AddAttributeWarning(mailboxesPath, fmt.Sprintf("%d of %s of %s were not created", failed, mailboxes(all), set.domain()),
		"The others were created and are in the state. Run apply again for the rest, after you have corrected what the following warnings say.\n\n"+
			"This is no error, because Terraform replaces a resource whose create has failed, which would delete the mailboxes that were created.")
}
