package serve_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	_ "modernc.org/sqlite" // for statements of other programs

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
)

var (
	seedFlag = flag.Uint64("seed", 0, "the seed of the first of -runs crash runs")
	runsFlag = flag.Int("runs", 1, "with -seed: how many crash runs, each longer than in a normal test, on a busy machine")
)

// TestCrash kills servers under load, at random moments, and checks after each start that acknowledged
// changes exist, that a request without a response was executed as a whole or not at all, and that
// lists, their totals, the audit log, retries and the messages agree. Meanwhile commands use the
// database, and other programs vacuum and touch its file: no server may mistake that for an outage.
//
// The seed determines the requests and the number of them before a server is killed, but not the state
// of the requests in flight at that moment.
func TestCrash(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: other tests find most of what killed servers show, and sooner")
	}
	for name, servers := range map[string]int{"SQLite": 1, "servers on one file": 2, "replicas": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seed, runs, kills := uint64(1), 1, 2
			if *seedFlag != 0 {
				seed, runs, kills = *seedFlag, *runsFlag, 12
				stop := starve()
				defer stop()
			}
			for n := range uint64(runs) {
				t.Run(fmt.Sprintf("seed=%d", seed+n), func(t *testing.T) {
					database := filepath.Join(t.TempDir(), "mailhost.db")
					if name == "replicas" {
						database = postgrestest.URL(t)
					}
					newCrashRun(t, seed+n, database, servers).run(kills)
				})
			}
		})
	}
}

// starve keeps the processors of the machine busy until stop is called.
func starve() (stop func()) {
	var stopped atomic.Bool
	for range runtime.NumCPU() {
		go func() {
			for !stopped.Load() {
			}
		}()
	}
	return func() { stopped.Store(true) }
}

// crashRun is a database with its servers and their clients.
type crashRun struct {
	*testing.T
	random   *rand.Rand
	database string
	owner    mailhostdtest.Account
	inbox    *mailhostdtest.Inbox
	clients  []*crashClient
	logs     []*apitest.Log // of all servers so far

	mu      sync.Mutex
	started sync.Cond
	servers []*mailhostdtest.Server
	apis    []*apitest.Client // one for each server; nil while it is down
}

func newCrashRun(t *testing.T, seed uint64, database string, servers int) *crashRun {
	c := &crashRun{
		T: t, random: rand.New(rand.NewPCG(seed, 0)), database: database, owner: mailhostdtest.InitializeIn(t, database), inbox: mailhostdtest.NewInbox(t),
		servers: make([]*mailhostdtest.Server, servers), apis: make([]*apitest.Client, servers),
	}
	c.started.L = &c.mu
	for i := range servers {
		c.start(i)
	}
	for n := range 8 {
		c.clients = append(c.clients, &crashClient{name: fmt.Sprint("c", n), random: rand.New(rand.NewPCG(seed, uint64(n)+1)), api: c.any, have: objects{}})
	}
	c.any(c.random).Domain("example.com")
	return c
}

func (c *crashRun) start(i int) {
	s := mailhostdtest.Spawn(c.T, c.database, c.inbox.Flags()...)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.servers[i], c.apis[i], c.logs = s, s.As(c.T, c.owner), append(c.logs, s.Log)
	c.started.Broadcast()
}

// end ends a server by a signal.
func (c *crashRun) end(i int, signal os.Signal) {
	c.mu.Lock()
	c.apis[i] = nil
	c.mu.Unlock()
	err := c.servers[i].Cmd.Process.Signal(signal)
	assert.Assert(c, err == nil, "the server ended by itself: %v\n%s", err, c.servers[i].Log)
	c.servers[i].ExitCode(c.T)
}

// any returns the client of any running server.
func (c *crashRun) any(random *rand.Rand) *apitest.Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		running := slices.DeleteFunc(slices.Clone(c.apis), func(c *apitest.Client) bool { return c == nil })
		if len(running) > 0 {
			return running[random.IntN(len(running))]
		}
		c.started.Wait()
	}
}

func (c *crashRun) run(kills int) {
	for n := range kills {
		c.crash()
		c.verify(n)
	}
	for i := range c.servers { // the last one sends the messages of the others
		c.end(i, os.Interrupt)
	}
	c.start(0) // an SQLite log is in the file now
	c.verify(kills)
	c.verifyMessages()
	for _, log := range c.logs {
		for _, alarm := range []string{"the database is unavailable", "operation failed"} {
			found := log.Entries(alarm)
			assert.Check(c, len(found) == 0, "a server reported %v", found)
		}
	}
}

// crash ends one server while the clients send requests, and starts it again. One time in five it uses
// SIGTERM, which completes the requests in flight. Several servers continue meanwhile.
func (c *crashRun) crash() {
	acknowledged, stop := make(chan struct{}, 1<<16), make(chan struct{})
	errs := make([]error, len(c.clients)+1)
	var clients sync.WaitGroup
	for i, client := range c.clients {
		clients.Go(func() { errs[i] = client.runUntilUnknown(func() { acknowledged <- struct{}{} }, stop) })
	}
	random := rand.New(rand.NewPCG(c.random.Uint64(), 0))
	var disturbing sync.WaitGroup
	disturbing.Go(func() { errs[len(c.clients)] = c.disturb(random, stop) })
	ended := make(chan struct{})
	go func() {
		clients.Wait()
		close(ended)
	}()
	await := func(n int) {
		for range n {
			select {
			case <-acknowledged:
			case <-ended: // no client is left
			}
		}
	}
	await(c.random.IntN(200))
	i, signal := c.random.IntN(len(c.servers)), os.Kill
	if c.random.IntN(5) == 0 {
		signal = syscall.SIGTERM
	}
	c.end(i, signal)
	if len(c.servers) > 1 {
		await(20)
	}
	c.start(i)
	await(20)
	close(stop)
	<-ended
	disturbing.Wait()
	assert.Check(c, errors.Join(errs...))
}

// disturb runs programs of operators on a database that servers use, until stop is closed.
func (c *crashRun) disturb(random *rand.Rand, stop <-chan struct{}) error {
	command := func(args ...string) func() error {
		return func() error {
			if code, _, stderr := mailhostdtest.Run(c.T, append(args, "--database", c.database)...); code != cli.ExitOK {
				return fmt.Errorf("%s: exit code %d, %s", args, code, stderr)
			}
			return nil
		}
	}
	all := []func() error{command("audit", "--limit", "5"), command("token", "list"), command("token", "create", "spare"), command("account", "show")}
	if cli.Scheme(c.database) == "" {
		statement := func(text string) func() error {
			return func() error {
				db, err := sql.Open("sqlite", c.database+"?_pragma=busy_timeout(60000)")
				if err != nil {
					return err
				}
				if _, err = db.ExecContext(c.Context(), text); err != nil {
					err = fmt.Errorf("%s: %w", text, err)
				}
				return errors.Join(err, db.Close())
			}
		}
		all = append(all, statement("VACUUM"), statement("REINDEX"), statement("PRAGMA wal_checkpoint(TRUNCATE)"),
			func() error { return os.Chtimes(c.database, time.Time{}, time.Now().Add(-time.Hour)) },
			func() error {
				path := filepath.Join(filepath.Dir(c.database), fmt.Sprintf("backup-%x.db", random.Uint64()))
				return command("backup", "--output", path)()
			})
	}
	for {
		select {
		case <-stop:
			return nil
		default:
			if err := all[random.IntN(len(all))](); err != nil {
				return err
			}
		}
	}
}

// verify compares the objects with the clients' expectations, and corrects them.
func (c *crashRun) verify(n int) {
	// PostgreSQL may still commit a killed server's transaction; the account's next change waits for it.
	c.any(c.random).Post("/workspaces", apitest.Object{"name": fmt.Sprint("after ", n)}).Want(http.StatusCreated)
	found := c.found()
	for _, client := range c.clients {
		assert.Check(c, client.resolve(found))
	}
	found = c.found() // after the retries
	want := objects{}
	for _, client := range c.clients {
		maps.Copy(want, client.have)
	}
	for name, o := range want {
		assert.Check(c, found[name] == o, "%s was acknowledged as %v, and is %v", name, o, found[name])
	}
	for name, o := range found {
		assert.Check(c, want[name] != (object{}), "%s is %v, and was deleted or never created", name, o)
	}
	c.verifyTotals(found)
	c.verifyAudit(found)
	c.verifyOneService()
	if c.Failed() {
		c.FailNow()
	}
	c.Logf("%d objects", len(found))
}

// found returns all objects.
func (c *crashRun) found() objects {
	all := objects{}
	for _, list := range []string{"/mailboxes", "/domains", "/forwarding"} {
		for n, total := 1, 1.0; float64(n-1)*api.MaxPageSize < total; n++ {
			page := c.any(c.random).Get(fmt.Sprintf("%s?page_size=%d&page=%d", list, api.MaxPageSize, n)).Want(http.StatusOK)
			total, _ = page.At("total").(float64)
			objectsIn(page.JSON, func(name string, o object) {
				assert.Check(c, all[name] == (object{}), "%s is listed twice", name)
				all[name] = o
			})
		}
	}
	delete(all, "example.com")
	return all
}

// verifyTotals checks the totals and the last page of lists with and without a search.
func (c *crashRun) verifyTotals(found objects) {
	for _, search := range []string{"", "c3", "7", "5-1", "c2-11"} {
		want := 0
		for name, o := range found {
			if strings.HasSuffix(name, "@example.com") && (strings.Contains(name, search) || strings.Contains(o.lastName, search)) {
				want++
			}
		}
		var page api.Page[api.Mailbox]
		last := max(1, (want+6)/7)
		c.any(c.random).Get(fmt.Sprintf("/mailboxes?page_size=7&page=%d&search=%s", last, search)).Want(http.StatusOK).Into(&page)
		got := (last-1)*7 + len(page.Items)
		assert.Check(c, page.Total == want && got == want, "search %q: the total is %d and the last page ends at %d; there are %d", search, page.Total, got, want)
	}
}

// verifyAudit checks that the audit log contains one creation of each object, and one deletion of each
// deleted object.
func (c *crashRun) verifyAudit(found objects) {
	logged := map[string]string{}
	_, log, _ := mailhostdtest.Run(c.T, "audit", "--format", "json", "--database", c.database)
	for line := range strings.Lines(log) {
		var e struct {
			Changes []struct{ Action, Type, ID, Name string }
		}
		assert.NilError(c, json.Unmarshal([]byte(line), &e))
		for _, change := range e.Changes {
			switch {
			case change.Type != "mailbox" && change.Type != "domain" && change.Type != "forwarding" || change.Name == "example.com":
			case change.Action == store.AuditCreated && logged[change.Name] == "":
				logged[change.Name] = change.ID
			case change.Action == store.AuditDeleted && logged[change.Name] == change.ID:
				delete(logged, change.Name)
			case change.Action != store.AuditUpdated:
				c.Errorf("the audit log has %s once too often: %s", change.Action, change.Name)
			}
		}
	}
	want := map[string]string{}
	for name, o := range found {
		want[name] = o.id
	}
	assert.Check(c, maps.Equal(logged, want), "the audit log has %v, and there are %v", logged, want)
}

// verifyOneService checks that a change at one server takes effect at another one at once.
func (c *crashRun) verifyOneService() {
	one, other := c.any(c.random), c.any(c.random)
	made := one.Post("/auth/service-accounts", `{"name":"x"}`).Want(http.StatusCreated)
	held := *other
	held.Token = made.Str("token")
	held.CreateMailbox("example.com", "once").Want(http.StatusCreated)
	one.CreateMailbox("example.com", "once").Want(http.StatusConflict)
	other.Delete("/mailboxes/once@example.com").Want(http.StatusNoContent)
	one.Delete("/auth/service-accounts/" + made.Str("id")).Want(http.StatusNoContent)
	held.Get("/mailboxes").Want(http.StatusUnauthorized)
}

// verifyMessages checks that there is a message for each forwarding rule, and none for a rule that does
// not exist. Only if the flags select a long run does it wait for the messages of killed servers,
// because their lease must expire first.
func (c *crashRun) verifyMessages() {
	wanted := map[string]bool{}
	for _, client := range c.clients {
		for name := range client.have {
			if strings.HasSuffix(name, "@example.org") {
				wanted[name] = true
			}
		}
	}
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(time.Second) {
		missing := maps.Clone(wanted)
		for _, mail := range c.inbox.Mails() {
			for _, to := range mail.To {
				delete(missing, to)
				assert.Check(c, wanted[to], "%s got a message about a rule that does not exist", to)
			}
		}
		if len(missing) == 0 || *seedFlag == 0 {
			c.Logf("%d messages, %d missing", len(wanted), len(missing))
			return
		}
		assert.Assert(c, !time.Now().After(deadline), "no message to %v", slices.Sorted(maps.Keys(missing)))
	}
}
