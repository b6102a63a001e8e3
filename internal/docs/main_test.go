package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestRunRefuses checks that run validates the pages and reports errors. The gate runs go generate and
// compares the pages with docs/.
func TestRunRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, text, want string }{
		"guide without a title": {"templates/guides/first.md", "---\ndescription: \"None\"\n---\n", "page_title"},
		"broken template":       {"templates/index.md.tmpl", "{{ .Nothing }}", "index.md.tmpl"},
	} {
		file := filepath.Join(t.TempDir(), filepath.FromSlash(c.file))
		assert.NilError(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o750), os.WriteFile(file, []byte(c.text), 0o600)))
		err := run(t.Context(), strings.TrimSuffix(file, filepath.FromSlash(c.file)))
		assert.Check(t, err != nil && strings.Contains(err.Error(), c.want), "%s: %v", name, err)
	}
}
