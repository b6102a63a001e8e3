package operate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

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
		"If it lacks something of the fixture, or has another value, this is an error that names it; loading the same fixture again is none. " +
		"The registrar's rules are not part of a database: start the server with --fixture for these."
}

// loadedFixture is the output of fixture load: ids of accounts, and what an existing account lacks or has
// with other values.
type loadedFixture struct {
	Created   []string          `json:"created"`
	Existing  []string          `json:"existing"`
	NotLoaded []fixture.Outcome `json:"not_loaded"`
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
	outcomes, err := service.ApplyFixture(ctx, f)
	if err != nil {
		return fmt.Errorf("fixture %s: %w", c.File, err)
	}
	loaded := loadedFixture{Created: []string{}, Existing: []string{}, NotLoaded: []fixture.Outcome{}}
	for _, o := range outcomes {
		if o.State == fixture.Missing || o.State == fixture.Different {
			loaded.NotLoaded = append(loaded.NotLoaded, o)
		}
		switch {
		case o.Kind != "account":
		case o.State == fixture.Created:
			loaded.Created = append(loaded.Created, o.AccountID)
		default:
			loaded.Existing = append(loaded.Existing, o.AccountID)
		}
	}
	if err := c.Print(p, loaded, func(w io.Writer) { loaded.write(w, cli.RedactDatabase(c.Database)) }); err != nil || len(loaded.NotLoaded) == 0 {
		return err
	}
	return fmt.Errorf("fixture %s: %s of it can't be loaded, because the account exists already. To start with the fixture, load it into another database; to bring a domain into the account, follow %s",
		c.File, cli.Counted(len(loaded.NotLoaded), "object"), mergerGuide)
}

const mergerGuide = "https://registry.terraform.io/providers/mailhost/mailhost/latest/docs/guides/day-2#a-company-is-merged-in"

func (l loadedFixture) write(w io.Writer, database string) {
	for _, id := range l.Created {
		fmt.Fprintf(w, "Created the account %s. Create its token: mailhostd init --account-id %s --database %s\n", id, id, database)
	}
	for _, id := range l.Existing {
		fmt.Fprintf(w, "The account %s exists already, and was left as it is.\n", id)
		for _, state := range []struct{ name, heading string }{{fixture.Missing, "Of the fixture it lacks"}, {fixture.Different, "Other values than in the fixture"}} {
			names := map[string][]string{}
			for _, o := range l.NotLoaded {
				if o.AccountID == id && o.State == state.name {
					names[o.Kind] = append(names[o.Kind], cli.Printable(o.Name))
				}
			}
			for _, kind := range slices.Sorted(maps.Keys(names)) {
				all := names[kind]
				text := strings.Join(all[:min(len(all), mostNamed)], ", ")
				if len(all) > mostNamed {
					text += fmt.Sprintf(" and %d more", len(all)-mostNamed)
				}
				fmt.Fprintf(w, "%s: %s\n", state.heading, strings.TrimSpace(kind+" "+text))
			}
		}
	}
}

// mostNamed is the number of objects of one kind that the text names; JSON names all.
const mostNamed = 5

type fixtureDumpCommand struct {
	cli.DatabaseFlags
	Output string `variable:"-" placeholder:"FILE" help:"File to write, which must not exist. Default: standard output."`
}

func (fixtureDumpCommand) Help() string {
	return "A fixture has no credentials: tokens and master passwords are left out, and so are the audit log and the contacts of domains. Use mailhostd backup for a complete copy."
}

func (c fixtureDumpCommand) Run(ctx context.Context, p cli.Program, service cli.ReadService) error {
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
