// Package commands is the command line of mailhostd: the tree of its commands, with help, completion and
// the manual page. It contains the commands that fit in one file; the others are packages.
package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/access"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/export"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/operate"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/serve"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/userimport"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
)

type commandLine struct {
	Help    helpFlag    `short:"h" variable:"-" help:"Show help, also for a command."`
	Version versionFlag `variable:"-" help:"Show the version."`

	Init    access.InitCommand   `cmd:"" group:"Start:" help:"Create an account and print its id and a token, as JSON."`
	Serve   serve.Command        `cmd:"" group:"Start:" help:"Serve the API."`
	Try     serve.TryCommand     `cmd:"" group:"Start:" help:"Run a command, such as terraform test, with a server and an account that are gone afterwards."`
	Proxy   serve.ProxyCommand   `cmd:"" group:"Start:" help:"Pass requests on to a host of the API, and compare its responses with the contract."`
	OpenAPI serve.OpenAPICommand `cmd:"" group:"Start:" name:"openapi" help:"Print the API's OpenAPI 3.1 document."`

	Account access.AccountCommand `cmd:"" group:"Accounts and access, in a database or over HTTP:" help:"Create, list, show and delete accounts."`
	Token   access.TokenCommand   `cmd:"" group:"Accounts and access, in a database or over HTTP:" help:"Create, list and revoke tokens."`
	Grant   access.GrantCommand   `cmd:"" group:"Accounts and access, in a database or over HTTP:" help:"List, add and remove rights of users, groups and tokens."`
	Login   access.LoginCommand   `cmd:"" group:"Accounts and access, in a database or over HTTP:" help:"Sign in at the API's OAuth issuer, so that Terraform runs as you."`
	Logout  access.LogoutCommand  `cmd:"" group:"Accounts and access, in a database or over HTTP:" help:"Remove the tokens that login keeps on this machine."`
	Whoami  access.WhoamiCommand  `cmd:"" group:"Accounts and access, in a database or over HTTP:" help:"Show whose token is in use, and its rights."`

	Call    callCommand            `cmd:"" group:"Operate:" help:"Call an operation of the API, such as cancel-plan: what Terraform does with an action."`
	Fixture operate.FixtureCommand `cmd:"" group:"Operate:" help:"Load, dump and check fixtures: the content of accounts as JSON."`
	Doctor  serve.DoctorCommand    `cmd:"" group:"Operate:" help:"Check the configuration, and the files and services that the server needs."`
	Audit   operate.AuditCommand   `cmd:"" group:"Operate:" help:"Print the audit log, or archive its oldest part."`
	Import  userimport.Command     `cmd:"" group:"Operate:" help:"Create mailboxes from a CSV file, such as the user export of another mail host."`
	Export  export.Command         `cmd:"" group:"Operate:" help:"Write an account as Terraform configuration with its import blocks, or print a domain as a zone file."`
	Check   checkCommand           `cmd:"" group:"Operate:" help:"Check what a domain publishes for its mail in the DNS."`
	Backup  operate.BackupCommand  `cmd:"" group:"Operate:" help:"Copy a database, which may be in use."`
	Restore operate.RestoreCommand `cmd:"" group:"Operate:" help:"Put a backup in the place of a database, and revoke again what was revoked since."`
	Compact operate.CompactCommand `cmd:"" group:"Operate:" help:"Give the space of deleted rows in an SQLite file back to the disk."`
	Migrate operate.MigrateCommand `cmd:"" group:"Operate:" help:"Copy everything to another database, for instance from SQLite to PostgreSQL."`

	RepairTimes operate.RepairTimesCommand `cmd:"" group:"Operate:" help:"Set the times to now that a server whose clock was ahead wrote."`

	Healthcheck serve.HealthcheckCommand `cmd:"" group:"Operate:" help:"Check a running server on this machine, for a container's health check."`
	Completion  completionCommand        `cmd:"" group:"Install:" help:"Print the script that completes commands and flags in a shell."`
	Man         manCommand               `cmd:"" group:"Install:" help:"Print the manual page."`
}

// Run runs a command until it ends or ctx is cancelled, prints its error, and returns the exit code.
func Run(ctx context.Context, p cli.Program) int {
	stdout, stderr := cli.NewEscaped(p.Stdout), cli.NewEscaped(p.Stderr)
	p.Stdout, p.Stderr, p.Opened = stdout, stderr, &[]io.Closer{stdout}
	defer stderr.Close()
	help, err := parseAndRun(ctx, p)
	for _, opened := range *p.Opened {
		err = errors.Join(err, opened.Close())
	}
	exit, ended := errors.AsType[*cli.ExitError](err)
	switch {
	case err == nil:
		return cli.ExitOK
	case !ended:
		exit = &cli.ExitError{Code: cli.ExitFailure, Err: err}
	case exit.Err == nil:
		return exit.Code
	}
	advice := ""
	if exit.Code == cli.ExitUsage {
		advice = "; see " + help + " --help"
	}
	fmt.Fprintf(p.Stderr, "mailhostd: %s%s\n", err, advice)
	return exit.Code
}

// parseAndRun also returns the command whose help explains an error.
func parseAndRun(ctx context.Context, p cli.Program) (command string, err error) {
	parser, err := newParser(new(commandLine), p)
	if err != nil {
		return "", err
	}
	kongcompletion.Register(parser) // prints completions and ends the program if a shell sets COMP_LINE
	parsed, err := parser.Parse(p.Args)
	if failed, ok := errors.AsType[*kong.ParseError](err); ok {
		parsed = failed.Context
	}
	command = "mailhostd"
	if parsed != nil && parsed.Selected() != nil {
		command = parsed.Selected().FullPath()
	}
	switch {
	case errors.Is(err, errDone):
		return command, nil
	case err != nil:
		return command, cli.UsageError("%s", noValue.ReplaceAllString(err.Error(), "a value is missing"))
	}
	parsed.BindTo(ctx, (*context.Context)(nil))
	return command, parsed.Run()
}

func newParser(commands *commandLine, p cli.Program) (*kong.Kong, error) {
	return kong.New(commands,
		kong.Name("mailhostd"),
		kong.Vars{"import_fields": userimport.Fields()},
		kong.Description("The account management API as a server."),
		kong.Bind(p),
		kong.Writers(cli.Raw(p.Stdout), cli.Raw(p.Stderr)), // the help has the width of the terminal,
		kong.NoDefaultHelp(),
		kong.Resolvers(environment(p.Environ)),
		kong.ValueFormatter(helpText),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
	)
}

// noValue matches kong's error for a flag without a value at the end of the arguments.
var noValue = regexp.MustCompile(`expected \w+ value but got "EOL" \(<EOL>\)`)

// errDone ends the parsing after --help or --version.
var errDone = errors.New("done")

// helpFlag and versionFlag act during parsing, so that they work with any other arguments.
type (
	helpFlag    bool
	versionFlag bool
)

func (helpFlag) BeforeReset(ctx *kong.Context) error {
	if err := ctx.PrintUsage(false); err != nil {
		return err
	}
	return errDone
}

func (versionFlag) BeforeReset(p cli.Program) error {
	if _, err := fmt.Fprintf(p.Stdout, "mailhostd %s (%s %s/%s, schema %d)\n", p.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, postgres.OwnSchema()); err != nil {
		return err
	}
	return errDone
}

// environment resolves flags from environment variables. An empty variable is ignored.
func environment(environ []string) kong.Resolver {
	values := cli.Variables(environ)
	return kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		name := cli.VariableOf(flag.Value)
		if name == "" || values[name] == "" {
			return nil, nil
		}
		return values[name], nil
	})
}

func helpText(value *kong.Value) string {
	name := cli.VariableOf(value)
	if name == "" {
		return value.Help
	}
	return value.Help + " ($" + name + ")"
}
