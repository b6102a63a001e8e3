package serve_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
)

// TestTranscript checks the output and the errors of the server, doctor, healthcheck and try.
func TestTranscript(t *testing.T) { mailhostdtest.Transcript(t, "testdata/serve.txt") }

// begin sends a request to create a mailbox, without its body, and returns when the handler waits for the body.
func begin(t *testing.T, s *mailhostdtest.Server, owner mailhostdtest.Account, body string) (net.Conn, *bufio.Reader) {
	t.Helper()
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(s.URL, "http://"))
	assert.NilError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\nExpect: 100-continue\r\n\r\n",
		strings.TrimPrefix(s.URL+s.As(t, owner).Path("/mailboxes"), s.URL), owner.Token, len(body))
	assert.NilError(t, err)
	response := bufio.NewReader(conn)
	line, err := response.ReadString('\n')
	assert.Assert(t, err == nil && strings.Contains(line, "100 Continue"), "%q, %v", line, err)
	_, err = response.ReadString('\n')
	assert.NilError(t, err)
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
	assert.NilError(t, err)
	defer resp.Body.Close()
	assert.Check(t, resp.StatusCode == http.StatusCreated, "the request in flight: %s", resp.Status)
	assert.Check(t, is.Equal(s.End(t), cli.ExitOK), "exit code")
	c := mailhostdtest.Serve(t, database).As(t, owner)
	c.Do(http.MethodGet, "/mailboxes/late@example.com", nil).Want(http.StatusOK)
}

func TestShutdownTimeout(t *testing.T) {
	t.Parallel()
	s, owner := mailhostdtest.Start(t, "--shutdown-timeout", "1ms")
	s.As(t, owner).Domain("example.com")
	begin(t, s, owner, mailhostdtest.Mailbox("example.com", "never"))
	assert.Check(t, is.Equal(s.End(t), cli.ExitFailure), "exit code")
	want := "mailhostd: requests in flight did not end within 1ms and were aborted\n"
	assert.Check(t, strings.HasSuffix(s.Log.String(), want), "log:\n%s", s.Log)
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	s, owner := mailhostdtest.Start(t, "--rate-limit", "1/1h")
	s.As(t, owner).Get("/mailboxes").Want(http.StatusOK)
	s.As(t, owner).Get("/mailboxes").Want(http.StatusTooManyRequests)
}

// TestHeldRequest checks that a request held by a fault does not block the shutdown.
func TestHeldRequest(t *testing.T) {
	t.Parallel()
	s, plane, owner, _ := mailhostdtest.ServeWithControl(t)
	c := s.As(t, owner)
	var rule struct{ ID string }
	mailhostdtest.CallURL(t, http.MethodPost, plane+"/faults", `{"operation":"create-workspace","hold":"before"}`, &rule)
	statuses := make(chan int, 1)
	go func() {
		response, err := c.Try(t.Context(), http.MethodPost, "/workspaces", `{"name":"Late"}`)
		if err != nil {
			response = new(apitest.Response)
		}
		statuses <- response.Status
	}()
	mailhostdtest.CallURL(t, http.MethodGet, plane+"/faults/"+rule.ID+"?held=1", "", nil)
	code := s.End(t)
	assert.Check(t, code == cli.ExitOK, "exit code %d:\n%s", code, s.Log)
	assert.Check(t, is.Equal(apitest.Receive(t, statuses), http.StatusServiceUnavailable), "the held request has status")
}
