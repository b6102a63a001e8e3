package operate

import (
	"cmp"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
)

// auditJSON returns a function that prints one JSON object per line.
func auditJSON(w io.Writer) func(auditEntry) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return func(e auditEntry) error { return enc.Encode(auditLine(e)) }
}

// auditLine returns the object to print for an entry, with empty values in place of null.
func auditLine(e auditEntry) any {
	e.Subject.ID, e.Subject.Name = cmp.Or(e.Subject.ID, new(string)), cmp.Or(e.Subject.Name, new(string))
	changes := make([]api.AuditChange, len(e.Changes))
	for i, c := range e.Changes {
		c.Name, c.Fields = cmp.Or(c.Name, new(string)), append([]string{}, c.Fields...)
		changes[i] = c
	}
	return struct {
		ID            int64             `json:"id"`
		At            string            `json:"at"`
		AccountID     string            `json:"account_id"`
		Operation     string            `json:"operation"`
		Subject       api.AuditSubject  `json:"subject"`
		RequestID     string            `json:"request_id"`
		RemoteAddress string            `json:"remote_address"`
		Changes       []api.AuditChange `json:"changes"`
		// SubjectDetails are left out for a subject other than a workload.
		SubjectDetails map[string]string `json:"subject_details,omitempty"`
	}{e.ID, e.CreatedAt, e.AccountID, e.Operation, e.Subject, api.Value(e.RequestID), api.Value(e.RemoteAddress), changes, e.SubjectDetails}
}

// auditBlock is the number of lines with columns aligned to each other. They are buffered in memory.
const auditBlock = 1000

// auditText returns a function that prints one line per entry with aligned columns, and a function that
// prints the buffered lines.
func auditText(w io.Writer) (printEntry func(auditEntry) error, flush func()) {
	var rows [][]string
	flush = func() { cli.WriteTable(w, rows) }
	return func(e auditEntry) error {
		switch len(rows) {
		case 0:
			rows = append(rows, []string{"TIME", "ACCOUNT", "OPERATION", "BY", "REQUEST", "FROM", "CHANGES"})
		case auditBlock:
			flush()
			rows = nil
		}
		rows = append(rows, []string{
			e.CreatedAt, e.AccountID, e.Operation, apiclient.DescribeAuthor(e.Subject) + describeJob(e.SubjectDetails),
			api.Value(e.RequestID), api.Value(e.RemoteAddress), describeChanges(e.Changes),
		})
		return nil
	}, flush
}

// describeJob returns a text such as " [actor jane, run_id 17]", or "".
func describeJob(details map[string]string) string {
	if len(details) == 0 {
		return ""
	}
	return " [" + strings.Join(apiclient.Pairs(details), ", ") + "]"
}

// describeChanges returns a text such as "created mailbox a@example.com; updated
// domain example.com (auto_renew)".
func describeChanges(changes []api.AuditChange) string {
	var parts []string
	for _, g := range apiclient.GroupChanges(changes) {
		var names []string
		for _, o := range g.Objects {
			name := cmp.Or(api.Value(o.Name), o.ID)
			if strings.ContainsAny(name, `,;"`) { // which could pass for further objects and changes
				name = strconv.Quote(name)
			}
			names = append(names, name)
		}
		text := g.Action + " " + g.Type + " " + strings.Join(names, ", ")
		if g.More > 0 {
			text += " and " + strconv.Itoa(g.More) + " more"
		}
		if fields := g.Objects[0].Fields; len(fields) > 0 {
			text += " (" + strings.Join(fields, ", ") + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}
