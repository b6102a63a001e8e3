package transport_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/fakeapi"
)

// down is a transport in front of a fake API that sends no response while fail is set.
// Each attempt takes its usual time.
type down struct {
	api   *fakeapi.API
	fail  error // error of each attempt; nil if the API responds
	sent  bool  // the request reaches the API
	takes time.Duration
	tries int
	// beside runs in the middle of an attempt without a response.
	beside func()
}

func (d *down) RoundTrip(r *http.Request) (*http.Response, error) {
	d.tries++
	if d.fail == nil {
		return d.api.RoundTrip(r)
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	trace := httptrace.ContextClientTrace(r.Context())
	trace.GetConn("")
	if d.sent {
		trace.WroteHeaders()
	}
	err := d.fail
	d.api.Clock.Advance(d.takes / 3)
	if d.beside != nil {
		d.beside()
	}
	d.api.Clock.Advance(d.takes - d.takes/3)
	return nil, err
}

func newDown(t *testing.T) (*down, *client.Client, string) {
	t.Helper()
	f := fakeapi.New()
	id := f.Add("mailboxes", fakeapi.Mailbox("jim", "example.com"))[0]
	d := &down{api: f}
	return d, newClient(t, f, func(o *client.Options) { o.Transport = d }), id
}

// get reads the mailbox and returns the number of attempts and the duration.
func (d *down) get(t *testing.T, c *client.Client, id string) (tries int, took time.Duration, err error) {
	t.Helper()
	before, begun := d.tries, d.api.Clock.Now()
	_, err = c.Mailboxes.Get(t.Context(), id)
	return d.tries - before, d.api.Clock.Now().Sub(begun), err
}

var (
	errRefused = errors.New("connection refused")
	errTimeout = errors.New("no response within 30s")
	errDial    = &net.DNSError{Err: "i/o timeout", Name: "api.example", UnwrapErr: context.DeadlineExceeded, IsTimeout: true}
)

// Defaults of package transport.
const (
	readTimeout   = 30 * time.Second
	probeInterval = 15 * time.Second
)

// TestPatience measures the duration of a call without a response.
func TestPatience(t *testing.T) {
	for _, tc := range []struct {
		name          string
		fail          error
		takes         time.Duration
		sent, worked  bool
		atLeast, upTo time.Duration
		message       string
	}{
		{name: "refused at first", fail: errRefused, upTo: 10 * time.Second, atLeast: 5 * time.Second, message: "can't be reached: connection refused (request id "},
		{name: "refused in the middle", fail: errRefused, worked: true, atLeast: 4 * time.Minute, upTo: 5 * time.Minute, message: "can't be reached"},
		{name: "hanging at first", fail: errTimeout, takes: readTimeout, sent: true, atLeast: time.Minute, upTo: 91 * time.Second, message: "did not respond: no response within 30s (request id "},
		{name: "hanging in the middle", fail: errTimeout, takes: readTimeout, sent: true, worked: true, atLeast: time.Minute, upTo: 91 * time.Second, message: "did not respond"},
		{name: "dial timeout", fail: errDial, takes: 10 * time.Second, worked: true, atLeast: 4 * time.Minute, upTo: 6 * time.Minute, message: "can't be reached: lookup api.example: i/o timeout"},
		{name: "reset", fail: fakeapi.ErrDropped, sent: true, atLeast: 30 * time.Second, upTo: time.Minute, message: "did not respond"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, c, id := newDown(t)
			if tc.worked {
				_, _, err := d.get(t, c, id)
				assert.NilError(t, err)
			}
			d.fail, d.sent, d.takes = tc.fail, tc.sent, tc.takes
			tries, took, err := d.get(t, c, id)
			assert.Assert(t, err != nil && strings.Contains(err.Error(), tc.message), "%v, want %q", err, tc.message)
			assert.Check(t, tries >= 2 && took >= tc.atLeast && took <= tc.upTo, "%d attempts in %v, want between %v and %v", tries, took, tc.atLeast, tc.upTo)
			assert.Check(t, client.IncidentOf(err) != nil, "it is not a connection error")
		})
	}
}

// TestOutage checks that later calls fail without a request, except for a probe now and
// then, until the API is back.
func TestOutage(t *testing.T) {
	d, c, id := newDown(t)
	d.fail, d.sent, d.takes = errTimeout, true, readTimeout
	_, _, first := d.get(t, c, id)
	for range 100 {
		tries, took, err := d.get(t, c, id)
		if tries != 0 || took != 0 || err == nil || !strings.HasSuffix(err.Error(), "can't be reached: no response within 30s (so failed an earlier request; this one was not sent)") {
			t.Fatalf("during the outage: %d attempts in %v, %v", tries, took, err)
		}
		assert.Check(t, client.IncidentOf(err) == client.IncidentOf(first), "the errors of one outage don't share an incident")
	}
	d.api.Clock.Advance(probeInterval)
	nothingMore := func() {
		d.beside = nil
		tries, _, _ := d.get(t, c, id)
		assert.Check(t, tries == 0, "during or after a failed attempt: %d more", tries)
	}
	d.beside = nothingMore
	tries, _, err := d.get(t, c, id)
	assert.Check(t, tries == 1 && err != nil, "later: %d attempts, %v", tries, err)
	nothingMore()
	d.api.Clock.Advance(probeInterval)
	d.fail = nil
	for range 2 {
		tries, _, err := d.get(t, c, id)
		assert.Check(t, tries == 1 && err == nil, "the API is back: %d attempts, %v", tries, err)
	}
	d.api.Fail(fakeapi.Fault{Op: "get-mailbox", Status: 401})
	_, _, err = d.get(t, c, id)
	assert.Check(t, client.IncidentOf(err) != client.IncidentOf(first), "a refused credential is an outage")
	d.fail, d.sent, d.takes = errRefused, false, 0
	tries, _, _ = d.get(t, c, id)
	assert.Check(t, tries >= 2, "patience is not back: %d attempts", tries)
}

// TestNoOutageBesideResponses checks that a call without a response begins no outage while other calls
// get responses.
func TestNoOutageBesideResponses(t *testing.T) {
	d, c, id := newDown(t)
	other := d.api.Add("mailboxes", fakeapi.Mailbox("joe", "example.com"))[0]
	d.fail, d.sent, d.takes = errTimeout, true, readTimeout
	d.beside = func() {
		d.fail = nil
		_, _, err := d.get(t, c, other)
		assert.Check(t, err)
		d.fail = errTimeout
	}
	_, _, err := d.get(t, c, id)
	assert.Check(t, err != nil, "no error")
	d.fail = nil
	tries, _, err := d.get(t, c, id)
	assert.Check(t, tries == 1 && err == nil, "after a call without a response: %d attempts, %v", tries, err)
}

// TestCreateAfterOutage checks that a create that was lost during an outage is resent if its lookup
// shows that the outage is over.
func TestCreateAfterOutage(t *testing.T) {
	d, c, id := newDown(t)
	d.fail, d.sent, d.takes = errTimeout, true, readTimeout
	d.beside = func() { // the outage begins while the create waits
		d.beside = nil
		_, _, _ = d.get(t, c, id)
		d.beside = func() { d.fail = nil } // it ends after the first attempt of the lookup
	}
	m, err := createMailbox(t.Context(), c)
	assert.Check(t, err == nil && m.ID != "", "%v, %v", m, err)
}

// TestLookupHasPatience checks that a lookup is repeated while no request gets a response, even after
// the caller's deadline.
func TestLookupHasPatience(t *testing.T) {
	d, c, _ := newDown(t)
	d.api.Fail(fakeapi.Fault{Op: "create-mailbox", DropAfter: true})
	ctx, cancel := context.WithCancel(t.Context())
	d.api.OnDrop = func() { d.fail, d.sent, d.takes = errTimeout, true, readTimeout }
	attempts := 0
	d.beside = func() {
		switch attempts++; attempts {
		case 3:
			cancel()
		case 5:
			d.fail = nil
		}
	}
	m, err := createMailbox(ctx, c)
	assert.Check(t, err == nil && m.ID != "", "%v, %v after %d attempts", m, err, attempts)
}

// TestHangingServer checks that every part of a response has a time limit, but an export that makes
// progress has none, and its caller may take its time.
func TestHangingServer(t *testing.T) {
	csv := strings.Repeat("x", 100)
	for _, tc := range []struct {
		name, op     string
		header, part time.Duration // until the header, and between two parts of the body
		want         time.Duration // when the call fails; 0: never
	}{
		{"no header of a GET", "get-mailbox", time.Hour, 0, 30 * time.Second},
		{"no header of a POST", "submit-feedback", time.Hour, 0, 90 * time.Second},
		{"a slow POST", "submit-feedback", 80 * time.Second, 0, 0},
		{"a body that drips", "get-mailbox", 0, 10 * time.Second, 2 * time.Minute},
		{"a body that stops", "get-mailbox", 0, time.Hour, 2 * time.Minute},
		{"a slow export", "export-mailboxes", 0, 20 * time.Second, 0},
		{"an export that stops", "export-mailboxes", 0, time.Hour, 30 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				c := client.New(client.Options{
					BaseURL: "http://embedded", AccountID: fakeapi.AccountID, Hooks: client.Hooks{RetryMax: -1},
					Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
						if err := wait(r.Context(), tc.header); err != nil {
							return nil, err
						}
						body := "{}"
						if tc.op != "submit-feedback" {
							body = csv
						}
						return &http.Response{StatusCode: 200, Header: http.Header{}, Body: &drip{strings.NewReader(body), r.Context(), tc.part}, Request: r}, nil
					}),
				})
				var err error
				if tc.op != "export-mailboxes" {
					err = call(t.Context(), c, tc.op, "m")
				} else {
					var body io.ReadCloser
					if body, err = c.ExportMailboxes(t.Context(), api.ExportMailboxesBody{}); err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Hour) // the caller's time
					begun = begun.Add(time.Hour)
					_, err = body.Read(make([]byte, 1))
					if err == nil {
						time.Sleep(time.Hour)
						begun = begun.Add(time.Hour)
						_, err = io.ReadAll(body)
					}
					assert.Check(t, errors.Is(body.Close(), io.ErrClosedPipe))
				}
				failed := err != nil && strings.Contains(err.Error(), "no complete response within "+tc.want.String())
				took := time.Since(begun)
				assert.Check(t, failed == (err != nil) && failed == (tc.want > 0) && (!failed || took == tc.want), "%v after %s", err, took)
			})
		})
	}
}

func wait(ctx context.Context, d time.Duration) error {
	timed, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-timed.Done()
	return ctx.Err()
}

// drip is a body that comes byte by byte.
type drip struct {
	io.Reader

	ctx   context.Context
	pause time.Duration
}

func (d *drip) Close() error { return io.ErrClosedPipe }

func (d *drip) Read(p []byte) (int, error) {
	if err := wait(d.ctx, d.pause); err != nil {
		return 0, err
	}
	return d.Reader.Read(p[:1])
}

// TestWrongScheme swaps http and https in the URL of a server.
func TestWrongScheme(t *testing.T) {
	var requests atomic.Int32
	count := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) })
	plain, secure := httptest.NewServer(count), httptest.NewTLSServer(count)
	defer plain.Close()
	defer secure.Close()
	alert := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = conn.Write([]byte("\x15\x03\x01\x00\x02\x02\x16"))
		_ = conn.Close()
	}))
	defer alert.Close()
	for url, want := range map[string]error{
		strings.Replace(plain.URL, "http:", "https:", 1):  client.ErrNotTLS,
		strings.Replace(secure.URL, "https:", "http:", 1): client.ErrTLSOnly,
		alert.URL: client.ErrTLSOnly,
	} {
		c, clock := over(t, url)
		_, err := c.Mailboxes.Get(t.Context(), "m")
		assert.Check(t, errors.Is(err, want) && len(clock.Sleeps) == 0 && client.IncidentOf(err) != nil, "%s: %v after %d waits", url, err, len(clock.Sleeps))
	}
	n := requests.Load()
	assert.Check(t, n == 0, "%d requests", n)
}

// TestTLSOnly checks that only a server's complaint about plain HTTP is recognised.
func TestTLSOnly(t *testing.T) {
	for _, tc := range []struct {
		status int
		body   string
		want   bool
	}{
		{400, "Client sent an HTTP request to an HTTPS server.", true},
		{400, "The plain HTTP request was sent to HTTPS port", true},
		{400, `{"detail":"an HTTP request to HTTPS"}`, false},
		{403, "Client sent an HTTP request to an HTTPS server.", false},
		{400, "This is an invalid HTTP request.", false},
		{400, "See https://example.com.", false},
	} {
		f := fakeapi.New().Fail(fakeapi.Fault{Op: "get-mailbox", Status: tc.status, Text: tc.body})
		_, err := newClient(t, f).Mailboxes.Get(t.Context(), "m")
		assert.Check(t, errors.Is(err, client.ErrTLSOnly) == tc.want, "%d %s: %v", tc.status, tc.body, err)
	}
}

// TestIncidents checks which refusals are failures of the connection and share an incident with others
// of the same cause.
func TestIncidents(t *testing.T) {
	domains := func(c *client.Client) error { return first(c.ListDomains(t.Context(), api.ListDomainsRequest{})) }
	workspaces := func(c *client.Client) error { return first(c.ListWorkspaces(t.Context())) }
	for _, tc := range []struct {
		op       string
		status   int
		incident bool
		call     func(*client.Client) error
	}{
		{"get-mailbox", 401, true, nil},
		{"get-mailbox", 405, false, nil},
		{"list-domains", 403, false, domains},
		{"list-domains", 404, true, domains},
		{"list-domains", 501, true, domains},
		{"list-workspaces", 401, true, workspaces},
		{"list-workspaces", 404, false, workspaces}, // not every API has it
		{"list-mailboxes", 404, false, nil},         // with a filter
		{"submit-feedback", 404, false, nil},
	} {
		f := fakeapi.New().Fail(fakeapi.Fault{Op: tc.op, Status: tc.status, Times: 9})
		c := newClient(t, f)
		if tc.call == nil {
			tc.call = func(c *client.Client) error { return call(t.Context(), c, tc.op, "m") }
		}
		found := client.IncidentOf(fmt.Errorf("wrapped: %w", errors.Join(errRefused, tc.call(c))))
		again := client.IncidentOf(tc.call(c))
		assert.Check(t, (found != nil) == tc.incident && found == again && (tc.op == "get-mailbox" || !client.IsNotFound(tc.call(c))), "%s, HTTP %d: %p, %p", tc.op, tc.status, found, again)
		if found != nil && (!found.Explain() || found.Explain() || !found.Fail() || found.Fail()) {
			t.Error("an incident is explained once, and fails a run once")
		}
	}
}

func first[T any](list iter.Seq2[T, error]) error {
	for _, err := range list {
		return err
	}
	return nil
}
