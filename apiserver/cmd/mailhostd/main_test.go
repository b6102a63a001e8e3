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
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// asProgram names the variable with which the test binary runs the program.
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
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // one that serves by mistake ends too
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
	log  *logBuffer
	stop func()
	// ended is closed when the server has ended; then code is its exit code.
	ended chan struct{}
	code  int
	cmd   *exec.Cmd // of a server in another process
}

// serveArgs are the arguments for a server on a free port.
func serveArgs(database string, more ...string) []string {
	return append([]string{"serve", "--listen", "127.0.0.1:0", "--log-format", "json", "--database", database}, more...)
}

// serve starts a server in this process.
func serve(t *testing.T, database string, more ...string) *testServer {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	s := &testServer{log: newLogBuffer(), stop: stop, ended: make(chan struct{})}
	m := Main{Args: serveArgs(database, more...), Stdout: io.Discard, Stderr: s.log, Openers: openers()}
	go func() {
		s.code = m.Run(ctx)
		s.log.end()
		close(s.ended)
	}()
	t.Cleanup(func() { stop(); <-s.ended })
	s.url, _ = s.log.wait(t, "serving")["url"].(string)
	return s
}

// spawn starts a server in another process.
func spawn(t *testing.T, database string, more ...string) *testServer {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &testServer{log: newLogBuffer(), ended: make(chan struct{}), cmd: exec.Command(self, serveArgs(database, more...)...)}
	s.cmd.Env = append(os.Environ(), asProgram+"=1")
	s.cmd.Stderr = s.log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = s.cmd.Wait() // see the exit code
		s.code = s.cmd.ProcessState.ExitCode()
		s.log.end()
		close(s.ended)
	}()
	s.stop = func() { _ = s.cmd.Process.Signal(os.Interrupt) }
	t.Cleanup(func() { _ = s.cmd.Process.Kill(); <-s.ended })
	s.url, _ = s.log.wait(t, "serving")["url"].(string)
	return s
}

// end stops the server and returns its exit code.
func (s *testServer) end() int {
	s.stop()
	<-s.ended
	return s.code
}

// logBuffer collects a JSON log, and lets a test wait for its lines.
type logBuffer struct {
	mu    sync.Mutex
	more  *sync.Cond
	text  bytes.Buffer
	ended bool
}

func newLogBuffer() *logBuffer {
	b := new(logBuffer)
	b.more = sync.NewCond(&b.mu)
	return b
}

// Write implements io.Writer.
func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.more.Broadcast()
	return b.text.Write(p)
}

func (b *logBuffer) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	b.more.Broadcast()
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// wait waits for a line with a message and returns it.
func (b *logBuffer) wait(t *testing.T, msg string) map[string]any {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		for line := range strings.Lines(b.text.String()) {
			var entry map[string]any
			if json.Unmarshal([]byte(line), &entry) == nil && entry["msg"] == msg {
				return entry
			}
		}
		if b.ended {
			t.Fatalf("the server ended without logging %q:\n%s", msg, b.text.String())
		}
		b.more.Wait()
	}
}

// caller sends requests with an owner's token.
type caller struct {
	client *http.Client
	url    string
	owner  newAccount
}

func (s *testServer) as(t *testing.T, owner newAccount) caller {
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	t.Cleanup(transport.CloseIdleConnections)
	return caller{client: &http.Client{Transport: transport}, url: s.url, owner: owner}
}

func (c caller) path(rest string) string {
	return c.url + strings.Replace(api.Prefix, "{account_id}", c.owner.AccountID, 1) + rest
}

// do sends a request with a JSON body, unless it is empty, and decodes a successful
// response into out, unless it is nil.
func (c caller) do(method, path, body string, out any, headers ...string) (status int, err error) {
	req, err := http.NewRequest(method, c.path(path), strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+c.owner.Token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	response, err := io.ReadAll(resp.Body)
	if err != nil || out == nil || resp.StatusCode > 299 {
		return resp.StatusCode, err
	}
	return resp.StatusCode, json.Unmarshal(response, out)
}

// must is do with a check of the status code.
func (c caller) must(t *testing.T, want int, method, path, body string, out any) {
	t.Helper()
	status, err := c.do(method, path, body, out)
	if err != nil || status != want {
		t.Fatalf("%s %s: %d, %v; want %d", method, path, status, err, want)
	}
}

// buy buys a domain.
func (c caller) buy(t *testing.T, domain string) (out api.Purchase) {
	t.Helper()
	c.must(t, http.StatusOK, http.MethodPost, "/domains/purchase", fmt.Sprintf(`{"domains":[%q],"workspace_id":%q,
		"contact_info":{"address_1":"1 Way","city":"X","country":"DE","email":"a@example.com","first_name":"A","last_name":"B",
		"organization":"O","phone":"+4930123456","state":"S","zip":"1"}}`, domain, c.owner.WorkspaceID), &out)
	if out.SuccessfulCount != 1 {
		t.Fatalf("%s was not bought: %+v", domain, out)
	}
	return out
}

func mailbox(domain, localPart string) string {
	return fmt.Sprintf(`{"domain":%q,"local_part":%q,"first_name":"A","last_name":"B"}`, domain, localPart)
}
