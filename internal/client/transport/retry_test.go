package transport_test

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/fakeapi"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/transport"
)

func after(v string) http.Header { return http.Header{"Retry-After": {v}} }

func TestRetriesByMethod(t *testing.T) {
	for _, tc := range []struct {
		name, op string
		fault    fakeapi.Fault
		want     int // requests of op
		status   int // status of the error; 0 for success
	}{
		{"get lost", "get-mailbox", fakeapi.Fault{DropAfter: true}, 2, 0},
		{"get 500", "get-mailbox", fakeapi.Fault{Status: 500}, 2, 0},
		{"get 429", "get-mailbox", fakeapi.Fault{Status: 429}, 2, 0},
		{"list 501", "list-mailboxes", fakeapi.Fault{Status: 501}, 1, 501},
		{"get 403", "get-mailbox", fakeapi.Fault{Status: 403}, 1, 403},
		{"get 500 for ever", "get-mailbox", fakeapi.Fault{Status: 500, Times: 99}, 9, 500},
		{"get 429 for longer than attempts count", "get-mailbox", fakeapi.Fault{Status: 429, Times: 15}, 16, 0},
		{"patch lost", "update-mailbox", fakeapi.Fault{DropAfter: true}, 2, 0},
		{"patch 409 with Retry-After", "update-mailbox", fakeapi.Fault{Status: 409, Header: after("1")}, 1, 409},
		{"delete lost, then 404", "delete-mailbox", fakeapi.Fault{DropAfter: true}, 2, 0},
		{"export 500", "export-mailboxes", fakeapi.Fault{Status: 500}, 2, 0},
		{"export 422", "export-mailboxes", fakeapi.Fault{Status: 422}, 1, 422},
		{"export 200 page", "export-mailboxes", fakeapi.Fault{Status: 200, Header: http.Header{"Content-Type": {"text/html"}}}, 2, 0},
		{"export 200 page without content", "export-mailboxes", fakeapi.Fault{Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Text: " "}, 2, 0},
		{"post 429", "submit-feedback", fakeapi.Fault{Status: 429}, 2, 0},
		{"post 503 with Retry-After", "submit-feedback", fakeapi.Fault{Status: 503, Header: after("1")}, 2, 0},
		{"post 503 with Retry-After 0", "submit-feedback", fakeapi.Fault{Status: 503, Header: after("0")}, 2, 0},
		{"post 503 with a negative Retry-After", "submit-feedback", fakeapi.Fault{Status: 503, Header: after("-1")}, 1, 503},
		{"post 409 still running", "submit-feedback", fakeapi.Fault{Status: 409, Header: after("1")}, 2, 0},
		{"post 409", "submit-feedback", fakeapi.Fault{Status: 409}, 1, 409},
		{"post 503", "submit-feedback", fakeapi.Fault{Status: 503}, 1, 503},
		{"post 422", "submit-feedback", fakeapi.Fault{Status: 422, Header: after("1")}, 1, 422},
		{"get 408", "get-mailbox", fakeapi.Fault{Status: 408}, 2, 0},
		{"post 408", "submit-feedback", fakeapi.Fault{Status: 408}, 1, 408},
		{"post 421", "submit-feedback", fakeapi.Fault{Status: 421}, 2, 0},
		{"post 425", "submit-feedback", fakeapi.Fault{Status: 425}, 2, 0},
		{"post 503 page with Retry-After", "submit-feedback", fakeapi.Fault{Status: 503, Header: http.Header{"Retry-After": {"1"}, "Content-Type": {"text/html"}}}, 2, 0},
		{"delete with a text", "delete-mailbox", fakeapi.Fault{Status: 200, Text: "OK"}, 1, 0},
		{"get 505", "get-mailbox", fakeapi.Fault{Status: 505}, 1, 505},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := fakeapi.New()
			id := f.Add("mailboxes", fakeapi.Mailbox("jane", "example.com"), fakeapi.Mailbox("a", "b.example"))[0]
			tc.fault.Op, tc.fault.Text = tc.op, cmp.Or(tc.fault.Text, `{"detail":"because"}`)
			err := call(t.Context(), newClient(t, f.Fail(tc.fault)), tc.op, id)
			if client.StatusOf(err) != tc.status || (err == nil) != (tc.status == 0) || err != nil && !strings.Contains(err.Error(), ": because (HTTP") {
				t.Errorf("error %v, want status %d", err, tc.status)
			}
			n := f.Count(tc.op)
			assert.Check(t, n == tc.want, "%d requests, want %d", n, tc.want)
		})
	}
}

// TestForeignResponses sends responses of a server in front of the API. They prove nothing: they are
// retried, even as the first response, and no change counts as done.
func TestForeignResponses(t *testing.T) {
	page := http.Header{"Content-Type": {"text/html; charset=utf-8"}}
	html := func(status, times int) fakeapi.Fault {
		return fakeapi.Fault{Status: status, Header: page, Text: "<html>", Times: times}
	}
	for _, tc := range []struct {
		name  string
		fault fakeapi.Fault
		get   int // requests; negative if the call fails
		write int // likewise, of a PATCH or DELETE
		post  int // likewise, of a create
	}{
		{"200 page", html(200, 1), 2, 2, 2},
		{"404 page", html(404, 1), 2, 2, 2},
		{"200 page for ever", html(200, 99), -4, -4, -4},
		{"404 page for ever", html(404, 99), 4, -4, -4}, // a list has the object
		{"500 page for ever", html(500, 99), -9, -9, -9},
		{"401 page", html(401, 1), -1, -1, -1},
		{"405 page", html(405, 1), 1, -1, -1}, // likewise
		{"redirect for ever", fakeapi.Fault{Status: 300, Times: 99}, -4, -4, -4},
		{"no content", fakeapi.Fault{Status: 200, Header: page}, 2, 1, 0},
		{"damaged JSON", fakeapi.Fault{Text: `{"id": "`}, 2, 0, 1},
	} {
		for op, want := range map[string]int{"get-mailbox": tc.get, "update-mailbox": tc.write, "delete-mailbox": tc.write, "create-mailbox": tc.post} {
			if want == 0 {
				continue
			}
			t.Run(tc.name+"/"+op, func(t *testing.T) {
				f := fakeapi.New()
				id := f.Add("mailboxes", fakeapi.Mailbox("jim", "example.com"))[0]
				tc.fault.Op = op
				err := call(t.Context(), newClient(t, f.Fail(tc.fault)), op, id)
				assert.Check(t, (err != nil) == (want < 0) && !client.IsNotFound(err), "error %v", err)
				n := f.Count(op)
				assert.Check(t, n == max(want, -want) && (op != "create-mailbox" || want == -1 || f.Count("list-mailboxes") > 0), "%d requests, want %d", n, want)
			})
		}
	}
}

// call calls an operation on a mailbox.
func call(ctx context.Context, c *client.Client, op, id string) (err error) {
	switch op {
	case "get-mailbox":
		_, err = c.Mailboxes.Get(ctx, id)
	case "update-mailbox":
		_, err = c.UpdateMailbox(ctx, id, api.UpdateMailboxBody{})
	case "delete-mailbox":
		err = c.Mailboxes.Delete(ctx, id)
	case "create-mailbox":
		_, err = createMailbox(ctx, c)
	case "export-mailboxes":
		_, err = c.ExportMailboxes(ctx, api.ExportMailboxesBody{})
	case "list-mailboxes":
		_, err = c.FindMailbox(ctx, "a@b.example")
	case "submit-feedback":
		_, err = c.SubmitFeedback(ctx, api.SubmitFeedbackBody{Title: "t"})
	}
	return err
}

// TestEmbeddedFailure checks that nothing is resent to a failed embedded account, and that the errors of
// all calls share one incident.
func TestEmbeddedFailure(t *testing.T) {
	f := fakeapi.New().Fail(fakeapi.Fault{Op: "create-mailbox", Status: 500, Times: 99}, fakeapi.Fault{Op: "get-mailbox", Status: 500})
	c := newClient(t, f, func(o *client.Options) { o.Embedded = true })
	_, created := createMailbox(t.Context(), c)
	_, read := c.Mailboxes.Get(t.Context(), "m")
	for _, err := range []error{created, read} {
		assert.Check(t, errors.Is(err, client.ErrEmbedded) && client.IncidentOf(err) != nil && client.IncidentOf(err) == client.IncidentOf(created), "%v", err)
	}
	_, missing := c.Mailboxes.Get(t.Context(), "m")
	assert.Check(t, len(f.Sent()) == 4 && len(f.Clock.Sleeps) == 0 && !errors.Is(missing, client.ErrEmbedded), "%v, %d waits", f.Sent(), len(f.Clock.Sleeps))
}

// TestFacts checks the facts that a transport records from a request with a lost first response, and the
// defaults of its hooks.
func TestFacts(t *testing.T) {
	f := fakeapi.New().Fail(fakeapi.Fault{Op: "submit-feedback", DropAfter: true}, fakeapi.Fault{Op: "get-mailbox", Status: 404, Text: "no <the key>"})
	f.HonoursKeys = true
	f.OnRequest = func() { f.Clock.Advance(3 * time.Second) }
	o := transport.Options{BaseURL: "http://embedded", AccountID: fakeapi.AccountID, Transport: f, Hooks: transport.Hooks{Now: f.Clock.Now, NewID: func() string { return "id" }}}
	tr := transport.New(o)
	_, isKnown := tr.ClockOffset()
	c, err := tr.NewCall(api.SubmitFeedback.Spec, &api.SubmitFeedbackRequest{})
	assert.Check(t, err == nil && !isKnown && !tr.Changed.Load() && !tr.Reached() && tr.Hooks.Parallel == 8 && tr.Hooks.Jitter(0) == 0 && tr.Hooks.Jitter(time.Hour) > 0)
	_, err = transport.Send[api.Feedback](t.Context(), c)
	assert.ErrorContains(t, err, "the request submit-feedback failed: the API did not respond")
	assert.Check(t, c.AnyUnknown && c.MayBeProcessed() && !c.IsReplayed() && c.RequestID == "id" && c.Last.Took == 3*time.Second && !tr.HonoursKeys.Load() && tr.Changed.Load())
	_, err = transport.Send[api.Feedback](t.Context(), c)
	offset, isKnown := tr.ClockOffset()
	assert.Check(t, err == nil && c.IsReplayed() && c.Attempts == 2 && f.Clock.Now().Sub(c.Started) == 6*time.Second && tr.HonoursKeys.Load() && tr.Confirmed.Load() && tr.Reached() && isKnown && offset == 0 && f.Requests[0].Key == "id" && f.Requests[1].Key == "id", "%v, %s", err, offset)
	_, err = transport.Do(transport.WithLookupKey(t.Context(), "the key"), tr, api.GetMailbox, &api.MailboxRequest{Mailbox: "m"})
	assert.Check(t, errors.Is(err, transport.ErrNotFound) && client.IncidentOf(err) == nil && !errors.Is(err, errRefused) && f.Requests[2].Key == "the key" && strings.Contains(err.Error(), "begins: no <[redacted]>"), "%v", err)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	assert.Check(t, tr.Hooks.Sleep(t.Context(), 1) == nil && tr.Hooks.Sleep(ended, time.Hour) != nil && c.Pause(ended) != nil)
}

func TestWaits(t *testing.T) {
	date := fakeapi.New().Clock.Time.Add(20 * time.Second).Format(http.TimeFormat)
	for _, tc := range []struct {
		name     string
		fault    fakeapi.Fault
		retryMax int
		want     []time.Duration
	}{
		{"doubles up to the cap", fakeapi.Fault{Status: 500, Times: 7}, 0, seconds(0.5, 1, 2, 4, 8, 16, 20)},
		{"Retry-After in seconds", fakeapi.Fault{Status: 429, Header: after("30")}, 0, seconds(30.5)},
		{"Retry-After as a date", fakeapi.Fault{Status: 429, Header: after(date)}, 0, seconds(20.5)},
		{"Retry-After by a clock that is ahead", fakeapi.Fault{Status: 429, Header: http.Header{
			"Retry-After": {"Mon, 02 Jan 2040 15:04:25 GMT"}, "Date": {"Mon, 02 Jan 2040 15:04:05 GMT"},
		}}, 0, seconds(20.5)},
		{"Retry-After in the past", fakeapi.Fault{Status: 429, Header: after("Mon, 02 Jan 2006 15:04:05 GMT")}, 0, seconds(0.5)},
		{"Retry-After that is none", fakeapi.Fault{Status: 429, Header: after("soon")}, 0, seconds(0.5)},
		{"Retry-After beyond the budget", fakeapi.Fault{Status: 429, Header: after("3600"), Times: 9}, 0, nil},
		{"Retry-After beyond any time", fakeapi.Fault{Status: 429, Header: after("1e300"), Times: 9}, 0, nil},
		{"budget", fakeapi.Fault{Status: 503, Header: after("120"), Times: 9}, 0, seconds(120.5, 120.5)},
		{"number", fakeapi.Fault{Status: 500, Times: 9}, 2, seconds(0.5, 1)},
		{"none", fakeapi.Fault{Status: 500, Times: 9}, -1, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := fakeapi.New()
			id := f.Add("mailboxes", fakeapi.Mailbox("jane", "example.com"))[0]
			tc.fault.Op = "get-mailbox"
			_, _ = newClient(t, f.Fail(tc.fault), func(o *client.Options) { o.Hooks.RetryMax = tc.retryMax }).Mailboxes.Get(t.Context(), id)
			assert.Check(t, slices.Equal(f.Clock.Sleeps, tc.want), "waited %v, want %v", f.Clock.Sleeps, tc.want)
		})
	}
}

// TestWaitOfACreate checks that a create waits before it is resent, but not after a refusal.
func TestWaitOfACreate(t *testing.T) {
	f := fakeapi.New().Fail(fakeapi.Fault{Op: "create-mailbox", Status: 500}, fakeapi.Fault{Op: "create-mailbox", Status: 422})
	_, err := createMailbox(t.Context(), newClient(t, f))
	assert.Check(t, client.StatusOf(err) == 422 && slices.Equal(f.Clock.Sleeps, seconds(0.5)), "%v after %v", err, f.Clock.Sleeps)
}

func seconds(all ...float64) (d []time.Duration) {
	for _, s := range all {
		d = append(d, time.Duration(s*float64(time.Second)))
	}
	return d
}

// TestDeadlineBeforeRetryAfter checks that a call without time for another wait returns the API's error,
// not the deadline's.
func TestDeadlineBeforeRetryAfter(t *testing.T) {
	f := fakeapi.New().Fail(fakeapi.Fault{Op: "get-mailbox", Status: 429, Header: after("60"), Times: 9})
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(time.Hour))
	defer cancel()
	f.Clock.Time = time.Now().Add(time.Hour - 90*time.Second)
	_, err := newClient(t, f).Mailboxes.Get(ctx, "jane@example.com")
	assert.Check(t, client.StatusOf(err) == 429 && len(f.Sent()) == 2, "%v after %v", err, f.Sent())
}

// TestEndBeforeAnyResponse checks that the end of a context is no failure of the connection.
func TestEndBeforeAnyResponse(t *testing.T) {
	late, stop := context.WithDeadline(t.Context(), time.Now())
	defer stop()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for want, ctx := range map[string]context.Context{"the time for it is over": late, "the run was interrupted": cancelled} {
		_, err := newClient(t, fakeapi.New()).Mailboxes.Get(ctx, "jane@example.com")
		assert.Check(t, err != nil && strings.Contains(err.Error(), want+" before the API responded") && client.IncidentOf(err) == nil, "%v", err)
	}
}

// TestEndBeforeSharedResponse checks the same for the read of a list that other callers may wait for.
func TestEndBeforeSharedResponse(t *testing.T) {
	f := fakeapi.New().PublishedOnly(http.StatusMethodNotAllowed)
	c := newClient(t, f)
	_, err := c.Domains.Get(t.Context(), "example.com")
	assert.Check(t, client.IsNotFound(err), "%v", err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	f.OnList = func() {
		cancel()
		<-ended
	}
	_, err = c.Mailboxes.Get(ctx, "jane@example.com")
	close(ended)
	assert.Check(t, errors.Is(err, context.Canceled) && err.Error() == "the run was interrupted before the API responded", "%v", err)
}

func TestCancelledWhileWaiting(t *testing.T) {
	f := fakeapi.New().Fail(fakeapi.Fault{Op: "get-mailbox", Status: 503, Times: 9})
	ctx, cancel := context.WithCancel(t.Context())
	f.Clock.OnSleep = cancel
	_, err := newClient(t, f).Mailboxes.Get(ctx, "jane@example.com")
	assert.Check(t, err != nil && strings.Contains(err.Error(), "retry after HTTP 503") && len(f.Sent()) == 1, "%v after %v", err, f.Sent())
}

// TestRequestsPerMinute checks that no minute contains more requests than allowed, that an interruption
// ends the wait, and that the next call takes its turn.
func TestRequestsPerMinute(t *testing.T) {
	for _, perMinute := range []int{1, 7, 600} {
		synctest.Test(t, func(t *testing.T) {
			f := fakeapi.New()
			id := f.Add("mailboxes", fakeapi.Mailbox("jane", "example.com"))[0]
			var sent []time.Time
			f.OnRequest = func() { sent = append(sent, time.Now()) }
			c := newClient(t, f, func(o *client.Options) { o.RequestsPerMinute = perMinute })
			f.Fail(fakeapi.Fault{Op: "get-mailbox", Status: 500, Times: 2}) // retries count too
			for range 3 * perMinute {
				_, err := c.Mailboxes.Get(t.Context(), id)
				assert.NilError(t, err)
			}
			for i := perMinute; i < len(sent); i++ {
				d := sent[i].Sub(sent[i-perMinute])
				assert.Assert(t, d >= time.Minute-time.Millisecond, "%d requests in %s", perMinute+1, d)
			}
			d := sent[len(sent)-1].Sub(sent[0])
			assert.Check(t, d <= time.Duration(len(sent))*time.Minute/time.Duration(perMinute), "%d requests took %s", len(sent), d)
			if perMinute > 1 {
				return
			}
			for patience, want := range map[time.Duration]error{time.Second: context.Canceled, time.Hour: nil} {
				begun := time.Now()
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(patience, cancel)
				_, err := c.Mailboxes.Get(ctx, id)
				assert.Check(t, errors.Is(err, want) && (want == nil || strings.Contains(err.Error(), "max_requests_per_minute")), "%v", err)
				assert.Check(t, time.Since(begun) <= time.Minute, "after %s", time.Since(begun))
				cancel()
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := c.Mailboxes.Get(ctx, id)
			assert.Check(t, errors.Is(err, context.DeadlineExceeded) && strings.Contains(err.Error(), "max_requests_per_minute"), "%v", err)
		})
	}
}
