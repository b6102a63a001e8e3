package simulate

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

// account is one of the service's accounts, with a credential of the provider
// and one of somebody else who may do everything too.
type account struct {
	id, workspaceID     string
	token, outsideToken string
}

// Names of the service accounts that act, as the audit log has them.
const (
	providerSubject = "provider"
	outsideSubject  = "outside"
)

// begin is when each history begins. It is long past, so that deadlines in real
// time lie after all of a history.
var begin = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// world is one history's service: its database, its clock and its chance.
type world struct {
	report        report
	dir           string
	generation    int // of the database file
	db            *sqlite.Store
	service       *apiserver.Service
	accounts      []account
	registrar     apiserver.Registrar
	publishedOnly bool

	clock    time.Time
	serverID io.Reader  // the service's ids and secrets
	clientID *rand.Rand // the client's ids and jitter
	// audited is the newest audit entry that the oracle has seen.
	audited int64
}

// template is a database with two accounts, copied for each history: migrating
// takes longer than most histories.
type template struct {
	file     []byte
	accounts []account
}

var loadTemplate = sync.OnceValue(func() *template {
	dir, err := os.MkdirTemp(memoryDir(), "mailhost-simulate-")
	must(err)
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "mailhost.db")
	db, err := sqlite.Open(context.Background(), path, sqlite.Options{})
	must(err)
	service, err := apiserver.New(apiserver.Options{Store: db, Random: newReader(1), Clock: func() time.Time { return begin.Add(-time.Hour) }})
	must(err)
	t := &template{}
	for i := range 2 {
		ctx := context.Background()
		a := account{id: fmt.Sprintf("%08d-0000-4000-8000-000000000000", i+1)}
		_, a.token, err = service.InitAccount(ctx, a.id, providerSubject)
		must(err)
		a.outsideToken, err = service.IssueOwnerToken(ctx, a.id, outsideSubject)
		must(err)
		a.workspaceID = api.DefaultWorkspaceID(a.id)
		t.accounts = append(t.accounts, a)
	}
	must(service.Close())
	t.file, err = os.ReadFile(path)
	must(err)
	return t
})

// memoryDir is a folder in memory, if there is one.
func memoryDir() string {
	if _, err := os.Stat("/dev/shm"); err == nil {
		return "/dev/shm"
	}
	return os.TempDir()
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// newReader returns a reproducible source of bytes.
func newReader(seed uint64) io.Reader {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	return rand.NewChaCha8(key)
}

func newWorld(seed uint64, registrar apiserver.Registrar, publishedOnly bool) *world {
	t := loadTemplate()
	dir, err := os.MkdirTemp(memoryDir(), "mailhost-simulate-")
	must(err)
	w := &world{
		dir: dir, accounts: append([]account(nil), t.accounts...), registrar: registrar, publishedOnly: publishedOnly,
		clock: begin, serverID: newReader(seed), clientID: rand.New(rand.NewPCG(seed, 7)), //nolint:gosec // it has to be reproducible
	}
	must(os.WriteFile(w.path(), t.file, 0o600))
	w.open()
	w.auditEntries() // those of the template
	for i := range w.accounts {
		a := &w.accounts[i]
		w.report.secret("the provider's token", a.token)
	}
	return w
}

func (w *world) path() string {
	return filepath.Join(w.dir, fmt.Sprintf("mailhost-%d.db", w.generation))
}

func (w *world) open() {
	var err error
	w.db, err = sqlite.Open(context.Background(), w.path(), sqlite.Options{})
	must(err)
	w.service, err = apiserver.New(apiserver.Options{
		Store: w.db, Clock: func() time.Time { return w.clock }, Random: w.serverID, Registrar: w.registrar,
		PublishedOnly: w.publishedOnly, PasswordCost: apiserver.PasswordCost{MemoryKiB: 8, Passes: 1},
	})
	must(err)
}

func (w *world) close() {
	_ = w.service.Close()
	_ = os.RemoveAll(w.dir)
}

// restart ends the service and starts it again: cleanly, or as after kill -9,
// where it opens a copy of the files as they are now.
func (w *world) restart(killed bool) {
	if killed {
		before := w.path()
		w.generation++
		for _, suffix := range []string{"", "-wal"} {
			content, err := os.ReadFile(before + suffix)
			if os.IsNotExist(err) {
				continue
			}
			must(err)
			must(os.WriteFile(w.path()+suffix, content, 0o600))
		}
	}
	must(w.service.Close())
	w.open()
}

func (w *world) advance(d time.Duration) { w.clock = w.clock.Add(d) }

func (w *world) newUUID() string {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], w.clientID.Uint64())
	binary.LittleEndian.PutUint64(b[8:], w.clientID.Uint64())
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return uuid.UUID(b).String()
}

// serve lets the service answer one request. With lost, the client is gone when
// the response is written.
func (w *world) serve(r *http.Request, body []byte, lost bool) *http.Response {
	w.advance(time.Millisecond)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	in := r.Clone(ctx)
	in.RequestURI, in.Host = r.URL.RequestURI(), r.URL.Host
	in.Body, in.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	if lost {
		w.service.Handler().ServeHTTP(&lostResponse{header: http.Header{}, cancel: cancel}, in)
		return nil
	}
	recorder := httptest.NewRecorder()
	w.service.Handler().ServeHTTP(recorder, in)
	resp := recorder.Result()
	resp.Header.Set("Date", w.clock.UTC().Format(http.TimeFormat)) // as net/http's server does
	resp.Request = r
	return resp
}

// lostResponse is the http.ResponseWriter of a client that is gone.
type lostResponse struct {
	header http.Header
	cancel context.CancelFunc
}

func (l *lostResponse) Header() http.Header { return l.header }
func (l *lostResponse) WriteHeader(int)     { l.cancel() }

func (l *lostResponse) Write([]byte) (int, error) {
	l.cancel()
	return 0, io.ErrClosedPipe
}

// outside sends a request as somebody else than the provider.
func (w *world) outside(a account, method, path string, body string) {
	r, err := http.NewRequestWithContext(context.Background(), method, "https://api.example.com/v1/public/accounts/"+a.id+path, nil)
	must(err)
	r.Header.Set("Authorization", "Bearer "+a.outsideToken)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	resp := w.serve(r, []byte(body), false)
	w.report.logf("  outside: %s %s %s -> %d", method, path, body, resp.StatusCode)
}

// auditEntries returns the audit entries since the last call.
func (w *world) auditEntries() (entries []store.AuditEntry) {
	must(w.db.View(context.Background(), func(r store.Reader) error {
		return r.EachAuditEntry(store.AuditFilter{}, func(e store.AuditEntry) error {
			if e.ID > w.audited {
				w.audited = e.ID
				entries = append(entries, e)
			}
			return nil
		})
	}))
	return entries
}
