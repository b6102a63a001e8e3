package client

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

func after(v string) http.Header { return http.Header{"Retry-After": {v}} }

func TestRetriesByMethod(t *testing.T) {
	get := func(ctx context.Context, c *Client, id string) error { _, err := c.GetMailbox(ctx, id); return err }
	patch := func(ctx context.Context, c *Client, id string) error {
		_, err := c.UpdateMailbox(ctx, id, api.UpdateMailboxBody{})
		return err
	}
	del := func(ctx context.Context, c *Client, id string) error { return c.DeleteMailbox(ctx, id) }
	post := func(ctx context.Context, c *Client, _ string) error {
		_, err := c.SubmitFeedback(ctx, api.SubmitFeedbackBody{Title: "t"})
		return err
	}
	export := func(ctx context.Context, c *Client, _ string) error {
		_, err := c.ExportMailboxes(ctx, api.ExportMailboxesBody{})
		return err
	}
	for _, tc := range []struct {
		name, op string
		do       func(context.Context, *Client, string) error
		fault    fault
		want     int // requests of op
		status   int // of the error; 0: success
	}{
		{"get lost", "get-mailbox", get, fault{dropAfter: true}, 2, 0},
		{"get 500", "get-mailbox", get, fault{status: 500}, 2, 0},
		{"get 429", "get-mailbox", get, fault{status: 429}, 2, 0},
		{"get 408", "get-mailbox", get, fault{status: 408}, 2, 0},
		{"get 501", "list-mailboxes", func(ctx context.Context, c *Client, _ string) error {
			_, err := c.FindMailbox(ctx, "a@b.example")
			return err
		}, fault{status: 501}, 1, 501},
		{"get 403", "get-mailbox", get, fault{status: 403}, 1, 403},
		{"get 500 for ever", "get-mailbox", get, fault{status: 500, times: 99}, 9, 500},
		{"patch lost", "update-mailbox", patch, fault{dropAfter: true}, 2, 0},
		{"patch 502", "update-mailbox", patch, fault{status: 502}, 2, 0},
		{"patch 409 with Retry-After", "update-mailbox", patch, fault{status: 409, header: after("1")}, 1, 409},
		{"delete 500", "delete-mailbox", del, fault{status: 500}, 2, 0},
		{"delete lost, then 404", "delete-mailbox", del, fault{dropAfter: true}, 2, 0},
		{"export 500", "export-mailboxes", export, fault{status: 500}, 2, 0},
		{"post 429", "submit-feedback", post, fault{status: 429}, 2, 0},
		{"post 503 with Retry-After", "submit-feedback", post, fault{status: 503, header: after("1")}, 2, 0},
		{"post 409 still running", "submit-feedback", post, fault{status: 409, header: after("1")}, 2, 0},
		{"post 409", "submit-feedback", post, fault{status: 409}, 1, 409},
		{"post 503", "submit-feedback", post, fault{status: 503}, 1, 503},
		{"post 500", "submit-feedback", post, fault{status: 500}, 1, 500},
		{"post 422", "submit-feedback", post, fault{status: 422}, 1, 422},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFakeAPI()
			id := f.add("mailboxes", mailboxObject("jane", "example.com"))[0]
			tc.fault.op = tc.op
			f.fail(tc.fault)
			err := tc.do(t.Context(), f.client(t), id)
			if StatusOf(err) != tc.status || tc.status == 0 && err != nil {
				t.Errorf("error %v, want status %d", err, tc.status)
			}
			if n := f.count(tc.op); n != tc.want {
				t.Errorf("%d requests, want %d", n, tc.want)
			}
		})
	}
}

func TestKeyIsTheSameOnEachAttempt(t *testing.T) {
	f := newFakeAPI().fail(fault{op: "create-mailbox", status: 429}, fault{op: "create-mailbox", status: 500})
	c := f.client(t)
	for range 2 {
		if _, _, err := c.CreateMailbox(t.Context(), api.CreateMailboxBody{Domain: "example.com", LocalPart: "jane"}); err != nil {
			t.Fatal(err)
		}
	}
	var keys []string
	for _, r := range f.requests {
		if r.op == "create-mailbox" {
			keys = append(keys, r.key)
		}
	}
	if len(keys) != 4 || keys[0] == "" || keys[0] != keys[1] || keys[0] != keys[2] || keys[3] == keys[0] {
		t.Errorf("keys %q, want one for three attempts and another for the second call", keys)
	}
}

func TestWaits(t *testing.T) {
	exact := func(o *Options) { o.RetryWaitMin, o.RetryWaitMax = time.Second, 5*time.Second }
	date := newFakeAPI().clock.now.Add(20 * time.Second).Format(http.TimeFormat)
	for _, tc := range []struct {
		name   string
		fault  fault
		change func(*Options)
		want   []time.Duration
	}{
		{"doubles up to the cap", fault{status: 500, times: 5}, exact, seconds(1, 2, 4, 5, 5)},
		{"Retry-After in seconds", fault{status: 429, header: after("30")}, exact, seconds(31)},
		{"Retry-After as a date", fault{status: 429, header: after(date)}, exact, seconds(21)},
		{"Retry-After in the past", fault{status: 429, header: after("Mon, 02 Jan 2006 15:04:05 GMT")}, exact, seconds(1)},
		{"Retry-After that is none", fault{status: 429, header: after("soon")}, exact, seconds(1)},
		{"Retry-After beyond the budget", fault{status: 429, header: after("3600"), times: 9}, exact, nil},
		{"Retry-After beyond any time", fault{status: 429, header: after("1e300"), times: 9}, exact, nil},
		{"budget", fault{status: 500, times: 9}, func(o *Options) { exact(o); o.RetryBudget = 8 * time.Second }, seconds(1, 2, 4)},
		{"number", fault{status: 500, times: 9}, func(o *Options) { exact(o); o.RetryMax = 2 }, seconds(1, 2)},
		{"none", fault{status: 500, times: 9}, func(o *Options) { o.RetryMax = -1 }, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFakeAPI()
			id := f.add("mailboxes", mailboxObject("jane", "example.com"))[0]
			tc.fault.op = "get-mailbox"
			f.fail(tc.fault)
			_, _ = f.client(t, tc.change).GetMailbox(t.Context(), id)
			if !slices.Equal(f.clock.sleeps, tc.want) {
				t.Errorf("waited %v, want %v", f.clock.sleeps, tc.want)
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

// The error of a call that may not wait is the API's, not the deadline's.
func TestDeadlineBeforeRetryAfter(t *testing.T) {
	f := newFakeAPI().fail(fault{op: "get-mailbox", status: 429, header: after("60"), times: 9})
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(time.Hour))
	defer cancel()
	f.clock.now = time.Now().Add(time.Hour - 30*time.Second)
	_, err := f.client(t).GetMailbox(ctx, "jane@example.com")
	if StatusOf(err) != 429 || len(f.sent()) != 1 {
		t.Errorf("%v after %v", err, f.sent())
	}
}

func TestCancelledWhileWaiting(t *testing.T) {
	f := newFakeAPI().fail(fault{op: "get-mailbox", status: 503, times: 9})
	ctx, cancel := context.WithCancel(t.Context())
	f.clock.onSleep = cancel
	_, err := f.client(t).GetMailbox(ctx, "jane@example.com")
	if err == nil || !strings.Contains(err.Error(), "HTTP 503") || len(f.sent()) != 1 {
		t.Errorf("%v after %v", err, f.sent())
	}
}
