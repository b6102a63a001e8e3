package apiserver_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

// limitedHarness is a service that takes 3 requests a minute, and two clients
// with credentials of their own.
func limitedHarness(t *testing.T) (h *harness, first, second *client) {
	t.Helper()
	h = newHarness(t, func(o *apiserver.Options) {
		o.RateLimit = apiserver.RateLimit{Requests: 3, Per: time.Minute}
	})
	clients := make([]*client, 2)
	for i := range clients {
		token, err := h.svc.IssueOwnerToken(t.Context(), accountID, fmt.Sprint("client ", i))
		if err != nil {
			t.Fatal(err)
		}
		clients[i] = h.as(token)
	}
	return h, clients[0], clients[1]
}

// standing checks the headers of a limit.
func (a *answer) standing(remaining, reset int) *answer {
	a.t.Helper()
	got := [3]string{a.header.Get("RateLimit-Limit"), a.header.Get("RateLimit-Remaining"), a.header.Get("RateLimit-Reset")}
	if want := [3]string{"3", itoa(remaining), itoa(reset)}; got != want {
		a.t.Errorf("limit, remaining, reset are %q; want %q: %s", got, want, a)
	}
	return a
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	h, c, other := limitedHarness(t)
	c.get("/mailboxes").want(200).standing(2, 20)
	c.get("/nothing").want(404).standing(1, 40)
	c.post("/mailboxes", obj{}).want(422).standing(0, 60)
	refused := c.get("/mailboxes").refused(429, "header rate_limited").standing(0, 60)
	if got := refused.header.Get("Retry-After"); got != "20" {
		t.Errorf("Retry-After is %q", got)
	}
	other.get("/mailboxes").want(200).standing(2, 20)

	h.clock.Advance(20 * time.Second)
	c.get("/mailboxes").want(200).standing(0, 60)
	c.get("/mailboxes").want(429)
	h.clock.Advance(time.Hour)
	c.get("/mailboxes").want(200).standing(2, 20)
}

func TestRateLimitRefusesBeforeAnythingIsDone(t *testing.T) {
	t.Parallel()
	h, c, _ := limitedHarness(t)
	for range 3 {
		c.get("/workspaces").want(200)
	}
	c.post("/workspaces", obj{"name": "one too many"}).want(429)
	h.clock.Advance(time.Hour)
	c.get("/workspaces").want(200).is("total", 1)
}

func TestRateLimitOfWhoHasNoCredential(t *testing.T) {
	t.Parallel()
	h, c, _ := limitedHarness(t)
	ask := func(address, token string) int {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/public/accounts/"+accountID+"/mailboxes", nil)
		r.RemoteAddr = address
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		w := httptest.NewRecorder()
		h.svc.Handler().ServeHTTP(w, r)
		return w.Code
	}
	for i, step := range []struct {
		address, token string
		want           int
	}{
		{"192.0.2.1:1", "", 401},
		{"192.0.2.1:2", "mhsa_guess_1", 401}, // guesses share what the address has
		{"[::ffff:192.0.2.1]:3", "mhsa_guess_2", 401},
		{"192.0.2.1:4", "mhsa_guess_3", 429},
		{"192.0.2.1:5", c.token, 200}, // whoever has a credential does not suffer from it
		{"192.0.2.2:1", "", 401},
		{"[2001:db8::1]:1", "", 401},
		{"[2001:db8::2]:1", "", 401},
		{"[2001:db8::3]:1", "", 401},
		{"[2001:db8::4]:1", "", 429}, // one network has one bucket
		{"[2001:db8:0:1::4]:1", "", 401},
	} {
		if got := ask(step.address, step.token); got != step.want {
			t.Errorf("step %d, %s %q: %d; want %d", i, step.address, step.token, got, step.want)
		}
	}
}

func TestRateLimitSparesHealthChecks(t *testing.T) {
	t.Parallel()
	h, _, _ := limitedHarness(t)
	for range 5 {
		w := httptest.NewRecorder()
		h.svc.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/healthz/ready", nil))
		if w.Code != http.StatusOK || w.Header().Get("RateLimit-Limit") != "" {
			t.Errorf("%d %v", w.Code, w.Header())
		}
	}
}

func TestNoRateLimitByDefault(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	if a := h.get("/mailboxes").want(200); a.header.Get("RateLimit-Limit") != "" {
		t.Errorf("headers of a limit: %v", a.header)
	}
}

func TestRateLimitMustMakeSense(t *testing.T) {
	t.Parallel()
	db, err := sqlite.Open(t.Context(), sqlite.Memory, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	for _, l := range []apiserver.RateLimit{{Requests: 1}, {Per: time.Second}, {Requests: -1, Per: time.Second}} {
		if _, err := apiserver.New(apiserver.Options{Store: db, RateLimit: l}); err == nil {
			t.Errorf("%+v is taken", l)
		}
	}
}
