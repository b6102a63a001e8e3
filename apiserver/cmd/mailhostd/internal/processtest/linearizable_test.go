package processtest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/haproxytest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
)

const (
	linearClients = 6
	// linearRequests is how many requests a client sends in one history.
	linearRequests = 20
	// olderMailboxes are nearly a block of the list, so that a history may complete one.
	olderMailboxes = 2043
)

// TestLinearizable checks that the responses to concurrent clients are those of one service
// that executes one request after the other, each between its begin and its response: a list
// and its total have every write that was acknowledged before the list was requested, and what
// one list has seen, no later one has not. Servers are killed meanwhile.
//
// The seed determines the requests and after how many of them a server is killed.
func TestLinearizable(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) {
		crashRuns(t, func(t *testing.T, seed uint64, kills int) {
			newLinearRun(t, seed, filepath.Join(t.TempDir(), "mailhost.db"), 1).run(kills)
		})
	})
	t.Run("replicas", func(t *testing.T) {
		crashRuns(t, func(t *testing.T, seed uint64, kills int) { newLinearRun(t, seed, postgrestest.URL(t), 3).run(kills) })
	})
}

// linearRun has some servers of one account and what it contains.
type linearRun struct {
	*testing.T
	random   *rand.Rand
	database string
	owner    mailhostdtest.Account
	listen   []string
	begin    lists // of the next history

	mu      sync.Mutex
	started sync.Cond
	servers []*mailhostdtest.Server
	clients []*apitest.Client // one for each server; nil while it is killed

	ended   chan struct{} // a value for each request that has ended
	clock   time.Time
	history []porcupine.Operation
}

func newLinearRun(t *testing.T, seed uint64, database string, servers int) *linearRun {
	l := &linearRun{
		T: t, random: rand.New(rand.NewPCG(seed, 0)), database: database, owner: mailhostdtest.InitializeIn(t, database),
		begin:   lists{older: olderMailboxes},
		servers: make([]*mailhostdtest.Server, servers), clients: make([]*apitest.Client, servers),
		ended: make(chan struct{}, linearClients*linearRequests), clock: time.Now(),
	}
	l.started.L = &l.mu
	for i := range servers {
		l.listen = append(l.listen, haproxytest.FreeAddress(t))
		l.start(i)
	}
	c := l.clients[0]
	c.Domain("example.com")
	for n := 0; n < olderMailboxes; {
		var items []apitest.Object
		for ; n < olderMailboxes && len(items) < api.MaxBulkItems; n++ {
			items = append(items, apitest.Object{"local_part": fmt.Sprint("older", n), "first_name": "A", "last_name": "B"})
		}
		c.Post("/mailboxes/bulk", apitest.Object{"domain": "example.com", "items": items}).Want(http.StatusOK)
	}
	return l
}

func (l *linearRun) start(i int) {
	s := mailhostdtest.Spawn(l.T, l.database, "--listen", l.listen[i])
	l.mu.Lock()
	defer l.mu.Unlock()
	l.servers[i], l.clients[i] = s, s.As(l.T, l.owner)
	l.started.Broadcast()
}

// client returns the client of any server that runs.
func (l *linearRun) client(random *rand.Rand) *apitest.Client {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		running := slices.DeleteFunc(slices.Clone(l.clients), func(c *apitest.Client) bool { return c == nil })
		if len(running) > 0 {
			return running[random.IntN(len(running))]
		}
		l.started.Wait()
	}
}

// run checks a history without a kill, and one with each kill.
func (l *linearRun) run(kills int) {
	for n := range kills + 1 {
		l.history = nil
		var clients sync.WaitGroup
		for id := range linearClients {
			random := rand.New(rand.NewPCG(l.random.Uint64(), uint64(id)))
			clients.Go(func() {
				for k := range linearRequests {
					l.send(id, random, randomOperation(random, fmt.Sprintf("n%d-%d-%d", n, id, k)))
					l.ended <- struct{}{}
				}
			})
		}
		killAfter := l.random.IntN(linearClients * linearRequests)
		for i := range linearClients * linearRequests {
			<-l.ended
			if n > 0 && i == killAfter {
				l.kill(l.random.IntN(len(l.servers)))
			}
		}
		clients.Wait()
		l.check(n)
	}
}

func (l *linearRun) kill(i int) {
	l.mu.Lock()
	l.clients[i] = nil
	l.mu.Unlock()
	if err := l.servers[i].Cmd.Process.Kill(); err != nil {
		l.Fatal(err)
	}
	l.servers[i].ExitCode(l.T)
	l.start(i)
}

// check lists everything, and checks the history. The account's next change waits for what a
// killed server has sent to its database.
func (l *linearRun) check(n int) {
	l.Helper()
	l.client(l.random).Post("/workspaces", apitest.Object{"name": fmt.Sprint("after ", n)}).Want(http.StatusCreated)
	for _, list := range []string{"mailboxes", "domains"} {
		l.send(linearClients, l.random, operation{kind: "list", list: list, search: "pool", page: 1, size: 1000})
	}
	model := linearModel(l.begin)
	result, info := porcupine.CheckOperationsVerbose(model, l.history, time.Minute)
	if result != porcupine.Ok {
		page, err := os.CreateTemp("", "history-*.html")
		if err != nil {
			l.Fatal(err)
		}
		if err := porcupine.VisualizePath(model, info, page.Name()); err != nil {
			l.Error(err)
		}
		l.Fatalf("no order of the requests explains their responses (%s); open %s", result, page.Name())
	}
	final := l.history[len(l.history)-2:]
	l.begin.mailboxes, l.begin.domains = final[0].Output.(outcome).entries, final[1].Output.(outcome).entries
	l.Logf("%d requests are linearizable", len(l.history))
}

// randomOperation draws an operation on a few names that all clients share.
func randomOperation(random *rand.Rand, lastName string) operation {
	mailbox := func() string { return fmt.Sprintf("pool%d@example.com", random.IntN(7)) }
	domain := func() string { return fmt.Sprintf("pool%d.com", random.IntN(4)) }
	distinct := func(draw func() string) []string {
		names := []string{draw(), draw(), draw()}
		slices.Sort(names)
		return slices.Compact(names)
	}
	switch draw := random.IntN(20); {
	case draw < 4:
		return operation{kind: "create", list: "mailboxes", names: []string{mailbox()}, lastName: lastName}
	case draw < 6:
		return operation{kind: "create", list: "mailboxes", names: distinct(mailbox), lastName: lastName}
	case draw < 8:
		return operation{kind: "rename", list: "mailboxes", names: []string{mailbox()}, lastName: lastName}
	case draw < 11:
		return operation{kind: "delete", list: "mailboxes", names: []string{mailbox()}}
	case draw < 12:
		return operation{kind: "create", list: "domains", names: distinct(domain)}
	case draw < 13:
		return operation{kind: "delete", list: "domains", names: []string{domain()}}
	case draw < 14:
		return operation{kind: "list", list: "domains", page: 1 + random.IntN(2), size: 1 + random.IntN(5)}
	case draw < 16:
		search := []string{"pool", "pool1", "-1-"}[random.IntN(3)]
		return operation{kind: "list", list: "mailboxes", search: search, page: 1 + random.IntN(2), size: 1 + random.IntN(9)}
	default: // about the end of the list
		size := 1 + random.IntN(5)
		return operation{kind: "list", list: "mailboxes", page: olderMailboxes/size + 1 + random.IntN(3), size: size}
	}
}

// send sends an operation and adds it to the history. A list without a response says nothing.
func (l *linearRun) send(id int, random *rand.Rand, op operation) {
	c := l.client(random)
	called := time.Since(l.clock)
	out, err := op.send(l.Context(), c, random)
	returned := int64(time.Since(l.clock))
	if err != nil {
		l.Errorf("%+v: %v", op, err)
		return
	}
	if out.status == 0 {
		if op.kind == "list" {
			return
		}
		returned = math.MaxInt64
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.history = append(l.history, porcupine.Operation{ClientId: id, Input: op, Output: out, Call: int64(called), Return: returned})
}

// send sends the request. Without a response, the outcome has no status.
func (op operation) send(ctx context.Context, c *apitest.Client, random *rand.Rand) (out outcome, err error) {
	method, path, body, want := op.request(c)
	var headers []string
	if method == http.MethodPost && random.IntN(2) == 0 {
		headers = []string{api.IdempotencyKeyHeader, randomKey(random)}
	}
	r, err := c.Try(ctx, method, path, body, headers...)
	if err != nil || r.Status >= http.StatusInternalServerError {
		return out, ctx.Err()
	}
	if !slices.Contains(want, r.Status) {
		return out, fmt.Errorf("%s %s: status %d: %s", method, path, r.Status, r.Raw)
	}
	out.status = r.Status
	switch {
	case op.kind == "list" && op.list == "mailboxes":
		var page api.Page[api.Mailbox]
		r.Into(&page)
		out.total = page.Total
		for _, m := range page.Items {
			out.entries = append(out.entries, entry{m.PrimaryEmail, m.ID, m.LastName})
		}
	case op.kind == "list":
		var page api.Page[api.Domain]
		r.Into(&page)
		out.total = page.Total
		for _, d := range page.Items {
			out.entries = append(out.entries, entry{name: d.Name, id: d.ID})
		}
	case op.list == "domains" && op.kind == "create":
		var bought api.Purchase
		r.Into(&bought)
		for _, result := range bought.Results {
			if result.Status == api.PurchasePurchased {
				out.entries = append(out.entries, entry{name: result.DomainName, id: *result.ID})
			}
		}
	case len(op.names) > 1:
		var created api.CreatedMailboxes
		r.Into(&created)
		for _, item := range created.Created {
			out.entries = append(out.entries, entry{item.Mailbox.PrimaryEmail, item.Mailbox.ID, item.Mailbox.LastName})
		}
	case r.Status == http.StatusOK || r.Status == http.StatusCreated:
		out.entries = []entry{{r.Str("primary_email"), r.Str("id"), r.Str("last_name")}}
	}
	return out, nil
}

// request returns the request, and the status codes that it may have.
func (op operation) request(c *apitest.Client) (method, path string, body any, want []int) {
	path = "/" + op.list
	item := func(name string) apitest.Object {
		local, _, _ := strings.Cut(name, "@")
		return apitest.Object{"local_part": local, "first_name": "A", "last_name": op.lastName}
	}
	switch {
	case op.kind == "list":
		path += fmt.Sprintf("?page=%d&page_size=%d", op.page, op.size)
		if op.search != "" {
			path += "&search=" + op.search
		}
		return http.MethodGet, path, nil, []int{http.StatusOK}
	case op.kind == "rename":
		return http.MethodPatch, path + "/" + op.names[0], apitest.Object{"last_name": op.lastName}, []int{http.StatusOK, http.StatusNotFound}
	case op.kind == "delete":
		return http.MethodDelete, path + "/" + op.names[0], nil, []int{http.StatusNoContent, http.StatusNotFound}
	case op.list == "domains":
		body = apitest.Object{"domains": op.names, "workspace_id": c.DefaultWorkspace(), "contact_info": apitest.Contact()}
		return http.MethodPost, path + "/purchase", body, []int{http.StatusOK}
	case len(op.names) > 1:
		var items []apitest.Object
		for _, name := range op.names {
			items = append(items, item(name))
		}
		return http.MethodPost, path + "/bulk", apitest.Object{"domain": "example.com", "items": items}, []int{http.StatusOK}
	default:
		o := item(op.names[0])
		o["domain"] = "example.com"
		return http.MethodPost, path, o, []int{http.StatusCreated, http.StatusConflict}
	}
}
