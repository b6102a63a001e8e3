package main

import (
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/certificate/certificatetest"
)

func TestHealthcheck(t *testing.T) {
	t.Parallel()
	pair := certificatetest.NewPair(t, 1)
	for name, flags := range map[string][]string{"HTTP": nil, "TLS": tlsArgs(pair)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database, _ := initialize(t)
			s := serve(t, database, flags...)
			_, port, _ := strings.Cut(strings.TrimPrefix(s.url, "http"), "127.0.0.1:")
			// As in a container, the server's own variables are enough.
			environ := []string{"MAILHOSTD_LISTEN=:" + port}
			if flags != nil {
				environ = append(environ, "MAILHOSTD_TLS_CERT="+pair.Cert)
			}
			if code, stdout, stderr := runWith(t, environ, "healthcheck"); code != exitOK || stdout != "" || stderr != "" {
				t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
			}
			s.end(t)
			if code, _, stderr := runWith(t, environ, "healthcheck"); code != exitFailure || !strings.Contains(stderr, "the server can't be reached") {
				t.Errorf("after its end: exit code %d, %q", code, stderr)
			}
		})
	}
}
