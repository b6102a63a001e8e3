package cli

import (
	"context"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

// TestAnotherOpener checks that the program can open databases of an additional engine.
func TestAnotherOpener(t *testing.T) {
	t.Parallel()
	all := Engines()
	all["postgres"] = func(ctx context.Context, _ string, _ OpenOptions) (store.Store, error) {
		return sqlite.Open(ctx, sqlite.Memory, sqlite.Options{})
	}
	db, err := all.Open(t.Context(), "Postgres://user:secret@db/mail", OpenOptions{})
	assert.NilError(t, err)
	assert.Check(t, db.Close())
	got := RedactDatabase("postgres://user:secret@db/mail")
	assert.Check(t, !strings.Contains(got, "secret"), "redactDatabase leaks the password: %s", got)
}
