package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestDocsAreCurrent compares docs/ with what run writes.
func TestDocsAreCurrent(t *testing.T) {
	t.Parallel()
	const root = "../.."
	dir := t.TempDir()
	for _, name := range []string{"templates", "examples", "internal/examples/testdata/outside"} {
		assert.NilError(t, os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join(root, name))))
	}
	assert.NilError(t, run(t.Context(), dir))
	want, have := pages(t, filepath.Join(dir, "docs")), pages(t, filepath.Join(root, "docs"))
	for name, text := range want {
		if have[name] != text {
			t.Errorf("docs/%s is not current: run go generate in the top folder, read the difference, and commit it", name)
		}
	}
	for name := range have {
		if want[name] == "" {
			t.Errorf("docs/%s belongs to nothing: remove it", name)
		}
	}
}

// pages returns the text of each file below a folder.
func pages(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	files := os.DirFS(dir)
	assert.NilError(t, fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, name)
		all[name] = string(text)
		return err
	}))
	return all
}

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
