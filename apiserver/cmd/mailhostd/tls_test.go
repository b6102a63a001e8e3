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

// tlsArgs are the flags for a pair.
func tlsArgs(p certificatetest.Pair, more ...string) []string {
	return append([]string{"--tls-cert", p.Cert, "--tls-key", p.Key}, more...)
}

// trusting makes a caller trust the certificate that a pair holds now.
func trusting(t *testing.T, c caller, p certificatetest.Pair) caller {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: p.Pool(t)}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	c.client = &http.Client{Transport: transport}
	return c
}

// waitFor waits until a message was logged so many times.
func (b *logBook) waitFor(t *testing.T, msg string, times int) {
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

	answer, err := c.client.Get(s.url + "/healthz/ready")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.ProtoMajor != 2 || answer.TLS.Version < tls.VersionTLS12 {
		t.Errorf("%s over TLS %x", answer.Proto, answer.TLS.Version)
	}

	// Links in messages lead here.
	plane, _ := s.log.wait(t, "serving the control plane")["url"].(string)
	var outbox struct{ Items []struct{ Link string } }
	ask(t, http.MethodGet, plane+"/outbox", "", &outbox)
	if len(outbox.Items) != 1 || !strings.HasPrefix(outbox.Items[0].Link, s.url+"/") {
		t.Errorf("outbox: %+v", outbox)
	}

	// Plain HTTP gets an error that names the cause.
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

func TestPlainHTTPIsWarnedOf(t *testing.T) {
	t.Parallel()
	database, _ := initialize(t)
	s := serve(t, database, "--listen", "0.0.0.0:0")
	s.log.wait(t, "tokens travel in plain HTTP; let only a TLS proxy reach this address")
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
	s.log.waitFor(t, "the new TLS certificate can't be used; the old one stays", 1)
	first.client.CloseIdleConnections()
	first.must(t, http.StatusOK, http.MethodGet, "", "", nil)

	pair.Write(t, 2, time.Now().Add(time.Hour))
	hangUp(t, s)
	s.log.waitFor(t, "TLS certificate loaded", 2)
	trusting(t, s.as(t, owner), pair).must(t, http.StatusOK, http.MethodGet, "", "", nil)
	first.must(t, http.StatusOK, http.MethodGet, "", "", nil) // its connection goes on
	if code := s.end(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

func hangUp(t *testing.T, s *serving) {
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
		"one flag": {[]string{"--tls-cert", one.Cert}, exitUsage, "--tls-cert and --tls-key: give both"},
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

// A bulk of requests shares one connection of HTTP/2.
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
