package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

// startWithLimits serves a new account in memory with custom timeouts, and returns a client
// with its owner's token. configure may be nil.
func startWithLimits(t *testing.T, l connectionLimits, configure func(*server)) (*server, *apitest.Client) {
	t.Helper()
	listener, err := listen(t.Context(), "--listen", "127.0.0.1:0")
	assert.NilError(t, err)
	s := &server{log: slog.New(slog.DiscardHandler), settings: settings{ShutdownTimeout: time.Minute}, limits: l, public: listener}
	if configure != nil {
		configure(s)
	}
	db, err := sqlite.Open(t.Context(), sqlite.Memory, sqlite.Options{})
	assert.NilError(t, err)
	service, err := apiserver.New(apiserver.Options{Store: db})
	assert.NilError(t, err)
	account, token, err := service.InitAccount(t.Context(), "", "owner")
	assert.NilError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.serve(ctx, service, &control.Plane{}) }()
	t.Cleanup(func() {
		stop()
		assert.Check(t, errors.Join(apitest.Receive(t, ended), service.Close()))
	})
	return s, &apitest.Client{T: t, URL: s.url(), Account: account, Token: token}
}

// shortBodyTimeout returns the default limits with a short body timeout.
func shortBodyTimeout() connectionLimits {
	l := defaultConnectionLimits
	l.body = 500 * time.Millisecond
	return l
}

// TestSlowBody checks that a client that does not send its body gets a 408, and its
// connection is closed.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	s, owner := startWithLimits(t, shortBodyTimeout(), nil)
	for name, body := range map[string]string{
		"of a length": "Content-Length: 100\r\n\r\n" + `{"name":`,
		"in chunks":   "Transfer-Encoding: chunked\r\n\r\n" + "8\r\n" + `{"name":`,
		"not begun":   "Content-Length: 100\r\nExpect: 100-continue\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", s.public.Addr().String())
			assert.NilError(t, err)
			defer conn.Close()
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n%s", owner.Path("/workspaces"), owner.Token, body)
			in := bufio.NewReader(conn)
			resp, err := http.ReadResponse(in, nil)
			if err == nil && resp.StatusCode == http.StatusContinue {
				resp, err = http.ReadResponse(in, nil)
			}
			assert.NilError(t, err)
			isTooSlow(t, resp)
			_, err = in.ReadByte()
			assert.Check(t, errors.Is(err, io.EOF), "after the response: %v, want the connection's end", err)
		})
	}
}

func isTooSlow(t *testing.T, resp *http.Response) {
	t.Helper()
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	assert.NilError(t, err)
	if resp.StatusCode != http.StatusRequestTimeout || resp.Header.Get("Content-Type") != "application/json" || resp.Header.Get("X-Request-Id") == "" ||
		!strings.Contains(string(text), `"type":"`+api.TypeRequestTimeout+`"`) {
		t.Errorf("%s, %v: %s", resp.Status, resp.Header, text)
	}
}

// TestSlowReader checks that the server disconnects a client that does not read its
// response.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	l := defaultConnectionLimits
	l.response = 50 * time.Millisecond
	listener, err := listen(t.Context(), "--listen", "127.0.0.1:0")
	assert.NilError(t, err)
	s := &server{log: slog.New(slog.DiscardHandler), limits: l, public: listener}
	ended := make(chan error, 1)
	server := s.startPublic(context.Background(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		var err error
		for err == nil {
			_, err = w.Write(make([]byte, 4<<10))
		}
		ended <- err
	}), make(chan error, 1))
	defer server.Close()
	conn, err := net.Dial("tcp", listener.Addr().String())
	assert.NilError(t, err)
	defer conn.Close()
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: test\r\n\r\n")
	assert.Check(t, is.ErrorIs(apitest.Receive(t, ended), os.ErrDeadlineExceeded), "writing ended with")
}
