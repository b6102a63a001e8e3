package malformed_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/malformed"
)

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Listener = malformed.Listener(s.Listener)
	s.Config.MaxHeaderBytes = 1 << 10
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// send writes bytes to a server and reads its answer.
func send(t *testing.T, s *httptest.Server, request string) (*http.Response, string) {
	t.Helper()
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
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

func TestMalformedRequests(t *testing.T) {
	t.Parallel()
	s := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the handler was asked") })
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
	} {
		resp, body := send(t, s, request)
		var answer struct {
			Detail []struct {
				Loc       []string
				Msg, Type string
			}
		}
		if err := json.Unmarshal([]byte(body), &answer); err != nil || len(answer.Detail) != 1 {
			t.Errorf("%.40q: %q, %v", request, body, err)
			continue
		}
		if p := answer.Detail[0]; resp.StatusCode != want.status || p.Type != want.typ || p.Loc[0] != "header" || !strings.HasPrefix(p.Msg, "the request can't be read as HTTP: ") {
			t.Errorf("%.40q: %d %s; want %+v", request, resp.StatusCode, body, want)
		}
		if resp.Header.Get("Content-Type") != "application/json" || resp.Header.Get("X-Request-Id") == "" || !resp.Close {
			t.Errorf("%.40q: %v", request, resp.Header)
		}
	}
}

// What a handler answers stays, even if it looks alike.
func TestHandlersAnswers(t *testing.T) {
	t.Parallel()
	const text = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request"
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, text)
		if r.URL.Path == "/flushed" {
			_ = http.NewResponseController(w).Flush()
			fmt.Fprint(w, text)
		}
	})
	for path, want := range map[string]string{"/": text, "/flushed": text + text} {
		if resp, body := send(t, s, "GET "+path+" HTTP/1.1\r\nHost: a\r\n\r\n"); resp.StatusCode != 400 || body != want {
			t.Errorf("%s: %d %q", path, resp.StatusCode, body)
		}
	}
}
