package serve_test

import (
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/certificate/certificatetest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
)

func TestHealthcheck(t *testing.T) {
	t.Parallel()
	pair := certificatetest.NewPair(t, 1)
	for name, flags := range map[string][]string{"HTTP": nil, "TLS": mailhostdtest.TLSArgs(pair)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database, _ := mailhostdtest.Initialize(t)
			s := mailhostdtest.Serve(t, database, flags...)
			_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "http"), "127.0.0.1:")
			// As in a container, the server's own variables are enough.
			environ := []string{"MAILHOSTD_LISTEN=:" + port}
			if flags != nil {
				environ = append(environ, "MAILHOSTD_TLS_CERT="+pair.Cert)
			}
			if code, stdout, stderr := mailhostdtest.RunWith(t, environ, "healthcheck"); code != cli.ExitOK || stdout != "" || stderr != "" {
				t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
			}
			s.End(t)
			mailhostdtest.Fails(t, environ, cli.ExitFailure, "the server can't be reached", "healthcheck")
		})
	}
}
