package apiserver_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// withBody calls fn for each operation with a body.
func withBody(t *testing.T, h *apitest.Server, fn func(c *apitest.Client, r *request)) {
	t.Helper()
	for _, spec := range api.Specs() {
		if _, ok := spec.Request.FieldByName("Body"); ok {
			t.Run(spec.ID, func(t *testing.T) {
				fn(h.In(t), newRequest(t, spec))
			})
		}
	}
}

func TestContentType(t *testing.T) {
	h := apitest.New(t)
	withBody(t, h, func(c *apitest.Client, r *request) {
		for _, contentType := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/jsonp", "application", "application/json; =x", "application/json,text/plain", "application/merge-patch+json"} {
			a := r.send(c, "Content-Type", contentType).Refused(415, "header.Content-Type unsupported_media_type")
			assert.Check(t, len(a.Header["Content-Type"]) == 1, "%q: %v", contentType, a.Header)
		}
		for _, contentType := range []string{"application/json", "application/json; charset=utf-8", "Application/JSON", "application/json ; charset=utf-8", `application/json; profile="a+b"`} {
			a := r.send(c, "Content-Type", contentType)
			assert.Check(t, a.Status != 415 && (a.Status != 422 || a.Problems()[0] != "body json_invalid"), "%q is rejected: %s", contentType, a)
		}
	})
}

func TestPayloadTooLarge(t *testing.T) {
	h := apitest.New(t)
	body := func(size int) string {
		const rest = `{"name":"n","x":""}`
		return `{"name":"n","x":"` + strings.Repeat("x", size-len(rest)) + `"}`
	}
	h.Post("/workspaces", body(api.MaxBodyBytes)).Want(201)
	h.Post("/workspaces", body(api.MaxBodyBytes+1)).Refused(413, "body payload_too_large")
	withBody(t, h, func(c *apitest.Client, r *request) {
		r.body = strings.Repeat(" ", 2<<20)
		r.send(c).Refused(413, "body payload_too_large")
	})
}

func TestUnknownRoutes(t *testing.T) {
	h := apitest.New(t)
	const prefix = "/v1/public/accounts/" + accountID
	for _, path := range []string{
		"/v1/", "/v1/public/accounts", "/v1/public/accounts/", prefix + "/", prefix + "/nothing", prefix + "/mailboxes/", prefix + "//mailboxes", "//" + prefix[1:] + "/mailboxes",
		prefix + "/./mailboxes", prefix + "/x/../mailboxes", prefix + "/mailboxes/a/b", prefix + "/auth", prefix + "/Mailboxes", prefix + "/auth/service-accounts/",
		prefix + "/feedback/" + nobody, "/v1/public/mailboxes", "/v2/public/accounts/" + accountID + "/mailboxes",
	} {
		for _, method := range []string{"GET", "POST", "DELETE"} {
			h.Do(method, path, nil).Refused(404, "path not_found")
		}
	}
}

func TestOtherMethods(t *testing.T) {
	h := apitest.New(t)
	for _, tt := range []struct{ path, refused, allow string }{
		{"", "POST PUT PATCH DELETE OPTIONS", "GET, HEAD"},
		{"/mailboxes", "PUT PATCH DELETE OPTIONS", "GET, HEAD, POST"},
		{"/mailboxes/" + nobody, "POST PUT", "DELETE, GET, HEAD, PATCH"},
		{"/mailboxes/bulk", "PUT", "DELETE, GET, HEAD, PATCH, POST"},
		{"/domains/example.com", "POST PUT", "DELETE, GET, HEAD, PATCH"},
		{"/domains", "POST DELETE", "GET, HEAD"},
		{"/feedback", "GET PUT PATCH DELETE", "POST"},
		{"/billing/cancel-plan", "GET DELETE", "POST"},
		{"/auth/authorizations", "PUT DELETE", "GET, HEAD, POST"},
		{"/auth/authorizations/" + nobody, "GET PATCH", "DELETE"},
		{"/dedicated-ips", "POST", "GET, HEAD"},
		{"/dns-records/1", "POST", "DELETE, GET, HEAD, PATCH"},
		{"/forwarding/" + nobody + "/active", "GET DELETE", "PATCH"},
		{"/workspaces/" + nobody, "DELETE PATCH", "GET, HEAD"},
	} {
		for method := range strings.SplitSeq(tt.refused, " ") {
			a := h.Do(method, tt.path, nil).Refused(405, "path method_not_allowed")
			allow := a.Header.Get("Allow")
			assert.Check(t, allow == tt.allow, "%s %s allows %q; want %q", method, tt.path, allow, tt.allow)
		}
	}
}

func TestPublishedOnly(t *testing.T) {
	h := apitest.New(t, func(o *apiserver.Options) { o.PublishedOnly = true })
	for _, spec := range api.Specs() {
		r := newRequest(t, spec)
		a := r.send(h.Client)
		served := a.Status != 405 && (a.Status != 404 || a.Str("detail.0.loc.1") != "")
		assert.Check(t, served != spec.Lifecycle(), "%s: %s", spec.ID, a)
	}
}

func TestStrict(t *testing.T) {
	h := apitest.New(t, func(o *apiserver.Options) { o.Strict = true })
	for _, tt := range []struct {
		path, body string
		want       []string
	}{
		{"/auth/service-accounts", `{"name":"short","expires_in":"1h"}`, []string{"body.expires_in extra_forbidden"}},
		{"/mailboxes/bulk?y=1", `{"domain":"a.com","items":[{"local_part":"a","first_name":"A","last_nam":"B"}],"x":1}`, []string{"query.y extra_forbidden",
			"body.items.0.last_name missing", "body.items.0.last_nam extra_forbidden", "body.x extra_forbidden", "body.domain value_error"}},
	} {
		same(t, tt.path, h.Post(tt.path, tt.body).Problems(), tt.want)
	}
	h.Domain("example.com") // contact_info contains members itself
	h.Post("/feedback", obj{"title": "t", "description": "d", "attributes": obj{"own": 1}}).Want(201)
	h.Get("/domains?page_size=1&search=x").Want(200)
}

// TestRequestOf checks the information that middleware gets about a request, also about a refused
// one.
func TestRequestOf(t *testing.T) {
	var got []string
	h := apitest.New(t, func(o *apiserver.Options) {
		o.Tokens = &issuer{tokens: map[string]any{"t": jane()}}
		o.Middleware = func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				next.ServeHTTP(w, r)
				assert.Check(t, w.(interface{ Unwrap() http.ResponseWriter }).Unwrap() != nil, "a http.ResponseController does not reach the connection")
				q := apiserver.RequestOf(r.Context())
				got = append(got, q.Name()+" "+q.Subject.Name)
			})
		}
	})
	h.GrantOwner("user", "auth0|jane")
	limited := h.Limited(t)
	got = nil
	h.As("t").Get("/mailboxes").Want(200)
	limited.Get("/mailboxes").Want(403)
	limited.Account = nobody
	limited.Get("/mailboxes").Want(403)
	for _, path := range []string{"/verify-forwarding/x", "/pay/x", "/healthz/live", "/x"} {
		visit(t, h, "GET", "http://mailhost.test"+path)
	}
	assert.Check(t, is.Equal(apiserver.RedactPath("/verify-forwarding/x"), "/verify-forwarding/[redacted]"))
	same(t, "requests", got, []string{"list-mailboxes jane@example.net", "list-mailboxes limited", "list-mailboxes ", "verification ", "payment ", "health ", "other "})
}

func TestRequestID(t *testing.T) {
	h := apitest.New(t)
	for _, sane := range []string{"abc", "A.b_c:d-1", strings.Repeat("x", 128), nobody} {
		for _, path := range []string{"/mailboxes", "/nothing", "/mailboxes/" + nobody, "/mailboxes?page=0"} {
			assert.Check(t, is.Equal(h.Do("GET", path, nil, "X-Request-Id", sane).Header.Get("X-Request-Id"), sane), "X-Request-Id %q is returned as", sane)
		}
	}
	seen := map[string]bool{}
	for _, insane := range []string{"", "a b", "ü", strings.Repeat("x", 129), `"><script>`, "a,b", "mhsa_x_y", "id-mhsa_x", "eyJhbGciOiJub25lIn0.e30.x", "id-eyJhbGciOiJub25lIn0.e30.x", "id-opaque", "id-part-of-a.token", "PARTOFATOKEN"} {
		token := "Bearer opaque"
		if strings.Contains(strings.ToLower(insane), "part") {
			token = "Bearer mhsa_public_partOfAToken"
		}
		got := h.Do("GET", "/mailboxes", nil, "X-Request-Id", insane, "Authorization", token).Header.Get("X-Request-Id")
		assert.Check(t, len(got) == 36 && !seen[got], "%q becomes %q; want a new UUID", insane, got)
		seen[got] = true
	}
}

var errSecret = errors.New("dial tcp 10.1.2.3: SELECT secret FROM mailboxes")

func TestInternalErrors(t *testing.T) {
	broken := newFaulty(t)
	var log bytes.Buffer
	h := apitest.New(t, func(o *apiserver.Options) {
		o.Store, o.Logger = broken, slog.New(slog.NewTextHandler(&log, nil))
	})
	broken.fail(errSecret)
	for _, spec := range api.Specs() {
		log.Reset()
		a := newRequest(t, spec).send(h.Client, "X-Request-Id", "id-"+spec.ID)
		a.Refused(500, "header internal_error")
		assert.Check(t, !strings.Contains(string(a.Raw), "10.1.2.3"), "the response contains the internal error: %s", a)
		assert.Check(t, strings.Contains(log.String(), "10.1.2.3") && strings.Contains(log.String(), "id-"+spec.ID), "the log does not contain the error of %s: %s", spec.ID, &log)
	}
}

func TestHealth(t *testing.T) {
	broken := newFaulty(t)
	h := apitest.New(t, func(o *apiserver.Options) { o.Store = broken })
	health := func(path string) int {
		resp, err := h.Service.Client().Get("http://mailhost.test" + path)
		assert.NilError(t, err)
		defer resp.Body.Close()
		return resp.StatusCode
	}
	check := func(live, ready int) {
		t.Helper()
		if l, r := health("/healthz/live"), health("/healthz/ready"); l != live || r != ready {
			t.Errorf("live %d, ready %d; want %d, %d", l, r, live, ready)
		}
	}
	check(http.StatusOK, http.StatusOK)
	broken.fail(errSecret)
	check(http.StatusOK, http.StatusServiceUnavailable)
	broken.fail(&store.LostError{Reason: "is gone"})
	assert.ErrorContains(t, h.Service.Ready(t.Context()), "the database file is gone")
	broken.fail(nil)
	h.Service.Retire()
	check(http.StatusOK, http.StatusServiceUnavailable)
	h.Get("/mailboxes").Want(http.StatusOK)
	h.Service.Drain()
	h.Service.Drain()
	apitest.Receive(t, h.Service.Draining())
	check(http.StatusOK, http.StatusServiceUnavailable)
	a := h.Get("/mailboxes").Refused(503, "header unavailable")
	assert.Check(t, a.Header.Get("Retry-After") == "1", "no Retry-After: %v", a.Header)
}

// TestBodyMemoryIsUsedUp checks that large requests of an account get a 503 while its others hold its share
// of the memory, and that small requests and other accounts' requests succeed.
func TestBodyMemoryIsUsedUp(t *testing.T) {
	t.Parallel()
	h := apitest.New(t, func(o *apiserver.Options) { o.BodyMemory = 4 << 20 })
	other := h.Owner(t, "22222222-2222-4222-8222-222222222222")
	large := func(name string) string { return `{"name":"` + name + `","x":"` + strings.Repeat("x", 200<<10) + `"}` }
	sent, resume := make(chan struct{}), make(chan struct{})
	first := make(chan *apitest.Response, 1)
	go func() {
		a, _ := h.Try(context.WithoutCancel(t.Context()), "POST", "/workspaces", io.MultiReader(
			strings.NewReader(large("a")), readerFunc(func() { close(sent); <-resume })))
		first <- a
	}()
	apitest.Receive(t, sent)
	a := h.Post("/workspaces", large("b")).Refused(503, "body unavailable")
	assert.Check(t, a.Header.Get("Retry-After") == "1", "no Retry-After: %v", a.Header)
	h.Post("/workspaces", obj{"name": "small"}).Want(201)
	other.Post("/workspaces", large("other")).Want(201)
	close(resume)
	a = apitest.Receive(t, first)
	assert.Check(t, a != nil && a.Status == 201, "the first upload: %v", a)
	h.Post("/workspaces", large("b")).Want(201) // the memory is free again
	values := `{"name":"values","x":[` + strings.Repeat("0,", 20_000) + `0]}`
	h.Post("/workspaces", values).Refused(503, "body unavailable") // small values take more memory than their text
	h.Post("/workspaces", large("c")).Want(201)
}

// readerFunc is an empty reader that calls a function first.
type readerFunc func()

func (f readerFunc) Read([]byte) (int, error) {
	f()
	return 0, io.EOF
}

func TestFeedbackIsBounded(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	body := func(attributes string) string {
		return `{"title":"t","description":"d","attributes":{"a": "` + attributes + `"}}`
	}
	const most = 16384 - len(`{"a":""}`)
	h.Post("/feedback", body(strings.Repeat("x", most))).Want(201)
	h.Post("/feedback", body(strings.Repeat("x", most+1))).Refused(422, "body.attributes value_error").Says("16384")
	c := h.As(h.Post("/auth/service-accounts", obj{"name": "x"}).Want(201).Str("token"))
	feedback := obj{"title": "t", "description": "d"}
	first := c.PostKeyed(key, "/feedback", feedback).Want(201)
	for range 19 {
		c.Post("/feedback", feedback).Want(201)
	}
	a := c.Post("/feedback", feedback).Refused(429, "header.Authorization rate_limited")
	assert.Check(t, a.Header.Get("Retry-After") == "60", "Retry-After is %q", a.Header.Get("Retry-After"))
	again := c.PostKeyed(key, "/feedback", feedback).Want(201)
	assert.Check(t, again.Str("id") == first.Str("id"), "a replay was rejected: %s", again)
	h.Post("/feedback", feedback).Want(201) // another credential
	h.Clock.Advance(time.Minute)
	c.Post("/feedback", feedback).Want(201)
	c.Post("/feedback", feedback).Want(429)
}

// TestUnavailableStore checks that the response contains a Retry-After header, and that the log
// reports the beginning and the end of the outage.
func TestUnavailableStore(t *testing.T) {
	unwritable := newFaulty(t)
	var log bytes.Buffer
	h := apitest.New(t, func(o *apiserver.Options) {
		o.Store, o.Logger = unwritable, slog.New(slog.NewTextHandler(&log, nil))
	})
	for round := range 2 {
		log.Reset()
		unwritable.updatesFail(fmt.Errorf("%w: the disk at /secret/path is full", store.ErrUnavailable))
		for range 3 {
			a := h.Do("POST", "/workspaces", map[string]any{"name": "A"}, "Idempotency-Key", "7b0f3a52-3f4e-4c55-9d43-0d0f5a0c8a11").Refused(503, "header unavailable")
			assert.Check(t, a.Header.Get("Retry-After") == "1" && !strings.Contains(string(a.Raw), "secret"), "the response is %s, its header %v", a, a.Header)
		}
		unwritable.updatesFail(nil)
		h.Do("POST", "/workspaces", map[string]any{"name": fmt.Sprint("B", round)}).Want(201)
		h.Do("POST", "/workspaces", map[string]any{"name": fmt.Sprint("C", round)}).Want(201)
		assert.Check(t, strings.Count(log.String(), "is full") == 1 && strings.Count(log.String(), "available again") == 1, "the log is\n%s", &log)
	}
	log.Reset()
	unwritable.updatesFail(fmt.Errorf("%w: the disk is full", store.ErrUnavailable))
	h.Do("POST", "/workspaces", map[string]any{"name": "D"}).Refused(503, "header unavailable")
	assert.NilError(t, h.Service.Ready(t.Context())) // for a server without requests
	assert.Check(t, strings.Contains(log.String(), "available again"), "the log is\n%s", &log)
	log.Reset()
	unwritable.updatesFail(fmt.Errorf("%w: another process has been writing", store.ErrLocked))
	h.Do("POST", "/workspaces", map[string]any{"name": "D"}).Refused(503, "header unavailable")
	unwritable.updatesFail(nil)
	h.Do("POST", "/workspaces", map[string]any{"name": "E"}).Want(201)
	assert.Check(t, strings.Contains(log.String(), "level=WARN") && !strings.Contains(log.String(), "ERROR") && !strings.Contains(log.String(), "available again"), "the log of a lock is\n%s", &log)
}
