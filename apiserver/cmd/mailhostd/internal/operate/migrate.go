package operate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

type MigrateCommand struct {
	Source string `arg:"" placeholder:"SOURCE" help:"Database to copy: the path of an SQLite file, or a postgres:// URL. Stop its servers first."`
	Target string `arg:"" placeholder:"TARGET" help:"Database to copy to, in the same forms. It must be empty, or a file that does not exist."`
}

func (MigrateCommand) Help() string {
	return "Copies accounts with everything in them, credentials, the audit log, queued messages and idempotency records, in one transaction. " +
		"It reads the copy again and compares the number of rows and a checksum of each table before it commits; after an error the target is as empty as before. " +
		"Stop the servers first: a file that one uses is refused, and what servers on PostgreSQL change after the copy is not in the target. " +
		"Then start them with --database TARGET: tokens keep working. The source stays as it is, except that the schema of an older version is upgraded; it may be on a read-only file system. " +
		"Set a password in PGPASSWORD or a file of PGPASSFILE rather than on the command line."
}

func (c MigrateCommand) Run(ctx context.Context, p cli.Program) (err error) {
	if isSameFile(c.Source, c.Target) {
		return errors.New("SOURCE and TARGET are the same file")
	}
	source, err := cli.OpenDatabase(ctx, c.Source, cli.OpenOptions{ReadOnly: true, Exclusive: true})
	switch {
	case errors.Is(err, store.ErrInUse):
		return fmt.Errorf("SOURCE %s is in use, and what changes during the copy would be lost; stop the server, and try again (%w)", cli.RedactDatabase(c.Source), err)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("SOURCE %s does not exist", c.Source)
	case err != nil:
		return fmt.Errorf("SOURCE: %w", err)
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, err := cli.OpenDatabase(ctx, c.Target, cli.OpenOptions{})
	if err != nil {
		return fmt.Errorf("TARGET: %w", err)
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	progress, done := cli.ShowProgress(p.Stderr, "copying and checking")
	copied, err := sqlstore.Copy(ctx, source, target, progress)
	done()
	if err != nil {
		return fmt.Errorf("nothing was migrated from %s to %s: %w", cli.RedactDatabase(c.Source), cli.RedactDatabase(c.Target), err)
	}
	_, err = fmt.Fprintf(p.Stdout, "%s was migrated to %s: %d rows in %d tables, and every table has the same checksum\n",
		cli.RedactDatabase(c.Source), cli.RedactDatabase(c.Target), copied.Rows, copied.Tables)
	return err
}

// isSameFile reports whether two databases are the same SQLite file. A URL names no file.
func isSameFile(a, b string) bool {
	first, _ := os.Stat(a)
	second, _ := os.Stat(b)
	return os.SameFile(first, second) // false for a missing file
}
