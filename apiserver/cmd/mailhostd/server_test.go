package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"database/sql"
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

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/certificate"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/certificate/certificatetest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/minrate"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control"
)

// serveWithLimits starts a server with custom timeouts. configure may be nil.
func serveWithLimits(t *testing.T, database string, l connectionLimits, configure func(*server)) *server {
	t.Helper()
	listener, err := listen(t.Context(), "--listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{log: slog.New(slog.DiscardHandler), timeout: time.Minute, limits: l, public: listener}
	if configure != nil {
		configure(s)
	}
	db, err := openers().open(t.Context(), database, OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	service, err := apiserver.New(apiserver.Options{Store: db})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.serve(ctx, service, &control.Plane{}) }()
	t.Cleanup(func() {
		stop()
		if err := errors.Join(apitest.Receive(t, ended), service.Close()); err != nil {
			t.Error(err)
		}
	})
	return s
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
	database, owner := initialize(t)
	s := serveWithLimits(t, database, shortBodyTimeout(), nil)
	path := strings.Replace(api.Prefix, "{account_id}", owner.AccountID, 1) + "/workspaces"
	for name, body := range map[string]string{
		"of a length": "Content-Length: 100\r\n\r\n" + `{"name":`,
		"in chunks":   "Transfer-Encoding: chunked\r\n\r\n" + "8\r\n" + `{"name":`,
		"not begun":   "Content-Length: 100\r\nExpect: 100-continue\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", s.public.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n%s", path, owner.Token, body)
			in := bufio.NewReader(conn)
			resp, err := http.ReadResponse(in, nil)
			if err == nil && resp.StatusCode == http.StatusContinue {
				resp, err = http.ReadResponse(in, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			isTooSlow(t, resp)
			if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
				t.Errorf("after the response: %v, want the connection's end", err)
			}
		})
	}
}

func isTooSlow(t *testing.T, resp *http.Response) {
	t.Helper()
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusRequestTimeout || resp.Header.Get("Content-Type") != "application/json" || resp.Header.Get("X-Request-Id") == "" ||
		!strings.Contains(string(text), `"type":"`+api.TypeRequestTimeout+`"`) {
		t.Errorf("%s, %v: %s", resp.Status, resp.Header, text)
	}
}

func TestSlowBodyOverHTTP2(t *testing.T) {
	t.Parallel()
	database, owner := initialize(t)
	pair := certificatetest.NewPair(t, 1)
	s := serveWithLimits(t, database, shortBodyTimeout(), func(s *server) {
		var err error
		if s.certificate, err = certificate.Open(pair.Cert, pair.Key, nil, s.log); err != nil {
			t.Fatal(err)
		}
	})
	c := trusting(t, (&testServer{url: s.url()}).as(t, owner), pair)
	body, rest := io.Pipe()
	defer rest.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.URL+c.Path("/workspaces"), body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+owner.Token)
	r.Header.Set("Content-Type", "application/json")
	resp, err := c.HTTP.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if resp.ProtoMajor != 2 {
		t.Errorf("the protocol is %s", resp.Proto)
	}
	isTooSlow(t, resp)
}

// TestLengthWithChunks checks that after a request with both Content-Length and
// Transfer-Encoding the connection is closed, because a proxy may take another request
// for the rest of the body.
func TestLengthWithChunks(t *testing.T) {
	t.Parallel()
	database, owner := initialize(t)
	plain := serve(t, database)
	secureDatabase, secureOwner := initialize(t)
	pair := certificatetest.NewPair(t, 1)
	secure := serve(t, secureDatabase, tlsArgs(pair)...)
	for name, tt := range map[string]struct {
		url   string
		owner newAccount
		dial  func(address string) (net.Conn, error)
	}{
		"plain": {plain.url, owner, func(address string) (net.Conn, error) { return net.Dial("tcp", address) }},
		"TLS": {secure.url, secureOwner, func(address string) (net.Conn, error) {
			return tls.Dial("tcp", address, &tls.Config{RootCAs: pair.Pool(t), ServerName: "localhost"})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := tt.dial(tt.url[strings.Index(tt.url, "//")+2:])
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			path := strings.Replace(api.Prefix, "{account_id}", tt.owner.AccountID, 1)
			body := `{"name":"w"}`
			fmt.Fprintf(conn, "POST %s/workspaces HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n"+
				"GET /healthz/live HTTP/1.1\r\nHost: test\r\n\r\n", path, tt.owner.Token, len(body), body)
			in := bufio.NewReader(conn)
			resp, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusCreated || !resp.Close {
				t.Errorf("%s, %v, %v", resp.Status, resp.Header, err)
			}
			if _, err := in.ReadByte(); err == nil {
				t.Error("the connection is still open")
			}
		})
	}
}

// TestSlowReader checks that the server disconnects a client that does not read its
// response.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	l := defaultConnectionLimits
	l.response = minrate.Limits{Grace: 50 * time.Millisecond, Rate: 1 << 30, MaxCredit: 50 * time.Millisecond}
	listener, err := listen(t.Context(), "--listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: test\r\n\r\n")
	if err := apitest.Receive(t, ended); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("writing ended with %v", err)
	}
}

// TestHeaderTooLarge checks the response of net/http to a header that is too large.
func TestHeaderTooLarge(t *testing.T) {
	t.Parallel()
	database, _ := initialize(t)
	s := serve(t, database)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/healthz/live", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Large", strings.Repeat("x", 2*maxHeaderBytes))
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("status %s", resp.Status)
	}
}

// TestMaxConnections checks that connections above the maximum wait for another to end.
func TestMaxConnections(t *testing.T) {
	t.Parallel()
	database, _ := initialize(t)
	s := serve(t, database, "--max-connections", "1")
	address := strings.TrimPrefix(s.url, "http://")
	request := func(conn net.Conn) { fmt.Fprint(conn, "GET /healthz/live HTTP/1.1\r\nHost: test\r\n\r\n") }
	var conns [2]net.Conn
	for i := range conns {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		request(conn)
		conns[i] = conn
		isLive(t, conns[0])
		request(conns[0])
	}
	for range 50 { // enough time for the second connection
		isLive(t, conns[0])
		request(conns[0])
	}
	isLive(t, conns[0])
	if got := strings.Count(s.log.String(), `"msg":"request"`); got != 53 {
		t.Errorf("%d requests were served, want 53 of the first connection", got)
	}
	conns[0].Close()
	isLive(t, conns[1])
}

func isLive(t *testing.T, conn net.Conn) {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("status %s", resp.Status)
	}
}

// TestDrainDelay checks that during the drain delay the server is not ready and still
// serves requests.
func TestDrainDelay(t *testing.T) {
	t.Parallel()
	database, owner := initialize(t)
	s := spawn(t, database, "--drain-delay", "1h")
	if status, _ := fetch(t, http.MethodGet, s.url+"/healthz/ready"); status != http.StatusOK {
		t.Fatalf("ready: %d", status)
	}
	c := s.as(t, owner)
	c.Do(http.MethodGet, "/mailboxes", nil).Want(http.StatusOK)
	s.stop()
	s.log.Wait(t, "shutting down")
	if status, body := fetch(t, http.MethodGet, s.url+"/healthz/ready"); status != http.StatusServiceUnavailable || !strings.Contains(body, "draining") {
		t.Errorf("ready: %d, %s", status, body)
	}
	if status, _ := fetch(t, http.MethodGet, s.url+"/healthz/live"); status != http.StatusOK {
		t.Errorf("live: %d", status)
	}
	resp, err := c.HTTP.Get(s.url + "/healthz/live")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if !resp.Close {
		t.Error("a keep-alive connection is not closed")
	}
	c.Do(http.MethodPost, "/workspaces", `{"name":"late"}`).Want(http.StatusCreated)
	s.end(t) // returns immediately
}

func TestDrainDelayEnds(t *testing.T) {
	t.Parallel()
	database, _ := initialize(t)
	s := serve(t, database, "--drain-delay", "1ms")
	if code := s.end(t); code != exitOK {
		t.Errorf("exit code %d:\n%s", code, s.log)
	}
	s.log.Wait(t, "shut down")
}

func TestNegativeConnectionFlags(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--drain-delay=-1s", "--max-connections=-1"} {
		if code, _, stderr := run(t, "serve", flag); code != exitUsage || !strings.Contains(stderr, "must not be negative") {
			t.Errorf("%s: exit code %d, stderr %q", flag, code, stderr)
		}
	}
}

// TestNewerSchema checks that a database with a newer schema is not changed.
func TestNewerSchema(t *testing.T) {
	t.Parallel()
	database, _ := initialize(t)
	db, err := sql.Open("sqlite", database)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("PRAGMA user_version = 211"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{serveArgs(database), {"init", "--database", database}} {
		code, stdout, stderr := run(t, args...)
		if code != exitFailure || stdout != "" || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q", args[0], code, stdout, stderr)
		}
		for _, want := range []string{database, "newer version of this program", "version 211", "run the newer version, or restore a backup"} {
			if !strings.Contains(stderr, want) {
				t.Errorf("%s: %q lacks %q", args[0], stderr, want)
			}
		}
	}
	if after, err := os.ReadFile(database); err != nil || string(after) != string(before) {
		t.Errorf("the file has changed: %v", err)
	}
}
