package mailhostdtest

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/certificate/certificatetest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/commands"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/mailer/smtptest"
)

// Server is a running server, in this process or another.
type Server struct {
	URL  string
	Log  *apitest.Log
	Stop func()
	// Ended is closed when the server ends; code is then its exit code.
	Ended chan struct{}
	code  int
	Cmd   *exec.Cmd // nil if the server runs in this process
}

// serveArgs returns the arguments for a server on a free port.
func serveArgs(database string, more ...string) []string {
	return append([]string{"serve", "--listen", "127.0.0.1:0", "--log-format", "json", "--database", database}, more...)
}

// Serve starts a server in this process.
func Serve(t *testing.T, database string, more ...string) *Server {
	t.Helper()
	return serve(t, nil, database, more...)
}

func serve(t *testing.T, environ []string, database string, more ...string) *Server {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	s := &Server{Log: apitest.NewLog(), Stop: stop, Ended: make(chan struct{})}
	p := cli.Program{Args: serveArgs(database, more...), Environ: environ, Stdout: io.Discard, Stderr: s.Log}
	go func() {
		s.code = commands.Run(ctx, p)
		s.Log.End()
		close(s.Ended)
	}()
	t.Cleanup(func() { s.End(t) })
	s.URL, _ = s.Log.Wait(t, "serving")["url"].(string)
	return s
}

// Start starts a server in this process, with a new account.
func Start(t *testing.T, more ...string) (s *Server, owner Account) {
	t.Helper()
	database, owner := Initialize(t)
	return Serve(t, database, more...), owner
}

// Spawn starts a server in another process.
func Spawn(t *testing.T, database string, more ...string) *Server {
	t.Helper()
	s := SpawnWith(t, nil, database, more...)
	s.URL, _ = s.Log.Wait(t, "serving")["url"].(string)
	return s
}

// SpawnWith starts a server in another process without waiting for it. before is a command that runs the
// program, such as one that sets limits.
func SpawnWith(t *testing.T, before []string, database string, more ...string) *Server {
	t.Helper()
	self, err := os.Executable()
	assert.NilError(t, err)
	args := slices.Concat(before, []string{self}, serveArgs(database, more...))
	s := &Server{Log: apitest.NewLog(), Ended: make(chan struct{}), Cmd: exec.CommandContext(context.Background(), args[0], args[1:]...)}
	s.Cmd.Env = append(os.Environ(), AsProgram+"=1")
	s.Cmd.Stderr = s.Log
	assert.NilError(t, s.Cmd.Start())
	go func() {
		_ = s.Cmd.Wait() // ExitCode returns the exit code
		s.code = s.Cmd.ProcessState.ExitCode()
		s.Log.End()
		close(s.Ended)
	}()
	s.Stop = func() { _ = s.Cmd.Process.Signal(os.Interrupt) }
	t.Cleanup(func() { _ = s.Cmd.Process.Kill(); s.ExitCode(t) })
	return s
}

// End stops the server and returns its exit code.
func (s *Server) End(t *testing.T) int {
	t.Helper()
	s.Stop()
	return s.ExitCode(t)
}

// ExitCode waits for the end of the server and returns its exit code.
func (s *Server) ExitCode(t *testing.T) int {
	t.Helper()
	apitest.Receive(t, s.Ended)
	return s.code
}

// CheckListsRead ends the server, and checks that it received a request for each of apiclient.Lists
// except those in but. advice explains how to handle a new list.
func (s *Server) CheckListsRead(t *testing.T, advice string, but ...string) {
	t.Helper()
	s.End(t)
	for _, list := range apiclient.Lists() {
		isRead := slices.ContainsFunc(s.Log.Entries("request"), func(e apitest.Object) bool { return e["route"] == list.Method+" "+list.Path })
		assert.Check(t, isRead != slices.Contains(but, list.ID), "%s was called: %t; %s", list.ID, isRead, advice)
	}
}

// As returns a client with an owner's token.
func (s *Server) As(t testing.TB, owner Account) *apitest.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	t.Cleanup(transport.CloseIdleConnections)
	return &apitest.Client{T: t, HTTP: &http.Client{Transport: transport}, URL: s.URL, Account: owner.AccountID, Token: owner.Token}
}

// Entries returns the entries of the log until now with a message that begins with prefix. The log of another process
// arrives later than its responses: Entries sends a request to a path without a route, and waits for its entry.
func (s *Server) Entries(t *testing.T, prefix string) []apitest.Object {
	t.Helper()
	resp, _ := s.Fetch(t, http.MethodGet, "/no-such-path")
	s.Log.WaitForRequest(t, resp.Header.Get("X-Request-Id"))
	return s.Log.Entries(prefix)
}

// HTTPEnviron returns the variables that direct commands to a server.
func HTTPEnviron(s *Server, owner Account) []string {
	return []string{"MAILHOST_BASE_URL=" + s.URL, "MAILHOST_ACCOUNT_ID=" + owner.AccountID, "MAILHOST_TOKEN=" + owner.Token}
}

// Fetch requests a path like a browser.
func (s *Server) Fetch(t *testing.T, method, path string, headers ...string) (*http.Response, string) {
	t.Helper()
	return Send(t, http.DefaultClient, method, s.URL+path, "", headers...)
}

// Fetch requests a URL.
func Fetch(t *testing.T, method, url string) (status int, body string) {
	t.Helper()
	resp, body := Send(t, http.DefaultClient, method, url, "")
	return resp.StatusCode, body
}

// Send sends a request, and returns the response with its body. headers alternates names and values.
func Send(t *testing.T, client *http.Client, method, url, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	assert.NilError(t, err)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := client.Do(req)
	assert.NilError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	assert.NilError(t, err)
	return resp, string(text)
}

// TLSArgs returns the flags for a certificate and its key.
func TLSArgs(p certificatetest.Pair, more ...string) []string {
	return append([]string{"--tls-cert", p.Cert, "--tls-key", p.Key}, more...)
}

// Trusting returns a client that trusts the pair's current certificate.
func Trusting(t *testing.T, c *apitest.Client, p certificatetest.Pair) *apitest.Client {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: p.Pool(t)}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	c.HTTP = &http.Client{Transport: transport}
	return c
}

// ServeWithControl starts a server with the example fixture. It returns the URL of its control plane,
// the owner of the fixture's account, and the database.
func ServeWithControl(t *testing.T) (s *Server, plane string, owner Account, database string) {
	t.Helper()
	database = filepath.Join(t.TempDir(), "mailhost.db")
	s = Serve(t, database, "--control-listen", "0", "--fixture", FixturePath)
	plane, _ = s.Log.Wait(t, "serving the control plane")["url"].(string)
	CallURL(t, http.MethodPost, plane+"/accounts", ExampleAccount, &owner)
	return s, plane, owner, database
}

// FixturePath is the path of the example fixture from a package under test.
const FixturePath = "../../../../testdata/fixture.json"

// ExampleAccount is the body of a control plane request for an owner's token of the fixture's account.
const ExampleAccount = `{"account_id":"0b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10"}`

// CallURL sends a request to the control plane.
func CallURL(t *testing.T, method, url, body string, out any) {
	t.Helper()
	resp, text := Send(t, http.DefaultClient, method, url, body)
	var err error
	if out != nil {
		err = json.Unmarshal([]byte(text), out)
	}
	assert.Assert(t, resp.StatusCode < http.StatusMultipleChoices && err == nil, "%s %s: %s, %v", method, url, resp.Status, err)
}

// Inbox is a mail server that stores received messages.
type Inbox struct{ *smtptest.Server }

// NewInbox starts an Inbox.
func NewInbox(t *testing.T) *Inbox {
	t.Helper()
	return &Inbox{Server: smtptest.NewServer(t, smtptest.Options{User: "mailhostd", Password: "p@ss"})}
}

// Flags returns the flags for sending messages through the server.
func (m *Inbox) Flags() []string {
	return []string{"--smtp-url", "smtp://mailhostd:p%40ss@" + m.Addr, "--smtp-from", "Mailhost <no-reply@mail.example>"}
}

var linkInText = regexp.MustCompile(`(?m)^http://\S+/verify-forwarding/\S+`)

// Link waits for a message to an address and returns its link.
func (m *Inbox) Link(t *testing.T, to string) string {
	t.Helper()
	isTo := func(mail smtptest.Mail) bool { return slices.Contains(mail.To, to) }
	for n := 1; ; n++ {
		mails := m.Wait(n)
		slices.Reverse(mails)
		if i := slices.IndexFunc(mails, isTo); i >= 0 {
			// The link is alone on its line, which the encoding may have broken.
			return linkInText.FindString(strings.ReplaceAll(mails[i].Data, "=\n", ""))
		}
	}
}

// NewRule creates a forwarding rule, and returns it with the link in its message.
func NewRule(t *testing.T, c *apitest.Client, m *Inbox, target string) (rule api.Forwarding, link string) {
	t.Helper()
	c.Do(http.MethodPost, "/forwarding", `{"target_email":"`+target+`"}`).Want(http.StatusCreated).Into(&rule)
	return rule, m.Link(t, target)
}
