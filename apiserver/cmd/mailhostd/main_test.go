package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

// asProgram is the environment variable that makes the test binary run the program.
const asProgram = "TEST_AS_MAILHOSTD"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(execute())
	}
	os.Exit(m.Run())
}

// run runs a command and returns its exit code and output.
func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return runWith(t, nil, args...)
}

func runWith(t *testing.T, environ []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // ends a server that was started by mistake
	defer cancel()
	var out, errors bytes.Buffer
	m := Main{Args: args, Environ: environ, Stdout: &out, Stderr: &errors, Openers: openers()}
	code = m.Run(ctx)
	return code, out.String(), errors.String()
}

// initialize creates an account in a new database.
func initialize(t *testing.T) (database string, owner newAccount) {
	t.Helper()
	database = filepath.Join(t.TempDir(), "mailhost.db")
	return database, initializeIn(t, database)
}

func initializeIn(t *testing.T, database string, args ...string) (owner newAccount) {
	t.Helper()
	code, stdout, stderr := run(t, append([]string{"init", "--database", database}, args...)...)
	if code != exitOK || stderr != "" {
		t.Fatalf("init: exit code %d, stderr %q", code, stderr)
	}
	if err := json.Unmarshal([]byte(stdout), &owner); err != nil {
		t.Fatalf("init printed %q: %v", stdout, err)
	}
	return owner
}

// testServer is a running server, in this process or another.
type testServer struct {
	url  string
	log  *apitest.Log
	stop func()
	// ended is closed when the server has ended; code is then its exit code.
	ended chan struct{}
	code  int
	cmd   *exec.Cmd // nil if the server runs in this process
}

// serveArgs returns the arguments for a server on a free port.
func serveArgs(database string, more ...string) []string {
	return append([]string{"serve", "--listen", "127.0.0.1:0", "--log-format", "json", "--database", database}, more...)
}

// serve starts a server in this process.
func serve(t *testing.T, database string, more ...string) *testServer {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	s := &testServer{log: apitest.NewLog(), stop: stop, ended: make(chan struct{})}
	m := Main{Args: serveArgs(database, more...), Stdout: io.Discard, Stderr: s.log, Openers: openers()}
	go func() {
		s.code = m.Run(ctx)
		s.log.End()
		close(s.ended)
	}()
	t.Cleanup(func() { s.end(t) })
	s.url, _ = s.log.Wait(t, "serving")["url"].(string)
	return s
}

// spawn starts a server in another process.
func spawn(t *testing.T, database string, more ...string) *testServer {
	t.Helper()
	s := spawnWith(t, nil, database, more...)
	s.url, _ = s.log.Wait(t, "serving")["url"].(string)
	return s
}

// spawnWith starts a server in another process and does not wait for it. The command
// before, such as one that sets limits, runs the program.
func spawnWith(t *testing.T, before []string, database string, more ...string) *testServer {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := slices.Concat(before, []string{self}, serveArgs(database, more...))
	s := &testServer{log: apitest.NewLog(), ended: make(chan struct{}), cmd: exec.Command(args[0], args[1:]...)}
	s.cmd.Env = append(os.Environ(), asProgram+"=1")
	s.cmd.Stderr = s.log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = s.cmd.Wait() // exitCode reads the exit code
		s.code = s.cmd.ProcessState.ExitCode()
		s.log.End()
		close(s.ended)
	}()
	s.stop = func() { _ = s.cmd.Process.Signal(os.Interrupt) }
	t.Cleanup(func() { _ = s.cmd.Process.Kill(); s.exitCode(t) })
	return s
}

// end stops the server and returns its exit code.
func (s *testServer) end(t *testing.T) int {
	t.Helper()
	s.stop()
	return s.exitCode(t)
}

// exitCode waits for the end of the server and returns its exit code.
func (s *testServer) exitCode(t *testing.T) int {
	t.Helper()
	apitest.Receive(t, s.ended)
	return s.code
}

// as returns a client with an owner's token.
func (s *testServer) as(t testing.TB, owner newAccount) *apitest.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	t.Cleanup(transport.CloseIdleConnections)
	return &apitest.Client{T: t, HTTP: &http.Client{Transport: transport}, URL: s.url, Account: owner.AccountID, Token: owner.Token}
}

func mailbox(domain, localPart string) string {
	return fmt.Sprintf(`{"domain":%q,"local_part":%q,"first_name":"A","last_name":"B"}`, domain, localPart)
}
