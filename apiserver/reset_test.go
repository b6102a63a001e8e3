package apiserver_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

func TestReset(t *testing.T) {
	t.Parallel()
	h := apitest.New(t, func(o *apiserver.Options) { o.RateLimit = apiserver.RateLimit{Requests: 60, Per: time.Hour} })
	token := h.Post("/auth/service-accounts", obj{"name": "ci"}).Want(201).Str("token")
	h.Domain("example.com")
	h.Forwarding("a@example.org", obj{})
	created := h.PostKeyed(key, "/workspaces", obj{"name": "Sales"}).Want(201)
	for range 40 { // some tokens remain in the bucket
		h.Get("/domains")
	}
	assert.NilError(t, h.Service.Reset(t.Context(), nil))
	ids, err := h.Service.Accounts(t.Context())
	assert.Check(t, err == nil && len(ids) == 0, "accounts %v, %v; want none", ids, err)
	h.As(token).Get("/domains").Refused(401, "header.Authorization invalid_token")
	n := len(h.Service.Outbox())
	assert.Check(t, n <= 0, "%d messages remain", n)
	h.Owner(t, accountID)
	h.Get("/domains").Want(200).Is("total", 0)
	assert.Check(t, is.Equal(h.Get("/domains").Header.Get("RateLimit-Remaining"), "58"), "requests remain in the bucket")
	// The key is new after the reset.
	again := h.PostKeyed(key, "/workspaces", obj{"name": "Other"}).Want(201)
	assert.Check(t, again.Str("id") != created.Str("id") && !again.Replayed(), "a response from before the reset was replayed: %s", again)
	h.Domain("example.com")
}

// TestResetWithClockSetBack checks that creation times after a reset follow a clock that
// was set back.
func TestResetWithClockSetBack(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	h.Clock.Advance(1000 * time.Hour)
	h.PostKeyed(key, "/workspaces", obj{"name": "Sales"}).Want(201)
	h.Clock.Advance(-1000 * time.Hour)
	assert.NilError(t, h.Service.Reset(t.Context(), exampleFixture(t)))
	c := h.Owner(t, fixtureAccount)
	at := c.Get("/domains/example.com").Str("created_at")
	assert.Check(t, strings.HasPrefix(at, start.Format("2006-01-02T15:04")), "created at %s, want %s", at, start)
}

// TestResetIsAtomic checks that a reset with an invalid fixture changes nothing.
func TestResetIsAtomic(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	h.Domain("example.com")
	bad := &fixture.Fixture{Accounts: []fixture.Account{{ID: fixtureAccount, Domains: []fixture.Domain{{
		Name: "example.net", DNSRecords: []fixture.DNSRecord{{Name: "_dmarc", Type: "CNAME", Value: "elsewhere.example.net"}},
	}}}}}
	err := h.Service.Reset(t.Context(), bad)
	assert.Check(t, err != nil && strings.Contains(err.Error(), "_dmarc"), "error: %v", err)
	h.Get("/domains/example.com").Want(200)
	err = h.Service.Reset(t.Context(), &fixture.Fixture{Accounts: []fixture.Account{{ID: "x"}}})
	assert.Check(t, err != nil, "an invalid fixture was accepted")
	h.Get("/domains/example.com").Want(200)
}

// TestSettlePaymentOfAFixture checks that a fixture's domain in pending_payment can be paid.
func TestSettlePaymentOfAFixture(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	const batch = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
	err := h.Service.LoadFixture(t.Context(), parseFixture(t, `{"accounts":[{"id":"`+fixtureAccount+`","domains":[
		{"name":"example.com","status":"pending_payment","purchase_batch_id":"`+batch+`"}]}]}`))
	assert.NilError(t, err)
	settled, err := h.Service.SettlePayment(t.Context(), batch)
	assert.Check(t, err == nil && len(settled) == 1 && settled[0].Status == vocab.DomainActive, "settled %+v, %v", settled, err)
}

// replicated starts three services on one new database in PostgreSQL.
func replicated(t *testing.T, configure func(*apiserver.Options)) []*apiserver.Service {
	t.Helper()
	url := postgrestest.URL(t)
	services := make([]*apiserver.Service, 3)
	for i := range services {
		s, err := postgres.Open(t.Context(), url, postgres.Options{Connections: 8})
		assert.NilError(t, err)
		o := apiserver.Options{Store: s, PasswordCost: apitest.Cheap}
		configure(&o)
		services[i] = apitest.NewService(t, o)
	}
	return services
}

// together calls fn for each of n numbers at the same time.
func together(n int, fn func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { fn(i) })
	}
	all.Wait()
}

// TestReplicasStartTogether checks that replicas started at the same time with a fixture create its
// account once.
func TestReplicasStartTogether(t *testing.T) {
	t.Parallel()
	f := exampleFixture(t)
	for range 5 {
		services := replicated(t, func(*apiserver.Options) {})
		together(len(services), func(i int) {
			err := services[i].LoadFixture(t.Context(), f)
			assert.Check(t, err, "load the fixture")
			_, err = services[i].EnsureAccount(t.Context(), accountID)
			assert.Check(t, err, "ensure an account")
		})
		ids, err := services[0].Accounts(t.Context())
		assert.Check(t, err == nil && (len(ids) == len(f.Accounts)+1 || slices.Contains(ids, accountID)), "accounts %v, error %v", ids, err)
	}
}
