package cli

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestRedactDatabase(t *testing.T) {
	t.Parallel()
	assert.Check(t, is.Equal(RedactDatabase("Postgres://user:secret@db/mail"), "postgres://…"))
}
