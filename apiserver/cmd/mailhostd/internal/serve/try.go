package serve

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/url"
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
	Listen        string     `variable:"-" default:"127.0.0.1:0" placeholder:"ADDRESS" help:"Address of the API, such as 127.0.0.1:4566; a port alone is on 127.0.0.1. Default: any free port."`
	ControlListen string     `variable:"-" default:"127.0.0.1:0" placeholder:"ADDRESS" help:"Address of the control plane. Default: any free port."`
	Command       []string   `arg:"" passthrough:"partial" help:"The command, with its arguments."`
}

func (TryCommand) Help() string {
	return "The command has MAILHOST_BASE_URL, MAILHOST_ACCOUNT_ID and MAILHOST_TOKEN of an account of its own in its environment, and the URL of the control plane in MAILHOST_CONTROL_URL; NO_PROXY keeps a proxy away from both. " +
		"The account is the first one of --fixture, or an empty one. Accounts that the command creates by the control plane are isolated from each other. When the command ends, the server and the account are gone, and the exit code is the command's."
}

func (c TryCommand) Validate() error {
	if len(argvOf(c.Command)) == 0 {
		return errors.New("name the command, for instance: mailhostd try -- terraform test")
	}
	return cmp.Or(checkAddress("--listen", c.Listen), checkAddress("--control-listen", c.ControlListen))
}

// Run serves until the command ends.
func (c TryCommand) Run(ctx context.Context, p cli.Program, app *kong.Kong) error {
	flags := settings{
		Listen: c.Listen, ControlListen: notEmpty(c.ControlListen), Database: sqlite.Memory, PublishedOnly: c.PublishedOnly,
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
		urls := []string{s.url(), urlOf(s.control.Addr().String())}
		wait, err := startCommand(ctx, p, argvOf(c.Command), urls,
			"MAILHOST_BASE_URL="+urls[0], "MAILHOST_ACCOUNT_ID="+account.AccountID, "MAILHOST_TOKEN="+account.Token, "MAILHOST_CONTROL_URL="+urls[1])
		if err != nil {
			return err
		}
		go func() {
			defer stop()
			ended <- wait()
		}()
		return nil
	})
	if err != nil {
		return err
	}
	return <-ended
}

// argvOf returns a command without a leading --.
func argvOf(command []string) []string {
	if len(command) > 0 && command[0] == "--" {
		return command[1:]
	}
	return command
}

// startCommand starts a command with further environment variables, for servers at urls, and passes signals
// on to it. wait returns an error with its exit code.
func startCommand(ctx context.Context, p cli.Program, argv, urls []string, environ ...string) (wait func() error, err error) {
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	command := exec.CommandContext(running, argv[0], argv[1:]...)
	command.Stdin, command.Stdout, command.Stderr = p.Stdin, cli.Raw(p.Stdout), cli.Raw(p.Stderr)
	// The command must use no other account. For a duplicate variable, the last value counts.
	command.Env = slices.DeleteFunc(slices.Clone(p.Environ), func(entry string) bool { return strings.HasPrefix(entry, "MAILHOST_DATA_DIR=") })
	command.Env = slices.Concat(command.Env, environ, withoutProxy(p.Environ, urls))
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	group := startSentinel(running)
	if err := command.Start(); err != nil {
		stop()
		return nil, &cli.ExitError{Code: 127, Err: err}
	}
	waited := make(chan error, 1)
	go func() { waited <- command.Wait() }()
	return func() error {
		defer stop()
		var last os.Signal // to the group
		var at time.Time
		for {
			select {
			case received := <-signals:
				switch {
				case received == last && time.Since(at) < sentinelDelay: // timeout(1) signals this program and the group
				case group.receives(received):
					group, last, at = startSentinel(running), received, time.Now()
				default:
					_ = command.Process.Signal(received) // the command may have ended
				}
			case err := <-waited:
				signal.Stop(signals)
				return exitOf(err)
			}
		}
	}, nil
}

// withoutProxy returns the variables that keep a proxy away from loopback addresses and URLs. Some programs read
// only one of the two.
func withoutProxy(environ, urls []string) []string {
	hosts := []string{"127.0.0.1", "localhost", "::1"}
	for _, text := range urls {
		if u, err := url.Parse(text); err == nil && !slices.Contains(hosts, u.Hostname()) {
			hosts = append(hosts, u.Hostname())
		}
	}
	set := cli.Variables(environ)
	var variables []string
	for _, names := range [][]string{{"NO_PROXY", "no_proxy"}, {"no_proxy", "NO_PROXY"}} {
		value := cmp.Or(set[names[0]], set[names[1]])
		if value != "*" { // every host, but only if it stands alone
			value = strings.TrimPrefix(value+","+strings.Join(hosts, ","), ",")
		}
		variables = append(variables, names[0]+"="+value)
	}
	return variables
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
