package main

import (
	"crypto/tls"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/certificate/certificatetest"
)

// tlsArgs returns the flags for a certificate and its key.
func tlsArgs(p certificatetest.Pair, more ...string) []string {
	return append([]string{"--tls-cert", p.Cert, "--tls-key", p.Key}, more...)
}

// trusting returns a client that trusts the pair's current certificate.
func trusting(t *testing.T, c *apitest.Client, p certificatetest.Pair) *apitest.Client {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: p.Pool(t)}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	c.HTTP = &http.Client{Transport: transport}
	return c
}

func TestTLS(t *testing.T) {
	t.Parallel()
	database, owner := initialize(t)
	pair := certificatetest.NewPair(t, 1)
	s := serve(t, database, tlsArgs(pair, "--listen", "0.0.0.0:0", "--control-listen", "0")...)
	if !strings.HasPrefix(s.url, "https://localhost:") {
		t.Fatalf("the server's URL is %s", s.url)
	}
	if strings.Contains(s.log.String(), "plain HTTP") {
		t.Errorf("the log warns about plain HTTP:\n%s", s.log)
	}
	c := trusting(t, s.as(t, owner), pair)
	c.Do(http.MethodPost, "/forwarding", `{"target_email":"a@example.org"}`).Want(http.StatusCreated)

	response, err := c.HTTP.Get(s.url + "/healthz/ready")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.ProtoMajor != 2 || response.TLS.Version < tls.VersionTLS12 {
		t.Errorf("%s over TLS %x", response.Proto, response.TLS.Version)
	}

	// Links in messages have the server's URL.
	plane, _ := s.log.Wait(t, "serving the control plane")["url"].(string)
	var outbox struct{ Items []struct{ Link string } }
	callURL(t, http.MethodGet, plane+"/outbox", "", &outbox)
	if len(outbox.Items) != 1 || !strings.HasPrefix(outbox.Items[0].Link, s.url+"/") {
		t.Errorf("outbox: %+v", outbox)
	}

	// A request over plain HTTP gets an error that names the cause.
	plain, err := http.Get("http" + strings.TrimPrefix(s.url, "https") + "/healthz/live")
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Body.Close()
	if plain.StatusCode != http.StatusBadRequest || plain.Header.Get("X-Request-Id") == "" {
		t.Errorf("plain HTTP: %s, %v", plain.Status, plain.Header)
	}

	// HTTP/2 returns the same error for an unknown expectation as HTTP/1.1.
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/healthz/live", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Expect", "foo")
	unmet, err := c.HTTP.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer unmet.Body.Close()
	if text, err := io.ReadAll(unmet.Body); err != nil || unmet.StatusCode != http.StatusExpectationFailed || !strings.Contains(string(text), `"type":"expectation_failed"`) {
		t.Errorf("Expect: foo: %s %s, %v", unmet.Status, text, err)
	}
	if code := s.end(t); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

func TestWarningAboutPlainHTTP(t *testing.T) {
	t.Parallel()
	database, _ := initialize(t)
	s := serve(t, database, "--listen", "0.0.0.0:0")
	s.log.Wait(t, "tokens are sent over plain HTTP; make this address reachable only for a TLS proxy")
}

func TestHangupReloadsTheCertificate(t *testing.T) {
	t.Parallel()
	database, owner := initialize(t)
	pair := certificatetest.NewPair(t, 1)
	s := spawn(t, database, tlsArgs(pair)...)
	first := trusting(t, s.as(t, owner), pair)
	first.Do(http.MethodGet, "", nil).Want(http.StatusOK)

	if err := os.WriteFile(pair.Key, []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	hangUp(t, s)
	s.log.WaitFor(t, "the new TLS certificate can't be used; the old one is kept", 1)
	first.HTTP.CloseIdleConnections()
	first.Do(http.MethodGet, "", nil).Want(http.StatusOK)

	pair.Write(t, 2, time.Now().Add(time.Hour))
	hangUp(t, s)
	s.log.WaitFor(t, "TLS certificate loaded", 2)
	trusting(t, s.as(t, owner), pair).Do(http.MethodGet, "", nil).Want(http.StatusOK)
	first.Do(http.MethodGet, "", nil).Want(http.StatusOK) // its connection stays open
	if code := s.end(t); code != exitOK {
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
				t.Error("a new database was left behind")
			}
		})
	}
}

// TestHTTP2WithBodies checks that many requests with bodies can share one HTTP/2
// connection.
func TestHTTP2WithBodies(t *testing.T) {
	t.Parallel()
	database, owner := initialize(t)
	pair := certificatetest.NewPair(t, 1)
	c := trusting(t, serve(t, database, tlsArgs(pair)...).as(t, owner), pair)
	c.Domain("example.com")
	for _, name := range []string{"a", "b", "c"} {
		c.Do(http.MethodPost, "/mailboxes", mailbox("example.com", name)).Want(http.StatusCreated)
	}
	var page api.Page[api.Mailbox]
	c.Do(http.MethodGet, "/mailboxes", nil).Want(http.StatusOK).Into(&page)
	if page.Total != 3 {
		t.Errorf("%d mailboxes", page.Total)
	}
}
