package simulate

import (
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
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// account is an account of the service, with the provider's token and another owner
// token for external changes.
type account struct {
	id, workspaceID      string
	token, externalToken string
}

// Names of the acting service accounts in the audit log.
const (
	providerSubject = "provider"
	externalSubject = "external"
)

// startTime is the start of each history. It is in the distant past, so that deadlines
// in real time are after the history.
var startTime = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// environment is one history's service: its database, clock and random sources.
type environment struct {
	report     report
	dir        string
	generation int // of the database file
	// postgres is the database of several replicas, or nil.
	postgres *postgresDatabase
	replicas []replica
	// replica handles the current request. It is the only one unless the database is PostgreSQL.
	*replica
	accounts      []account
	registrar     apiserver.Registrar
	publishedOnly bool
	noKeys        bool // the service ignores Idempotency-Keys
	late          []lateRequest
	limits
	// touched lists the DNS records that the provider tried to change or to delete.
	touched []touchedRecord

	clock    time.Time
	requests int        // of all runs; the replicas take turns
	serverID io.Reader  // the service's ids and secrets
	clientID *rand.Rand // the client's ids and jitter
	// audited is the id of the newest audit entry that the oracle read.
	audited int64
}

// replica is one process of the service.
type replica struct {
	db      store.Store
	service *apiserver.Service
	// skew is how wrong its clock is.
	skew time.Duration
}

// limits are limits of an API that are stricter than its contract.
type limits struct {
	// maxMailboxes is the account's quota, and bulkLimit limits the mailboxes of a bulk request;
	// 0 means no limit.
	maxMailboxes, bulkLimit int
}

// template is a database with two accounts. Each history copies it, because migrating a
// new database takes longer than most histories.
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
	service, err := apiserver.New(apiserver.Options{Store: db, Random: newReader(1), Clock: func() time.Time { return startTime.Add(-time.Hour) }})
	must(err)
	t := &template{}
	for i := range 2 {
		ctx := context.Background()
		a := account{id: fmt.Sprintf("%08d-0000-4000-8000-000000000000", i+1)}
		_, a.token, err = service.InitAccount(ctx, a.id, providerSubject)
		must(err)
		a.externalToken, err = service.IssueOwnerToken(ctx, a.id, externalSubject)
		must(err)
		a.workspaceID = api.DefaultWorkspaceID(a.id)
		t.accounts = append(t.accounts, a)
	}
	must(service.Close())
	t.file, err = os.ReadFile(path)
	must(err)
	return t
})

// memoryDir returns a folder in memory if there is one.
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

func newEnvironment(c Case, registrar apiserver.Registrar, publishedOnly bool, l limits) *environment {
	t, seed := loadTemplate(), c.Seed
	dir, err := os.MkdirTemp(memoryDir(), "mailhost-simulate-")
	must(err)
	w := &environment{
		dir: dir, accounts: append([]account(nil), t.accounts...), registrar: registrar, publishedOnly: publishedOnly || c.Published, noKeys: c.NoKeys || c.Published, limits: l,
		clock: startTime, serverID: newReader(seed), clientID: rand.New(rand.NewPCG(seed, 7)), //nolint:gosec // must be reproducible
	}
	must(os.WriteFile(w.path(), t.file, 0o600))
	w.replicas = make([]replica, 1)
	if c.Postgres {
		w.postgres = newPostgresDatabase(w.path())
		w.replicas = make([]replica, postgresReplicas)
	}
	for i := range w.replicas {
		w.replica = &w.replicas[i]
		w.open()
	}
	w.auditEntries() // skip the template's entries
	for i := range w.accounts {
		a := &w.accounts[i]
		w.report.secret("the provider's token", a.token)
	}
	return w
}

func (w *environment) path() string {
	return filepath.Join(w.dir, fmt.Sprintf("mailhost-%d.db", w.generation))
}

func (w *environment) open() {
	var err error
	if w.postgres != nil {
		w.db, err = w.postgres.open()
	} else {
		w.db, err = sqlite.Open(context.Background(), w.path(), sqlite.Options{})
	}
	must(err)
	self := w.replica
	w.service, err = apiserver.New(apiserver.Options{
		Store: w.db, Clock: func() time.Time { return w.clock.Add(self.skew) }, Random: w.serverID, Registrar: w.registrar,
		PublishedOnly: w.publishedOnly, MaxMailboxes: w.maxMailboxes, PasswordCost: apiserver.PasswordCost{MemoryKiB: 8, Passes: 1},
	})
	must(err)
}

func (w *environment) close() {
	for _, r := range w.replicas {
		_ = r.service.Close()
	}
	if w.postgres != nil {
		w.postgres.close()
	}
	_ = os.RemoveAll(w.dir)
}

// restart stops the replica that handled the latest request and starts it again. With
// killed it simulates kill -9: a replica on PostgreSQL loses its connections, and a new service
// on SQLite opens a copy of the files as they are now.
func (w *environment) restart(killed bool) {
	if w.postgres != nil {
		if killed {
			must(w.db.Close())
		}
		if err := w.service.Close(); !killed {
			must(err)
		}
		w.open()
		return
	}
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

func (w *environment) advance(d time.Duration) { w.clock = w.clock.Add(d) }

func (w *environment) newUUID() string {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], w.clientID.Uint64())
	binary.LittleEndian.PutUint64(b[8:], w.clientID.Uint64())
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return uuid.UUID(b).String()
}

// serve processes one request. With lost, the client disconnects before the response is
// written.
func (w *environment) serve(r *http.Request, body []byte, lost bool) *httptest.ResponseRecorder {
	w.advance(time.Millisecond)
	w.replica = &w.replicas[w.requests%len(w.replicas)]
	w.requests++
	in := r.Clone(context.Background())
	in.RequestURI, in.Host = r.URL.RequestURI(), r.URL.Host
	if w.noKeys {
		in.Header.Del(api.IdempotencyKeyHeader)
	}
	return serve(w.service.Handler(), in, body, lost)
}

// externalRequest sends a request as another user than the provider.
func (w *environment) externalRequest(a account, method, path string, body string) {
	r, err := http.NewRequestWithContext(context.Background(), method, "https://api.example.com/v1/public/accounts/"+a.id+path, nil)
	must(err)
	r.Header.Set("Authorization", "Bearer "+a.externalToken)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	resp := w.serve(r, []byte(body), false)
	w.report.logf("  external: %s %s %s -> %d", method, path, body, resp.Code)
}

// auditEntries returns the audit entries since the last call.
func (w *environment) auditEntries() (entries []store.AuditEntry) {
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

// postgresReplicas is the number of replicas in a history on PostgreSQL.
const postgresReplicas = 3

// postgresDatabase is a database of one history.
type postgresDatabase struct {
	postgrestest.TB // of the whole test; the cleanups run after the history
	url             string
	cleanups        []func()
}

// postgresTest is the test that histories on PostgreSQL belong to.
var postgresTest *testing.T

// newPostgresDatabase returns a database with the content of an SQLite file.
func newPostgresDatabase(path string) *postgresDatabase {
	p := &postgresDatabase{TB: postgresTest}
	p.url = postgrestest.URL(p)
	source, err := sqlite.Open(context.Background(), path, sqlite.Options{})
	must(err)
	target, err := p.open()
	must(err)
	_, err = sqlstore.Copy(context.Background(), source, target, func(_, _ int64) {})
	must(err)
	must(source.Close())
	must(target.Close())
	return p
}

func (p *postgresDatabase) open() (*sqlstore.Store, error) {
	return postgres.Open(context.Background(), p.url, postgres.Options{Connections: 4})
}

// Cleanup implements postgrestest.TB.
func (p *postgresDatabase) Cleanup(fn func()) { p.cleanups = append(p.cleanups, fn) }

// close gives the database back.
func (p *postgresDatabase) close() {
	for _, fn := range p.cleanups {
		fn()
	}
}
