package serve_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/httpapi"
)

// TestTranscript checks what the server, doctor, healthcheck and try print and refuse.
func TestTranscript(t *testing.T) { mailhostdtest.Transcript(t, "testdata/serve.txt") }

func TestPublishedOnly(t *testing.T) {
	t.Parallel()
	s, owner := mailhostdtest.Start(t, "--published-only")
	want, err := httpapi.Document(false)
	if err != nil {
		t.Fatal(err)
	}
	if _, got := s.Fetch(t, http.MethodGet, "/openapi.json"); got != string(want) {
		t.Errorf("the document has %d bytes; want %d", len(got), len(want))
	}
	c := s.As(t, owner)
	c.Domain("example.com")
	c.Do(http.MethodPost, "/mailboxes", mailhostdtest.Mailbox("example.com", "jane")).Want(http.StatusCreated)
	c.Do(http.MethodGet, "/mailboxes", nil).Want(http.StatusOK)
	c.Do(http.MethodGet, "/mailboxes/jane@example.com", nil).Want(http.StatusMethodNotAllowed)
	c.Do(http.MethodDelete, "/mailboxes/jane@example.com", nil).Want(http.StatusMethodNotAllowed)
	c.Do(http.MethodGet, "/dns-records", nil).Want(http.StatusMethodNotAllowed)
	c.Do(http.MethodGet, "/workspaces", nil).Want(http.StatusNotFound)
	c.Do(http.MethodGet, "", nil).Want(http.StatusNotFound)
}

// TestServeWithoutAnAccount checks that init works while a server runs.
func TestServeWithoutAnAccount(t *testing.T) {
	t.Parallel()
	database := t.TempDir() + "/new.db"
	s := mailhostdtest.Serve(t, database)
	owner := mailhostdtest.InitializeIn(t, database)
	s.As(t, owner).Do(http.MethodGet, "", nil).Want(http.StatusOK)
	if ready, _ := s.Fetch(t, http.MethodGet, "/healthz/ready"); ready.StatusCode != http.StatusOK {
		t.Errorf("ready: %s", ready.Status)
	}
}

func TestServeWithAFixture(t *testing.T) {
	t.Parallel()
	const account = "0b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10"
	database := t.TempDir() + "/fixture.db"
	s := mailhostdtest.Serve(t, database, "--fixture", mailhostdtest.FixturePath)
	owner := mailhostdtest.InitializeIn(t, database, "--account-id", account)
	var page api.Page[api.Mailbox]
	s.As(t, owner).Do(http.MethodGet, "/mailboxes", nil).Want(http.StatusOK).Into(&page)
	if page.Total != 2 {
		t.Errorf("%d mailboxes, want 2", page.Total)
	}
	s.As(t, owner).Do(http.MethodDelete, "/mailboxes/john@example.com", nil).Want(http.StatusNoContent)
	s.End(t)
	// A deleted mailbox is not created again, although the fixture has it.
	again := mailhostdtest.Serve(t, database, "--fixture", mailhostdtest.FixturePath)
	if warned := again.Log.Entries("the account of the fixture exists already"); len(warned) != 1 || warned[0]["level"] != "WARN" || warned[0]["account"] != account {
		t.Errorf("the second start logged\n%s", again.Log)
	}
	c := again.As(t, owner)
	c.Do(http.MethodGet, "/mailboxes/jane@example.com", nil).Want(http.StatusOK)
	c.Do(http.MethodGet, "/mailboxes/john@example.com", nil).Want(http.StatusNotFound)
}

// begin sends a request that creates a mailbox without its body, and returns when the
// handler waits for the body.
func begin(t *testing.T, s *mailhostdtest.Server, owner mailhostdtest.Account, body string) (net.Conn, *bufio.Reader) {
	t.Helper()
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\nExpect: 100-continue\r\n\r\n",
		strings.TrimPrefix(s.URL+s.As(t, owner).Path("/mailboxes"), s.URL), owner.Token, len(body)); err != nil {
		t.Fatal(err)
	}
	response := bufio.NewReader(conn)
	line, err := response.ReadString('\n')
	if err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("%q, %v", line, err)
	}
	if _, err := response.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return conn, response
}

func TestShutdownCompletesRequests(t *testing.T) {
	t.Parallel()
	database, owner := mailhostdtest.Initialize(t)
	s := mailhostdtest.Serve(t, database)
	s.As(t, owner).Domain("example.com")
	body := mailhostdtest.Mailbox("example.com", "late")
	conn, response := begin(t, s, owner, body)

	s.Stop()
	s.Log.Wait(t, "shutting down")
	if _, err := fmt.Fprint(conn, body); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(response, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		t.Errorf("the request in flight: %s", resp.Status)
	}
	if code := s.End(t); code != cli.ExitOK {
		t.Errorf("exit code %d", code)
	}
	c := mailhostdtest.Serve(t, database).As(t, owner)
	c.Do(http.MethodGet, "/mailboxes/late@example.com", nil).Want(http.StatusOK)
}

func TestShutdownTimeout(t *testing.T) {
	t.Parallel()
	s, owner := mailhostdtest.Start(t, "--shutdown-timeout", "1ms")
	s.As(t, owner).Domain("example.com")
	begin(t, s, owner, mailhostdtest.Mailbox("example.com", "never"))
	if code := s.End(t); code != cli.ExitFailure {
		t.Errorf("exit code %d", code)
	}
	if want := "mailhostd: requests in flight did not end within 1ms and were aborted\n"; !strings.HasSuffix(s.Log.String(), want) {
		t.Errorf("log:\n%s", s.Log)
	}
}
