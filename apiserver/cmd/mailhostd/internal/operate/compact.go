package operate

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

type CompactCommand struct {
	Database string `default:"mailhost.db" placeholder:"FILE" help:"SQLite file to compact. Default: ${default}."`
}

func (CompactCommand) Help() string {
	return "An SQLite file keeps its size when rows are deleted, for instance by mailhostd audit --archive, and uses the space again. " +
		"This gives it back to the disk. A server may use the file meanwhile: changes wait, for some seconds for each 100 MB. It needs as much free space as the file."
}

func (c CompactCommand) Validate() error { return cli.RequireFile(c.Database) }

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
