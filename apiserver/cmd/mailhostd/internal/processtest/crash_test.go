package processtest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

var (
	seedFlag = flag.Uint64("seed", 0, "the seed of the first of -runs crash runs")
	runsFlag = flag.Int("runs", 1, "with -seed: how many crash runs, each longer than in a normal test")
)

// TestCrash kills servers under load, at random moments, and checks after each start that
// what was acknowledged is there, that a request without a response was executed as a
// whole or not at all, and that lists, their totals, the audit log, retries and the
// messages agree with that.
//
// The seed determines the requests and after how many of them a server is killed, not
// what the requests in flight were doing at that moment.
func TestCrash(t *testing.T) {
	crashRuns(t, func(t *testing.T, seed uint64, kills int) { newCrashRun(t, seed).run(kills) })
}

// crashRuns calls run for one short run, or for those of the flags.
func crashRuns(t *testing.T, run func(t *testing.T, seed uint64, kills int)) {
	t.Parallel()
	seed, runs, kills := uint64(1), 1, 3
	if *seedFlag != 0 {
		seed, runs, kills = *seedFlag, *runsFlag, 12
	}
	for n := range uint64(runs) {
		t.Run(fmt.Sprintf("seed=%d", seed+n), func(t *testing.T) { run(t, seed+n, kills) })
	}
}

// object is what a client expects of a mailbox, a domain or a forwarding rule. The zero
// value does not exist.
type object struct{ id, lastName string }

// objects are by address, domain name and target address.
type objects map[string]object

// crashClient sends one request after the other. No two clients use the same objects.
type crashClient struct {
	name   string
	random *rand.Rand
	as     *apitest.Client
	have   objects
	names  int
	// unknown is the request that got no response, or nil.
	unknown *crashRequest
}

// crashRequest is a request that changes objects.
type crashRequest struct {
	method, path string
	body         any
	key          string // Idempotency-Key, or empty
	// after is what the objects are after it. An unknown id is any.
	after objects
	// ids sets the ids in after from the response.
	ids func(r *apitest.Response)
}

const anyID = "any"

// send returns the status code, and 0 without a response.
func (c *crashClient) send(r *crashRequest) int {
	var headers []string
	if r.key != "" {
		headers = []string{api.IdempotencyKeyHeader, r.key}
	}
	response, err := c.as.Try(context.Background(), r.method, r.path, r.body, headers...)
	if err != nil {
		return 0
	}
	if response.Status < 300 && r.ids != nil {
		r.ids(response)
	}
	return response.Status
}

// next draws a request.
func (c *crashClient) next() *crashRequest {
	existing := slices.DeleteFunc(slices.Sorted(maps.Keys(c.have)), func(name string) bool { return !strings.Contains(name, "@example.com") })
	var r *crashRequest
	switch draw := c.random.IntN(20); {
	case draw < 2:
		r = c.createMany()
	case draw < 5 && len(existing) > 0:
		r = c.rename(existing[c.random.IntN(len(existing))])
	case draw < 8 && len(existing) > 0:
		address := existing[c.random.IntN(len(existing))]
		return &crashRequest{method: http.MethodDelete, path: "/mailboxes/" + address, after: objects{address: {}}}
	case draw < 10:
		r = c.purchase()
	case draw < 12:
		r = c.forward()
	default:
		r = c.create()
	}
	if r.method == http.MethodPost && c.random.IntN(2) == 0 {
		r.key = randomKey(c.random)
	}
	return r
}

func (c *crashClient) newName() string {
	c.names++
	return fmt.Sprintf("%s-%d", c.name, c.names)
}

// randomKey returns a UUID that the seed determines.
func randomKey(random *rand.Rand) string {
	var id uuid.UUID
	for i := range id {
		id[i] = byte(random.IntN(256))
	}
	return id.String()
}

func (c *crashClient) create() *crashRequest {
	name := c.newName()
	r := &crashRequest{method: http.MethodPost, path: "/mailboxes", body: mailhostdtest.Mailbox("example.com", name), after: objects{name + "@example.com": {anyID, "B"}}}
	r.ids = func(response *apitest.Response) { r.after[name+"@example.com"] = object{response.Str("id"), "B"} }
	return r
}

// createMany creates mailboxes, sometimes enough for a block of the list.
func (c *crashClient) createMany() *crashRequest {
	n := 1 + c.random.IntN(30)
	if c.random.IntN(8) == 0 {
		n = api.MaxBulkItems
	}
	r := &crashRequest{method: http.MethodPost, path: "/mailboxes/bulk", after: objects{}}
	var items []apitest.Object
	for range n {
		name := c.newName()
		items = append(items, apitest.Object{"local_part": name, "first_name": "A", "last_name": "B"})
		r.after[name+"@example.com"] = object{anyID, "B"}
	}
	r.body = apitest.Object{"domain": "example.com", "items": items}
	r.ids = func(response *apitest.Response) {
		var created api.CreatedMailboxes
		response.Into(&created)
		for _, item := range created.Created {
			r.after[item.Mailbox.PrimaryEmail] = object{item.Mailbox.ID, "B"}
		}
	}
	return r
}

func (c *crashClient) rename(address string) *crashRequest {
	to := object{c.have[address].id, c.newName()}
	return &crashRequest{
		method: http.MethodPatch, path: "/mailboxes/" + address, body: apitest.Object{"last_name": to.lastName}, after: objects{address: to},
	}
}

func (c *crashClient) purchase() *crashRequest {
	r := &crashRequest{method: http.MethodPost, path: "/domains/purchase", after: objects{}}
	var names []string
	for range 1 + c.random.IntN(3) {
		names = append(names, c.newName()+".com")
		r.after[names[len(names)-1]] = object{id: anyID}
	}
	r.body = apitest.Object{"domains": names, "workspace_id": c.as.DefaultWorkspace(), "contact_info": apitest.Contact()}
	r.ids = func(response *apitest.Response) {
		var bought api.Purchase
		response.Into(&bought)
		for _, result := range bought.Results {
			if result.ID != nil {
				r.after[result.DomainName] = object{id: *result.ID}
			}
		}
	}
	return r
}

// forward creates a rule to another account's address, which has to be verified by a
// message.
func (c *crashClient) forward() *crashRequest {
	target := c.newName() + "@example.org"
	r := &crashRequest{method: http.MethodPost, path: "/forwarding", body: apitest.Object{"target_email": target}, after: objects{target: {id: anyID}}}
	r.ids = func(response *apitest.Response) { r.after[target] = object{id: response.Str("id")} }
	return r
}

// resolve finds out from what there is whether the request without a response was
// executed: as a whole, or not at all.
func (c *crashClient) resolve(found objects) error {
	r := c.unknown
	if c.unknown = nil; r == nil {
		return nil
	}
	done, undone := 0, 0
	for name, after := range r.after {
		switch got := found[name]; {
		case got == after, after.id == anyID && got == object{got.id, after.lastName} && got.id != "":
			done++
		case got == c.have[name]:
			undone++
		default:
			return fmt.Errorf("%s is %v after a request without a response, %s %s", name, got, r.method, r.path)
		}
	}
	if done > 0 && undone > 0 {
		return fmt.Errorf("%s %s without a response was executed in part: %d of %d objects", r.method, r.path, done, done+undone)
	}
	for name := range r.after {
		c.set(name, found[name])
	}
	if r.key == "" {
		return nil
	}
	// A retry is a replay, or executes what was not executed.
	if status := c.send(r); status >= 300 || status == 0 {
		if status == http.StatusTooManyRequests {
			return nil
		}
		return fmt.Errorf("the retry of %s %s with its key: status %d", r.method, r.path, status)
	}
	for name, after := range r.after {
		if before := c.have[name]; before.id != "" && before != after {
			return fmt.Errorf("the retry of %s %s with its key: %s is %v, and was %v", r.method, r.path, name, after, before)
		}
		c.set(name, after)
	}
	return nil
}

func (c *crashClient) set(name string, o object) {
	if o.id == "" {
		delete(c.have, name)
	} else {
		c.have[name] = o
	}
}

// crashRun is a database and its clients.
type crashRun struct {
	*testing.T
	random   *rand.Rand
	database string
	owner    mailhostdtest.Account
	inbox    *mailhostdtest.Inbox
	server   *mailhostdtest.Server
	clients  []*crashClient
}

func newCrashRun(t *testing.T, seed uint64) *crashRun {
	c := &crashRun{T: t, random: rand.New(rand.NewPCG(seed, 0)), inbox: mailhostdtest.NewInbox(t)}
	c.database, c.owner = mailhostdtest.Initialize(t)
	for n := range 8 {
		c.clients = append(c.clients, &crashClient{name: fmt.Sprint("c", n), random: rand.New(rand.NewPCG(seed, uint64(n)+1)), have: objects{}})
	}
	c.start()
	c.server.As(t, c.owner).Domain("example.com")
	return c
}

func (c *crashRun) start() {
	c.server = mailhostdtest.Spawn(c.T, c.database, c.inbox.Flags()...)
	for _, client := range c.clients {
		client.as = c.server.As(c.T, c.owner)
	}
}

func (c *crashRun) run(kills int) {
	for range kills {
		c.crash()
		c.start()
		c.verify()
		if c.Failed() {
			c.FailNow()
		}
	}
	c.verifyMessages()
	c.server.End(c.T)
	c.start() // the log is in the file now
	c.verify()
}

// crash lets the clients send requests and kills the server after some responses. One
// time in five it is SIGTERM, which completes the requests in flight.
func (c *crashRun) crash() {
	acknowledged := make(chan struct{}, 1<<16)
	errs := make([]error, len(c.clients))
	var clients sync.WaitGroup
	for i, client := range c.clients {
		clients.Go(func() { errs[i] = client.runUntilUnknown(func() { acknowledged <- struct{}{} }, nil) })
	}
	for range c.random.IntN(200) {
		select {
		case <-acknowledged:
		case <-c.server.Ended:
			c.Fatalf("the server ended by itself:\n%s", c.server.Log)
		}
	}
	signal := os.Kill
	if c.random.IntN(5) == 0 {
		signal = syscall.SIGTERM
	}
	if err := c.server.Cmd.Process.Signal(signal); err != nil {
		c.Fatal(err)
	}
	c.server.ExitCode(c.T)
	clients.Wait()
	if err := errors.Join(errs...); err != nil {
		c.Error(err)
	}
}

// verify compares what there is with what the clients know, and makes it what they know.
func (c *crashRun) verify() {
	found := c.found()
	for _, client := range c.clients {
		if err := client.resolve(found); err != nil {
			c.Error(err)
		}
	}
	found = c.found() // after the retries
	want := objects{}
	for _, client := range c.clients {
		maps.Copy(want, client.have)
	}
	for name, o := range want {
		if found[name] != o {
			c.Errorf("%s was acknowledged as %v, and is %v", name, o, found[name])
		}
	}
	for name, o := range found {
		if want[name] == (object{}) {
			c.Errorf("%s is %v, and was deleted or never created", name, o)
		}
	}
	c.verifyTotals(found)
	c.verifyAudit(found)
	c.Logf("%d objects", len(found))
}

// found returns all objects.
func (c *crashRun) found() objects {
	as := c.server.As(c.T, c.owner)
	all := objects{}
	add := func(name string, o object) {
		if all[name] != (object{}) {
			c.Errorf("%s is listed twice", name)
		}
		all[name] = o
	}
	each(as, "/mailboxes", func(m api.Mailbox) { add(m.PrimaryEmail, object{m.ID, m.LastName}) })
	each(as, "/domains", func(d api.Domain) {
		if d.Name != "example.com" {
			add(d.Name, object{id: d.ID})
		}
	})
	each(as, "/forwarding", func(f api.Forwarding) { add(f.TargetEmail, object{id: f.ID}) })
	return all
}

// each calls fn for each object of a list.
func each[T any](as *apitest.Client, path string, fn func(T)) {
	as.T.Helper()
	for n := 1; ; n++ {
		var page api.Page[T]
		as.Do(http.MethodGet, fmt.Sprintf("%s?page_size=%d&page=%d", path, 1000, n), nil).Want(http.StatusOK).Into(&page)
		for _, o := range page.Items {
			fn(o)
		}
		if len(page.Items) == 0 {
			return
		}
	}
}

// verifyTotals checks the totals and the last page of lists with and without a search.
func (c *crashRun) verifyTotals(found objects) {
	as := c.server.As(c.T, c.owner)
	for _, search := range []string{"", "c3", "7", "5-1", "c2-11"} {
		want := 0
		for name, o := range found {
			if strings.HasSuffix(name, "@example.com") && (strings.Contains(name, search) || strings.Contains(o.lastName, search)) {
				want++
			}
		}
		var page api.Page[api.Mailbox]
		last := max(1, (want+6)/7)
		as.Do(http.MethodGet, fmt.Sprintf("/mailboxes?page_size=7&page=%d&search=%s", last, search), nil).Want(http.StatusOK).Into(&page)
		if got := (last-1)*7 + len(page.Items); page.Total != want || got != want {
			c.Errorf("search %q: the total is %d and the last page ends at %d; there are %d", search, page.Total, got, want)
		}
	}
}

// verifyAudit checks that each object has one creation in the audit log, and each object
// that is gone one deletion.
func (c *crashRun) verifyAudit(found objects) {
	logged := objects{}
	for _, e := range mailhostdtest.Audit(c.T, c.database) {
		for _, change := range e.Changes {
			switch exists := logged[change.Name].id != ""; {
			case change.Type != "mailbox" && change.Type != "domain" && change.Type != "forwarding":
			case change.Action == store.AuditCreated && !exists:
				logged[change.Name] = object{id: change.ID}
			case change.Action == store.AuditDeleted && logged[change.Name].id == change.ID:
				delete(logged, change.Name)
			case change.Action != store.AuditUpdated:
				c.Errorf("the audit log has %s once too often: %s", change.Action, change.Name)
			}
		}
	}
	delete(logged, "example.com")
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if logged[name].id != found[name].id {
			c.Errorf("%s is %v, and %v in the audit log", name, found[name], logged[name])
		}
		delete(logged, name)
	}
	for name, o := range logged {
		c.Errorf("the audit log has %s as %v, which does not exist", name, o)
	}
}

// verifyMessages checks that there is a message for each forwarding rule, and none for a
// rule that does not exist. It waits for messages that a killed server was sending, whose
// lease has to expire first, only if the flags select a long run.
func (c *crashRun) verifyMessages() {
	wanted := map[string]bool{}
	for _, client := range c.clients {
		for name := range client.have {
			if strings.HasSuffix(name, "@example.org") {
				wanted[name] = true
			}
		}
	}
	for n := 1; ; n++ {
		missing := maps.Clone(wanted)
		for _, mail := range c.inbox.Mails() {
			for _, to := range mail.To {
				delete(missing, to)
				if !wanted[to] {
					c.Errorf("%s got a message about a rule that does not exist", to)
				}
			}
		}
		if len(missing) == 0 || *seedFlag == 0 {
			c.Logf("%d messages, %d missing", len(wanted), len(missing))
			return
		}
		_, err := c.server.Log.Await(c.Context(), "verification message sent", n)
		if err != nil { // the lease is as long as that
			_, err = c.server.Log.Await(c.Context(), "verification message sent", n)
		}
		if err != nil {
			c.Fatalf("no message to %v: %v", slices.Sorted(maps.Keys(missing)), err)
		}
	}
}
