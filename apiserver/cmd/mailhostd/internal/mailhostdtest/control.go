package mailhostdtest

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
)

// ServeWithControl starts a server with the example fixture. It returns the URL of its
// control plane, the owner of the fixture's account, and the database.
func ServeWithControl(t *testing.T) (s *Server, plane string, owner Account, database string) {
	t.Helper()
	database = filepath.Join(t.TempDir(), "mailhost.db")
	s = Serve(t, database, "--control-listen", "0", "--fixture", FixturePath)
	plane, _ = s.Log.Wait(t, "serving the control plane")["url"].(string)
	CallURL(t, http.MethodPost, plane+"/accounts", ExampleAccount, &owner)
	return s, plane, owner, database
}

// FixturePath is the example fixture, from the folder of a package whose tests use it.
const FixturePath = "../../../../testdata/fixture.json"

// ExampleAccount is the body of a request to the control plane for an owner of the fixture's account.
const ExampleAccount = `{"account_id":"0b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10"}`

// CallURL sends a request to the control plane.
func CallURL(t *testing.T, method, url, body string, out any) {
	t.Helper()
	resp, text := Send(t, http.DefaultClient, method, url, body)
	var err error
	if out != nil {
		err = json.Unmarshal([]byte(text), out)
	}
	assert.Assert(t, resp.StatusCode < http.StatusMultipleChoices && err == nil, "%s %s: %s, %v", method, url, resp.Status, err)
}
