package serve

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

type TryCommand struct {
	testFlags
	PublishedOnly bool       `help:"Leave out the lifecycle operations, which extend the published API."`
	LogLevel      slog.Level `default:"error" placeholder:"LEVEL" help:"Minimum level of log lines: debug, info, warn or error. Default: ${default}."`
	Command       []string   `arg:"" passthrough:"" help:"The command, with its arguments."`
}

func (TryCommand) Help() string {
	return "The command has MAILHOST_BASE_URL, MAILHOST_ACCOUNT_ID and MAILHOST_TOKEN of an account of its own in its environment, and the URL of the control plane in MAILHOST_CONTROL_URL. " +
		"The account is the first one of --fixture, or an empty one. Accounts that the command creates by the control plane are isolated from each other. When the command ends, the server and the account are gone, and the exit code is the command's."
}

func (c TryCommand) Validate() error {
	if len(c.argv()) == 0 {
		return errors.New("name the command, for instance: mailhostd try -- terraform test")
	}
	return nil
}

// argv returns the command without a leading --.
func (c TryCommand) argv() []string {
	if len(c.Command) > 0 && c.Command[0] == "--" {
		return c.Command[1:]
	}
	return c.Command
}

// Run serves until the command ends.
func (c TryCommand) Run(ctx context.Context, p cli.Program, app *kong.Kong) error {
	flags := settings{
		Listen: "127.0.0.1:0", ControlListen: "127.0.0.1:0", Database: sqlite.Memory, PublishedOnly: c.PublishedOnly,
		ShutdownTimeout: time.Second, testFlags: c.testFlags, logFlags: logFlags{LogLevel: c.LogLevel},
	}
	// A signal to this program is for the command, so the server runs until the command ends.
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	ended := make(chan error, 1)
	err := flags.run(serving, p, app, func(s *server, service *apiserver.Service, plane *control.Plane) error {
		plane.IsolateByDefault = true
		var options control.AccountOptions
		if accounts := plane.Fixture.Accounts; len(accounts) > 0 {
			options.AccountID = accounts[0].ID
		} else if plane.Replay != nil {
			options.AccountID = plane.Replay.AccountID()
		}
		options.Isolated = new(bool) // the account belongs to the server itself
		account, err := plane.CreateAccount(ctx, service, options)
		if err != nil {
			return err
		}
		plane.Keep(account)
		argv := c.argv()
		command := exec.CommandContext(context.WithoutCancel(ctx), argv[0], argv[1:]...)
		command.Stdin, command.Stdout, command.Stderr = p.Stdin, p.Stdout, p.Stderr
		// The command must use no other account. For a duplicate variable, the last value counts.
		command.Env = slices.DeleteFunc(slices.Clone(p.Environ), func(entry string) bool { return strings.HasPrefix(entry, "MAILHOST_DATA_DIR=") })
		command.Env = append(command.Env, "MAILHOST_BASE_URL="+s.url(), "MAILHOST_ACCOUNT_ID="+account.AccountID, "MAILHOST_TOKEN="+account.Token, "MAILHOST_CONTROL_URL="+urlOf(s.control.Addr().String()))
		forwarded := make(chan os.Signal, 1)
		signal.Notify(forwarded, os.Interrupt, syscall.SIGTERM)
		if err := command.Start(); err != nil {
			return &cli.ExitError{Code: 127, Err: err}
		}
		go func() {
			for s := range forwarded {
				// A terminal sends an interrupt to the command too. A second interrupt would, for
				// instance, end Terraform at once without writing a state.
				if s != os.Interrupt || !cli.IsTerminal(os.Stdin) && !cli.IsTerminal(os.Stderr) {
					_ = command.Process.Signal(s) // the command may have ended
				}
			}
		}()
		go func() {
			defer stop()
			ended <- exitOf(command.Wait())
			signal.Stop(forwarded)
			close(forwarded)
		}()
		return nil
	})
	if err != nil {
		return err
	}
	return <-ended
}

// exitOf returns an error with the exit code of a command, like a shell.
func exitOf(err error) error {
	exit, failed := errors.AsType[*exec.ExitError](err)
	if !failed {
		return err
	}
	code := exit.ExitCode()
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && code < 0 {
		code = 128 + int(status.Signal())
	}
	return &cli.ExitError{Code: cmp.Or(max(code, 0), cli.ExitFailure)}
}
