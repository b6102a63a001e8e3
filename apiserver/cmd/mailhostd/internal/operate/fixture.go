package operate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
)

type FixtureCommand struct {
	Load     fixtureLoadCommand     `cmd:"" help:"Create the accounts of a fixture in a database."`
	Dump     fixtureDumpCommand     `cmd:"" help:"Print the accounts of a database as a fixture."`
	Validate fixtureValidateCommand `cmd:"" help:"Check a fixture without loading it."`
}

func (FixtureCommand) Help() string {
	return "A fixture is a JSON file with the initial content of accounts, and with the registrar's rules."
}

type fixtureLoadCommand struct {
	File     string `arg:"" help:"The fixture."`
	Database string `default:"mailhost.db" placeholder:"FILE" help:"SQLite file, created if it does not exist, or postgres:// URL of a database; a server may use it. Default: ${default}."`
	cli.OutputFlags
}

func (fixtureLoadCommand) Help() string {
	return "An account that exists already is left as it is, so load a fixture before mailhostd init creates a token for its account. " +
		"The registrar's rules are not part of a database: start the server with --fixture for these."
}

// loadedFixture is the output of fixture load, ids of accounts.
type loadedFixture struct {
	Created  []string `json:"created"`
	Existing []string `json:"existing"`
}

func (c fixtureLoadCommand) Run(ctx context.Context, p cli.Program) error {
	f, err := cli.ReadFile("fixture", c.File, fixture.Read)
	if err != nil {
		return err
	}
	service, err := cli.OpenService(ctx, p, c.Database, cli.OpenOptions{})
	if err != nil {
		return err
	}
	before, err := service.Accounts(ctx)
	if err != nil {
		return err
	}
	if err := service.LoadFixture(ctx, f); err != nil {
		return fmt.Errorf("fixture %s: %w", c.File, err)
	}
	loaded := loadedFixture{Created: []string{}, Existing: []string{}}
	for _, a := range f.Accounts {
		if id := api.CanonicalID(a.ID); slices.Contains(before, id) {
			loaded.Existing = append(loaded.Existing, id)
		} else {
			loaded.Created = append(loaded.Created, id)
		}
	}
	return c.Print(p, loaded, func(w io.Writer) {
		for _, id := range loaded.Created {
			fmt.Fprintf(w, "Created the account %s. Create its token: mailhostd init --account-id %s --database %s\n", id, id, cli.RedactDatabase(c.Database))
		}
		for _, id := range loaded.Existing {
			fmt.Fprintf(w, "The account %s exists already: nothing of the fixture was loaded for it.\n", id)
		}
	})
}

type fixtureDumpCommand struct {
	cli.DatabaseFlags
	Output string `variable:"-" placeholder:"FILE" help:"File to write, which must not exist. Default: standard output."`
}

func (fixtureDumpCommand) Help() string {
	return "A fixture has no credentials: tokens and master passwords are left out, and so are the audit log and the contacts of domains. Use mailhostd backup for a complete copy."
}

func (c fixtureDumpCommand) Run(ctx context.Context, p cli.Program, service *apiserver.Service) error {
	f, err := service.DumpFixture(ctx)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if c.Output == "" {
		_, err = p.Stdout.Write(text)
		return err
	}
	if err := cli.WriteNew(c.Output, text, 0o600); errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("--output: %s exists already; name another file", c.Output)
	} else if err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	return nil
}

type fixtureValidateCommand struct {
	File string `arg:"" help:"The fixture."`
	cli.OutputFlags
}

func (c fixtureValidateCommand) Run(p cli.Program) error {
	f, err := cli.ReadFile("fixture", c.File, fixture.Read)
	if err != nil {
		return err
	}
	return c.Print(p, struct {
		Valid    bool `json:"valid"`
		Accounts int  `json:"accounts"`
	}{true, len(f.Accounts)}, func(w io.Writer) {
		fmt.Fprintf(w, "%s is valid and has %s.\n", c.File, cli.Counted(len(f.Accounts), "account"))
	})
}
