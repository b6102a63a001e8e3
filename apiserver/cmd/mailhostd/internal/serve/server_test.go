package serve_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	_ "modernc.org/sqlite" // changes the file independently of the program

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

// TestLengthWithChunks checks that a request with both Content-Length and Transfer-Encoding closes the
// connection, because a proxy may mistake another request for the rest of the body.
func TestLengthWithChunks(t *testing.T) {
	t.Parallel()
	s, owner := mailhostdtest.Start(t)
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	assert.NilError(t, err)
	defer conn.Close()
	body := `{"name":"w"}`
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n"+
		"GET /healthz/live HTTP/1.1\r\nHost: test\r\n\r\n", s.As(t, owner).Path("/workspaces"), owner.Token, len(body), body)
	in := bufio.NewReader(conn)
	resp, err := http.ReadResponse(in, nil)
	assert.NilError(t, err)
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	assert.Check(t, err == nil && resp.StatusCode == http.StatusCreated && resp.Close, "%s, %v, %v", resp.Status, resp.Header, err)
	_, err = in.ReadByte()
	assert.Check(t, err != nil, "the connection is still open")
}

// TestRequestsOfNetHTTP checks the limit of headers, and that the response to OPTIONS * contains a
// request id, which net/http's own response would lack.
func TestRequestsOfNetHTTP(t *testing.T) {
	t.Parallel()
	s := mailhostdtest.Serve(t, sqlite.Memory)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/healthz/live", http.NoBody)
	assert.NilError(t, err)
	r.Header.Set("X-Large", strings.Repeat("x", 128<<10))
	large, err := http.DefaultClient.Do(r)
	assert.NilError(t, err)
	defer large.Body.Close()
	assert.Check(t, large.StatusCode == http.StatusRequestHeaderFieldsTooLarge, "a large header: %s", large.Status)
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	assert.NilError(t, err)
	defer conn.Close()
	fmt.Fprint(conn, "OPTIONS * HTTP/1.1\r\nHost: mailhost.test\r\nConnection: close\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	assert.NilError(t, err)
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusNotFound || resp.Header.Get("X-Request-Id") == "" || resp.Header.Get("Content-Type") != "application/json" {
		t.Errorf("OPTIONS *: %s, headers %v", resp.Status, resp.Header)
	}
}

// TestMaxConnections checks that a connection above the maximum replaces an idle one, and otherwise waits.
func TestMaxConnections(t *testing.T) {
	t.Parallel()
	s, _ := mailhostdtest.Start(t, "--max-connections", "2", "--log-level", "debug")
	address := strings.TrimPrefix(s.URL, "http://")
	const begin, end = "GET /healthz/live HTTP/1.1\r\n", "Host: test\r\n\r\n"
	dial := func(request string) net.Conn {
		conn, err := net.Dial("tcp", address)
		assert.NilError(t, err)
		t.Cleanup(func() { conn.Close() })
		fmt.Fprint(conn, request)
		return conn
	}
	awaitClosed := func(conns ...net.Conn) { // one of them
		ended := make(chan error, len(conns))
		for _, conn := range conns {
			go func() {
				_, err := conn.Read(make([]byte, 1))
				ended <- err
			}()
		}
		assert.Check(t, <-ended != nil, "a connection has a second response")
	}
	first := dial(begin + end)
	isLive(t, first)
	second := dial(begin + end)
	isLive(t, second)
	third := dial(begin + end)
	isLive(t, third)
	awaitClosed(first, second)
	first.Close()
	second.Close()
	third.Close()
	inUse := []net.Conn{dial(begin), dial(begin)}
	waiting := dial(begin + end)
	fmt.Fprint(inUse[1], end)
	isLive(t, inUse[1])
	isLive(t, waiting)
	awaitClosed(inUse[1])
	fmt.Fprint(inUse[0], end)
	isLive(t, inUse[0])
}

func isLive(t *testing.T, conn net.Conn) {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	assert.NilError(t, err)
	defer resp.Body.Close()
	assert.Check(t, resp.StatusCode == http.StatusOK, "status %s", resp.Status)
}

// TestDrainDelay checks that during the drain delay the server is not ready and still
// serves requests.
func TestDrainDelay(t *testing.T) {
	t.Parallel()
	database, owner := mailhostdtest.Initialize(t)
	s := mailhostdtest.Spawn(t, database, "--drain-delay", "1h")
	status, _ := mailhostdtest.Fetch(t, http.MethodGet, s.URL+"/healthz/ready")
	assert.Assert(t, status == http.StatusOK, "ready: %d", status)
	c := s.As(t, owner)
	c.Do(http.MethodGet, "/mailboxes", nil).Want(http.StatusOK)
	s.Stop()
	s.Log.Wait(t, "shutting down")
	status, body := mailhostdtest.Fetch(t, http.MethodGet, s.URL+"/healthz/ready")
	assert.Check(t, status == http.StatusServiceUnavailable && strings.Contains(body, "draining"), "ready: %d, %s", status, body)
	status, _ = mailhostdtest.Fetch(t, http.MethodGet, s.URL+"/healthz/live")
	assert.Check(t, status == http.StatusOK, "live: %d", status)
	resp, err := c.HTTP.Get(s.URL + "/healthz/live")
	assert.NilError(t, err)
	defer resp.Body.Close()
	assert.Check(t, resp.Close, "a keep-alive connection is not closed")
	c.Do(http.MethodPost, "/workspaces", `{"name":"late"}`).Want(http.StatusCreated)
	s.End(t) // returns immediately
}
