package operate

import (
	"cmp"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// auditPrinter prints entries of the audit log.
type auditPrinter interface {
	print(e store.AuditEntry) error
	flush() error
}

// auditJSON prints one JSON object per line.
type auditJSON struct{ *json.Encoder }

func newAuditJSON(w io.Writer) auditJSON {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return auditJSON{enc}
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

func (p auditJSON) print(e store.AuditEntry) error {
	changes := make([]auditChange, len(e.Changes))
	for i, c := range e.Changes {
		changes[i] = auditChange{c.Action, c.Type, c.ID, c.Name, append([]string{}, c.Fields...)} // never null
	}
	return p.Encode(struct {
		ID            int64         `json:"id"`
		At            string        `json:"at"`
		AccountID     string        `json:"account_id"`
		Operation     string        `json:"operation"`
		Subject       auditSubject  `json:"subject"`
		RequestID     string        `json:"request_id"`
		RemoteAddress string        `json:"remote_address"`
		Changes       []auditChange `json:"changes"`
	}{e.ID, e.CreatedAt.Format(api.TimestampLayout), e.AccountID, e.Operation, auditSubject(e.Subject), e.RequestID, e.RemoteAddress, changes})
}

func (auditJSON) flush() error { return nil }

const (
	// auditBlock is the number of lines whose columns are aligned with each other. They
	// are buffered in memory.
	auditBlock = 1000
	// auditObjects is the number of objects that a line names per action and type.
	auditObjects = 3
)

// auditText prints one line per entry with aligned columns.
type auditText struct {
	columns *tabwriter.Writer
	lines   int
}

func newAuditText(w io.Writer) *auditText {
	return &auditText{columns: cli.NewColumns(w)}
}

func (p *auditText) print(e store.AuditEntry) error {
	if p.lines == 0 {
		if err := cli.WriteRow(p.columns, []string{"TIME", "ACCOUNT", "OPERATION", "BY", "REQUEST", "FROM", "CHANGES"}); err != nil {
			return err
		}
	}
	cells := []string{
		e.CreatedAt.Format(api.TimestampLayout), e.AccountID, e.Operation, e.Subject.Type + " " + cmp.Or(e.Subject.Name, e.Subject.ID),
		e.RequestID, e.RemoteAddress, describeChanges(e.Changes),
	}
	if err := cli.WriteRow(p.columns, cells); err != nil {
		return err
	}
	if p.lines++; p.lines%auditBlock == 0 {
		return p.columns.Flush()
	}
	return nil
}

func (p *auditText) flush() error { return p.columns.Flush() }

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

// describeGroup describes changes with the same action and type.
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
