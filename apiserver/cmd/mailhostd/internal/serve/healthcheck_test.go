package serve_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/certificate/certificatetest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
)

// TestHealthcheck checks that the variables of a server with TLS are enough, as in a container.
func TestHealthcheck(t *testing.T) {
	t.Parallel()
	pair := certificatetest.NewPair(t, 1)
	s, _ := mailhostdtest.Start(t, mailhostdtest.TLSArgs(pair)...)
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "https"), "127.0.0.1:")
	code, stdout, stderr := mailhostdtest.RunWith(t, []string{"MAILHOSTD_LISTEN=:" + port, "MAILHOSTD_TLS_CERT=" + pair.Cert}, "healthcheck")
	assert.Check(t, code == cli.ExitOK && stdout+stderr == "", "exit code %d, %q, %q", code, stdout, stderr)
}
