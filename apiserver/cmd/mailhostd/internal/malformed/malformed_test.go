package malformed_test

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/certificate/certificatetest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/malformed"
)

// testServer is a server for tests that open connections themselves.
type testServer struct {
	*httptest.Server
	certificates *tls.Config // nil without TLS
}

// eachServer runs a test with and without TLS.
func eachServer(t *testing.T, h http.HandlerFunc, test func(t *testing.T, s *testServer)) {
	for name, secure := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) { test(t, serve(t, h, secure)) })
	}
}

func serve(t *testing.T, h http.HandlerFunc, secure bool) *testServer {
	t.Helper()
	s := &testServer{Server: httptest.NewUnstartedServer(malformed.Handler(h))}
	s.Config.MaxHeaderBytes = 1 << 10
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	if secure {
		pair := certificatetest.NewPair(t, 1)
		certificate, err := tls.LoadX509KeyPair(pair.Cert, pair.Key)
		if err != nil {
			t.Fatal(err)
		}
		config := malformed.Config(&tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12})
		s.certificates = &tls.Config{RootCAs: pair.Pool(t), ServerName: "localhost", MinVersion: tls.VersionTLS12}
		s.Config.TLSConfig, s.Config.ConnContext = config, malformed.ConnContext
		s.Listener = malformed.TLSListener(s.Listener, config, time.Minute, s.Config.ErrorLog)
	} else {
		s.Listener = malformed.Listener(s.Listener)
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func (s *testServer) dial(t *testing.T) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if s.certificates == nil {
		return c
	}
	return tls.Client(c, s.certificates)
}

// send writes bytes to a connection and reads the response.
func send(t *testing.T, c net.Conn, request string) (*http.Response, string) {
	t.Helper()
	go func() { _, _ = io.WriteString(c, request) }()
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

// isError checks that the response is an API error with one problem, and that the server
// then closes the connection.
func isError(t *testing.T, resp *http.Response, body string, status int, typ string) {
	t.Helper()
	var decoded struct {
		Detail []struct {
			Loc       []string
			Msg, Type string
		}
	}
	if err := json.Unmarshal([]byte(body), &decoded); err != nil || len(decoded.Detail) != 1 {
		t.Errorf("%q, %v", body, err)
		return
	}
	if p := decoded.Detail[0]; resp.StatusCode != status || p.Type != typ || p.Loc[0] != "header" || p.Msg == "" {
		t.Errorf("%d %s; want %d %s", resp.StatusCode, body, status, typ)
	}
	if resp.Header.Get("Content-Type") != "application/json" || resp.Header.Get("X-Request-Id") == "" || !resp.Close {
		t.Errorf("%v", resp.Header)
	}
}

func TestMalformedRequests(t *testing.T) {
	t.Parallel()
	eachServer(t, func(http.ResponseWriter, *http.Request) { t.Error("the handler was called") }, func(t *testing.T, s *testServer) {
		for request, want := range map[string]struct {
			status int
			typ    string
		}{
			"GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n":                                        {400, "bad_request"},
			"GET / HTTP/1.1\r\n\r\n":                                                      {400, "bad_request"},
			"nonsense\r\n\r\n":                                                            {400, "bad_request"},
			"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n":                    {400, "bad_request"},
			"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n":               {501, "bad_request"},
			"GET / HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x", 16<<10) + "\r\n\r\n": {431, "header_too_large"},
			"GET / HTTP/3.0\r\nHost: a\r\n\r\n":                                           {505, "bad_request"},
			"GET / HTTP/1.1\r\nHost: a\r\nExpect: foo\r\n\r\n":                            {417, "expectation_failed"},
			"POST / HTTP/1.1\r\nHost: a\r\nExpect: x\r\nContent-Length: 2\r\n\r\n{}":      {417, "expectation_failed"},
		} {
			t.Run(fmt.Sprintf("%.40q", request), func(t *testing.T) {
				resp, body := send(t, s.dial(t), request)
				isError(t, resp, body, want.status, want.typ)
			})
		}
	})
}

func TestPlainHTTPOnTheTLSPort(t *testing.T) {
	t.Parallel()
	s := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the handler was called") }, true)
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
		c, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		resp, body := send(t, c, method+" /v1 HTTP/1.1\r\nHost: a\r\nContent-Length: 20000\r\n\r\n"+strings.Repeat("x", 20000))
		isError(t, resp, body, 400, "bad_request")
		if !strings.Contains(body, "https://") {
			t.Errorf("%s: %s", method, body)
		}
	}
}

// TestProtocolsOverTLS checks that HTTP/2 is negotiated and that requests have their TLS
// state.
func TestProtocolsOverTLS(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %t", r.Proto, r.TLS != nil && r.TLS.HandshakeComplete)
	}, true)
	for _, forceHTTP1 := range []bool{true, false} {
		transport := &http.Transport{TLSClientConfig: s.certificates.Clone(), ForceAttemptHTTP2: !forceHTTP1}
		defer transport.CloseIdleConnections()
		want := "HTTP/2.0 true"
		if forceHTTP1 {
			want = "HTTP/1.1 true"
		}
		resp, err := (&http.Client{Transport: transport}).Get("https://" + s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if resp.Body.Close(); err != nil || string(body) != want {
			t.Errorf("%s, %v; want %s", body, err, want)
		}
	}
}

// TestHandshakesAreIndependent checks that a client that does not complete its handshake
// blocks neither other clients nor the shutdown.
func TestHandshakesAreIndependent(t *testing.T) {
	t.Parallel()
	s := serve(t, func(http.ResponseWriter, *http.Request) {}, true)
	silent, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	if resp, _ := send(t, s.dial(t), "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"); resp.StatusCode != 200 {
		t.Errorf("status %s", resp.Status)
	}
	s.Close()
	if _, err := silent.Read(make([]byte, 1)); err == nil {
		t.Error("the silent connection is open")
	}
}

// TestHandlersResponses checks that a handler's own response passes unchanged, even if it
// looks like an error of net/http.
func TestHandlersResponses(t *testing.T) {
	t.Parallel()
	const text = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request"
	eachServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, text)
		if r.URL.Path == "/flushed" {
			_ = http.NewResponseController(w).Flush()
			fmt.Fprint(w, text)
		}
	}, func(t *testing.T, s *testServer) {
		for path, want := range map[string]string{"/": text, "/flushed": text + text} {
			if resp, body := send(t, s.dial(t), "GET "+path+" HTTP/1.1\r\nHost: a\r\n\r\n"); resp.StatusCode != 400 || body != want {
				t.Errorf("%s: %d %q", path, resp.StatusCode, body)
			}
		}
	})
}

// TestHandlersExpectationFailed checks that a handler may respond with its own 417.
func TestHandlersExpectationFailed(t *testing.T) {
	t.Parallel()
	eachServer(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Request-Id", "mine")
		w.WriteHeader(http.StatusExpectationFailed)
		fmt.Fprint(w, "mine")
	}, func(t *testing.T, s *testServer) {
		resp, body := send(t, s.dial(t), "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
		if resp.StatusCode != 417 || body != "mine" {
			t.Errorf("%d %q", resp.StatusCode, body)
		}
	})
}
