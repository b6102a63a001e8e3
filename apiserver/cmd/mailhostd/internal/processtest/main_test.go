// Package processtest tests servers as processes of their own, alone and several on one
// database: they are killed under load, lose their disk or PostgreSQL, and share a file. Nothing
// that was acknowledged may be lost, and nothing that is no outage may be taken for one.
package processtest

import (
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
)

func TestMain(m *testing.M) { mailhostdtest.Main(m) }

// skipShort keeps the inner loop short: other tests find most of what these find, and sooner.
func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: no server is killed and loses no disk")
	}
}
