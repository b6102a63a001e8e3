// Package operate provides the commands for the database of a server: backup and restore, migration to
// another engine, fixtures, and the audit log.
package operate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

type BackupCommand struct {
	Database string `default:"mailhost.db" placeholder:"FILE" help:"SQLite file to copy. Default: ${default}."`
	Output   string `required:"" placeholder:"FILE" help:"File to write the copy to. It must not exist."`
}

func (BackupCommand) Help() string {
	return "The copy is a consistent snapshot that includes every change acknowledged before the command started. A server may use the database meanwhile. " +
		"To restore it, stop the server and run mailhostd restore."
}

func (c BackupCommand) Run(ctx context.Context, p cli.Program) error {
	if c.Output == "" || c.Output == "-" {
		return cli.UsageError("--output: name a file; the copy can't be written to standard output")
	}
	if cli.Scheme(c.Database) != "" {
		return errors.New("--database: only an SQLite file can be backed up here; back up PostgreSQL with its own tool: pg_dump --format=custom --file=FILE URL")
	}
	if err := cli.RequireExisting(c.Database); err != nil {
		return err
	}
	err := sqlite.BackupFile(ctx, c.Database, c.Output)
	output, failed := errors.AsType[*sqlite.OutputError](err)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("--output: %s exists already, and a backup overwrites nothing; name another file", c.Output)
	case failed:
		return fmt.Errorf("--output: %w", output)
	case err != nil:
		return fmt.Errorf("--database: %w", err)
	}
	info, err := os.Stat(c.Output)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "%s was backed up to %s: %d bytes\n", c.Database, c.Output, info.Size())
	return err
}

type CompactCommand struct {
	Database string `default:"mailhost.db" placeholder:"FILE" help:"SQLite file to compact. Default: ${default}."`
}

func (CompactCommand) Help() string {
	return "An SQLite file keeps its size when rows are deleted, for instance by mailhostd audit --archive, and uses the space again. " +
		"This gives it back to the disk. A server may use the file meanwhile: changes wait, for some seconds for each 100 MB. It needs as much free space as the file, and as much memory."
}

func (c CompactCommand) Run(ctx context.Context, p cli.Program) error {
	if cli.Scheme(c.Database) != "" {
		return errors.New("--database: PostgreSQL uses the space of deleted rows again by itself; VACUUM FULL gives it back to the disk")
	}
	if err := cli.RequireExisting(c.Database); err != nil {
		return err
	}
	before, err := os.Stat(c.Database)
	if err != nil {
		return err
	}
	if err := sqlite.Compact(ctx, c.Database); err != nil {
		return fmt.Errorf("--database: %w", err)
	}
	after, err := os.Stat(c.Database)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "%s has %d bytes; it had %d\n", c.Database, after.Size(), before.Size())
	return err
}
