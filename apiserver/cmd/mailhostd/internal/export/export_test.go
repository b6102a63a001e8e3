package export_test

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest/sample"
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

// leftOut lists the fields that a request can set and no export writes, by resource, with the reason.
var leftOut = map[string]map[string]string{
	"mailhost_mailbox": {"domain_name": "the domain that the set is in"},
}

// TestExportHasEveryField checks that an export reads each field of an object that a request can set:
// otherwise the first apply removes the value from the object that it imports.
func TestExportHasEveryField(t *testing.T) {
	t.Parallel()
	source := ""
	for _, file := range []string{"account.go", "configuration.go", "kinds.go"} {
		text, err := os.ReadFile(file)
		assert.NilError(t, err)
		source += string(text)
	}
	// An object has the same variable in each function.
	for typeName, variable := range map[string]string{
		"mailhost_domain": "d", "mailhost_mailbox": "m", "mailhost_dns_record": "r", "mailhost_forwarding": "f", "mailhost_master_password": "p", "mailhost_service_account": "s", "mailhost_dedicated_ip": "ip",
	} {
		k := sample.Resource(typeName)
		canBeSet := map[string]bool{}
		for _, body := range k.Bodies {
			for name := range body {
				canBeSet[cmp.Or(k.Shown[name], name)] = true
			}
		}
		for name, inGo := range k.Fields() {
			isWritten := regexp.MustCompile(`\b` + variable + `\.` + inGo + `\b`).MatchString(source)
			switch _, listed := leftOut[typeName][name]; {
			case canBeSet[name] && !isWritten && !listed:
				t.Errorf("mailhostd export does not write %s of a %s: write %s.%s in apiserver/cmd/mailhostd/internal/export/kinds.go or configuration.go, or give the reason in leftOut", name, typeName, variable, inGo)
			case isWritten && listed:
				t.Errorf("%s of a %s is written: remove it from leftOut", name, typeName)
			}
		}
	}
}

// TestHostileNames exports from an API whose domain's name is a path.
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
