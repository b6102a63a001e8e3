package serve_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/commands"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/proxy"
)

func TestProxyFlags(t *testing.T) {
	t.Parallel()
	const upstream = "https://mail.example.com"
	mailhostdtest.Fails(t, nil, cli.ExitUsage, "missing flags: --upstream=URL", "proxy")
	mailhostdtest.Fails(t, nil, cli.ExitUsage, "--upstream: must be an http or https URL", "proxy", "--upstream", "mail.example.com")
	mailhostdtest.Fails(t, nil, cli.ExitUsage, "leave out /v1, with", "proxy", "--upstream", upstream+"/v1/public/accounts")
	mailhostdtest.Fails(t, nil, cli.ExitUsage, "leave out /v1, with", "proxy", "--upstream", upstream+"/v1")
	mailhostdtest.Fails(t, nil, cli.ExitUsage, "--upstream: is empty", "proxy", "--upstream", "")
	mailhostdtest.Fails(t, nil, cli.ExitUsage, "between 0 and 65535", "proxy", "--upstream", upstream, "--listen", "65536")
	mailhostdtest.Fails(t, nil, cli.ExitUsage, "--report: is empty", "proxy", "--upstream", upstream, "--report", "")
	mailhostdtest.Fails(t, nil, cli.ExitUsage, "--anonymize: needs --record", "proxy", "--upstream", upstream, "--anonymize")
	mailhostdtest.Fails(t, nil, cli.ExitUsage, "is the proxy itself", "proxy", "--upstream", "http://127.0.0.1:45671", "--listen", "45671")
	mailhostdtest.Fails(t, nil, cli.ExitFailure, "--report: ", "proxy", "--upstream", upstream, "--report", filepath.Join(t.TempDir(), "none", "report"))
	recording := filepath.Join(t.TempDir(), "host.yaml")
	for range 2 { // the first one leaves no file
		mailhostdtest.Fails(t, nil, 127, "no-such-command", "proxy", "--upstream", upstream, "--record", recording, "--", "no-such-command")
	}
	mailhostdtest.WriteFile(t, recording, "precious")
	mailhostdtest.Fails(t, nil, cli.ExitFailure, "--record: ", "proxy", "--upstream", upstream, "--record", recording)
	text, err := os.ReadFile(recording)
	assert.Check(t, string(text) == "precious" && err == nil, "%s, %v", text, err)
}

// TestProxyCommand runs a command behind the proxy: its exit code has precedence over that of --fail.
func TestProxyCommand(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip(err)
	}
	t.Parallel()
	server, owner := mailhostdtest.Start(t)
	differing := httptest.NewServer(http.NotFoundHandler())
	defer differing.Close()
	file := filepath.Join(t.TempDir(), "report.json")
	curl := `curl -s -H "Authorization: Bearer $MAILHOST_TOKEN" "$MAILHOST_BASE_URL/v1/public/accounts/` + owner.AccountID + `/mailboxes"`
	for _, tt := range []struct {
		name, upstream, command string
		flags                   []string
		code                    int
		stdout, report          string
		differs                 bool
	}{
		{"agrees", server.URL, curl, []string{"--fail"}, 0, `{"items":[],"page":1,"page_size":25,"total":0}`, "No response differs from the contract.", false},
		{"differs", differing.URL, curl, nil, 0, "404 page not found", "The host differs from the contract: 1 absent published operation.", true},
		{"fails", differing.URL, curl, []string{"--fail"}, cli.ExitFailure, "404 page not found", "10      list-mailboxes  1         absent", true},
		{"fails as the command", differing.URL, curl + "; exit 7", []string{"--fail"}, 7, "404 page not found", "absent", true},
		{"nothing", server.URL, "true", []string{"--fail"}, cli.ExitFailure, "", "No request for an operation of the API has reached the proxy.", false},
		{"no host", "http://127.0.0.1:1", curl, []string{"--fail"}, cli.ExitFailure, "got no response", "without a response of the host: dial tcp 127.0.0.1:1: connect: connection refused", false},
		{"blocked", server.URL, curl + " -d {}", []string{"--read-only"}, 0, "--read-only did not pass create-mailbox on to the API", "create-mailbox  0         1 not passed on", false},
		{"counts blocked requests", server.URL, curl + "; " + curl + " -d {}; " + curl + " -X PUT", []string{"--read-only"}, 0, `"items":[]`, "The host was asked for 1 of the 22 published operations, and for 0 lifecycle operations.", false},
		{"names blocked requests", server.URL, curl + " -X PUT", []string{"--read-only"}, 0, "did not pass a PUT on", "1 request not passed on", false},
	} {
		environ := []string{"PATH=" + os.Getenv("PATH"), "MAILHOST_TOKEN=" + owner.Token, "MAILHOST_BASE_URL=https://mail.example.com"}
		args := append([]string{"proxy", "--upstream", tt.upstream, "--report", file}, tt.flags...)
		code, stdout, stderr := mailhostdtest.RunWith(t, environ, append(args, "--", "sh", "-c", tt.command)...)
		assert.Check(t, code == tt.code && strings.Contains(stdout, tt.stdout) && strings.Contains(stderr, tt.report), "%s: exit code %d\n%s\n%s", tt.name, code, stdout, stderr)
		var report proxy.Report
		text, err := os.ReadFile(file)
		assert.NilError(t, err)
		assert.NilError(t, json.Unmarshal(text, &report))
		assert.Check(t, report.Differs == tt.differs && report.Upstream == tt.upstream, "%s: %s", tt.name, text)
		assert.Check(t, !strings.Contains(string(text)+stderr, owner.Token) && !strings.Contains(string(text), owner.AccountID), tt.name)
	}
}

// TestRecordingIsDescribed records a host that loses the response to a create, and people.
func TestRecordingIsDescribed(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip(err)
	}
	t.Parallel()
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"items":[{"id":"11111111-2222-4333-8444-555555555555","primary_email":"jane@example.com","local_part":"jane","first_name":"Jane","last_name":"Doe"}],"page":1,"page_size":25,"total":1}`)
	}))
	defer host.Close()
	file := filepath.Join(t.TempDir(), "host.yaml")
	const url = `"$MAILHOST_BASE_URL/v1/public/accounts/11111111-2222-4333-8444-555555555555/mailboxes"`
	code, _, stderr := mailhostdtest.RunWith(t, []string{"PATH=" + os.Getenv("PATH")}, "proxy", "--upstream", host.URL, "--record", file, "--anonymize", "--", "sh", "-c", "curl -s "+url+"; curl -s -d '{}' "+url)
	assert.Check(t, is.Equal(code, cli.ExitOK), stderr)
	for _, want := range []string{
		file + " is incomplete: it lacks requests whose responses did not arrive or could not be read: create-mailbox (1×).",
		"\n    Doe → Last 1\n    Jane → First 1\n    jane → user-1\n",
	} {
		assert.Check(t, strings.Contains(stderr, want), "%s is not in %s", want, stderr)
	}
	text, err := os.ReadFile(file)
	assert.NilError(t, err)
	assert.Check(t, !strings.Contains(strings.ToLower(string(text)), "jane"), "%s", text)
}

// TestProxyAfterHangup checks that a proxy in a terminal that was closed writes its report and its recording.
func TestProxyAfterHangup(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no SIGHUP")
	}
	t.Parallel()
	server, owner := mailhostdtest.Start(t)
	self, err := os.Executable()
	assert.NilError(t, err)
	report, recording := filepath.Join(t.TempDir(), "report.json"), filepath.Join(t.TempDir(), "host.yaml")
	c := exec.CommandContext(t.Context(), self, "proxy", "--upstream", server.URL, "--report", report, "--record", recording)
	c.Env = append(os.Environ(), mailhostdtest.AsProgram+"=1")
	out, err := c.StdoutPipe()
	assert.NilError(t, err)
	assert.NilError(t, c.Start())
	url := ""
	for lines := bufio.NewScanner(out); url == "" && lines.Scan(); {
		_, url, _ = strings.Cut(lines.Text(), "export MAILHOST_BASE_URL=")
	}
	server.URL = url
	server.As(t, owner).Get("/mailboxes")
	assert.NilError(t, out.Close()) // as a terminal does
	assert.NilError(t, c.Process.Signal(syscall.SIGHUP))
	_ = c.Wait() // the report can't be printed
	for _, file := range []string{report, recording} {
		text, err := os.ReadFile(file)
		assert.Check(t, err == nil && strings.Contains(string(text), "mailboxes"), "%s: %s, %v", file, text, err)
	}
}

// TestProxyUntilInterrupted checks the output of the proxy without a command.
func TestProxyUntilInterrupted(t *testing.T) {
	t.Parallel()
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"items":[],"page":1,"page_size":25,"total":"0"}`)
	}))
	defer host.Close()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	read, write := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		p := cli.Program{Args: []string{"proxy", "--upstream", host.URL, "--fail"}, Stdout: write, Stderr: io.Discard}
		ended <- commands.Run(ctx, p)
		_ = write.Close()
	}()
	lines := bufio.NewScanner(read)
	url := ""
	for url == "" && lines.Scan() {
		_, url, _ = strings.Cut(lines.Text(), "export MAILHOST_BASE_URL=")
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/v1/public/accounts/11111111-2222-4333-8444-555555555555/domains", nil)
	assert.NilError(t, err)
	r.Header.Set("Authorization", "Bearer secret")
	response, err := http.DefaultClient.Do(r)
	assert.NilError(t, err)
	_, err = io.Copy(io.Discard, response.Body)
	assert.NilError(t, err)
	assert.NilError(t, response.Body.Close())
	interrupt()
	var report []string
	for lines.Scan() {
		if !strings.HasPrefix(lines.Text(), "Published operations that were not seen: ") {
			report = append(report, lines.Text())
		}
	}
	assert.Check(t, is.Equal(strings.Join(report, "\n"), `
The host was asked for 1 of the 22 published operations, and for 0 lifecycle operations.

NUMBER  OPERATION     REQUESTS  STATE
15      list-domains  1         differs


list-domains
  header X-Request-Id: expected a value; received no header (1×)
  response body /total: expected integer; received string (1×)

The host differs from the contract: 2 differences.`))
	assert.Check(t, is.Equal(<-ended, cli.ExitFailure))
}
