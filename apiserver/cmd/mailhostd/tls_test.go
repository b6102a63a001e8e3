package main

import (
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/certificate/certificatetest"
)

// tlsArgs returns the flags for a pair.
func tlsArgs(p certificatetest.Pair, more ...string) []string {
	return append([]string{"--tls-cert", p.Cert, "--tls-key", p.Key}, more...)
}

// trusting returns a caller that trusts the pair's current certificate.
func trusting(t *testing.T, c caller, p certificatetest.Pair) caller {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: p.Pool(t)}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	c.client = &http.Client{Transport: transport}
	return c
}

// waitFor waits until a message has been logged n times.
func (b *logBuffer) waitFor(t *testing.T, msg string, times int) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		found := 0
		for line := range strings.Lines(b.text.String()) {
			var entry struct{ Msg string }
			if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == msg {
				found++
			}
		}
		if found >= times {
			return
		}
		if b.ended {
			t.Fatalf("the server ended without logging %q %d times:\n%s", msg, times, b.text.String())
		}
		b.more.Wait()
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	database, owner := initialize(t)
	pair := certificatetest.NewPair(t, 1)
	s := serve(t, database, tlsArgs(pair, "--listen", "0.0.0.0:0", "--control-listen", "0")...)
	if !strings.HasPrefix(s.url, "https://localhost:") {
		t.Fatalf("it serves %s", s.url)
	}
	if strings.Contains(s.log.String(), "plain HTTP") {
		t.Errorf("it warns of plain HTTP:\n%s", s.log)
	}
	c := trusting(t, s.as(t, owner), pair)
	c.must(t, http.StatusCreated, http.MethodPost, "/forwarding", `{"target_email":"a@example.org"}`, nil)

	response, err := c.client.Get(s.url + "/healthz/ready")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.ProtoMajor != 2 || response.TLS.Version < tls.VersionTLS12 {
		t.Errorf("%s over TLS %x", response.Proto, response.TLS.Version)
	}

	// Links in messages have the server's URL.
	plane, _ := s.log.wait(t, "serving the control plane")["url"].(string)
	var outbox struct{ Items []struct{ Link string } }
	callURL(t, http.MethodGet, plane+"/outbox", "", &outbox)
	if len(outbox.Items) != 1 || !strings.HasPrefix(outbox.Items[0].Link, s.url+"/") {
		t.Errorf("outbox: %+v", outbox)
	}

	// A request over plain HTTP gets an error with the cause.
	plain, err := http.Get("http" + strings.TrimPrefix(s.url, "https") + "/healthz/live")
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Body.Close()
	if plain.StatusCode != http.StatusBadRequest || plain.Header.Get("X-Request-Id") == "" {
		t.Errorf("plain HTTP: %s, %v", plain.Status, plain.Header)
	}

	// HTTP/2 has the same error for an unknown expectation as HTTP/1.1.
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/healthz/live", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Expect", "foo")
	unmet, err := c.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer unmet.Body.Close()
	if text, err := io.ReadAll(unmet.Body); err != nil || unmet.StatusCode != http.StatusExpectationFailed || !strings.Contains(string(text), `"type":"expectation_failed"`) {
		t.Errorf("Expect: foo: %s %s, %v", unmet.Status, text, err)
	}
	if code := s.end(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

func TestWarningAboutPlainHTTP(t *testing.T) {
	t.Parallel()
	database, _ := initialize(t)
	s := serve(t, database, "--listen", "0.0.0.0:0")
	s.log.wait(t, "tokens are sent over plain HTTP; make this address reachable only for a TLS proxy")
}

func TestHangupReloadsTheCertificate(t *testing.T) {
	t.Parallel()
	database, owner := initialize(t)
	pair := certificatetest.NewPair(t, 1)
	s := spawn(t, database, tlsArgs(pair)...)
	first := trusting(t, s.as(t, owner), pair)
	first.must(t, http.StatusOK, http.MethodGet, "", "", nil)

	if err := os.WriteFile(pair.Key, []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	hangUp(t, s)
	s.log.waitFor(t, "the new TLS certificate can't be used; the old one is kept", 1)
	first.client.CloseIdleConnections()
	first.must(t, http.StatusOK, http.MethodGet, "", "", nil)

	pair.Write(t, 2, time.Now().Add(time.Hour))
	hangUp(t, s)
	s.log.waitFor(t, "TLS certificate loaded", 2)
	trusting(t, s.as(t, owner), pair).must(t, http.StatusOK, http.MethodGet, "", "", nil)
	first.must(t, http.StatusOK, http.MethodGet, "", "", nil) // its connection stays open
	if code := s.end(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

func hangUp(t *testing.T, s *testServer) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
}

func TestWrongCertificates(t *testing.T) {
	t.Parallel()
	one, two := certificatetest.NewPair(t, 1), certificatetest.NewPair(t, 2)
	for name, tt := range map[string]struct {
		args []string
		code int
		want string
	}{
		"one flag": {[]string{"--tls-cert", one.Cert}, exitUsage, "--tls-cert and --tls-key: set both"},
		"mismatch": {[]string{"--tls-cert", one.Cert, "--tls-key", two.Key}, exitFailure, "private key does not match public key"},
		"no file":  {[]string{"--tls-cert", one.Cert + "x", "--tls-key", one.Key}, exitFailure, "--tls-cert: open " + one.Cert + "x: no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := filepath.Join(t.TempDir(), "mailhost.db")
			code, _, stderr := run(t, append(serveArgs(database), tt.args...)...)
			if code != tt.code || !strings.Contains(stderr, tt.want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("exit code %d, stderr %q; want %d and %q", code, stderr, tt.code, tt.want)
			}
			if _, err := os.Stat(database); err == nil {
				t.Error("a new database stays behind")
			}
		})
	}
}

// Many requests share one HTTP/2 connection.
func TestHTTP2WithBodies(t *testing.T) {
	t.Parallel()
	database, owner := initialize(t)
	pair := certificatetest.NewPair(t, 1)
	c := trusting(t, serve(t, database, tlsArgs(pair)...).as(t, owner), pair)
	c.buy(t, "example.com")
	for _, name := range []string{"a", "b", "c"} {
		c.must(t, http.StatusCreated, http.MethodPost, "/mailboxes", mailbox("example.com", name), nil)
	}
	var page api.Page[api.Mailbox]
	c.must(t, http.StatusOK, http.MethodGet, "/mailboxes", "", &page)
	if page.Total != 3 {
		t.Errorf("%d mailboxes", page.Total)
	}
}
