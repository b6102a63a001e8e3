// Package postgrestest starts PostgreSQL for tests.
//
// The tests of a package share a cluster, which initdb and pg_ctl (on PATH, or below
// /usr/lib/postgresql) create. Each test uses a new database, a copy of a template with the
// current schema. Without these programs the tests are skipped, unless the variable
// MAILHOSTD_TEST_POSTGRES is "required". With "none" they are always skipped.
package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"gotest.tools/v3/assert"
)

// variable is the environment variable that the package comment describes.
const variable = "MAILHOSTD_TEST_POSTGRES"

// TB contains the methods of a *testing.T or a *rapid.T that the package needs.
type TB interface {
	assert.TestingT
	Helper()
	Context() context.Context
	Cleanup(fn func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
}

// Cluster is a server with its databases in a temporary directory.
type Cluster struct {
	dir, bin string
	settings []string
	// supervisor removes the cluster when its input is closed, at the latest by the end of this process.
	supervisor *exec.Cmd
	input      io.Closer
}

// ErrMissing means that PostgreSQL is not installed, or that MAILHOSTD_TEST_POSTGRES is "none".
var ErrMissing = errors.New("MAILHOSTD_TEST_POSTGRES is none, or initdb and pg_ctl are neither on PATH nor below /usr/lib/postgresql")

// Start starts a cluster that a test can stop or crash, and removes it when the test ends. It skips
// the test if there is no PostgreSQL.
func Start(t TB) *Cluster {
	t.Helper()
	c, err := New(volatile...)
	if err != nil {
		skip(t, err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// volatile are settings for tests. A commit survives a crash of the server, but not of the machine.
var volatile = []string{"fsync=off", "full_page_writes=off"}

// New starts a cluster with some settings, or returns ErrMissing.
func New(settings ...string) (*Cluster, error) {
	bin, err := findBin()
	if err != nil {
		return nil, err
	}
	// Not below TMPDIR: the path of a socket is limited to a hundred bytes.
	dir, err := os.MkdirTemp("/tmp", "mailhost-postgres-")
	if err != nil {
		return nil, err
	}
	c := &Cluster{dir: dir, bin: bin, settings: settings}
	if err := errors.Join(own(dir), c.supervise()); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	initdb := []string{"--pgdata", filepath.Join(c.dir, "data"), "--username", "postgres", "--auth", "trust", "--encoding", "UTF8", "--no-sync", "--locale", "C"}
	if err := errors.Join(c.run("initdb", initdb...), c.StartServer()); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Close removes the cluster.
func (c *Cluster) Close() error { return errors.Join(c.input.Close(), c.supervisor.Wait()) }

// skip ends a test without a server: it skips the test if PostgreSQL may be missing, or fails it.
func skip(t TB, err error) {
	t.Helper()
	if errors.Is(err, ErrMissing) && os.Getenv(variable) != "required" {
		t.Skipf("not tested on PostgreSQL: %v; install postgresql", err)
	}
	t.Fatalf("PostgreSQL can't be started: %v", err)
}

// findBin returns the directory of PostgreSQL's programs.
func findBin() (string, error) {
	if os.Getenv(variable) == "none" {
		return "", ErrMissing
	}
	candidates, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.Reverse(candidates) // the latest version first
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			candidates = append([]string{filepath.Dir(path)}, candidates...)
		}
	}
	for _, dir := range candidates {
		if _, err := exec.LookPath(filepath.Join(dir, "pg_ctl")); err == nil {
			return dir, nil
		}
	}
	return "", ErrMissing
}

// supervise starts a process that removes the cluster after the end of this process, also if a test
// panics or is killed.
func (c *Cluster) supervise() error {
	const script = `trap '' INT TERM HUP; cat; "$1/pg_ctl" -D "$2/data" -m immediate stop; rm -rf "$2"`
	c.supervisor = exec.Command("/bin/sh", "-c", script, "sh", c.bin, c.dir) //nolint:noctx // it ends after this process
	apart(c.supervisor)
	var err error
	if c.input, err = c.supervisor.StdinPipe(); err != nil {
		return err
	}
	return c.supervisor.Start()
}

// StartServer starts the server again after Stop.
func (c *Cluster) StartServer() error {
	options := []string{"-k " + c.dir, "-c listen_addresses=", "-c max_connections=300", "-c shared_buffers=64MB", "-c max_wal_size=2GB"}
	for _, setting := range c.settings {
		options = append(options, "-c "+setting)
	}
	return c.run("pg_ctl", "-D", filepath.Join(c.dir, "data"), "-l", filepath.Join(c.dir, "log"), "-w", "-o", strings.Join(options, " "), "start")
}

// Stop stops the server at once. Its clients lose their connections.
func (c *Cluster) Stop() error { return c.stop("fast") }

// Crash ends the server as a crash does. StartServer recovers the commits from the server's log.
func (c *Cluster) Crash() error { return c.stop("immediate") }

func (c *Cluster) stop(mode string) error {
	return c.run("pg_ctl", "-D", filepath.Join(c.dir, "data"), "-m", mode, "-w", "stop")
}

// URL returns the URL of a database for a user.
func (c *Cluster) URL(user, database string) string {
	u := url.URL{Scheme: "postgres", User: url.User(user), Path: "/" + database, RawQuery: url.Values{"host": {c.dir}}.Encode()}
	return u.String()
}

// TCP returns the URL of a database for a user over TCP, by a port that forwards to the server's socket.
func (c *Cluster) TCP(t TB, user, database string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it does not wait
	assert.NilError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer in.Close()
				out, err := net.Dial("unix", filepath.Join(c.dir, ".s.PGSQL.5432")) //nolint:noctx // it does not wait
				if err != nil {
					return
				}
				defer out.Close()
				go func() { _, _ = io.Copy(out, in); _ = out.Close() }()
				_, _ = io.Copy(in, out)
			}()
		}
	}()
	u := url.URL{Scheme: "postgres", User: url.User(user), Host: l.Addr().String(), Path: "/" + database}
	return u.String()
}

// run runs a program of PostgreSQL, which refuses to run as root.
func (c *Cluster) run(program string, args ...string) error {
	cmd := exec.CommandContext(context.Background(), filepath.Join(c.bin, program), args...)
	cmd.Dir = c.dir
	apart(cmd)
	if output, err := cmd.CombinedOutput(); err != nil { // the server's output goes to the log
		return fmt.Errorf("%s: %w: %s", program, err, output)
	}
	return nil
}

// Dir returns the directory of the socket and, in data, of the databases.
func (c *Cluster) Dir() string { return c.dir }
