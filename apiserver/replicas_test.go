package apiserver_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
)

// replicated starts three services on one new database in PostgreSQL.
func replicated(t *testing.T, configure func(*apiserver.Options)) []*apiserver.Service {
	t.Helper()
	url := postgrestest.URL(t)
	services := make([]*apiserver.Service, 3)
	for i := range services {
		s, err := postgres.Open(t.Context(), url, postgres.Options{Connections: 8})
		if err != nil {
			t.Fatal(err)
		}
		o := apiserver.Options{Store: s, PasswordCost: apitest.Cheap}
		configure(&o)
		services[i] = apitest.NewService(t, o)
	}
	return services
}

// owners returns the clients of an account's owner.
func owners(t *testing.T, services []*apiserver.Service) []*apitest.Client {
	t.Helper()
	clients := make([]*apitest.Client, len(services))
	for i, s := range services {
		clients[i] = (&apitest.Server{Service: s}).Owner(t, accountID)
	}
	return clients
}

// together calls fn for each of n numbers at the same time.
func together(n int, fn func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { fn(i) })
	}
	all.Wait()
}

// TestReplicasStartTogether checks that replicas can be started at the same time with a fixture,
// and create its account once.
func TestReplicasStartTogether(t *testing.T) {
	t.Parallel()
	f := exampleFixture(t)
	for range 5 {
		services := replicated(t, func(*apiserver.Options) {})
		together(len(services), func(i int) {
			if err := services[i].LoadFixture(t.Context(), f); err != nil {
				t.Errorf("load the fixture: %v", err)
			}
			if _, err := services[i].EnsureAccount(t.Context(), accountID); err != nil {
				t.Errorf("ensure an account: %v", err)
			}
		})
		if ids, err := services[0].Accounts(t.Context()); err != nil || len(ids) != len(f.Accounts)+1 && !slices.Contains(ids, accountID) {
			t.Errorf("accounts %v, error %v", ids, err)
		}
	}
}

// TestReplicasSendEachMessageOnce checks that messages which are queued on all replicas are sent
// once each, while all replicas claim them.
func TestReplicasSendEachMessageOnce(t *testing.T) {
	t.Parallel()
	const messages = 18 // fewer than the limit of an account
	sent := make(chan string, 10*messages)
	c := &sender{send: func(_ context.Context, m apiserver.Message, attempt int) error {
		if attempt > 1 {
			return errors.New("a second message")
		}
		sent <- m.To
		return nil
	}}
	log := apitest.NewLog()
	services := replicated(t, func(o *apiserver.Options) { o.Sender, o.Logger = c, log.Logger() })
	clients := owners(t, services)
	together(messages, func(i int) {
		r, err := clients[i%len(clients)].Try(t.Context(), http.MethodPost, "/forwarding", obj{"target_email": fmt.Sprintf("x%d@example.net", i)})
		if err != nil || r.Status != http.StatusCreated {
			t.Errorf("%v, error %v", r, err)
		}
	})
	to := map[string]bool{}
	for range messages {
		to[apitest.Receive(t, sent)] = true
	}
	together(len(services), func(i int) {
		if err := services[i].Close(); err != nil { // sends what is due
			t.Error(err)
		}
	})
	if len(to) != messages || len(c.sent) != messages || len(log.Entries("can't")) > 0 {
		t.Errorf("%d messages to %d recipients; want %d\n%s", len(c.sent), len(to), messages, log)
	}
}
