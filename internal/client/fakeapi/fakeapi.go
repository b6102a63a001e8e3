// Package fakeapi is a programmable API for the tests of the client.
package fakeapi

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
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// AccountID is the id of the account in the requests.
const AccountID = "0b0e7a5e-0000-4000-8000-00000000acc0"

// Object is a stored object, as JSON.
type Object = map[string]any

// API is a programmable API behind an http.RoundTripper. Unlike the real server, it
// stores any object unchecked and responds as the test demands.
type API struct {
	Clock    *Clock
	Requests []Request
	Faults   []*Fault
	Stored   map[string][]Object // by collection

	HonoursKeys bool            // it replays responses by Idempotency-Key
	Unique      bool            // 409 for a create whose natural key exists
	Without     map[string]bool // the ids of missing operations
	LackStatus  int             // the status code of missing operations: 404, 405 or 501
	RejectsSize int             // 422 for a larger page_size
	// MaxBulkItems limits the items of a bulk request, with 422 for more; 0: no limit.
	MaxBulkItems int
	Refuses      map[string]Response // by operation id

	OnDrop    func() // runs when a response is lost
	OnRequest func() // runs before each request
	OnList    func() // runs before the response to a list, without the lock

	mu       sync.Mutex
	replayed map[string]Response // by Idempotency-Key
	nextID   int
}

// Request is a received request.
type Request struct {
	Op, Key, Body string
	Query         url.Values
	Header        http.Header
}

// Response is a status code and a body: nil, a string, or a value to marshal as JSON.
type Response struct {
	Status int
	Body   any
}

// Fault makes requests of an operation fail or return another body.
type Fault struct {
	Op         string
	DropBefore bool // the request is lost before it is processed
	DropAfter  bool // the request is processed, and its response is lost
	Status     int  // the request is not processed, and gets this status code
	Header     http.Header
	Text       string // the response body
	Times      int    // the number of requests; 0: one
}

// ErrDropped is the error of a lost request or response.
var ErrDropped = errors.New("connection reset by peer")

// New returns an empty API.
func New() *API {
	return &API{
		Clock:    &Clock{Time: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)},
		replayed: map[string]Response{}, Stored: map[string][]Object{}, Without: map[string]bool{}, LackStatus: 404,
	}
}

// Fail adds faults.
func (f *API) Fail(faults ...Fault) *API {
	for _, each := range faults {
		each.Times = max(each.Times, 1)
		f.Faults = append(f.Faults, &each)
	}
	return f
}

// PublishedOnly removes the lifecycle operations.
func (f *API) PublishedOnly(status int) *API {
	f.LackStatus = status
	for _, s := range api.Specs() {
		if s.Lifecycle() {
			f.Without[s.ID] = true
		}
	}
	return f
}

// Sent returns the ids of the requested operations.
func (f *API) Sent() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var ops []string
	for _, r := range f.Requests {
		ops = append(ops, r.Op)
	}
	return ops
}

// Count returns how often an operation was requested.
func (f *API) Count(op string) int {
	return len(slices.DeleteFunc(f.Sent(), func(sent string) bool { return sent != op }))
}

// Add stores objects, and returns their ids. It generates missing ids.
func (f *API) Add(collection string, objects ...Object) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var ids []string
	for _, o := range objects {
		ids = append(ids, f.put(collection, o))
	}
	return ids
}

// essential are members without which the client refuses an object.
var essential = map[string]Object{
	"credentials":      {"name": "x"},
	"dns-records":      {"name": "@", "type": "TXT", "value": "x", "ttl": 3600},
	"domains":          {"name": "example.com"},
	"forwarding":       {"target_email": "x@example.com"},
	"mailboxes":        {"local_part": "x", "domain_name": "example.com", "primary_email": "x@example.com"},
	"service-accounts": {"name": "x"},
}

func (f *API) put(collection string, o Object) string {
	f.nextID++
	id := fmt.Sprintf("00000000-0000-4000-8000-%012d", f.nextID)
	if o["id"] == nil {
		o["id"] = id
		if collection == "dns-records" {
			o["id"] = f.nextID
		}
	}
	for name, value := range essential[collection] {
		if o[name] == nil {
			o[name] = value
		}
	}
	if o["created_at"] == nil {
		o["created_at"] = f.Clock.Now().Format(time.RFC3339Nano)
	}
	f.Stored[collection] = append(f.Stored[collection], o)
	return fmt.Sprint(o["id"])
}

// RoundTrip implements http.RoundTripper.
func (f *API) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	spec, params := route(r)
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		_ = r.Body.Close()
	}
	if f.OnList != nil && strings.HasPrefix(spec.ID, "list-") {
		f.OnList()
	}
	if f.OnRequest != nil {
		f.OnRequest()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Requests = append(f.Requests, Request{
		Op: spec.ID, Key: r.Header.Get("Idempotency-Key"), Body: string(body), Query: r.URL.Query(), Header: r.Header.Clone(),
	})
	hit := f.hit(spec.ID)
	if hit != nil && hit.DropBefore {
		return nil, ErrDropped
	}
	if hit != nil && hit.Status != 0 {
		return httpResponse(r, Response{hit.Status, hit.Text}, hit.Header), nil
	}
	a, header := f.do(spec, params, r, body)
	if hit != nil && hit.DropAfter {
		if f.OnDrop != nil {
			f.OnDrop()
		}
		return nil, ErrDropped
	}
	if hit != nil && hit.Text != "" {
		a.Body = hit.Text
	}
	resp := httpResponse(r, a, header)
	resp.Header.Set("Date", f.Clock.Now().UTC().Format(http.TimeFormat))
	return resp, nil
}

func (f *API) hit(op string) *Fault {
	for _, each := range f.Faults {
		if each.Op == op && each.Times > 0 {
			each.Times--
			return each
		}
	}
	return nil
}

// do processes a request, once per Idempotency-Key if HonoursKeys is set.
func (f *API) do(s api.Spec, params map[string]string, r *http.Request, body []byte) (Response, http.Header) {
	key := r.Header.Get(api.IdempotencyKeyHeader)
	isKnown := f.HonoursKeys && key != ""
	if response, ok := f.replayed[key]; ok && isKnown && s.Keyed() {
		return response, http.Header{api.IdempotencyReplayedHeader: {"true"}}
	}
	if s.ID == "" || f.Without[s.ID] {
		return Problem(cmp.Or(f.LackStatus, 404), "not_found", "no such route"), nil
	}
	a, refused := f.Refuses[s.ID]
	if !refused {
		a = f.handle(s, params, r, body)
	}
	if s.Keyed() && a.Status < 300 {
		f.replayed[key] = a
	}
	if isKnown && !s.Keyed() { // a lookup
		return a, http.Header{api.IdempotencyReplayedHeader: {"false"}}
	}
	return a, nil
}

// Problem returns an error response of the contract, about loc or, without loc, the body.
func Problem(status int, typ, msg string, loc ...string) Response {
	if loc == nil {
		loc = []string{"body"}
	}
	return Response{status, Object{"detail": []Object{{"loc": loc, "msg": msg, "type": typ}}}}
}

func httpResponse(r *http.Request, a Response, header http.Header) *http.Response {
	h := http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {r.Header.Get("X-Request-Id")}}
	maps.Copy(h, header)
	var b []byte
	switch body := a.Body.(type) {
	case nil:
	case string:
		b = []byte(body)
	default:
		b, _ = json.Marshal(body)
	}
	return &http.Response{StatusCode: a.Status, Header: h, Body: io.NopCloser(bytes.NewReader(b)), Request: r, ProtoMajor: 1, ProtoMinor: 1}
}

var routes = sync.OnceValue(func() *http.ServeMux {
	mux := http.NewServeMux()
	for _, s := range api.Specs() {
		mux.Handle(s.Method+" "+s.Path, http.NotFoundHandler())
	}
	return mux
})

func route(r *http.Request) (api.Spec, map[string]string) {
	_, pattern := routes().Handler(r)
	for _, s := range api.Specs() {
		if s.Method+" "+s.Path == pattern {
			return s, s.PathValues(r.URL)
		}
	}
	return api.Spec{}, nil
}

// Clock stands still except for its sleeps.
type Clock struct {
	// Time is the current time. Use Now and Advance while requests are sent.
	Time   time.Time
	Sleeps []time.Duration
	// OnSleep runs before a sleep, for example to change a stored object.
	OnSleep func()

	mu sync.Mutex
}

// Now returns the current time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Time
}

// Sleep advances the clock, or returns ctx's error.
func (c *Clock) Sleep(ctx context.Context, d time.Duration) error {
	if c.OnSleep != nil {
		c.OnSleep()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	c.Advance(d)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Sleeps = append(c.Sleeps, d)
	return nil
}

// Advance moves the clock without a sleep.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Time = c.Time.Add(d)
}
