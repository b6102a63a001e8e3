package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/audit"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

type auditCommand struct {
	Database  string `default:"mailhost.db" placeholder:"FILE" help:"SQLite file, which is only read. Default: ${default}."`
	AccountID string `placeholder:"UUID" help:"Only what was changed in this account."`
	Since     moment `placeholder:"TIME" help:"Only what was changed then or later: a time such as 2026-03-14T15:00:00Z, a date such as 2026-03-14, which begins at midnight UTC, or how long ago, such as 24h or 7d."`
	Until     moment `placeholder:"TIME" help:"Only what was changed before then, in the same forms."`
	Operation string `placeholder:"NAME" help:"Only what this operation changed, for instance create-mailbox."`
	Subject   string `placeholder:"ID" help:"Only what was changed by whoever has this id or name."`
	Object    string `placeholder:"ID" help:"Only changes of what has this id or name, for instance jane@example.com."`
	RequestID string `placeholder:"ID" help:"Only what the request with this X-Request-Id changed."`
	Limit     int    `placeholder:"COUNT" help:"Only the newest so many of those. Default: all."`
	Format    string `enum:"text,json" default:"text" placeholder:"FORMAT" help:"${enum}: a line for each entry either way. Default: ${default}."`
}

// Help is shown by mailhostd audit --help.
func (auditCommand) Help() string {
	return "The newest entry comes last. What a server writes meanwhile is not in the way, nor is the reading in its way."
}

// Validate is called by kong.
func (c auditCommand) Validate() error {
	if _, err := uuid.Parse(c.AccountID); c.AccountID != "" && err != nil {
		return fmt.Errorf("--account-id: %.64q is not a UUID", c.AccountID)
	}
	if operations := audit.Operations(); c.Operation != "" && !slices.Contains(operations, c.Operation) {
		return fmt.Errorf("--operation: %.64q is none; it must be one of %s", c.Operation, strings.Join(operations, ", "))
	}
	if !c.Since.IsZero() && !c.Until.IsZero() && !c.Since.Before(c.Until.Time) {
		return errors.New("--until: must be later than --since")
	}
	if c.Limit < 0 {
		return errors.New("--limit: must not be negative")
	}
	return onlyInFile(c.Database)
}

// onlyInFile refuses the name of a database that no other process can see.
func onlyInFile(database string) error {
	if database == sqlite.Memory {
		return errors.New("--database: a database in memory is its own process's alone; name a file")
	}
	return nil
}

// Run prints the entries.
func (c auditCommand) Run(ctx context.Context, m Main) (err error) {
	db, err := m.Openers.openWith(ctx, c.Database, OpenOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	out := bufio.NewWriter(m.Stdout)
	write := c.printer(out)
	if err := db.View(ctx, func(r store.Reader) error { return r.EachAuditEntry(c.filter(), write.entry) }); err != nil {
		return fmt.Errorf("the audit log can't be read: %w", err)
	}
	return errors.Join(write.end(), out.Flush())
}

func (c auditCommand) filter() store.AuditFilter {
	f := store.AuditFilter{
		Since: c.Since.Time, Until: c.Until.Time, Operation: c.Operation, RequestID: c.RequestID,
		Subject: c.Subject, Object: c.Object, Limit: c.Limit,
	}
	if id, err := uuid.Parse(c.AccountID); err == nil {
		f.AccountID = id.String()
	}
	return f
}

func (c auditCommand) printer(w io.Writer) auditPrinter {
	if c.Format == "json" {
		return newAuditJSON(w)
	}
	return newAuditText(w)
}

// moment is a flag's point in time.
type moment struct{ time.Time }

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *moment) UnmarshalText(text []byte) (err error) {
	if ago, ok := parseAgo(string(text)); ok {
		m.Time = time.Now().Add(-ago)
		return nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if m.Time, err = time.Parse(layout, string(text)); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%.64q is neither a time such as 2026-03-14T15:00:00Z, nor a date such as 2026-03-14, nor a duration such as 24h or 7d", text)
}

// parseAgo parses a duration as Go writes it, or a number of days of 24 hours.
func parseAgo(text string) (time.Duration, bool) {
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		n, err := strconv.ParseUint(days, 10, 16) // more would overflow
		return time.Duration(n) * 24 * time.Hour, err == nil
	}
	ago, err := time.ParseDuration(text)
	return ago, err == nil && ago >= 0
}
