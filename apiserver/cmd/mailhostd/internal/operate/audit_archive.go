package operate

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// archiveChunk is how many entries one transaction deletes, so that a server's changes wait
// for a short time.
const archiveChunk = 2000

// archive writes the entries before --until to a new file and then deletes them. What fails
// before the file is complete and durable deletes nothing.
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
	if err := c.deleteArchived(ctx, p); err != nil {
		return fmt.Errorf("%s is complete, and not all that is in it was deleted from the database; archive again, to another file: %w", c.Archive, err)
	}
	_, err = fmt.Fprintf(p.Stdout, "the audit log before %s is in %s (%s), and no longer in the database\n", c.Until.UTC().Format(api.TimestampLayout), c.Archive, cli.Counted(written, "line"))
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
	err = c.readDatabase(ctx, p, func(e store.AuditEntry) error {
		written++
		return printEntry(e)
	})
	return written, errors.Join(err, out.Flush(), f.Sync())
}

func (c AuditCommand) deleteArchived(ctx context.Context, p cli.Program) (err error) {
	db, err := p.Openers.Open(ctx, c.Path(), cli.OpenOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for n := archiveChunk; n == archiveChunk; {
		if err := db.Update(ctx, func(tx store.Tx) (err error) {
			n, err = tx.DeleteAuditEntries(c.account(), c.Until.Time, archiveChunk)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}
