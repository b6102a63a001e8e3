package export_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
)

// TestTranscript checks the output, and the refused command lines.
func TestTranscript(t *testing.T) { mailhostdtest.Transcript(t, "testdata/export.txt") }

// TestExportHasEveryKind checks that an export reads a list of each kind of object.
func TestExportHasEveryKind(t *testing.T) {
	t.Parallel()
	s, owner := mailhostdtest.Start(t)
	s.As(t, owner).Domain("example.com")
	mailhostdtest.RunJSON[any](t, mailhostdtest.HTTPEnviron(s, owner), "export", "--hcl", t.TempDir())
	s.CheckListsRead(t, "call a function in kinds.go that writes its objects (account.go)")
}

// TestHostileNames exports from an API that returns a path as the name of a domain.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"items":[{"id":"d","name":"../../evil"}],"total":1}`)
	}))
	defer s.Close()
	folder := filepath.Join(t.TempDir(), "a", "b")
	mailhostdtest.Fails(t, []string{"MAILHOST_BASE_URL=" + s.URL, "MAILHOST_ACCOUNT_ID=0b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10", "MAILHOST_TOKEN=t"},
		cli.ExitFailure, `an invalid name, "../../evil"`, "export", "--hcl", folder)
	_, err := os.Stat(folder)
	assert.Check(t, err != nil, "something was written")
}
