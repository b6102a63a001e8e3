package operate

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/audit"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/account"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

type AuditCommand struct {
	cli.TargetFlags `set:"account=all of the database; over HTTP it is required"`

	Since     cli.TimeFlag `placeholder:"TIME" help:"Only changes at this time or later: a time such as 2026-03-14T15:00:00Z, a date such as 2026-03-14 (midnight UTC), or a duration before now, such as 24h or 7d."`
	Until     cli.TimeFlag `placeholder:"TIME" help:"Only changes before this time, in the same forms."`
	Operation string       `placeholder:"NAME" help:"Only changes by this operation, for instance create-mailbox."`
	Subject   string       `placeholder:"ID" help:"Only changes by the callers with this id or name. Several may have one name; BY shows the kind and the id of each."`
	Object    string       `placeholder:"ID" help:"Only changes of the object with this id or name, for instance jane@example.com."`
	RequestID string       `placeholder:"ID" help:"Only changes by the request with this X-Request-Id."`
	Limit     int          `placeholder:"COUNT" help:"Only the newest entries, up to this number. Default: all."`
	Format    string       `enum:"text,json" default:"text" placeholder:"FORMAT" help:"Output format: ${enum}, each with one line per entry. Default: ${default}, also elsewhere than on a terminal, because a log is read by line."`
	Archive   string       `placeholder:"FILE" variable:"-" help:"Write the changes before --until to this new file, as JSON, and then delete them from the database. The newest entry of all accounts stays, so that its number is not used again. --until must be at least an hour ago."`
	JSON      *bool        `name:"json" negatable:"" variable:"-" help:"Short for --format json; --no-json for --format text."`
}

func (AuditCommand) Help() string {
	return "Prints the oldest entry first. " +
		"Over HTTP the token needs the right audit_log.view, and what you select is read before the first line is printed: select a part of a long log with --since or --limit."
}

func (c AuditCommand) Validate() error {
	if operations := audit.Operations(); c.Operation != "" && !slices.Contains(operations, c.Operation) {
		return fmt.Errorf("--operation: %.64q is unknown; it must be one of %s", c.Operation, strings.Join(operations, ", "))
	}
	if !c.Since.IsZero() && !c.Until.IsZero() && !c.Since.Before(c.Until.Time) {
		return errors.New("--until: must be later than --since")
	}
	if c.Limit < 0 {
		return errors.New("--limit: must not be negative")
	}
	if c.Archive != "" {
		if time.Since(c.Until.Time) < time.Hour || c.Until.IsZero() {
			return errors.New("--archive: needs an --until that is at least an hour ago, such as 365d")
		}
		if !c.Since.IsZero() || c.Limit != 0 || c.Operation+c.Subject+c.Object+c.RequestID != "" {
			return errors.New("--archive: takes --until and --account-id alone, so that the log has no gaps")
		}
	}
	return nil
}

func (c AuditCommand) Run(ctx context.Context, p cli.Program) error {
	remote, err := c.IsRemote(p)
	if err != nil {
		return err
	}
	if c.Archive != "" {
		if remote {
			return errors.New("--archive: works on a database alone; name it with --database")
		}
		return c.archive(ctx, p)
	}
	out := bufio.NewWriter(p.Stdout)
	printEntry, flush := auditText(out)
	if c.JSON == nil && c.Format == "json" || c.JSON != nil && *c.JSON {
		printEntry = auditJSON(out)
	}
	read := c.readDatabase
	if remote {
		read = c.readRemote
	}
	if err := read(ctx, p, printEntry); err != nil {
		return err
	}
	flush()
	return out.Flush()
}

// auditEntry is an entry of the audit log with its account.
type auditEntry struct {
	AccountID string
	api.AuditEntry
}

// readDatabase calls fn for each entry in a database, the newest last.
func (c AuditCommand) readDatabase(ctx context.Context, p cli.Program, fn func(auditEntry) error) (err error) {
	if err := cli.RequireExisting(c.Path()); err != nil {
		return err
	}
	db, err := cli.OpenDatabase(ctx, c.Path(), cli.OpenOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	f := store.AuditFilter{
		AccountID: string(c.AccountID), Since: c.Since.Time, Until: c.Until.Time, Operation: c.Operation, RequestID: c.RequestID,
		Subject: c.Subject, Object: c.Object, Limit: c.Limit,
	}
	if err := db.View(ctx, func(r store.Reader) error {
		return r.EachAuditEntry(f, func(e store.AuditEntry) error { return fn(auditEntry{e.AccountID, account.AuditEntry(e)}) })
	}); err != nil {
		return fmt.Errorf("the audit log can't be read: %w", err)
	}
	return nil
}

// auditPage is the largest number of entries in one response.
const auditPage = 100

// readRemote calls fn for each entry of an account over HTTP, in reverse order of the API's list: the newest last.
func (c AuditCommand) readRemote(ctx context.Context, p cli.Program, fn func(auditEntry) error) error {
	t, err := c.OpenRemote(p)
	if err != nil {
		return err
	}
	in := &api.ListAuditLogRequest{
		Since: queryTime(c.Since), Until: queryTime(c.Until), Operation: c.Operation, RequestID: c.RequestID, Subject: c.Subject, Object: c.Object,
	}
	var entries []api.AuditEntry
	for {
		in.Limit = auditPage
		if c.Limit > 0 {
			in.Limit = min(auditPage, c.Limit-len(entries))
		}
		page, err := apiclient.Call(ctx, t.Client, api.ListAuditLog, in)
		if err != nil {
			return err
		}
		entries = append(entries, *page...)
		if len(*page) < in.Limit || len(entries) == c.Limit {
			break
		}
		last := entries[len(entries)-1].CreatedAt
		if in.Until != "" && last >= in.Until { // the loop would never end
			return fmt.Errorf("%s returned an entry of the audit log that is not before %s, as requested; check the URL", t.Name, in.Until)
		}
		in.Until = last
	}
	for _, e := range slices.Backward(entries) {
		if err := fn(auditEntry{t.AccountID, e}); err != nil {
			return err
		}
	}
	return nil
}

// queryTime returns a time for a query of the API, or "" for the zero time.
func queryTime(f cli.TimeFlag) string {
	if f.IsZero() {
		return ""
	}
	return f.UTC().Format(api.TimestampLayout)
}

// archiveChunk limits the entries that one transaction deletes, so that a server's changes wait only for
// a short time.
const archiveChunk = 2000

// archive writes the entries before --until to a new file, and deletes them once the file is complete and durable.
func (c AuditCommand) archive(ctx context.Context, p cli.Program) error {
	if err := cli.RequireExisting(c.Path()); err != nil {
		return err
	}
	written, err := c.writeArchive(ctx, p)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("--archive: %s exists already, and an archive overwrites nothing; name another file", c.Archive)
	}
	if err != nil {
		return fmt.Errorf("--archive: nothing was deleted: %w", err)
	}
	deleted, err := c.deleteArchived(ctx)
	if err != nil {
		return fmt.Errorf("%s is complete, and not all that is in it was deleted from the database; archive again, to another file: %w", c.Archive, err)
	}
	_, err = fmt.Fprintf(p.Stdout, "the audit log before %s is in %s (%s); deleted from the database: %s\n",
		c.Until.UTC().Format(api.TimestampLayout), c.Archive, cli.Counted(written, "line"), cli.Counted(deleted, "entry"))
	return err
}

func (c AuditCommand) writeArchive(ctx context.Context, p cli.Program) (written int, err error) {
	f, err := os.OpenFile(c.Archive, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(err, os.Remove(c.Archive))
		}
	}()
	out := bufio.NewWriter(f)
	printEntry := auditJSON(out)
	err = c.readDatabase(ctx, p, func(e auditEntry) error {
		written++
		return printEntry(e)
	})
	return written, errors.Join(err, out.Flush(), f.Sync())
}

func (c AuditCommand) deleteArchived(ctx context.Context) (deleted int, err error) {
	db, err := cli.OpenDatabase(ctx, c.Path(), cli.OpenOptions{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for n := archiveChunk; n == archiveChunk; deleted += n {
		if err := db.Update(ctx, func(tx store.Tx) (err error) {
			n, err = tx.DeleteAuditEntries(string(c.AccountID), c.Until.Time, archiveChunk)
			return err
		}); err != nil {
			return 0, err
		}
	}
	return deleted, nil
}
