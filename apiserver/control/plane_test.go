package control_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/journal"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

func startFixture() *fixture.Fixture {
	return &fixture.Fixture{Accounts: []fixture.Account{{
		ID: accountID, Domains: []fixture.Domain{{Name: "example.com", Forwarding: []fixture.Forwarding{
			{TargetEmail: "a@example.org", VerificationState: "pending"},
		}}},
	}}}
}

func TestResetRestoresTheStart(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.plane.Fixture = startFixture()
	h.advance(1000 * time.Hour)
	h.inProcess.Domain("bought.com")
	h.inProcess.must("POST", "/forwarding", `{"target_email":"b@example.org"}`)
	h.add(fault.Rule{Operation: fault.Any, Status: 500})
	result := h.want(200, "POST", "/reset", "")
	assert.Check(t, len(result["accounts"].([]any)) == 1, "%v", result)
	ahead := time.Until(h.plane.Clock.Now())
	assert.Check(t, ahead <= time.Minute, "the clock is %s ahead", ahead)
	n := len(h.plane.Journal.Entries(journal.Filter{})) + len(h.plane.Faults.Rules())
	assert.Check(t, n <= 0, "%d faults and requests remain", n)
	outbox := h.service.Outbox()
	assert.Check(t, len(outbox) == 1 && outbox[0].To == "a@example.org", "outbox: %+v", outbox)
	h.inProcess.HTTP = h.service.OwnerClient(accountID)
	a := h.inProcess.must("GET", "/domains", "")
	assert.Check(t, strings.Contains(a.body, `"example.com"`) && !strings.Contains(a.body, "bought.com"), "%s", a.body)
}

// TestResetWaitsForRequests checks that a request in flight ends before a reset.
func TestResetWaitsForRequests(t *testing.T) {
	t.Parallel()
	both(t, func(h *harness, c caller) {
		h.plane.Fixture = startFixture()
		assert.NilError(t, h.plane.Reset(t.Context(), h.service))
		token := h.want(201, "POST", "/accounts", `{"account_id":"`+accountID+`"}`)["token"].(string)
		c.Token = token
		id := h.add(fault.Rule{Operation: "create-mailbox", Hold: fault.Before})
		responses := c.later("POST", "/mailboxes", mailbox("jane"))
		h.held(id, 1)
		h.want(200, "POST", "/reset", "") // releases the held request
		a := apitest.Receive(t, responses)
		assert.Check(t, a.status == 201, "the request from before the reset: %+v", a)
		c.Token = h.want(201, "POST", "/accounts", `{"account_id":"`+accountID+`"}`)["token"].(string)
		assert.Check(t, is.Equal(c.total("/mailboxes"), 0), "mailboxes")
	})
}

// upload begins a request with a body that ends when end is called.
func upload(t *testing.T, client *http.Client, token string) (end func()) {
	t.Helper()
	body, out := io.Pipe()
	r, err := http.NewRequestWithContext(t.Context(), "POST", "http://in.process/v1/public/accounts/"+accountID+"/workspaces", body)
	assert.NilError(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("X-Request-Id", "uploading")
	done := make(chan struct{})
	go func() {
		defer close(done)
		if resp, err := client.Do(r); err == nil {
			_ = resp.Body.Close()
		}
	}()
	_, err = out.Write([]byte(" ")) // the service reads the space
	assert.NilError(t, err)
	return func() { _ = out.Close(); <-done }
}

// TestResetOfABusyService checks that a request that does not end blocks a reset, and that the
// error names it.
func TestResetOfABusyService(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.advance(time.Hour)
	end := upload(t, h.service.Client(), h.inProcess.Token)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := h.plane.Reset(ctx, h.service)
	assert.Check(t, err != nil && strings.HasSuffix(err.Error(), ": create-workspace (uploading)"), "error: %v", err)
	ahead := time.Until(h.plane.Clock.Now())
	assert.Check(t, ahead >= 59*time.Minute, "the clock was reset: it is %s ahead", ahead)
	h.inProcess.must("GET", "/domains", "") // the service keeps working
	end()
	assert.Check(t, h.plane.Reset(t.Context(), h.service))
}

// TestRequestsWaitForAReset checks that requests and other resets wait until a reset ends.
func TestRequestsWaitForAReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plane := &control.Plane{Fixture: startFixture()}
		server := apitest.New(t, func(o *apiserver.Options) { o.Clock, o.Middleware = plane.Clock.Now, plane.Middleware })
		service := server.Service
		_, token, err := service.InitAccount(t.Context(), accountID, "owner")
		assert.NilError(t, err)
		c := caller{server.As(token)}
		c.URL = "http://in.process"
		id, err := plane.Faults.Add(fault.Rule{Operation: "list-domains", Status: 500})
		assert.NilError(t, err)
		end := upload(t, c.HTTP, token)
		reset := make(chan error, 1)
		go func() { reset <- plane.Reset(t.Context(), service) }()
		synctest.Wait()
		_, err = plane.Faults.Rule(id)
		assert.Assert(t, errors.Is(err, fault.ErrNotFound), "the reset has not begun: %v", err)
		late, again := c.later("GET", "/domains", ""), make(chan error, 1)
		go func() { again <- plane.Reset(t.Context(), service) }()
		synctest.Wait()
		select {
		case a := <-late:
			t.Errorf("a request ended during the reset: %+v", a)
		case err := <-reset:
			t.Errorf("the reset did not wait for the request: %v", err)
		case err := <-again:
			t.Errorf("a second reset did not wait for the first: %v", err)
		default:
		}
		for _, path := range []string{"/healthz/live", "/healthz/ready"} { // health checks don't wait
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL+path, nil)
			assert.NilError(t, err)
			resp, err := c.HTTP.Do(r)
			assert.Assert(t, err == nil && resp.StatusCode == http.StatusOK, "%s during the reset: %v, %v", path, resp, err)
			_ = resp.Body.Close()
		}
		end()
		for _, ended := range []chan error{reset, again} {
			assert.Check(t, apitest.Receive(t, ended))
		}
		a := apitest.Receive(t, late)
		assert.Check(t, a.status == http.StatusUnauthorized, "with a token from before the reset: %+v", a)
	})
}

// TestFailedReset checks that a failed reset changes nothing.
func TestFailedReset(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.plane.Fixture = &fixture.Fixture{Accounts: []fixture.Account{{ID: "x"}}}
	h.advance(time.Hour)
	h.inProcess.must("GET", "/domains", "")
	err := h.plane.Reset(t.Context(), h.service)
	assert.Check(t, err != nil, "an invalid fixture was loaded")
	ahead := time.Until(h.plane.Clock.Now())
	assert.Check(t, ahead >= 59*time.Minute && ahead <= time.Hour, "the clock is %s ahead", ahead)
	assert.Check(t, is.Equal(len(h.plane.Journal.Entries(journal.Filter{})), 1), "requests are in the journal")
	h.inProcess.must("GET", "/domains", "") // requests are no longer paused
	var other control.Plane
	assert.ErrorContains(t, other.Reset(t.Context(), h.service), "without the plane's Middleware")
}

// noStore is a store for requests that fail before they use it.
type noStore struct{ store.Store }

// TestDelayIsExact checks that a delay has the configured length and that concurrent delays do not
// add up.
func TestDelayIsExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var faults fault.Injector
		service, err := apiserver.New(apiserver.Options{Store: noStore{}, Middleware: faults.Middleware})
		assert.NilError(t, err)
		id, err := faults.Add(fault.Rule{Operation: "get-account", Delay: apiserver.Duration(time.Hour)})
		assert.NilError(t, err)
		begun := time.Now()
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				resp, err := service.Client().Get("http://in.process/v1/public/accounts/" + accountID)
				if err != nil {
					t.Error(err)
					return
				}
				_ = resp.Body.Close()
			})
		}
		all.Wait()
		assert.Check(t, is.Equal(time.Since(begun), time.Hour), "the request took")
		s, err := faults.Rule(id)
		assert.Check(t, err == nil && s.Fired == 3, "%+v, %v", s, err)
	})
}
