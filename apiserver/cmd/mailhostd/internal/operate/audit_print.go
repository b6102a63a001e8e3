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

type auditSubject struct {
	Type string `json:"type"`
	ID   string `json:"id"`
	Name string `json:"name"`
}

type auditChange struct {
	Action string   `json:"action"`
	Type   string   `json:"type"`
	ID     string   `json:"id"`
	Name   string   `json:"name"`
	Fields []string `json:"fields"`
}

// auditLine is the object that is printed for an entry. It has no null.
func auditLine(e auditEntry) any {
	changes := make([]auditChange, len(e.Changes))
	for i, c := range e.Changes {
		changes[i] = auditChange{c.Action, c.Type, c.ID, api.Value(c.Name), append([]string{}, c.Fields...)}
	}
	by := auditSubject{e.Subject.Type, api.Value(e.Subject.ID), api.Value(e.Subject.Name)}
	return struct {
		ID            int64         `json:"id"`
		At            string        `json:"at"`
		AccountID     string        `json:"account_id"`
		Operation     string        `json:"operation"`
		Subject       auditSubject  `json:"subject"`
		RequestID     string        `json:"request_id"`
		RemoteAddress string        `json:"remote_address"`
		Changes       []auditChange `json:"changes"`
	}{e.ID, e.CreatedAt, e.AccountID, e.Operation, by, api.Value(e.RequestID), api.Value(e.RemoteAddress), changes}
}

// auditBlock is the number of lines whose columns are aligned with each other. They
// are buffered in memory.
const auditBlock = 1000

// auditText returns a function that prints one line per entry with aligned columns, and one that
// prints what is buffered.
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
			e.CreatedAt, e.AccountID, e.Operation, e.Subject.Type + " " + api.Value(cmp.Or(e.Subject.Name, e.Subject.ID)),
			api.Value(e.RequestID), api.Value(e.RemoteAddress), describeChanges(e.Changes),
		})
		return nil
	}, flush
}

// describeChanges returns a text such as "created mailbox a@example.com; updated
// domain example.com (auto_renew)".
func describeChanges(changes []api.AuditChange) string {
	var parts []string
	for _, g := range apiclient.GroupChanges(changes) {
		var names []string
		for _, o := range g.Objects {
			names = append(names, cmp.Or(api.Value(o.Name), o.ID))
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
