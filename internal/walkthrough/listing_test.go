package walkthrough_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestListing checks that examples/README.md lists exactly the existing folders, and that
// each whole configuration has a README.
func TestListing(t *testing.T) {
	t.Parallel()
	listing := read(t, filepath.Join(examples, "README.md"))
	entries, err := os.ReadDir(examples)
	assert.NilError(t, err)
	for _, e := range entries {
		link := "[" + e.Name() + "](" + e.Name() + ")"
		if e.IsDir() && !strings.Contains(listing, link) {
			t.Errorf("examples/README.md does not list %s", link)
		}
	}
	whole, _, ok := strings.Cut(listing, "Single pieces")
	assert.Assert(t, ok, "examples/README.md has no list of single pieces")
	for line := range strings.Lines(listing) {
		name, _, ok := strings.Cut(strings.TrimPrefix(line, "| ["), "]")
		if !strings.HasPrefix(line, "| [") || !ok {
			continue
		}
		_, err := os.Stat(filepath.Join(examples, name))
		assert.Check(t, err == nil, "examples/README.md lists a missing folder: %v", err)
		if _, err := os.Stat(filepath.Join(examples, name, "README.md")); err != nil && strings.Contains(whole, line) {
			t.Errorf("examples/%s has no README.md", name)
		}
	}
}
