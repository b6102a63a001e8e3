package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"
)

// version is set by the release build; otherwise programVersion uses the Go build info.
var version = ""

// The program's exit codes.
const (
	exitOK = iota
	exitFailure
	exitUsage
)

// Main is the program with its inputs and outputs, so that a test can run it in
// process.
type Main struct {
	// Args are the arguments after the program's name.
	Args []string
	// Environ is the environment in the form of os.Environ.
	Environ []string
	// Stdin is read for confirmations if it is a terminal; nil: there are no questions.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Openers are the database engines.
	Openers Openers
}

// cli is the command line.
type cli struct {
	Help    helpFlag    `short:"h" help:"Show help, also for a command."`
	Version versionFlag `help:"Show the version."`

	Init    initCommand    `cmd:"" group:"Start:" help:"Create an account and print its id and a token, as JSON."`
	Serve   serveCommand   `cmd:"" group:"Start:" help:"Serve the API."`
	OpenAPI openAPICommand `cmd:"" group:"Start:" name:"openapi" help:"Print the API's OpenAPI 3.1 document."`

	Account accountCommand `cmd:"" group:"Accounts and access, in a database or over HTTP:" help:"Create, list and show accounts."`
	Token   tokenCommand   `cmd:"" group:"Accounts and access, in a database or over HTTP:" help:"Create, list and revoke tokens."`
	Grant   grantCommand   `cmd:"" group:"Accounts and access, in a database or over HTTP:" help:"List, add and remove rights of users, groups and tokens."`
	Login   loginCommand   `cmd:"" group:"Accounts and access, in a database or over HTTP:" help:"Sign in at the API's OAuth issuer, so that Terraform runs as you."`
	Logout  logoutCommand  `cmd:"" group:"Accounts and access, in a database or over HTTP:" help:"Remove the tokens that login keeps on this machine."`
	Whoami  whoamiCommand  `cmd:"" group:"Accounts and access, in a database or over HTTP:" help:"Show whose token is in use, and its rights."`

	Fixture fixtureCommand `cmd:"" group:"Operate:" help:"Load, dump and check fixtures: the content of accounts as JSON."`
	Doctor  doctorCommand  `cmd:"" group:"Operate:" help:"Check the configuration, and what the server depends on."`
	Audit   auditCommand   `cmd:"" group:"Operate:" help:"Print the audit log."`
	Import  importCommand  `cmd:"" group:"Operate:" help:"Create mailboxes from a CSV file, such as the user export of another mail host."`
	Backup  backupCommand  `cmd:"" group:"Operate:" help:"Copy a database, which may be in use."`
	Restore restoreCommand `cmd:"" group:"Operate:" help:"Put a backup in the place of a database, and revoke again what was revoked since."`
	Migrate migrateCommand `cmd:"" group:"Operate:" help:"Copy everything to another database, for instance from SQLite to PostgreSQL."`

	Healthcheck healthcheckCommand `cmd:"" group:"Operate:" help:"Check a running server on this machine, for a container's health check."`
	Completion  completionCommand  `cmd:"" group:"Install:" help:"Print the script that completes commands and flags in a shell."`
	Man         manCommand         `cmd:"" group:"Install:" help:"Print the manual page."`
}

// Run runs a command until it ends or ctx is cancelled, prints its error, and returns
// the exit code.
func (m Main) Run(ctx context.Context) int {
	err := m.run(ctx)
	var usage *usageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage):
		fmt.Fprintf(m.Stderr, "mailhostd: %s; see mailhostd --help\n", err)
		return exitUsage
	}
	fmt.Fprintf(m.Stderr, "mailhostd: %s\n", err)
	return exitFailure
}

func (m Main) run(ctx context.Context) error {
	parser, err := newParser(new(cli), m)
	if err != nil {
		return err
	}
	if done, err := m.completes(parser); done || err != nil {
		return err
	}
	command, err := parser.Parse(m.Args)
	switch {
	case errors.Is(err, errDone):
		return nil
	case err != nil:
		return &usageError{err}
	}
	command.BindTo(ctx, (*context.Context)(nil))
	return command.Run(m)
}

// newParser returns the parser of the command line.
func newParser(commands *cli, m Main) (*kong.Kong, error) {
	return kong.New(commands,
		kong.Name("mailhostd"),
		kong.Vars{"import_fields": importFields()},
		kong.Description("The account management API as a server."),
		kong.Writers(m.Stdout, m.Stderr),
		kong.NoDefaultHelp(),
		kong.Resolvers(environment(m.Environ)),
		kong.ValueFormatter(helpText),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
	)
}

// usageError is an error of the command line.
type usageError struct{ error }

// Unwrap is for package errors.
func (e *usageError) Unwrap() error { return e.error }

// errDone ends the parsing after --help or --version.
var errDone = errors.New("done")

// helpFlag and versionFlag act during parsing, so that they work with any other
// arguments.
type (
	helpFlag    bool
	versionFlag bool
)

// BeforeReset is called by kong.
func (helpFlag) BeforeReset(ctx *kong.Context) error {
	if err := ctx.PrintUsage(false); err != nil {
		return err
	}
	return errDone
}

// BeforeReset is called by kong.
func (versionFlag) BeforeReset(app *kong.Kong) error {
	if _, err := fmt.Fprintf(app.Stdout, "mailhostd %s (%s %s/%s)\n", programVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH); err != nil {
		return err
	}
	return errDone
}

func programVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// variable returns the name of the environment variable for a flag.
func variable(flag string) string {
	return "MAILHOSTD_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// variables returns the environment by name.
func variables(environ []string) map[string]string {
	values := map[string]string{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		values[name] = value
	}
	return values
}

// variable returns a variable of the environment, or "".
func (m Main) variable(name string) string { return variables(m.Environ)[name] }

// environment resolves flags from environment variables. An empty variable is ignored.
func environment(environ []string) kong.Resolver {
	values := variables(environ)
	return kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		name := variableOf(flag.Value)
		if name == "" || values[name] == "" {
			return nil, nil
		}
		return values[name], nil
	})
}

// variableOf returns the name of the variable that sets a flag, or "": what is a choice of
// one command, such as --json, has none. The tag "variable" has another name, or "-".
func variableOf(flag *kong.Value) string {
	if flag.Flag == nil { // an argument
		return ""
	}
	switch flag.Target.Interface().(type) {
	case helpFlag, versionFlag:
		return ""
	}
	switch name := flag.Tag.Get("variable"); name {
	case "":
		return variable(flag.Name)
	case "-":
		return ""
	default:
		return name
	}
}

func helpText(value *kong.Value) string {
	name := variableOf(value)
	if name == "" {
		return value.Help
	}
	return value.Help + " ($" + name + ")"
}
