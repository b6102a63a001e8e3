package operate

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/audit"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// AuditCommand is mailhostd audit.
type AuditCommand struct {
	Database  string       `default:"mailhost.db" placeholder:"FILE" help:"SQLite file or postgres:// URL to read. Default: ${default}."`
	AccountID string       `placeholder:"UUID" help:"Only changes in this account."`
	Since     cli.TimeFlag `placeholder:"TIME" help:"Only changes at this time or later: a time such as 2026-03-14T15:00:00Z, a date such as 2026-03-14 (midnight UTC), or a duration before now, such as 24h or 7d."`
	Until     cli.TimeFlag `placeholder:"TIME" help:"Only changes before this time, in the same forms."`
	Operation string       `placeholder:"NAME" help:"Only changes by this operation, for instance create-mailbox."`
	Subject   string       `placeholder:"ID" help:"Only changes by the caller with this id or name."`
	Object    string       `placeholder:"ID" help:"Only changes of the object with this id or name, for instance jane@example.com."`
	RequestID string       `placeholder:"ID" help:"Only changes by the request with this X-Request-Id."`
	Limit     int          `placeholder:"COUNT" help:"Only the newest entries, up to this number. Default: all."`
	Format    string       `enum:"text,json" default:"text" placeholder:"FORMAT" help:"Output format: ${enum}, each with one line per entry. Default: ${default}, also elsewhere than on a terminal, because a log is read by line."`
	JSON      bool         `name:"json" variable:"-" help:"Short for --format json."`
}

// Help is shown by mailhostd audit --help.
func (AuditCommand) Help() string {
	return "Prints the oldest entry first. A server may use the database meanwhile."
}

// Validate is called by kong.
func (c AuditCommand) Validate() error {
	if _, err := uuid.Parse(c.AccountID); c.AccountID != "" && err != nil {
		return fmt.Errorf("--account-id: %.64q is not a UUID", c.AccountID)
	}
	if operations := audit.Operations(); c.Operation != "" && !slices.Contains(operations, c.Operation) {
		return fmt.Errorf("--operation: %.64q is unknown; it must be one of %s", c.Operation, strings.Join(operations, ", "))
	}
	if !c.Since.IsZero() && !c.Until.IsZero() && !c.Since.Before(c.Until.Time) {
		return errors.New("--until: must be later than --since")
	}
	if c.Limit < 0 {
		return errors.New("--limit: must not be negative")
	}
	return cli.RequireFile(c.Database)
}

// Run prints the entries.
func (c AuditCommand) Run(ctx context.Context, p cli.Program) (err error) {
	if err := cli.RequireExisting(c.Database); err != nil {
		return err
	}
	db, err := p.Openers.Open(ctx, c.Database, cli.OpenOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	out := bufio.NewWriter(p.Stdout)
	var printer auditPrinter = newAuditText(out)
	if c.JSON || c.Format == "json" {
		printer = newAuditJSON(out)
	}
	if err := db.View(ctx, func(r store.Reader) error { return r.EachAuditEntry(c.filter(), printer.print) }); err != nil {
		return fmt.Errorf("the audit log can't be read: %w", err)
	}
	return errors.Join(printer.flush(), out.Flush())
}

func (c AuditCommand) filter() store.AuditFilter {
	f := store.AuditFilter{
		Since: c.Since.Time, Until: c.Until.Time, Operation: c.Operation, RequestID: c.RequestID,
		Subject: c.Subject, Object: c.Object, Limit: c.Limit,
	}
	if id, err := uuid.Parse(c.AccountID); err == nil {
		f.AccountID = id.String()
	}
	return f
}
