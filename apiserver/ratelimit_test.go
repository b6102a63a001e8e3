package apiserver_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

// limitedHarness returns a service that allows 3 requests a minute, and two clients with
// different credentials.
func limitedHarness(t *testing.T) (h *apitest.Server, first, second *apitest.Client) {
	t.Helper()
	h = apitest.New(t, func(o *apiserver.Options) {
		o.RateLimit = apiserver.RateLimit{Requests: 3, Per: time.Minute}
	})
	clients := make([]*apitest.Client, 2)
	for i := range clients {
		token, err := h.Service.IssueOwnerToken(t.Context(), accountID, fmt.Sprint("client ", i))
		assert.NilError(t, err)
		clients[i] = h.As(token)
	}
	return h, clients[0], clients[1]
}

// hasLimit checks the RateLimit headers of a limit of 3 requests.
func hasLimit(r *apitest.Response, remaining, reset int) {
	r.T.Helper()
	for name, want := range map[string]string{
		"RateLimit-Limit": "3", "RateLimit-Remaining": itoa(remaining), "RateLimit-Reset": itoa(reset),
		"RateLimit": fmt.Sprintf(`"default";r=%d;t=%d`, remaining, reset), "RateLimit-Policy": `"default";q=3;w=60`,
	} {
		if got := r.Header.Get(name); got != want {
			r.T.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	h, c, other := limitedHarness(t)
	hasLimit(c.Get("/mailboxes").Want(200), 2, 20)
	hasLimit(c.Get("/nothing").Want(404), 1, 40)
	hasLimit(c.Post("/mailboxes", obj{}).Want(422), 0, 60)
	refused := c.Get("/mailboxes").Refused(429, "header rate_limited")
	hasLimit(refused, 0, 60)
	assert.Check(t, is.Equal(refused.Header.Get("Retry-After"), "20"), "Retry-After")
	hasLimit(other.Get("/mailboxes").Want(200), 2, 20)

	h.Clock.Advance(20 * time.Second)
	hasLimit(c.Get("/mailboxes").Want(200), 0, 60)
	c.Get("/mailboxes").Want(429)
	h.Clock.Advance(time.Hour)
	hasLimit(c.Get("/mailboxes").Want(200), 2, 20)
}

func TestRateLimitWithoutCredential(t *testing.T) {
	t.Parallel()
	h, c, _ := limitedHarness(t)
	ask := func(address, token string) int {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/public/accounts/"+accountID+"/mailboxes", nil)
		r.RemoteAddr = address
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		w := httptest.NewRecorder()
		h.Service.Handler().ServeHTTP(w, r)
		return w.Code
	}
	for i, step := range []struct {
		address, token string
		want           int
	}{
		{"192.0.2.1:1", "", 401},
		{"192.0.2.1:2", "mhsa_guess_1", 401}, // guessed tokens share the bucket of their address
		{"[::ffff:192.0.2.1]:3", "mhsa_guess_2", 401},
		{"192.0.2.1:4", "mhsa_guess_3", 429},
		{"192.0.2.1:5", c.Token, 200}, // a valid credential uses its own bucket
		{"192.0.2.2:1", "", 401},
		{"[2001:db8::1]:1", "", 401},
		{"[2001:db8::2]:1", "", 401},
		{"[2001:db8::3]:1", "", 401},
		{"[2001:db8::4]:1", "", 429}, // a network shares one bucket
		{"[2001:db8:0:1::4]:1", "", 401},
		{"socket 1", "", 401},
		{"socket 1", "", 401},
		{"socket 1", "", 401},
		{"socket 1", "", 429},
		{"socket 2", "", 401}, // a text other than an IP address uses its own bucket
	} {
		assert.Check(t, is.Equal(ask(step.address, step.token), step.want), "step %d, %s %q", i, step.address, step.token)
	}
}

func TestRateLimitSparesHealthChecks(t *testing.T) {
	t.Parallel()
	h, _, _ := limitedHarness(t)
	for range 5 {
		w := httptest.NewRecorder()
		h.Service.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/healthz/ready", nil))
		assert.Check(t, w.Code == http.StatusOK && w.Header().Get("RateLimit-Limit") == "", "%d %v", w.Code, w.Header())
	}
}

func TestNoRateLimitByDefault(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	a := h.Get("/mailboxes").Want(200)
	assert.Check(t, a.Header.Get("RateLimit-Limit") == "", "the response has RateLimit headers: %v", a.Header)
}

func TestInvalidRateLimits(t *testing.T) {
	t.Parallel()
	db, err := sqlite.Open(t.Context(), sqlite.Memory, sqlite.Options{})
	assert.NilError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	for _, l := range []apiserver.RateLimit{{Requests: 1}, {Per: time.Second}, {Requests: -1, Per: time.Second}, {Requests: 2, Per: 1}} {
		_, err := apiserver.New(apiserver.Options{Store: db, RateLimit: l})
		assert.Check(t, err != nil, "%+v is accepted", l)
	}
}
