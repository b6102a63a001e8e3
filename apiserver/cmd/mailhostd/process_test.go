package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

// creation is a request that creates one mailbox.
type creation struct {
	localPart string
	key       string // Idempotency-Key, sent by half of the clients
	id        string // set if there was a response
	// err is set if there was no response.
	err error
}

func (c *creation) send(as *apitest.Client) {
	var headers []string
	if c.key != "" {
		headers = []string{"Idempotency-Key", c.key}
	}
	response, err := as.Try(as.T.Context(), http.MethodPost, "/mailboxes", mailbox("example.com", c.localPart), headers...)
	if c.err = err; err == nil && response.Status != http.StatusCreated {
		c.err = fmt.Errorf("status %d", response.Status)
	}
	if c.err == nil {
		c.id = response.Str("id")
	}
}

// createUntilKilled creates mailboxes on several connections, kills the server after
// enough responses, and returns all attempted creations.
func createUntilKilled(t *testing.T, s *testServer, owner newAccount, round, enough int) []*creation {
	t.Helper()
	const writers = 8
	as := s.as(t, owner)
	acknowledged := make(chan struct{}, 1<<16)
	perWriter := make([][]*creation, writers)
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for i := 0; ; i++ {
				c := &creation{localPart: fmt.Sprintf("r%d-w%d-%d", round, w, i)}
				if w%2 == 0 {
					c.key = fmt.Sprintf("00000000-0000-4000-8000-%02d%02d%08d", round, w, i)
				}
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
			t.Fatalf("the server exited by itself:\n%s", s.log)
		}
	}
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	s.exitCode(t)
	writing.Wait()
	return slices.Concat(perWriter...)
}

// TestKilledServerKeepsAcknowledged checks that a server killed under load several times,
// at random moments, keeps every acknowledged mailbox.
func TestKilledServerKeepsAcknowledged(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	database, owner := initialize(t)
	s := spawn(t, database)
	s.as(t, owner).Domain("example.com")

	var tried []*creation
	for round := range 3 {
		tried = append(tried, createUntilKilled(t, s, owner, round, 40+random.IntN(120))...)
		s = spawn(t, database)
	}
	as := s.as(t, owner)
	// Retry every request without a response with the same key, and some requests with
	// one.
	for i, c := range tried {
		if c.key == "" || c.err == nil && i%5 != 0 {
			continue
		}
		before := c.id
		if c.send(as); c.err != nil || before != "" && c.id != before {
			t.Errorf("retry for %s: %s, %v; want %s", c.localPart, c.id, c.err, before)
		}
	}
	found := mailboxes(t, as)
	for _, c := range tried {
		address := c.localPart + "@example.com"
		if c.err == nil && found[address] != c.id {
			t.Errorf("%s was acknowledged as %s and is %q", address, c.id, found[address])
		}
	}
	checkLogged(t, database, found)
	t.Logf("%d tried, %d found", len(tried), len(found))
}

// mailboxes returns the ids of all mailboxes by address.
func mailboxes(t *testing.T, c *apitest.Client) map[string]string {
	t.Helper()
	found := map[string]string{}
	for page := 1; ; page++ {
		var got api.Page[api.Mailbox]
		c.Do(http.MethodGet, fmt.Sprintf("/mailboxes?page_size=1000&page=%d", page), nil).Want(http.StatusOK).Into(&got)
		for _, m := range got.Items {
			if found[m.PrimaryEmail] != "" {
				t.Errorf("%s exists twice", m.PrimaryEmail)
			}
			found[m.PrimaryEmail] = m.ID
		}
		if len(got.Items) == 0 {
			return found
		}
	}
}

// checkLogged checks that the audit log has exactly one creation per mailbox.
func checkLogged(t *testing.T, database string, mailboxes map[string]string) {
	t.Helper()
	created := map[string]string{}
	for _, e := range auditOf(t, database, "--operation", api.CreateMailbox.ID) {
		for _, change := range e.Changes {
			if created[change.Name] != "" {
				t.Errorf("the creation of %s is logged twice", change.Name)
			}
			created[change.Name] = change.ID
		}
	}
	if !maps.Equal(created, mailboxes) {
		t.Errorf("the log has %d mailboxes and the account %d, or different ones", len(created), len(mailboxes))
	}
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
			if code := s.exitCode(t); code != exitOK {
				t.Errorf("exit code %d", code)
			}
			s.log.Wait(t, "shut down")
		})
	}
}

// TestHangupWithoutACertificate checks that SIGHUP ends a server without a certificate,
// because it has nothing to reload.
func TestHangupWithoutACertificate(t *testing.T) {
	t.Parallel()
	database, owner := initialize(t)
	s := spawn(t, database)
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	s.log.Wait(t, "there is nothing to reload")
	s.as(t, owner).Do(http.MethodGet, "/mailboxes", nil).Want(http.StatusOK)
}

func TestSecondSignalEndsTheServerAtOnce(t *testing.T) {
	t.Parallel()
	database, owner := initialize(t)
	s := spawn(t, database, "--shutdown-timeout", "1h")
	s.as(t, owner).Domain("example.com")
	begin(t, s, owner, mailbox("example.com", "never"))
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.log.Wait(t, "shutting down")
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.exitCode(t)
	if status, ok := s.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGTERM {
		t.Errorf("%v; want an end by signal", s.cmd.ProcessState)
	}
	if strings.Contains(s.log.String(), "goroutine ") {
		t.Errorf("log:\n%s", s.log)
	}
}
