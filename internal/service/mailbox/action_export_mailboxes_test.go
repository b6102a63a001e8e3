package mailbox_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

const exportAction = "mailhost_export_mailboxes"

// only fails the test unless the directory contains exactly one file, with this text.
func only(t *testing.T, path, want string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	assert.NilError(t, err)
	assert.Assert(t, len(entries) == 1 && entries[0].Name() == filepath.Base(path), "the directory has %v", entries)
	got, err := os.ReadFile(path)
	assert.Check(t, err == nil && string(got) == want, "the file has %q, %v, want %q", got, err, want)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	assert.NilError(t, os.WriteFile(path, []byte(text), 0o644))
}

// TestExportActionFails checks that a failed export changes no file.
func TestExportActionFails(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	path := filepath.Join(t.TempDir(), "mailboxes.csv")
	write(t, path, "yesterday's")
	missing := filepath.Join(t.TempDir(), "missing", "mailboxes.csv")
	refused := func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		acctest.Refuse(w, http.StatusForbidden, "header.authorization", "the credential lacks mailbox.export")
	}
	noRequest := func(http.ResponseWriter, *http.Request, http.Handler) { t.Error("a request was sent") }
	for name, c := range map[string]struct {
		handler func(http.ResponseWriter, *http.Request, http.Handler)
		config  map[string]any
		want    []string
	}{
		"refused":       {refused, map[string]any{"path": path}, []string{"ERROR: Can't export the mailboxes", "lacks mailbox.export", "request id refused-by-test"}},
		"there already": {noRequest, map[string]any{"path": path, "overwrite": false}, []string{`ERROR at AttributeName("path"): Can't write the file`, path + " can't be written: file already exists. Remove it"}},
		"a directory":   {noRequest, map[string]any{"path": filepath.Dir(path)}, []string{`ERROR at AttributeName("path")`, "it is a directory. Choose a file in it."}},
		"below a file":  {noRequest, map[string]any{"path": filepath.Join(path, "deep", "a.csv")}, []string{`WARNING at AttributeName("path"): The directory `, `ERROR at AttributeName("path")`, "not a directory. Check that its directory exists"}},
		"no directory":  {noRequest, map[string]any{"path": missing}, []string{`WARNING at AttributeName("path"): The directory `, filepath.Dir(missing) + " of the export does not exist", `ERROR at AttributeName("path")`, missing + " can't be written: no such file or directory. Check that its directory exists"}},
		"no name":       {noRequest, map[string]any{"path": ""}, []string{`ERROR at AttributeName("path")`, "at least 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, diags := s.Protocol(t, s.Front(t, c.handler)).Invoke(exportAction, c.config)
			acctest.Expect(t, diags, c.want...)
			only(t, path, "yesterday's")
		})
	}
}

// TestExportKeepsWhatCame checks that a file created after the plan, or during the export, is not
// overwritten.
func TestExportKeepsWhatCame(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	path := filepath.Join(t.TempDir(), "mailboxes.csv")
	p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		write(t, path, "somebody else's")
		next.ServeHTTP(w, r)
	}))
	planned := map[string]any{"path": acctest.Unknown, "overwrite": acctest.Unknown, "domain": acctest.Unknown, "mailboxes": acctest.Unknown}
	for range 2 {
		_, diags := p.InvokePlanned(exportAction, planned, map[string]any{"path": path, "overwrite": false})
		acctest.Expect(t, diags, `ERROR at AttributeName("path"): Can't write the file`, "exists. Remove it")
		only(t, path, "somebody else's")
	}
}
