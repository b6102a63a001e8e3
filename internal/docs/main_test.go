package main

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pages returns the text of each file in docs below dir, by path.
func pages(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	docs := os.DirFS(filepath.Join(dir, "docs"))
	err := fs.WalkDir(docs, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(docs, path)
		found[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRun generates pages twice, including features that an old CLI would omit.
func TestRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "templates", "guides", "first.md"), "---\npage_title: \"First\"\n---\n\n# First\n")
	write(t, filepath.Join(dir, "docs", "resources", "gone.md"), "of a resource that no longer exists")
	write(t, filepath.Join(dir, "examples", "resources", "mailhost_mailbox", "import-by-identity.tf"), "import {\n  to = mailhost_mailbox.sample\n}\n")
	if err := run(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	first := pages(t, dir)
	for page, part := range map[string]string{
		"index.md":                     "`base_url` (String)",
		"resources/mailbox.md":         "mailhost_mailbox.sample",
		"list-resources/mailbox.md":    "# mailhost_mailbox (List Resource)",
		"functions/spf_record.md":      "spf_record(",
		"guides/first.md":              "# First",
		"data-sources/account.md":      "`default_workspace_id` (String)",
		"resources/master_password.md": "[Write-only",
	} {
		if !strings.Contains(first[page], part) {
			t.Errorf("%s lacks %q: %s", page, part, first[page])
		}
	}
	if _, ok := first["resources/gone.md"]; ok {
		t.Error("the page of a removed resource is still there")
	}
	if err := run(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if second := pages(t, dir); !maps.Equal(first, second) {
		t.Errorf("the second run changed pages: %q, %q", slices.Sorted(maps.Keys(first)), slices.Sorted(maps.Keys(second)))
	}
}

// TestRunRefuses checks that run validates the pages and reports errors.
func TestRunRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, text, want string }{
		"page without a resource": {"templates/resources/gone.md", "---\npage_title: \"Gone\"\n---\n", "gone"},
		"guide without a title":   {"templates/guides/first.md", "---\ndescription: \"None\"\n---\n", "page_title"},
		"broken template":         {"templates/index.md.tmpl", "{{ .Nothing }}", "index.md.tmpl"},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, filepath.FromSlash(c.file)), c.text)
		if err := run(t.Context(), dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
