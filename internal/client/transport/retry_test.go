package transport_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/fakeapi"
)

func after(v string) http.Header { return http.Header{"Retry-After": {v}} }

func TestRetriesByMethod(t *testing.T) {
	get := func(ctx context.Context, c *client.Client, id string) error {
		_, err := c.GetMailbox(ctx, id)
		return err
	}
	patch := func(ctx context.Context, c *client.Client, id string) error {
		_, err := c.UpdateMailbox(ctx, id, api.UpdateMailboxBody{})
		return err
	}
	del := func(ctx context.Context, c *client.Client, id string) error { return c.DeleteMailbox(ctx, id) }
	post := func(ctx context.Context, c *client.Client, _ string) error {
		_, err := c.SubmitFeedback(ctx, api.SubmitFeedbackBody{Title: "t"})
		return err
	}
	export := func(ctx context.Context, c *client.Client, _ string) error {
		_, err := c.ExportMailboxes(ctx, api.ExportMailboxesBody{})
		return err
	}
	for _, tc := range []struct {
		name, op string
		do       func(context.Context, *client.Client, string) error
		fault    fakeapi.Fault
		want     int // requests of op
		status   int // status of the error; 0 for success
	}{
		{"get lost", "get-mailbox", get, fakeapi.Fault{DropAfter: true}, 2, 0},
		{"get 500", "get-mailbox", get, fakeapi.Fault{Status: 500}, 2, 0},
		{"get 429", "get-mailbox", get, fakeapi.Fault{Status: 429}, 2, 0},
		{"get 408", "get-mailbox", get, fakeapi.Fault{Status: 408}, 2, 0},
		{"get 421", "get-mailbox", get, fakeapi.Fault{Status: 421}, 2, 0},
		{"get 511", "get-mailbox", get, fakeapi.Fault{Status: 511}, 2, 0},
		{"post 421", "submit-feedback", post, fakeapi.Fault{Status: 421}, 2, 0},
		{"post 425", "submit-feedback", post, fakeapi.Fault{Status: 425}, 2, 0},
		{"get 501", "list-mailboxes", func(ctx context.Context, c *client.Client, _ string) error {
			_, err := c.FindMailbox(ctx, "a@b.example")
			return err
		}, fakeapi.Fault{Status: 501}, 1, 501},
		{"get 403", "get-mailbox", get, fakeapi.Fault{Status: 403}, 1, 403},
		{"get 500 for ever", "get-mailbox", get, fakeapi.Fault{Status: 500, Times: 99}, 9, 500},
		{"patch lost", "update-mailbox", patch, fakeapi.Fault{DropAfter: true}, 2, 0},
		{"patch 502", "update-mailbox", patch, fakeapi.Fault{Status: 502}, 2, 0},
		{"patch 409 with Retry-After", "update-mailbox", patch, fakeapi.Fault{Status: 409, Header: after("1")}, 1, 409},
		{"delete 500", "delete-mailbox", del, fakeapi.Fault{Status: 500}, 2, 0},
		{"delete lost, then 404", "delete-mailbox", del, fakeapi.Fault{DropAfter: true}, 2, 0},
		{"export 500", "export-mailboxes", export, fakeapi.Fault{Status: 500}, 2, 0},
		{"post 429", "submit-feedback", post, fakeapi.Fault{Status: 429}, 2, 0},
		{"post 503 with Retry-After", "submit-feedback", post, fakeapi.Fault{Status: 503, Header: after("1")}, 2, 0},
		{"post 409 still running", "submit-feedback", post, fakeapi.Fault{Status: 409, Header: after("1")}, 2, 0},
		{"post 409", "submit-feedback", post, fakeapi.Fault{Status: 409}, 1, 409},
		{"post 503", "submit-feedback", post, fakeapi.Fault{Status: 503}, 1, 503},
		{"post 500", "submit-feedback", post, fakeapi.Fault{Status: 500}, 1, 500},
		{"post 422", "submit-feedback", post, fakeapi.Fault{Status: 422}, 1, 422},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := fakeapi.New()
			id := f.Add("mailboxes", fakeapi.Mailbox("jane", "example.com"))[0]
			tc.fault.Op = tc.op
			f.Fail(tc.fault)
			err := tc.do(t.Context(), newClient(t, f), id)
			if client.StatusOf(err) != tc.status || tc.status == 0 && err != nil {
				t.Errorf("error %v, want status %d", err, tc.status)
			}
			if n := f.Count(tc.op); n != tc.want {
				t.Errorf("%d requests, want %d", n, tc.want)
			}
		})
	}
}

// TestForeignResponses sends responses of something before the API, which are no proof of
// anything: they are retried once the API has responded, and no change is taken for done.
func TestForeignResponses(t *testing.T) {
	page := http.Header{"Content-Type": {"text/html; charset=utf-8"}}
	for _, tc := range []struct {
		name, op string
		fault    fakeapi.Fault
		fresh    bool // nothing of the API has responded before
		want     int  // requests of op
		fails    bool
	}{
		{"get with a page", "get-mailbox", fakeapi.Fault{Status: 200, Header: page, Text: "<html>"}, false, 2, false},
		{"get without content", "get-mailbox", fakeapi.Fault{Status: 200}, false, 2, false},
		{"get of damaged JSON", "get-mailbox", fakeapi.Fault{Text: `{"id": "`}, false, 2, false},
		{"get of damaged JSON at first", "get-mailbox", fakeapi.Fault{Text: `{"id": "`}, true, 2, false},
		{"get with a page at first", "get-mailbox", fakeapi.Fault{Status: 200, Header: page, Text: "<html>"}, true, 1, true},
		{"get with a page of a 403", "get-mailbox", fakeapi.Fault{Status: 403, Header: page, Text: "<html>"}, false, 2, false},
		{"get with a page of a 404", "get-mailbox", fakeapi.Fault{Status: 404, Header: page, Text: "<html>"}, false, 2, false},
		{"get with a page of a 403 for ever", "get-mailbox", fakeapi.Fault{Status: 403, Header: page, Text: "<html>", Times: 99}, false, 4, true},
		{"get with a page of a 401", "get-mailbox", fakeapi.Fault{Status: 401, Header: page, Text: "<html>"}, false, 1, true},
		{"get without content at first", "get-mailbox", fakeapi.Fault{Status: 200, Header: http.Header{"Content-Type": nil}}, true, 2, false},
		{"get with a redirect", "get-mailbox", fakeapi.Fault{Status: 302, Header: page}, false, 2, false},
		{"get with a redirect at first", "get-mailbox", fakeapi.Fault{Status: 302}, true, 2, false},
		{"get with a redirect for ever", "get-mailbox", fakeapi.Fault{Status: 302, Times: 99}, false, 4, true},
		{"patch with a page", "update-mailbox", fakeapi.Fault{Status: 200, Header: page, Text: "<html>"}, false, 2, false},
		{"delete with a page", "delete-mailbox", fakeapi.Fault{Status: 200, Header: page, Text: "<html>"}, false, 2, false},
		{"delete with a page for ever", "delete-mailbox", fakeapi.Fault{Status: 200, Header: page, Text: "<html>", Times: 99}, false, 9, true},
		{"delete with a page of a 404 for ever", "delete-mailbox", fakeapi.Fault{Status: 404, Header: page, Text: "<html>", Times: 99}, false, 4, true},
		{"delete with a page at first", "delete-mailbox", fakeapi.Fault{Status: 200, Header: page, Text: "<html>"}, true, 1, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := fakeapi.New()
			ids := f.Add("mailboxes", fakeapi.Mailbox("jane", "example.com"), fakeapi.Mailbox("jim", "example.com"))
			c := newClient(t, f)
			if !tc.fresh {
				if _, err := c.FindMailbox(t.Context(), "jim@example.com"); err != nil {
					t.Fatal(err)
				}
			}
			tc.fault.Op = tc.op
			f.Fail(tc.fault)
			var err error
			switch tc.op {
			case "get-mailbox":
				_, err = c.GetMailbox(t.Context(), ids[0])
			case "update-mailbox":
				_, err = c.UpdateMailbox(t.Context(), ids[0], api.UpdateMailboxBody{})
			default:
				err = c.DeleteMailbox(t.Context(), ids[0])
			}
			if (err != nil) != tc.fails || client.IsNotFound(err) {
				t.Errorf("error %v", err)
			}
			if n := f.Count(tc.op); n != tc.want {
				t.Errorf("%d requests, want %d", n, tc.want)
			}
		})
	}
}

// TestEmbeddedFailure checks that nothing is resent to an embedded account that has failed,
// and that the errors of all calls are one incident.
func TestEmbeddedFailure(t *testing.T) {
	f := fakeapi.New().Fail(fakeapi.Fault{Op: "create-mailbox", Status: 500, Times: 99}, fakeapi.Fault{Op: "get-mailbox", Status: 500, Times: 99})
	c := newClient(t, f, func(o *client.Options) { o.Embedded = true })
	_, created := createMailbox(t.Context(), c)
	_, read := c.GetMailbox(t.Context(), "m")
	for _, err := range []error{created, read} {
		if !errors.Is(err, client.ErrEmbedded) || client.IncidentOf(err) == nil || client.IncidentOf(err) != client.IncidentOf(created) {
			t.Errorf("%v", err)
		}
	}
	if len(f.Sent()) != 2 || len(f.Clock.Sleeps) != 0 {
		t.Errorf("%v, %d waits", f.Sent(), len(f.Clock.Sleeps))
	}
}

// TestResponsesToOtherRequests sends what a cache, or a proxy that confuses two connections,
// may send: no change is taken for done, and no object for another or for deleted.
func TestResponsesToOtherRequests(t *testing.T) {
	const other = `{"id":"00000000-0000-4000-8000-0000000000ff","primary_email":"other@example.com"}`
	for _, returnsIDs := range []bool{true, false} {
		for op, faults := range map[string][]fakeapi.Fault{
			"get-mailbox":    {{Status: 200, Text: other}, {Status: 404, Text: `{"detail":[{"loc":[],"msg":"no such path","type":"not_found"}]}`}},
			"update-mailbox": {{Status: 200, Text: other}, {Status: 204}},
			"delete-mailbox": {{Status: 200}, {Status: 204}},
			"list-mailboxes": {{Status: 200, Text: `{"items":[],"total":0,"page":1,"page_size":1000}`}},
		} {
			for _, fault := range faults {
				if fault.Op = op; !returnsIDs && fault.Text != other { // nothing shows it
					continue
				}
				f := fakeapi.New()
				ids := f.Add("mailboxes", fakeapi.Mailbox("jane", "example.com"), fakeapi.Mailbox("jim", "example.com"))
				c := newClient(t, f, func(o *client.Options) {
					o.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
						resp, err := f.RoundTrip(r)
						if !returnsIDs || resp.Header.Get("Date") == "" { // a fault has none
							resp.Header.Del("X-Request-Id")
						}
						return resp, err
					})
				})
				if _, err := c.GetMailbox(t.Context(), ids[1]); err != nil {
					t.Fatal(err)
				}
				f.Fail(fault)
				var m *api.Mailbox
				var err error
				switch op {
				case "get-mailbox":
					m, err = c.GetMailbox(t.Context(), ids[0])
				case "update-mailbox":
					m, err = c.UpdateMailbox(t.Context(), ids[0], api.UpdateMailboxBody{})
				case "list-mailboxes":
					m, err = c.FindMailbox(t.Context(), "jane@example.com")
				default:
					err = c.DeleteMailbox(t.Context(), ids[0])
				}
				isRefused := !returnsIDs && op == "get-mailbox" // the API may have no other
				if (err != nil) != isRefused || client.IsNotFound(err) || m != nil && m.ID != ids[0] || op == "delete-mailbox" && len(f.Stored["mailboxes"]) != 1 {
					t.Errorf("%s, %d %s, ids %t: %+v, %v after %v", op, fault.Status, fault.Text, returnsIDs, m, err, f.Sent())
				}
			}
		}
	}
}

func TestKeyIsTheSameOnEachAttempt(t *testing.T) {
	f := fakeapi.New().Fail(fakeapi.Fault{Op: "create-mailbox", Status: 429}, fakeapi.Fault{Op: "create-mailbox", Status: 500})
	c := newClient(t, f)
	for range 2 {
		if _, err := c.CreateMailbox(t.Context(), api.CreateMailboxBody{Domain: "example.com", LocalPart: "jane"}); err != nil {
			t.Fatal(err)
		}
	}
	var keys []string
	for _, r := range f.Requests {
		if r.Op == "create-mailbox" {
			keys = append(keys, r.Key)
		}
	}
	if len(keys) != 4 || keys[0] == "" || keys[0] != keys[1] || keys[0] != keys[2] || keys[3] == keys[0] {
		t.Errorf("keys %q, want one for three attempts and another for the second call", keys)
	}
}

func TestWaits(t *testing.T) {
	exact := func(o *client.Options) { o.Hooks.RetryWaitMin, o.Hooks.RetryWaitMax = time.Second, 5*time.Second }
	date := fakeapi.New().Clock.Time.Add(20 * time.Second).Format(http.TimeFormat)
	for _, tc := range []struct {
		name   string
		fault  fakeapi.Fault
		change func(*client.Options)
		want   []time.Duration
	}{
		{"doubles up to the cap", fakeapi.Fault{Status: 500, Times: 5}, exact, seconds(1, 2, 4, 5, 5)},
		{"Retry-After in seconds", fakeapi.Fault{Status: 429, Header: after("30")}, exact, seconds(31)},
		{"Retry-After as a date", fakeapi.Fault{Status: 429, Header: after(date)}, exact, seconds(21)},
		{"Retry-After by a clock that is ahead", fakeapi.Fault{Status: 429, Header: http.Header{
			"Retry-After": {"Mon, 02 Jan 2040 15:04:25 GMT"}, "Date": {"Mon, 02 Jan 2040 15:04:05 GMT"},
		}}, exact, seconds(21)},
		{"Retry-After of a year", fakeapi.Fault{Status: 429, Header: after("31536000"), Times: 9}, exact, nil},
		{"Retry-After in the past", fakeapi.Fault{Status: 429, Header: after("Mon, 02 Jan 2006 15:04:05 GMT")}, exact, seconds(1)},
		{"Retry-After that is none", fakeapi.Fault{Status: 429, Header: after("soon")}, exact, seconds(1)},
		{"Retry-After beyond the budget", fakeapi.Fault{Status: 429, Header: after("3600"), Times: 9}, exact, nil},
		{"Retry-After beyond any time", fakeapi.Fault{Status: 429, Header: after("1e300"), Times: 9}, exact, nil},
		{"budget", fakeapi.Fault{Status: 500, Times: 9}, func(o *client.Options) { exact(o); o.Hooks.RetryBudget = 8 * time.Second }, seconds(1, 2, 4)},
		{"number", fakeapi.Fault{Status: 500, Times: 9}, func(o *client.Options) { exact(o); o.Hooks.RetryMax = 2 }, seconds(1, 2)},
		{"none", fakeapi.Fault{Status: 500, Times: 9}, func(o *client.Options) { o.Hooks.RetryMax = -1 }, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := fakeapi.New()
			id := f.Add("mailboxes", fakeapi.Mailbox("jane", "example.com"))[0]
			tc.fault.Op = "get-mailbox"
			f.Fail(tc.fault)
			_, _ = newClient(t, f, tc.change).GetMailbox(t.Context(), id)
			if !slices.Equal(f.Clock.Sleeps, tc.want) {
				t.Errorf("waited %v, want %v", f.Clock.Sleeps, tc.want)
			}
		})
	}
}

func seconds(n ...int) []time.Duration {
	var d []time.Duration
	for _, s := range n {
		d = append(d, time.Duration(s)*time.Second)
	}
	return d
}

// TestDeadlineBeforeRetryAfter checks that a call that must not wait returns the API's
// error, and not the deadline's.
func TestDeadlineBeforeRetryAfter(t *testing.T) {
	f := fakeapi.New().Fail(fakeapi.Fault{Op: "get-mailbox", Status: 429, Header: after("60"), Times: 9})
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(time.Hour))
	defer cancel()
	f.Clock.Time = time.Now().Add(time.Hour - 30*time.Second)
	_, err := newClient(t, f).GetMailbox(ctx, "jane@example.com")
	if client.StatusOf(err) != 429 || len(f.Sent()) != 1 {
		t.Errorf("%v after %v", err, f.Sent())
	}
}

func TestCancelledWhileWaiting(t *testing.T) {
	f := fakeapi.New().Fail(fakeapi.Fault{Op: "get-mailbox", Status: 503, Times: 9})
	ctx, cancel := context.WithCancel(t.Context())
	f.Clock.OnSleep = cancel
	_, err := newClient(t, f).GetMailbox(ctx, "jane@example.com")
	if err == nil || !strings.Contains(err.Error(), "HTTP 503") || len(f.Sent()) != 1 {
		t.Errorf("%v after %v", err, f.Sent())
	}
}
