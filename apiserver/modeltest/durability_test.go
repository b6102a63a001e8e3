package modeltest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

// TestDurability draws histories of a service on a file: requests that are aborted or
// lose their authorization while their body is sent, crashes, restarts, jumps of the
// clock, and a file that is replaced under the service. After each of
// them, acknowledged changes exist, rejected ones do not, and a restored backup has its
// content from when it was made.
func TestDurability(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file can't be replaced on this system")
	}
	t.Parallel()
	dir := t.TempDir()
	var histories atomic.Int64
	rapid.Check(t, func(t *rapid.T) {
		if isDefaultRun && histories.Load() > 25 {
			return // the disk makes these slow
		}
		h := &history{t: t, dir: filepath.Join(dir, fmt.Sprint(histories.Add(1))), now: start, must: map[string]string{}, may: map[string]bool{}}
		if err := os.Mkdir(h.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		h.path = h.newPath()
		h.open()
		defer func() { _ = h.svc.Close() }()
		steps := map[string]func(){
			"create": h.create, "create again": h.createAgain, "cut off": h.cutOff, "revoked during upload": h.revokedDuringUpload,
			"crash": h.crash, "restart": h.restart, "clock": h.jump, "backup": h.backUp, "replace": h.replace,
		}
		names := slices.Sorted(maps.Keys(steps))
		names = append(names, "create", "create", "create again")
		for range rapid.IntRange(1, 15).Draw(t, "steps") {
			h.log = append(h.log, rapid.SampledFrom(names).Draw(t, "step"))
			steps[h.log[len(h.log)-1]]()
		}
		h.crash()
	})
}

// history is a service with its expected content: workspaces by name.
type history struct {
	t         *rapid.T
	dir, path string
	files     int
	names     int
	now       time.Time
	svc       *apiserver.Service
	db        *sqlite.Store
	must      map[string]string // ids of what was acknowledged
	may       map[string]bool   // what was sent without a response
	saved     string            // the path of the backup, or empty
	savedMust map[string]string
	log       []string
}

func (h *history) newPath() string {
	h.files++
	return filepath.Join(h.dir, fmt.Sprint(h.files, ".db"))
}

func (h *history) fail(format string, args ...any) {
	h.t.Helper()
	h.t.Fatalf("%s, after %q", fmt.Sprintf(format, args...), h.log)
}

// open opens the file and checks its content.
func (h *history) open() {
	var err error
	if h.db, err = sqlite.Open(context.Background(), h.path, sqlite.Options{}); err != nil {
		h.fail("open: %s", err)
	}
	if h.svc, err = apiserver.New(apiserver.Options{Store: h.db, Clock: func() time.Time { return h.now }}); err != nil {
		h.fail("new: %s", err)
	}
	if _, err := h.svc.EnsureAccount(context.Background(), accountID); err != nil {
		h.fail("account: %s", err)
	}
	status, raw := h.send(h.svc.OwnerClient(accountID), "GET", "/workspaces?page_size=1000", nil, "", "")
	var page struct{ Items []struct{ ID, Name string } }
	if err := json.Unmarshal(raw, &page); err != nil || status != http.StatusOK {
		h.fail("list: %d %s", status, raw)
	}
	found := map[string]string{}
	for _, w := range page.Items {
		if w.Name == "Default" {
			continue
		}
		if _, twice := found[w.Name]; twice || h.must[w.Name] == "" && !h.may[w.Name] {
			h.fail("there is %s, which was refused, restored away or created twice", w.Name)
		}
		found[w.Name] = w.ID
	}
	for name, id := range h.must {
		if found[name] != id {
			h.fail("%s was acknowledged as %s, and is %q", name, id, found[name])
		}
	}
	h.must, h.may = found, map[string]bool{}
}

// send sends a request; status 0 is no response. token, if not empty, is its
// credential.
func (h *history) send(c *http.Client, method, path string, body io.Reader, key, token string) (status int, raw []byte) {
	return h.sendIn(context.Background(), c, method, path, body, key, token)
}

func (h *history) sendIn(ctx context.Context, c *http.Client, method, path string, body io.Reader, key, token string) (status int, raw []byte) {
	client := apitest.Client{T: h.t, HTTP: c, Account: accountID, Token: token}
	r, err := client.Try(ctx, method, path, body, "Idempotency-Key", key)
	if err != nil {
		return 0, nil
	}
	return r.Status, r.Raw
}

func (h *history) name() string {
	h.names++
	return fmt.Sprint("w", h.names)
}

func keyOf(name string) string { return fmt.Sprintf("abcdef00-0000-4000-8000-%012s", name[1:]) }

func named(name string) *strings.Reader { return strings.NewReader(`{"name":"` + name + `"}`) }

func (h *history) createNamed(name string) (status int, id string) {
	status, raw := h.send(h.svc.OwnerClient(accountID), "POST", "/workspaces", named(name), keyOf(name), "")
	var created struct{ ID string }
	if status == http.StatusCreated && json.Unmarshal(raw, &created) != nil {
		h.fail("create: %s", raw)
	}
	return status, created.ID
}

func (h *history) create() {
	name := h.name()
	status, id := h.createNamed(name)
	if status != http.StatusCreated {
		h.fail("create: %d", status)
	}
	h.must[name] = id
}

// createAgain retries a request with its key. It is replayed for a day.
func (h *history) createAgain() {
	if len(h.must) == 0 {
		return
	}
	name := rapid.SampledFrom(slices.Sorted(maps.Keys(h.must))).Draw(h.t, "again")
	if status, id := h.createNamed(name); status != http.StatusConflict && (status != http.StatusCreated || id != h.must[name]) {
		h.fail("create %s again: %d %s", name, status, id)
	}
}

// interrupted is a body that calls a function when it is first read.
type interrupted struct {
	io.Reader
	do func()
}

func (i *interrupted) Read(p []byte) (int, error) {
	if i.do != nil {
		i.do()
		i.do = nil
	}
	return i.Reader.Read(p)
}

// cutOff cancels a request while its body is sent, or later.
func (h *history) cutOff() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	name, wait := h.name(), rapid.IntRange(0, 3000).Draw(h.t, "microseconds")
	body := &interrupted{Reader: named(name), do: func() {
		if wait == 0 {
			cancel()
		} else {
			time.AfterFunc(time.Duration(wait)*time.Microsecond, cancel)
		}
	}}
	h.may[name] = true
	if status, raw := h.sendIn(ctx, h.svc.OwnerClient(accountID), "POST", "/workspaces", body, keyOf(name), ""); status == http.StatusCreated {
		var created struct{ ID string }
		if err := json.Unmarshal(raw, &created); err != nil {
			h.fail("%s", err)
		}
		h.must[name] = created.ID
	}
}

// revokedDuringUpload revokes the authorization of a request while its body is sent.
func (h *history) revokedDuringUpload() {
	owner := h.svc.OwnerClient(accountID)
	status, raw := h.send(owner, "POST", "/auth/service-accounts", strings.NewReader(`{"name":"ci"}`), "", "")
	var account struct{ ID, Token string }
	if err := json.Unmarshal(raw, &account); err != nil || status != http.StatusCreated {
		h.fail("service account: %d %s", status, raw)
	}
	end := rapid.SampledFrom([]string{"account", "grants"}).Draw(h.t, "end")
	do := func() {
		if end == "account" {
			h.send(owner, "DELETE", "/auth/service-accounts/"+account.ID, nil, "", "")
			return
		}
		_, raw := h.send(owner, "GET", "/auth/authorizations?subject_id="+account.ID, nil, "", "")
		var grants []struct{ ID string }
		if err := json.Unmarshal(raw, &grants); err != nil || len(grants) == 0 {
			h.fail("grants: %s", raw)
		}
		for _, g := range grants {
			h.send(owner, "DELETE", "/auth/authorizations/"+g.ID, nil, "", "")
		}
	}
	// It is never acknowledged, and so must not exist later.
	status, raw = h.send(h.svc.Client(), "POST", "/workspaces", &interrupted{Reader: named(h.name()), do: do}, "", account.Token)
	if want := map[string]int{"account": http.StatusUnauthorized, "grants": http.StatusForbidden}[end]; status != want {
		h.fail("a request without its %s: %d %s", end, status, raw)
	}
}

// crash continues with the content of the disk.
func (h *history) crash() {
	to := h.newPath()
	for _, suffix := range []string{"", "-wal"} {
		h.copy(h.path+suffix, to+suffix)
	}
	_ = h.svc.Close() // of the crashed process
	h.path = to
	h.open()
}

func (h *history) copy(from, to string) {
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	if err != nil {
		h.fail("%s", err)
	}
}

func (h *history) restart() {
	if err := h.svc.Close(); err != nil {
		h.fail("close: %s", err)
	}
	h.open()
}

// jump moves the clock forward, past every expiry, or back a bit.
func (h *history) jump() {
	h.now = h.now.Add(rapid.SampledFrom([]time.Duration{time.Hour, 25 * time.Hour, -time.Minute}).Draw(h.t, "jump"))
}

func (h *history) backUp() {
	to := h.newPath()
	if err := sqlite.BackupFile(context.Background(), h.path, to); err != nil {
		h.fail("backup: %s", err)
	}
	h.saved, h.savedMust = to, maps.Clone(h.must)
	for name := range h.may {
		h.savedMust[name] = "" // it may be in the backup
	}
}

// replace puts the backup in the place of the open file. The file comes back, or the service
// goes on with the backup after a restart.
func (h *history) replace() {
	if h.saved == "" {
		return
	}
	away := h.newPath()
	if err := os.Rename(h.path, away); err != nil {
		h.fail("%s", err)
	}
	h.copy(h.saved, h.path)
	h.refuses()
	if rapid.Bool().Draw(h.t, "comes back") {
		if err := os.Rename(away, h.path); err != nil {
			h.fail("%s", err)
		}
		h.create()
		h.restart()
		return
	}
	if err := h.svc.Close(); err != nil {
		h.fail("close: %s", err)
	}
	h.must, h.may = map[string]string{}, map[string]bool{}
	for name, id := range h.savedMust {
		if id == "" {
			h.may[name] = true
		} else {
			h.must[name] = id
		}
	}
	h.open()
}

// refuses checks that no request succeeds any more.
func (h *history) refuses() {
	if status, _ := h.createNamed(h.name()); status != http.StatusServiceUnavailable {
		h.fail("a create in a file that was replaced: %d", status)
	}
	if err := h.svc.Ready(context.Background()); err == nil || !strings.Contains(err.Error(), "the database file") {
		h.fail("ready with a file that was replaced: %v", err)
	}
	if status, _ := h.send(h.svc.OwnerClient(accountID), "GET", "/workspaces", nil, "", ""); status != http.StatusServiceUnavailable {
		h.fail("a read in a file that was replaced: %d", status)
	}
}
