package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// creation is one mailbox that a test asked for under an Idempotency-Key.
type creation struct {
	localPart, key string
	// made is the answer, if one came.
	made api.Mailbox
	// err is why none came.
	err error
}

func (c *creation) send(as caller) {
	var status int
	status, c.err = as.do(http.MethodPost, "/mailboxes", mailbox("example.com", c.localPart), &c.made, "Idempotency-Key", c.key)
	if c.err == nil && status != http.StatusCreated {
		c.err = fmt.Errorf("status %d", status)
	}
}

// createUntilKilled creates mailboxes on several connections, kills the server
// once some have been acknowledged, and returns all creations that were tried.
func createUntilKilled(t *testing.T, s *serving, owner initialized) []*creation {
	t.Helper()
	const writers, enough = 8, 150
	as := s.as(t, owner)
	acknowledged := make(chan struct{}, 1<<16)
	perWriter := make([][]*creation, writers)
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for i := 0; ; i++ {
				c := &creation{localPart: fmt.Sprintf("w%d-%d", w, i), key: fmt.Sprintf("00000000-0000-4000-8000-%04d%08d", w, i)}
				perWriter[w] = append(perWriter[w], c)
				if c.send(as); c.err != nil {
					return
				}
				acknowledged <- struct{}{}
			}
		})
	}
	for range enough {
		select {
		case <-acknowledged:
		case <-s.ended:
			t.Fatalf("the server ended by itself:\n%s", s.log)
		}
	}
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-s.ended
	writing.Wait()
	var all []*creation
	for _, some := range perWriter {
		all = append(all, some...)
	}
	return all
}

func TestKilledServerKeepsWhatItAcknowledged(t *testing.T) {
	t.Parallel()
	database, owner := initialize(t)
	s := spawn(t, database)
	s.as(t, owner).buy(t, "example.com")
	tried := createUntilKilled(t, s, owner)

	// A client sends what it has no answer to again, under the same key.
	as := spawn(t, database).as(t, owner)
	wanted := map[string]*creation{}
	for _, c := range tried {
		if c.err != nil {
			if c.send(as); c.err != nil {
				t.Errorf("%s, sent again: %v", c.localPart, c.err)
			}
		}
		wanted[c.made.PrimaryEmail] = c
	}
	found := 0
	for page := 1; ; page++ {
		var got api.Page[api.Mailbox]
		as.must(t, http.StatusOK, http.MethodGet, fmt.Sprintf("/mailboxes?page_size=1000&page=%d", page), "", &got)
		for _, m := range got.Items {
			found++
			c := wanted[m.PrimaryEmail]
			if c == nil {
				t.Errorf("%s is there twice, or nobody asked for it", m.PrimaryEmail)
				continue
			}
			if c.made.ID != m.ID {
				t.Errorf("%s was acknowledged as %s and is %s", m.PrimaryEmail, c.made.ID, m.ID)
			}
			delete(wanted, m.PrimaryEmail)
		}
		if len(got.Items) == 0 {
			break
		}
	}
	for address := range wanted {
		t.Errorf("%s was acknowledged and is lost", address)
	}
	t.Logf("%d tried, %d found", len(tried), found)
}

func TestSignalEndsTheServer(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			database, _ := initialize(t)
			s := spawn(t, database)
			if err := s.cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if <-s.ended; s.code != exitOK {
				t.Errorf("exit code %d", s.code)
			}
			s.log.wait(t, "shut down")
		})
	}
}

func TestSecondSignalEndsTheServerAtOnce(t *testing.T) {
	t.Parallel()
	database, owner := initialize(t)
	s := spawn(t, database, "--shutdown-timeout", "1h")
	s.as(t, owner).buy(t, "example.com")
	begin(t, s, owner, mailbox("example.com", "never"))
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.log.wait(t, "shutting down")
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-s.ended
	if status, ok := s.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGTERM {
		t.Errorf("%v; want the end by a signal", s.cmd.ProcessState)
	}
	if strings.Contains(s.log.String(), "goroutine ") {
		t.Errorf("log:\n%s", s.log)
	}
}
