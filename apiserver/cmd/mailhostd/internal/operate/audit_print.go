package operate

import (
	"cmp"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// auditJSON returns a function that prints one JSON object per line.
func auditJSON(w io.Writer) func(store.AuditEntry) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return func(e store.AuditEntry) error { return enc.Encode(auditLine(e)) }
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
func auditLine(e store.AuditEntry) any {
	changes := make([]auditChange, len(e.Changes))
	for i, c := range e.Changes {
		changes[i] = auditChange{c.Action, c.Type, c.ID, c.Name, append([]string{}, c.Fields...)}
	}
	return struct {
		ID            int64         `json:"id"`
		At            string        `json:"at"`
		AccountID     string        `json:"account_id"`
		Operation     string        `json:"operation"`
		Subject       auditSubject  `json:"subject"`
		RequestID     string        `json:"request_id"`
		RemoteAddress string        `json:"remote_address"`
		Changes       []auditChange `json:"changes"`
	}{e.ID, e.CreatedAt.Format(api.TimestampLayout), e.AccountID, e.Operation, auditSubject(e.Subject), e.RequestID, e.RemoteAddress, changes}
}

const (
	// auditBlock is the number of lines whose columns are aligned with each other. They
	// are buffered in memory.
	auditBlock = 1000
	// auditObjects is the number of objects that a line names per action and type.
	auditObjects = 3
)

// auditText returns a function that prints one line per entry with aligned columns, and one that
// prints what is buffered.
func auditText(w io.Writer) (printEntry func(store.AuditEntry) error, flush func() error) {
	columns, lines := cli.NewColumns(w), 0
	return func(e store.AuditEntry) error {
		if lines == 0 {
			cli.WriteRow(columns, []string{"TIME", "ACCOUNT", "OPERATION", "BY", "REQUEST", "FROM", "CHANGES"})
		}
		cli.WriteRow(columns, []string{
			e.CreatedAt.Format(api.TimestampLayout), e.AccountID, e.Operation, e.Subject.Type + " " + cmp.Or(e.Subject.Name, e.Subject.ID),
			e.RequestID, e.RemoteAddress, describeChanges(e.Changes),
		})
		if lines++; lines%auditBlock == 0 {
			return columns.Flush()
		}
		return nil
	}, columns.Flush
}

// describeChanges returns a text such as "created mailbox a@example.com; updated
// domain example.com (auto_renew)".
func describeChanges(changes []store.AuditChange) string {
	var parts []string
	for len(changes) > 0 {
		n := 1
		for n < len(changes) && changes[n].Action == changes[0].Action && changes[n].Type == changes[0].Type {
			n++
		}
		parts = append(parts, describeGroup(changes[:n]))
		changes = changes[n:]
	}
	return strings.Join(parts, "; ")
}

func describeGroup(changes []store.AuditChange) string {
	first := changes[0]
	var names []string
	for _, c := range changes[:min(len(changes), auditObjects)] {
		names = append(names, cmp.Or(c.Name, c.ID))
	}
	text := first.Action + " " + first.Type + " " + strings.Join(names, ", ")
	if more := len(changes) - len(names); more > 0 {
		text += " and " + strconv.Itoa(more) + " more"
	}
	if len(first.Fields) > 0 {
		text += " (" + strings.Join(first.Fields, ", ") + ")"
	}
	return text
}
