package serve_test

import (
	"cmp"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/poll"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
)

// TestTry checks the environment and the exit code of the command, and that the server ends with it.
func TestTry(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for a POSIX shell")
	}
	t.Parallel()
	environ := []string{"MAILHOST_BASE_URL=https://mail.example.com", "MAILHOST_DATA_DIR=x", "PATH=" + os.Getenv("PATH")}
	for _, tt := range []struct {
		args   []string
		code   int
		stdout string
	}{
		{[]string{"--", "sh", "-c", "exit 7"}, 7, ""},
		{[]string{"sh", "-c", `kill -KILL $$`}, 128 + 9, ""},
		{[]string{"echo", "--fixture"}, 0, "--fixture\n"},
		{[]string{"--fixture", mailhostdtest.FixturePath, "--", "sh", "-c", `echo $MAILHOST_ACCOUNT_ID`}, 0, "0b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10\n"},
		{[]string{"sh", "-c", `env | grep -c ^MAILHOST_`}, 0, "4\n"},
	} {
		code, stdout, stderr := mailhostdtest.RunWith(t, environ, append([]string{"try"}, tt.args...)...)
		assert.Check(t, code == tt.code && stdout == tt.stdout && stderr == "", "%v: exit code %d, stdout %q, stderr %q; want %d, %q", tt.args, code, stdout, stderr, tt.code, tt.stdout)
	}
	runs := map[string]bool{}
	for _, seed := range []string{"0", "0", "7", "7"} {
		_, stdout, _ := mailhostdtest.RunWith(t, environ, "try", "--seed", seed, "sh", "-c", `echo $MAILHOST_ACCOUNT_ID $MAILHOST_TOKEN $(curl -s "$MAILHOST_CONTROL_URL/accounts" -d '{}')`)
		assert.Check(t, len(stdout) >= 100, "%q", stdout)
		runs[regexp.MustCompile(`127\.0\.0\.1:\d+`).ReplaceAllString(stdout, "")] = true
	}
	assert.Check(t, is.Len(runs, 2), "two seeds")
	_, stdout, _ := mailhostdtest.RunWith(t, environ, "try", "--", "sh", "-c", `echo "$MAILHOST_BASE_URL" "$MAILHOST_CONTROL_URL"`)
	urls := strings.Fields(strings.ReplaceAll(stdout, "http://", ""))
	assert.Assert(t, len(urls) == 2, "the command printed %q", stdout)
	for _, address := range urls {
		// Another test that starts a process may hold the listener until the process executes its program.
		poll.WaitOn(t, func(poll.LogT) poll.Result {
			c, err := net.DialTimeout("tcp", address, time.Second)
			if err != nil {
				return poll.Success()
			}
			_ = c.Close()
			return poll.Continue("a server is still running at %s", address)
		})
	}
}

// TestTryProxy checks that both variables name the server, and keep the user's hosts.
func TestTryProxy(t *testing.T) {
	t.Parallel()
	const loopback = "127.0.0.1,localhost,::1"
	for _, tt := range []struct {
		environ     []string
		upper, both string // both is the value of the other variable if it differs
	}{
		{nil, loopback, ""},
		{[]string{"NO_PROXY=example.com"}, "example.com," + loopback, ""},
		{[]string{"no_proxy=example.com"}, "example.com," + loopback, ""},
		{[]string{"NO_PROXY=example.com", "no_proxy=example.org, example.net"}, "example.com," + loopback, "example.org, example.net," + loopback},
		{[]string{"NO_PROXY=*"}, "*", ""},
	} {
		environ := append(tt.environ, "http_proxy=http://127.0.0.1:1", "PATH="+os.Getenv("PATH"))
		_, stdout, stderr := mailhostdtest.RunWith(t, environ, "try", "sh", "-c", `echo "$NO_PROXY"; echo "$no_proxy"; curl -sS "$MAILHOST_CONTROL_URL/healthz"`)
		want := tt.upper + "\n" + cmp.Or(tt.both, tt.upper) + "\n" + `{"status":"live"}` + "\n"
		assert.Check(t, is.Equal(stdout, want), "%v: %s", tt.environ, stderr)
	}
}

// TestTryListen checks a fixed port, which the variables of mailhostd serve do not change, and one that is taken.
func TestTryListen(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	environ := []string{"MAILHOSTD_LISTEN=127.0.0.1:1", "PATH=" + os.Getenv("PATH")}
	mailhostdtest.Fails(t, environ, cli.ExitFailure, "127.0.0.1:"+port, "try", "--control-listen", port, "true")
	assert.NilError(t, l.Close())
	code, stdout, stderr := mailhostdtest.RunWith(t, environ, "try", "--listen", port, "sh", "-c", `echo "$MAILHOST_BASE_URL"`)
	assert.Check(t, code == cli.ExitOK && stdout == "http://127.0.0.1:"+port+"\n", "exit code %d, stdout %q, stderr %q", code, stdout, stderr)
}

// TestWrongAddresses checks that both commands refuse an address with the same words, and an empty one.
func TestWrongAddresses(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--listen", "--control-listen"} {
		for address, want := range map[string]string{
			"": "empty", "127.0.0.1": "as in 127.0.0.1:8080", "localhost": "as in localhost:8080", "65536": "between 0 and 65535", "http://127.0.0.1:1": "leave out the scheme",
		} {
			if address == "" && flag == "--listen" {
				want = "the port is missing"
			}
			mailhostdtest.Fails(t, nil, cli.ExitUsage, want, "serve", "--database", ":memory:", flag, address)
			if address == "" {
				want = "the port is missing"
			}
			mailhostdtest.Fails(t, nil, cli.ExitUsage, want, "try", flag, address, "--", "true")
		}
	}
}

// TestEmptyFlags checks that an empty value is an error for a flag, and that an empty variable is ignored.
func TestEmptyFlags(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--fixture", "--replay", "--control-listen", "--metrics-listen"} {
		mailhostdtest.Fails(t, nil, cli.ExitUsage, flag+": is empty; give it a value, or leave it out", "serve", flag, "")
		mailhostdtest.Fails(t, nil, cli.ExitUsage, flag+": is empty; give it a value, or leave it out", "serve", flag+"=")
	}
	for _, flag := range []string{"--fixture", "--replay"} {
		mailhostdtest.Fails(t, nil, cli.ExitUsage, flag+": is empty; give it a value, or leave it out", "try", flag, "", "--", "true")
	}
	environ := []string{"MAILHOSTD_FIXTURE=", "MAILHOSTD_REPLAY=", "MAILHOSTD_CONTROL_LISTEN=", "PATH=" + os.Getenv("PATH")}
	code, _, stderr := mailhostdtest.RunWith(t, environ, "try", "--", "true")
	assert.Check(t, code == cli.ExitOK, "exit code %d, stderr %q", code, stderr)
}

// TestTryUnknownFlag checks that a misspelled flag is not run as a command.
func TestTryUnknownFlag(t *testing.T) {
	t.Parallel()
	mailhostdtest.Fails(t, nil, cli.ExitUsage, `unknown flag --stricct, did you mean "--strict"?`, "try", "--stricct", "--", "true")
	mailhostdtest.Fails(t, nil, cli.ExitUsage, "unknown flag -x", "try", "-x", "true")
}

// TestTestFlags checks the flags for tests, for instance that strict requests are refused.
func TestTestFlags(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip(err)
	}
	t.Parallel()
	environ := []string{"PATH=" + os.Getenv("PATH")}
	request := func(query string) string {
		return `curl -s -H "Authorization: Bearer $MAILHOST_TOKEN" "$MAILHOST_BASE_URL/v1/public/accounts/$MAILHOST_ACCOUNT_ID/workspaces` + query + `"`
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--strict", "sh", "-c", request("?pagesize=9")}, `"extra_forbidden"`},
		{[]string{"--hostile", "sh", "-c", `curl -s "$MAILHOST_CONTROL_URL/faults"`}, `"jitter":true`},
		{[]string{"--fixture", mailhostdtest.FixturePath, "sh", "-c", `curl -s "$MAILHOST_CONTROL_URL/accounts/$(curl -s "$MAILHOST_CONTROL_URL/accounts" -d '{}' | cut -d '"' -f 4)/fixture"`}, `"taken":["`},
		{[]string{"sh", "-c", `curl -s "$MAILHOST_CONTROL_URL/accounts" -d '{}'; curl -s "$MAILHOST_CONTROL_URL/accounts"`}, `"isolated":true}]`},
	} {
		code, stdout, stderr := mailhostdtest.RunWith(t, environ, append([]string{"try"}, tt.args...)...)
		assert.Check(t, code == cli.ExitOK && strings.Contains(stdout, tt.want), "%v: exit code %d, stdout %q, stderr %q", tt.args, code, stdout, stderr)
	}
}

// TestTryReplay records requests with mailhostd proxy, and replays them without the server.
func TestTryReplay(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip(err)
	}
	t.Parallel()
	server, owner := mailhostdtest.Start(t)
	file := filepath.Join(t.TempDir(), "host.yaml")
	request := func(account, path string) string {
		return `curl -s -H "Authorization: Bearer $MAILHOST_TOKEN" "$MAILHOST_BASE_URL/v1/public/accounts/` + account + path + `"`
	}
	environ := []string{"PATH=" + os.Getenv("PATH"), "MAILHOST_TOKEN=" + owner.Token}
	code, _, stderr := mailhostdtest.RunWith(t, environ, "proxy", "--upstream", server.URL, "--record", file, "--", "sh", "-c", request(owner.AccountID, "/workspaces?page_size=9"))
	assert.Assert(t, is.Equal(code, cli.ExitOK), stderr)
	for command, want := range map[string]string{
		request("$MAILHOST_ACCOUNT_ID", "/workspaces"):                              `"name":"Default"`,
		request(owner.AccountID, "/workspaces?page=2&page_size=1"):                  `{"items":[],"page":2,"page_size":1,"total":1}`,
		request("$MAILHOST_ACCOUNT_ID", "/mailboxes"):                               "the recording contains no GET /mailboxes. The nearest is GET /workspaces?page_size=9 (id 0 in the recording)",
		request("11111111-2222-4333-8444-555555555555", "/workspaces"):              "the recording is of the account " + owner.AccountID,
		`curl -s "$MAILHOST_CONTROL_URL/journal?operation=list-workspaces&count=0"`: "[]",
	} {
		code, stdout, stderr := mailhostdtest.RunWith(t, environ[:1], "try", "--replay", file, "sh", "-c", command)
		assert.Check(t, code == cli.ExitOK && strings.Contains(stdout, want), "%s: exit code %d, stdout %q, stderr %q", command, code, stdout, stderr)
	}
}

// TestNoRecording checks what mailhostd says of a file that is no recording.
func TestNoRecording(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	for text, want := range map[string]string{
		"": "the file is empty",
		`{"seq":1,"time":"2026-01-01T00:00:00Z","request_id":"r","method":"GET","path":"/"}` + "\n{}\n": "record it anew with mailhostd proxy --record",
		"accounts: []\n": "it is no recording of mailhostd proxy --record or go-vcr",
		"- a\n":          "it is no recording",
		"\x00\xff":       "it is no recording",
		"---\nversion: 1\ninteractions:\n- request: {url: http://h/v1/public}\n": "its version is 1, and go-vcr v4 writes version 2",
		"---\nversion: 2\ninteractions: []\n":                                    "it contains no request of this API",
	} {
		mailhostdtest.WriteFile(t, file, text)
		mailhostdtest.Fails(t, nil, cli.ExitFailure, want, "try", "--replay", file, "--", "true")
	}
	mailhostdtest.Fails(t, nil, cli.ExitFailure, "--replay: ", "try", "--replay", file+"x", "--", "true")
}

// TestTryForwardsSignals checks that a signal reaches the command, which then ends in its own time.
func TestTryForwardsSignals(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for a POSIX shell")
	}
	t.Parallel()
	temp := t.TempDir()
	self, err := os.Executable()
	assert.NilError(t, err)
	c := exec.CommandContext(t.Context(), self, "try", "--", "sh", "-c", `trap 'echo got it; exit 3' TERM; echo; while :; do sleep 0.05; done`)
	c.Env = append(os.Environ(), mailhostdtest.AsProgram+"=1", "TMPDIR="+temp)
	out, err := c.StdoutPipe()
	assert.NilError(t, err)
	assert.NilError(t, c.Start())
	_, err = out.Read(make([]byte, 1)) // it runs
	assert.NilError(t, err)
	assert.NilError(t, c.Process.Signal(syscall.SIGTERM))
	text, err := io.ReadAll(out)
	assert.Check(t, err == nil && strings.Contains(string(text), "got it"), "the command printed %q, %v", text, err)
	if _ = c.Wait(); c.ProcessState.ExitCode() != 3 {
		t.Errorf("%s", c.ProcessState)
	}
	left, err := os.ReadDir(temp)
	assert.Check(t, err == nil && len(left) == 0, "left: %v, %v", left, err)
}
