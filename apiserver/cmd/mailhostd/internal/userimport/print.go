package userimport

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/userlist"
)

// printedProblems limits the problems printed on a terminal.
const printedProblems = 50

func (r *importResult) writeText(w io.Writer) {
	line := func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
	line("%s: %s in %s, separated by %s", cli.Printable(r.File), cli.Counted(r.Rows, "row"), r.Encoding, separatorName(r.list.Separator))
	for _, field := range userlist.Fields {
		if header, used := r.Columns[field]; used {
			line("  %-12s  %s", field, cli.Printable(header))
		}
	}
	for _, d := range r.Domains {
		r.writeDomain(line, d)
	}
	if len(r.OtherDomains) > 0 {
		line("Left out, other domains: %s", describeCounts(r.OtherDomains))
	}
	for _, name := range slices.Sorted(maps.Keys(r.SimilarDomains)) {
		line("  Is %s a misspelled %s? Then correct it in the file.", cli.Printable(name), r.SimilarDomains[name])
	}
	if n := len(r.Elsewhere); n > 0 {
		line("Left out with them, although the sign-in name or an alias is not in another domain: %s", cli.Counted(n, "row"))
		r.writeItems(line, "row", n, func(i int) string {
			return fmt.Sprintf("%s: %s, also %s", r.Elsewhere[i].Place, r.Elsewhere[i].Address, r.Elsewhere[i].Local)
		})
	}
	if len(r.NoMailboxes) > 0 {
		line("Left out, no mailboxes: %s", describeCounts(r.NoMailboxes))
	}
	if r.LeftOut > 0 {
		line("Left out, not active at the old host: %s; check that none is a shared mailbox, whose sign-in is blocked too", cli.Counted(r.LeftOut, "user"))
		r.writeItems(line, "user", r.LeftOut, func(i int) string { return r.LeftOutAddresses[i] })
	}
	if n := len(r.SignIns); n > 0 {
		line("Signing in with another name than the mail address, which becomes the mailbox: %s", cli.Counted(n, "user"))
		r.writeItems(line, "user", n, func(i int) string { return fmt.Sprintf("%s, not %s", r.SignIns[i].Address, r.SignIns[i].SignIn) })
	}
	if len(r.OtherMail) > 0 {
		line("Columns not understood, with other mail addresses than the sign-in names: %s; if one is the mail address, name it with --column address=HEADER", describeCounts(r.OtherMail))
	}
	if len(r.UnknownKinds) > 0 {
		line("Kind of recipient not understood, taken as a mailbox: %s", cli.Printable(userlist.DescribeStatuses(r.UnknownKinds)))
	}
	if len(r.UnknownStatuses) > 0 {
		line("Status not understood, taken as active: %s", cli.Printable(userlist.DescribeStatuses(r.UnknownStatuses)))
	}
	if r.Inactive > 0 {
		line("Not active at the old host: %s; --active-only leaves them out", cli.Counted(r.Inactive, "user"))
	}
	if r.Aliases > 0 {
		line("Not imported: %s, because the API can't create aliases", cli.Counted(r.Aliases, "alias"))
	}
	for i, p := range r.Problems {
		if i == printedProblems {
			line("… and %s; --json lists all", cli.Counted(len(r.Problems)-i, "further problem"))
			break
		}
		p.Address = cli.Printable(p.Address)
		line("%s", p)
	}
	for _, file := range r.Files {
		line("wrote %s", file)
	}
	if r.notCompared {
		line("The file was not compared with an account: set MAILHOST_BASE_URL, MAILHOST_ACCOUNT_ID and MAILHOST_TOKEN, or --database.")
	}
	if r.DryRun {
		line("Nothing was changed.")
	}
}

// writeItems prints a limited number of items, each in a line.
func (r *importResult) writeItems(line func(string, ...any), noun string, n int, item func(int) string) {
	for i := range n {
		if i == printedProblems {
			line("  … and %s; --json lists all", cli.Counted(n-i, "further "+noun))
			return
		}
		line("  %s", cli.Printable(item(i)))
	}
}

func (r *importResult) writeDomain(line func(string, ...any), d *importedDomain) {
	if !d.compared {
		line("%s: %s", d.Name, cli.Counted(d.Users, "valid row"))
		return
	}
	verb := "created"
	n := d.Created
	if r.DryRun {
		verb, n = "to create", d.Create
	}
	exist := "exist"
	if d.Existing == 1 {
		exist = "exists"
	}
	line("%s: %d %s, %d %s already", d.Name, n, verb, d.Existing, exist)
	if d.OtherNames > 0 {
		line("  %d of them with other names, which stay as they are", d.OtherNames)
	}
	if left := d.Create - d.Created - d.Failed; !r.DryRun && left > 0 {
		line("  %d not created", left)
	}
}

func separatorName(r rune) string {
	if name, ok := map[rune]string{',': "commas", ';': "semicolons", '\t': "tabs"}[r]; ok {
		return name
	}
	return string(r)
}
