package examples_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// releasesDir has a folder for each release: a configuration with every resource, and
// the terraform.tfstate and the mailhost.db.gz that its apply has left. Once a release is
// out, its folder never changes.
const releasesDir = "testdata/releases"

var record = flag.String("record", "", "apply the configuration of this release in testdata/releases, and write its state and database")

// TestAccUpgrade plans what each release has applied. The provider has to upgrade the
// database and the state without a change, and to destroy all of it.
func TestAccUpgrade(t *testing.T) {
	if *record != "" {
		recordRelease(t, *record)
	}
	for _, release := range releaseFolders(t) {
		t.Run(filepath.Base(release), func(t *testing.T) {
			w := newWorkspace(t)
			w.copyFrom(t, release)
			w.skipBelow(t)
			w.write(t, "terraform.tfstate", read(t, filepath.Join(release, "terraform.tfstate"))) // copyConfig leaves it out
			w.unpackDatabase(t)
			w.must(t, "init", "-input=false")
			w.planIsEmpty(t, "-refresh=false")
			w.planIsEmpty(t)
			w.must(t, "apply", "-refresh-only", "-auto-approve")
			w.planIsEmpty(t)
			w.destroy(t)
		})
	}
}

// recordRelease applies the configuration of a release to a new account, and keeps the
// state and the database.
func recordRelease(t *testing.T, version string) {
	t.Helper()
	release := filepath.Join(releasesDir, version)
	w := newWorkspace(t)
	w.copyFrom(t, release)
	w.must(t, "init", "-input=false")
	w.must(t, "apply", "-auto-approve")
	w.planIsEmpty(t)
	// A backup, because changes may still be in the log beside the database.
	if out, code := w.command(t, mailhostd(), "backup", "--database", ".mailhost/mailhost.db", "--output", "backup.db"); code != 0 {
		t.Fatal(out)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := io.WriteString(z, read(t, filepath.Join(w.dir, "backup.db")))
	assert.NilError(t, err)
	assert.NilError(t, z.Close())
	for name, text := range map[string]string{"terraform.tfstate": read(t, filepath.Join(w.dir, "terraform.tfstate")), "mailhost.db.gz": packed.String()} {
		assert.NilError(t, os.WriteFile(filepath.Join(release, name), []byte(text), 0o600))
	}
}

// copyFrom copies a folder into the workspace.
func (w *workspace) copyFrom(t *testing.T, folder string) {
	t.Helper()
	assert.NilError(t, copyConfig(w.dir, folder))
}

// unpackDatabase makes mailhost.db.gz the database of the embedded account.
func (w *workspace) unpackDatabase(t *testing.T) {
	t.Helper()
	z, err := gzip.NewReader(strings.NewReader(read(t, filepath.Join(w.dir, "mailhost.db.gz"))))
	assert.NilError(t, err)
	database, err := io.ReadAll(z)
	assert.NilError(t, err)
	assert.NilError(t, os.Mkdir(filepath.Join(w.dir, ".mailhost"), 0o700))
	w.write(t, filepath.Join(".mailhost", "mailhost.db"), string(database))
}

func releaseFolders(t *testing.T) []string {
	t.Helper()
	folders, err := filepath.Glob(releasesDir + "/*")
	assert.Assert(t, err == nil && len(folders) != 0, "no releases in %s: %v", releasesDir, err)
	return folders
}

// TestStatesStayReadable checks without a CLI that the provider reads the state of each
// release, and that it drops an attribute only if the schema has a new version. The
// releases together have every resource.
func TestStatesStayReadable(t *testing.T) {
	t.Parallel()
	p := acctest.Embedded(t, "", t.TempDir())
	missing := p.ResourceSchemas()
	for _, release := range releaseFolders(t) {
		var state struct {
			Resources []struct {
				Mode, Type string
				Instances  []struct {
					SchemaVersion int64 `json:"schema_version"`
					Attributes    json.RawMessage
				}
			}
		}
		assert.NilError(t, json.Unmarshal([]byte(read(t, filepath.Join(release, "terraform.tfstate"))), &state))
		for _, r := range state.Resources {
			if r.Mode != "managed" {
				continue
			}
			delete(missing, r.Type)
			for _, i := range r.Instances {
				upgraded, diags := p.Upgrade(r.Type, i.SchemaVersion, i.Attributes)
				if acctest.Errors(diags) > 0 {
					t.Errorf("the state of %s in %s can't be read; add a state upgrader:\n%s", r.Type, release, acctest.Render(diags))
					continue
				}
				if p.ResourceSchemas()[r.Type].Version != i.SchemaVersion {
					continue
				}
				var before any
				assert.NilError(t, json.Unmarshal(i.Attributes, &before))
				for _, lost := range lostIn(t, r.Type, before, upgraded.State) {
					t.Errorf("%s of %s is lost; give the schema a new version and a state upgrader", lost, release)
				}
			}
		}
	}
	for name := range missing {
		t.Errorf("no release has a %s; add it to the folder of the next release, see \"Cut a release\" in CONTRIBUTING.md", name)
	}
}

// lostIn returns the paths of a state's JSON that have no value any more.
func lostIn(t *testing.T, path string, before any, after tftypes.Value) (lost []string) {
	t.Helper()
	var of func(step string) (tftypes.Value, bool)
	steps := map[string]any{}
	switch before := before.(type) {
	case nil:
		return nil
	case map[string]any:
		if v, ok := before["value"]; ok && before["type"] != nil && len(before) == 2 {
			return lostIn(t, path, v, after) // a value of dynamic type
		}
		var values map[string]tftypes.Value
		if after.IsNull() || after.As(&values) != nil {
			return []string{path}
		}
		steps = before
		of = func(step string) (v tftypes.Value, ok bool) { v, ok = values[step]; return }
	case []any:
		var values []tftypes.Value
		if after.IsNull() || after.As(&values) != nil || len(values) != len(before) {
			return []string{path}
		}
		for i, v := range before {
			steps[strconv.Itoa(i)] = v
		}
		of = func(step string) (tftypes.Value, bool) { i, err := strconv.Atoi(step); return values[i], err == nil }
	default:
		if after.IsNull() {
			return []string{path}
		}
		return nil
	}
	for step, v := range steps {
		next, ok := of(step)
		if !ok {
			lost = append(lost, path+"."+step)
			continue
		}
		lost = append(lost, lostIn(t, path+"."+step, v, next)...)
	}
	return lost
}

const (
	stateUser     = "ci"
	statePassword = "state-password"
)

// stateServer is a server for Terraform's http backend, with locking.
type stateServer struct {
	*httptest.Server

	mu          sync.Mutex
	state, lock []byte
}

func newStateServer(t *testing.T) *stateServer {
	s := new(stateServer)
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *stateServer) locked() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lock != nil
}

// ServeHTTP implements http.Handler.
func (s *stateServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if user, password, _ := r.BasicAuth(); user != stateUser || password != statePassword {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	switch r.Method {
	case http.MethodGet:
		if s.state == nil {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write(s.state)
	case http.MethodPost:
		s.state = body
	case "LOCK":
		if s.lock != nil {
			w.WriteHeader(http.StatusLocked)
			_, _ = w.Write(s.lock)
			return
		}
		s.lock = body
	case "UNLOCK":
		s.lock = nil
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}
