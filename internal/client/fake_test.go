package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

const accountID = "0b0e7a5e-0000-4000-8000-00000000acc0"

// object is something that the fake API holds, as JSON sees it.
type object = map[string]any

// fakeAPI is a programmable API behind an http.RoundTripper. It is no model of
// the real server: it stores what it is given and answers as the test says.
type fakeAPI struct {
	mu       sync.Mutex
	clock    *fakeClock
	requests []request
	faults   []*fault
	kept     map[string]answer // by Idempotency-Key

	honoursKeys bool
	unique      bool            // refuses a create whose natural key exists with 409
	without     map[string]bool // operation ids that it lacks
	lackStatus  int             // how it says so: 404 or 405
	maxPageSize int             // it clamps page_size to this
	rejectsSize int             // 422 for a larger page_size
	ignoresPage bool
	undated     bool              // its responses have no Date
	refuses     map[string]answer // by operation id

	stored  map[string][]object // by collection
	nextID  int
	answers http.Header // on every response
	onDrop  func()      // runs when a response is lost
	onList  func()      // runs before a list is answered, without the lock
}

type request struct {
	op, key, body string
	query         url.Values
	header        http.Header
}

type answer struct {
	status int
	body   any
}

// fault changes how one request of an operation goes.
type fault struct {
	op         string
	dropBefore bool // nothing is done, no answer
	dropAfter  bool // it is done, no answer
	status     int  // nothing is done, this status
	header     http.Header
	text       string
	times      int
}

var errDropped = errors.New("connection reset by peer")

func newFakeAPI() *fakeAPI {
	return &fakeAPI{
		clock: &fakeClock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)},
		kept:  map[string]answer{}, stored: map[string][]object{}, without: map[string]bool{}, lackStatus: 404,
	}
}

// fail makes the next request of an operation go wrong.
func (f *fakeAPI) fail(faults ...fault) *fakeAPI {
	for _, each := range faults {
		each.times = max(each.times, 1)
		f.faults = append(f.faults, &each)
	}
	return f
}

// publishedOnly takes the lifecycle operations away.
func (f *fakeAPI) publishedOnly(status int) *fakeAPI {
	f.lackStatus = status
	for _, s := range api.Specs() {
		if s.Lifecycle() {
			f.without[s.ID] = true
		}
	}
	return f
}

// client returns a client of the fake without real waits.
func (f *fakeAPI) client(t *testing.T, change ...func(*Options)) *Client {
	t.Helper()
	o := Options{
		BaseURL: "http://embedded", AccountID: accountID, Token: "secret-token", Transport: f,
		Hooks: Hooks{Now: f.clock.Now, Sleep: f.clock.Sleep, Jitter: func(d time.Duration) time.Duration { return d }},
	}
	for _, c := range change {
		c(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// sent returns the ids of the operations that were requested.
func (f *fakeAPI) sent() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var ops []string
	for _, r := range f.requests {
		ops = append(ops, r.op)
	}
	return ops
}

func (f *fakeAPI) count(op string) int {
	n := 0
	for _, sent := range f.sent() {
		if sent == op {
			n++
		}
	}
	return n
}

// add stores objects with new ids.
func (f *fakeAPI) add(collection string, objects ...object) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var ids []string
	for _, o := range objects {
		ids = append(ids, f.put(collection, o))
	}
	return ids
}

func (f *fakeAPI) put(collection string, o object) string {
	f.nextID++
	id := fmt.Sprintf("00000000-0000-4000-8000-%012d", f.nextID)
	if o["id"] == nil {
		o["id"] = id
		if collection == "dns-records" {
			o["id"] = f.nextID
		}
	}
	if o["created_at"] == nil {
		o["created_at"] = f.clock.Now().Format(time.RFC3339Nano)
	}
	f.stored[collection] = append(f.stored[collection], o)
	return fmt.Sprint(o["id"])
}

// RoundTrip implements http.RoundTripper.
func (f *fakeAPI) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	spec, params := route(r)
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		_ = r.Body.Close()
	}
	if f.onList != nil && strings.HasPrefix(spec.ID, "list-") {
		f.onList()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, request{
		op: spec.ID, key: r.Header.Get("Idempotency-Key"), body: string(body), query: r.URL.Query(), header: r.Header.Clone(),
	})
	hit := f.hit(spec.ID)
	if hit != nil && hit.dropBefore {
		return nil, errDropped
	}
	if hit != nil && hit.status != 0 {
		return reply(r, answer{hit.status, hit.text}, hit.header), nil
	}
	a, header := f.do(spec, params, r, body)
	if hit != nil && hit.dropAfter {
		if f.onDrop != nil {
			f.onDrop()
		}
		return nil, errDropped
	}
	if hit != nil && hit.text != "" {
		a.body = hit.text
	}
	resp := reply(r, a, header)
	maps.Copy(resp.Header, f.answers)
	if !f.undated {
		resp.Header.Set("Date", f.clock.Now().UTC().Format(http.TimeFormat))
	}
	return resp, nil
}

func (f *fakeAPI) hit(op string) *fault {
	for _, each := range f.faults {
		if each.op == op && each.times > 0 {
			each.times--
			return each
		}
	}
	return nil
}

// do answers a request, once for each key where keys are honoured.
func (f *fakeAPI) do(s api.Spec, params map[string]string, r *http.Request, body []byte) (answer, http.Header) {
	key := r.Header.Get("Idempotency-Key")
	if kept, ok := f.kept[key]; ok && f.honoursKeys {
		return kept, http.Header{"Idempotency-Replayed": {"true"}}
	}
	if s.ID == "" || f.without[s.ID] {
		return problem(cmp.Or(f.lackStatus, 404), "not_found", "no such route"), nil
	}
	a, refused := f.refuses[s.ID]
	if !refused {
		a = f.handle(s, params, r, body)
	}
	if key != "" && a.status < 300 {
		f.kept[key] = a
	}
	return a, nil
}

func problem(status int, typ, msg string) answer {
	return answer{status, object{"detail": []object{{"loc": []string{"body"}, "msg": msg, "type": typ}}}}
}

func reply(r *http.Request, a answer, header http.Header) *http.Response {
	h := http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {r.Header.Get("X-Request-Id")}}
	maps.Copy(h, header)
	var b []byte
	switch body := a.body.(type) {
	case nil:
	case string:
		b = []byte(body)
	default:
		b, _ = json.Marshal(body)
	}
	return &http.Response{StatusCode: a.status, Header: h, Body: io.NopCloser(bytes.NewReader(b)), Request: r, ProtoMajor: 1, ProtoMinor: 1}
}

type fakeRoute struct {
	spec    api.Spec
	pattern *regexp.Regexp
}

var fakeRoutes = sync.OnceValue(func() []fakeRoute {
	var routes []fakeRoute
	for _, s := range api.Specs() {
		p := regexp.MustCompile(`\{(\w+)\}`).ReplaceAllString(s.Path, `(?P<$1>[^/]+)`)
		routes = append(routes, fakeRoute{s, regexp.MustCompile("^" + p + "$")})
	}
	// A fixed path goes before one with a parameter.
	slices.SortStableFunc(routes, func(a, b fakeRoute) int {
		return cmp.Compare(strings.Count(a.spec.Path, "{"), strings.Count(b.spec.Path, "{"))
	})
	return routes
})

func route(r *http.Request) (api.Spec, map[string]string) {
	for _, each := range fakeRoutes() {
		m := each.pattern.FindStringSubmatch(r.URL.EscapedPath())
		if m == nil || each.spec.Method != r.Method {
			continue
		}
		params := map[string]string{}
		for i, name := range each.pattern.SubexpNames() {
			params[name], _ = url.PathUnescape(m[i])
		}
		return each.spec, params
	}
	return api.Spec{}, nil
}

// fakeClock stands still but for its sleeps.
type fakeClock struct {
	mu     sync.Mutex
	now    time.Time
	sleeps []time.Duration
	// onSleep runs before a sleep, for instance to change the world.
	onSleep func()
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) Sleep(ctx context.Context, d time.Duration) error {
	if c.onSleep != nil {
		c.onSleep()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.sleeps = append(c.sleeps, d)
	return nil
}

// advance moves the clock without a sleep.
func (c *fakeClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
