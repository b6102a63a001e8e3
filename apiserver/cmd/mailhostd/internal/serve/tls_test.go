package serve_test

import (
	"crypto/tls"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/certificate/certificatetest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
)

func TestTLS(t *testing.T) {
	t.Parallel()
	pair := certificatetest.NewPair(t, 1)
	s, owner := mailhostdtest.Start(t, mailhostdtest.TLSArgs(pair, "--listen", "0.0.0.0:0", "--control-listen", "0", "--metrics-listen", "0")...)
	assert.Assert(t, strings.HasPrefix(s.URL, "https://localhost:"), "the server's URL is %s", s.URL)
	assert.Check(t, !strings.Contains(s.Log.String(), "plain HTTP"), "the log warns about plain HTTP:\n%s", s.Log)
	c := mailhostdtest.Trusting(t, s.As(t, owner), pair)
	for _, target := range []string{"a@example.org", "b@example.org", "c@example.org"} { // bodies on one HTTP/2 connection
		c.Do(http.MethodPost, "/forwarding", `{"target_email":"`+target+`"}`).Want(http.StatusCreated)
	}

	response, err := c.HTTP.Get(s.URL + "/healthz/ready")
	assert.NilError(t, err)
	defer response.Body.Close()
	assert.Check(t, response.ProtoMajor == 2 && response.TLS.Version >= tls.VersionTLS12, "%s over TLS %x", response.Proto, response.TLS.Version)

	metrics, _ := s.Log.Wait(t, "serving metrics")["url"].(string)
	_, text := mailhostdtest.Fetch(t, http.MethodGet, metrics)
	assert.Check(t, strings.Contains(text, "\nmailhostd_tls_certificate_expiry_timestamp_seconds 1"), "the metrics are\n%s", text)

	// Links in messages contain the server's URL.
	plane, _ := s.Log.Wait(t, "serving the control plane")["url"].(string)
	var outbox struct{ Items []struct{ Link string } }
	mailhostdtest.CallURL(t, http.MethodGet, plane+"/outbox", "", &outbox)
	assert.Check(t, len(outbox.Items) == 3 && strings.HasPrefix(outbox.Items[0].Link, s.URL+"/"), "outbox: %+v", outbox)

	assert.Check(t, is.Equal(s.End(t), cli.ExitOK), "exit code")
}

func TestHangupReloadsTheCertificate(t *testing.T) {
	t.Parallel()
	database, owner := mailhostdtest.Initialize(t)
	pair := certificatetest.NewPair(t, 1)
	s := mailhostdtest.Spawn(t, database, mailhostdtest.TLSArgs(pair)...)
	first := mailhostdtest.Trusting(t, s.As(t, owner), pair)
	first.Do(http.MethodGet, "", nil).Want(http.StatusOK)

	assert.NilError(t, os.WriteFile(pair.Key, []byte("no key"), 0o600))
	hangUp(t, s)
	s.Log.WaitFor(t, "the new TLS certificate can't be used; the old one is kept", 1)
	first.HTTP.CloseIdleConnections()
	first.Do(http.MethodGet, "", nil).Want(http.StatusOK)

	pair.Write(t, 2, time.Now().Add(time.Hour))
	hangUp(t, s)
	s.Log.WaitFor(t, "TLS certificate loaded", 2)
	mailhostdtest.Trusting(t, s.As(t, owner), pair).Do(http.MethodGet, "", nil).Want(http.StatusOK)
	first.Do(http.MethodGet, "", nil).Want(http.StatusOK) // its connection stays open
	assert.Check(t, is.Equal(s.End(t), cli.ExitOK), "exit code")
}

func hangUp(t *testing.T, s *mailhostdtest.Server) {
	t.Helper()
	assert.NilError(t, s.Cmd.Process.Signal(syscall.SIGHUP))
}

// TestStrictTransportSecurity checks that each response of the public listener makes browsers use https,
// if they can.
func TestStrictTransportSecurity(t *testing.T) {
	t.Parallel()
	pair := certificatetest.NewPair(t, 1)
	for name, tt := range map[string]struct {
		flags []string
		want  string
	}{
		"TLS":              {mailhostdtest.TLSArgs(pair), "max-age=31536000"},
		"an https URL":     {[]string{"--public-url", "HTTPS://mail.example"}, "max-age=31536000"},
		"plain HTTP":       {nil, ""},
		"a plain HTTP URL": {[]string{"--public-url", "http://mail.example"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, owner := mailhostdtest.Start(t, append(tt.flags, "--control-listen", "0", "--metrics-listen", "0")...)
			c := mailhostdtest.Trusting(t, s.As(t, owner), pair)
			c.HTTP.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
			for _, path := range []string{"/", "/healthz/ready", "/docs", "/openapi.json", "/console/", "/nothing", "/verify-forwarding/x", c.Path("/mailboxes")} {
				resp, _ := mailhostdtest.Send(t, c.HTTP, http.MethodGet, s.URL+path, "")
				assert.Check(t, is.Equal(resp.Header.Get("Strict-Transport-Security"), tt.want), "GET %s: %s", path, resp.Status)
			}
			for _, serving := range []string{"serving the control plane", "serving metrics"} {
				url, _ := s.Log.Wait(t, serving)["url"].(string)
				resp, _ := mailhostdtest.Send(t, http.DefaultClient, http.MethodGet, url+"/", "")
				assert.Check(t, is.Equal(resp.Header.Get("Strict-Transport-Security"), ""), serving)
			}
		})
	}
}
