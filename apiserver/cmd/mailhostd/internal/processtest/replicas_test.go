package processtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/haproxytest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
)

// TestReplicasAreKilled is TestCrash with three replicas on PostgreSQL, behind HAProxy if there
// is one. The others go on while one is killed, or stopped, and started again.
func TestReplicasAreKilled(t *testing.T) {
	crashRuns(t, func(t *testing.T, seed uint64, kills int) { newReplicaRun(t, seed).run(kills) })
}

// replicaRun is a crashRun on several servers, of which server is any.
type replicaRun struct {
	*crashRun
	seed    uint64
	listen  []string // addresses of the servers
	servers []*mailhostdtest.Server
	front   string // URL of the balancer, or empty

	mu sync.Mutex // for servers and clients
}

func newReplicaRun(t *testing.T, seed uint64) *replicaRun {
	c := &replicaRun{seed: seed, crashRun: &crashRun{
		T: t, random: rand.New(rand.NewPCG(seed, 0)), inbox: mailhostdtest.NewInbox(t), database: postgrestest.URL(t),
	}}
	c.owner = mailhostdtest.InitializeIn(t, c.database)
	for range 3 {
		c.listen = append(c.listen, haproxytest.FreeAddress(t))
	}
	c.servers = make([]*mailhostdtest.Server, len(c.listen))
	var starting sync.WaitGroup
	for i := range c.servers {
		starting.Go(func() { c.startReplica(i) })
	}
	starting.Wait()
	if t.Failed() {
		t.FailNow()
	}
	if haproxytest.Missing() {
		t.Log("there is no haproxy: each client uses one server, and is not sent to another")
	} else {
		c.front = haproxytest.Start(t, c.listen...)
	}
	for range 8 {
		c.newClient()
	}
	c.server = c.servers[0]
	c.server.As(t, c.owner).Domain("example.com")
	return c
}

// newClient adds a client of HAProxy, or without it of one server.
func (c *replicaRun) newClient() *crashClient {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.clients)
	client := &crashClient{name: fmt.Sprint("c", n), random: rand.New(rand.NewPCG(c.seed, uint64(n)+1)), have: objects{}}
	client.as = c.servers[n%len(c.servers)].As(c.T, c.owner)
	if c.front != "" {
		client.as.URL = c.front
	}
	c.clients = append(c.clients, client)
	return client
}

func (c *replicaRun) startReplica(i int) {
	s := mailhostdtest.Spawn(c.T, c.database, append(c.inbox.Flags(), "--listen", c.listen[i])...)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.servers[i] = s
}

func (c *replicaRun) run(kills int) {
	for n := range kills {
		c.killOne()
		c.verifyAfter(fmt.Sprint("kill ", n))
	}
	c.end()
}

// verifyAfter is verify on any server. The database may still commit what a killed server sent
// it; the account's next change waits for that.
func (c *replicaRun) verifyAfter(name string) {
	c.server = c.servers[c.random.IntN(len(c.servers))]
	c.server.As(c.T, c.owner).Post("/workspaces", apitest.Object{"name": name}).Want(http.StatusCreated)
	c.verify()
	if c.Failed() {
		c.FailNow()
	}
}

// end checks the messages and the logs.
func (c *replicaRun) end() {
	for _, s := range c.servers { // the last one sends the messages of the others
		if s != c.server {
			if err := s.Cmd.Process.Kill(); err != nil {
				c.Fatal(err)
			}
			s.ExitCode(c.T)
		}
	}
	c.verifyMessages()
	for _, s := range c.servers {
		if failed := s.Log.Entries("operation failed"); len(failed) > 0 {
			c.Errorf("a server reported %v", failed)
		}
	}
}

// killOne ends one server while the clients send requests, one time in five by SIGTERM, and
// starts it again.
func (c *replicaRun) killOne() {
	acknowledged, stop := make(chan struct{}, 1<<16), make(chan struct{})
	errs := make([]error, len(c.clients))
	var clients sync.WaitGroup
	for i, client := range c.clients {
		clients.Go(func() { errs[i] = client.runUntilUnknown(func() { acknowledged <- struct{}{} }, stop) })
	}
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
	await(c.random.IntN(150))
	i := c.random.IntN(len(c.servers))
	signal := os.Kill
	if c.random.IntN(5) == 0 {
		signal = syscall.SIGTERM
	}
	if err := c.servers[i].Cmd.Process.Signal(signal); err != nil {
		c.Fatal(err)
	}
	c.servers[i].ExitCode(c.T)
	await(20)
	c.startReplica(i)
	await(20)
	close(stop)
	<-ended
	if err := errors.Join(errs...); err != nil {
		c.Error(err)
	}
}

// runUntilUnknown sends requests until stop is closed, or one has an unknown outcome because its
// server ends. The clients of other servers go on.
func (c *crashClient) runUntilUnknown(acknowledged func(), stop <-chan struct{}) error {
	for {
		select {
		case <-stop:
			return nil
		default:
		}
		r := c.next()
		switch status := c.send(r); {
		case status == 0 || status >= http.StatusInternalServerError:
			c.unknown = r
			return nil
		case status == http.StatusTooManyRequests && r.path == "/forwarding": // messages are limited
		case status >= http.StatusMultipleChoices:
			return fmt.Errorf("%s %s: status %d", r.method, r.path, status)
		default:
			for name, after := range r.after {
				c.set(name, after)
			}
		}
		acknowledged()
		if c.random.IntN(10) == 0 {
			if err := c.checkTotal(); err != nil {
				return err
			}
		}
	}
}

// checkTotal checks that a list has all changes that were acknowledged, by any server. Nobody
// else has mailboxes that match the search.
func (c *crashClient) checkTotal() error {
	r, err := c.as.Try(context.Background(), http.MethodGet, "/mailboxes?page_size=1&search="+c.name+"-", nil)
	if err != nil || r.Status >= http.StatusInternalServerError {
		return nil //nolint:nilerr // a list may fail
	}
	want := 0
	for name := range c.have {
		if strings.HasSuffix(name, "@example.com") {
			want++
		}
	}
	var page api.Page[api.Mailbox]
	if r.Into(&page); r.Status != http.StatusOK || page.Total != want {
		return fmt.Errorf("%s has %d mailboxes, and a list has %d (status %d)", c.name, want, page.Total, r.Status)
	}
	return nil
}
