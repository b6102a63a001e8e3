package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"syscall"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
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
	listen  []string // addresses of the servers
	servers []*testServer
	front   string // URL of the balancer, or empty
}

func newReplicaRun(t *testing.T, seed uint64) *replicaRun {
	c := &replicaRun{crashRun: &crashRun{
		T: t, random: rand.New(rand.NewPCG(seed, 0)), inbox: newMailbag(t), database: postgrestest.URL(t),
	}}
	c.owner = initializeIn(t, c.database)
	for range 3 {
		c.listen = append(c.listen, haproxytest.FreeAddress(t))
	}
	c.servers = make([]*testServer, len(c.listen))
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
	for n := range 8 {
		client := &crashClient{name: fmt.Sprint("c", n), random: rand.New(rand.NewPCG(seed, uint64(n)+1)), have: objects{}}
		client.as = c.servers[n%len(c.servers)].as(t, c.owner)
		if c.front != "" {
			client.as.URL = c.front
		}
		c.clients = append(c.clients, client)
	}
	c.server = c.servers[0]
	c.server.as(t, c.owner).Domain("example.com")
	return c
}

func (c *replicaRun) startReplica(i int) {
	c.servers[i] = spawn(c.T, c.database, append(c.inbox.flags(), "--listen", c.listen[i])...)
}

func (c *replicaRun) run(kills int) {
	for n := range kills {
		c.killOne()
		c.server = c.servers[c.random.IntN(len(c.servers))]
		// The database may still commit what the killed server sent it. The account's next
		// change waits for that.
		c.server.as(c.T, c.owner).Post("/workspaces", apitest.Object{"name": fmt.Sprint("after kill ", n)}).Want(http.StatusCreated)
		c.verify()
		if c.Failed() {
			c.FailNow()
		}
	}
	for _, s := range c.servers { // the last one sends the messages of the others
		if s != c.server {
			if err := s.cmd.Process.Kill(); err != nil {
				c.Fatal(err)
			}
			s.exitCode(c.T)
		}
	}
	c.verifyMessages()
	for _, s := range c.servers {
		if failed := s.log.Entries("operation failed"); len(failed) > 0 {
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
		clients.Go(func() { errs[i] = client.runUntilUnknown(acknowledged, stop) })
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
	if err := c.servers[i].cmd.Process.Signal(signal); err != nil {
		c.Fatal(err)
	}
	c.servers[i].exitCode(c.T)
	await(20)
	c.startReplica(i)
	await(20)
	close(stop)
	<-ended
	if err := errors.Join(errs...); err != nil {
		c.Error(err)
	}
}

// runUntilUnknown sends requests until stop is closed, or one has an unknown outcome. The
// clients of the other servers go on.
func (c *crashClient) runUntilUnknown(acknowledged chan<- struct{}, stop <-chan struct{}) error {
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
		acknowledged <- struct{}{}
	}
}
