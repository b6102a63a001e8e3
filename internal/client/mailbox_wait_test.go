package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/fakeapi"
)

func newBody(local string) api.CreateMailboxBody {
	return api.CreateMailboxBody{Domain: "example.com", LocalPart: local, FirstName: "Jane", LastName: "Doe"}
}

// realTimeClient returns a client with the clock of a synctest bubble.
func realTimeClient(t *testing.T, o Options) *Client {
	t.Helper()
	o.BaseURL, o.AccountID = "http://embedded", fakeapi.AccountID
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCreatesUnderALimit checks, for several limits and speeds of the callers, that ten
// parallel callers need few requests for their creates and hardly more time than the limit
// or they themselves take, that nothing is refused, and that without a limit each create is
// a request of its own.
func TestCreatesUnderALimit(t *testing.T) {
	const creates, callers = 1000, 10
	for _, tc := range []struct {
		name     string
		limit    int
		per      time.Duration
		isWindow bool
		limits   Limits
		requests int // at most
	}{
		{"no limit", 0, 0, false, Limits{}, creates},
		{"10 in a second", 10, time.Second, false, Limits{}, 130},
		{"5 in a second", 5, time.Second, false, Limits{}, 130},
		{"60 in a minute", 60, time.Minute, false, Limits{}, 180},
		{"10 in a second, fixed window", 10, time.Second, true, Limits{}, 140},
		{"max_requests_per_minute", 0, 0, false, Limits{RequestsPerMinute: 600}, 170},
		{"max_concurrency", 0, 0, false, Limits{Concurrency: 1}, 800},
	} {
		for _, each := range []time.Duration{3 * time.Millisecond, 15 * time.Millisecond} {
			t.Run(fmt.Sprint(tc.name, "/the core needs ", each, " for a resource"), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := fakeapi.New()
					limited := &fakeapi.Limited{Next: f, Limit: tc.limit, Per: tc.per, IsWindow: tc.isWindow, Latency: 20 * time.Millisecond}
					c := realTimeClient(t, Options{Transport: limited, Limits: tc.limits})
					started := time.Now()
					core := make(chan bool, 1) // Terraform works on one resource after another between the requests
					var wg sync.WaitGroup
					for i := range callers {
						wg.Go(func() {
							for n := range creates / callers {
								if _, _, err := c.CreateMailbox(t.Context(), newBody(fmt.Sprintf("u%d-%d", i, n))); err != nil {
									t.Error(err)
								}
								core <- true
								time.Sleep(each / 2 * time.Duration(1+(i+n)%3))
								<-core
							}
						})
					}
					wg.Wait()
					if took := time.Since(started); tc.limit > 0 && took > 100*time.Second || tc.limit == 10 && took > 20*time.Second {
						t.Errorf("it took %s", took)
					}
					if n := len(f.Sent()); n > tc.requests || len(f.Stored["mailboxes"]) != creates {
						t.Errorf("%d requests for %d mailboxes, want at most %d", n, len(f.Stored["mailboxes"]), tc.requests)
					}
				})
			})
		}
	}
}

// TestCreatesWithoutALimit checks that many creates at once are never sent together if there
// is no limit, however they meet.
func TestCreatesWithoutALimit(t *testing.T) {
	f := fakeapi.New()
	c := newClient(t, f)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for n := range 100 {
				if _, _, err := c.CreateMailbox(t.Context(), newBody(fmt.Sprintf("u%d-%d", i, n))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := f.Count("create-mailbox"); n != 1600 || len(f.Sent()) != n {
		t.Errorf("%d single creates of %d requests", n, len(f.Sent()))
	}
}

// TestWaitingCreatesAreLikeSingleOnes runs the same cases with a request for each mailbox,
// and with one for the mailboxes that wait, and compares the outcomes of the one that the
// case is about, and of the other that goes with it.
func TestWaitingCreatesAreLikeSingleOnes(t *testing.T) {
	for name, tc := range map[string]struct {
		body   api.CreateMailboxBody
		before func(*fakeapi.API)
		fault  fakeapi.Fault // of both operations
	}{
		"created": {body: newBody("jane")},
		"exists":  {body: newBody("jane"), before: func(f *fakeapi.API) { f.Add("mailboxes", fakeapi.Mailbox("jane", "example.com")) }},
		"exists, after a lost reply": {body: newBody("jane"), before: func(f *fakeapi.API) {
			f.Add("mailboxes", withNames(fakeapi.Mailbox("jane", "example.com"), "Joan", "Roe"))
		}, fault: fakeapi.Fault{DropBefore: true}},
		"lost after commit":  {body: newBody("jane"), fault: fakeapi.Fault{DropAfter: true}},
		"lost before commit": {body: newBody("jane"), fault: fakeapi.Fault{DropBefore: true}},
		"503":                {body: newBody("jane"), fault: fakeapi.Fault{Status: 503, Header: http.Header{"Retry-After": {"1"}}}},
		"500":                {body: newBody("jane"), fault: fakeapi.Fault{Status: 500}},
		"lost for ever":      {body: newBody("jane"), fault: fakeapi.Fault{DropBefore: true, Times: 99}},
		"500 for ever":       {body: newBody("jane"), fault: fakeapi.Fault{Status: 500, Times: 99}},
		"no domain": {body: newBody("jane"), fault: fakeapi.Fault{
			Status: 422, Times: 99, Text: `{"detail":[{"loc":["body","domain"],"msg":"there is no such domain","type":"value_error"}]}`,
		}},
		"403": {body: newBody("jane"), fault: fakeapi.Fault{Status: 403, Times: 99}},
	} {
		t.Run(name, func(t *testing.T) {
			outcomes := map[bool][2]string{}
			for _, isWaiting := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					f := fakeapi.New()
					f.Unique = true
					if tc.before != nil {
						tc.before(f)
					}
					c := realTimeClient(t, Options{Transport: f, Limits: Limits{RequestsPerMinute: 60}, Hooks: Hooks{RetryMax: 2}})
					for c.transport.TryPermit(api.CreateMailbox.Spec) != nil { // use the limit up
						continue
					}
					if !isWaiting {
						c.waiting.noBulk.Store(true)
					}
					for _, op := range []string{"create-mailbox", "create-mailboxes"} {
						fault := tc.fault
						if fault.Op = op; fault.DropAfter || fault.DropBefore || fault.Status != 0 {
							if !isWaiting {
								fault.Times = max(2, fault.Times) // one for each
							}
							f.Fail(fault)
						}
					}
					var both [2]string
					var wg sync.WaitGroup
					for i, body := range []api.CreateMailboxBody{tc.body, newBody("other")} {
						wg.Go(func() {
							m, _, err := c.CreateMailbox(t.Context(), body)
							both[i] = outcome(m, err)
						})
					}
					wg.Wait()
					if bulks := f.Count("create-mailboxes"); isWaiting != (bulks > 0) {
						t.Errorf("waiting %t: %v", isWaiting, f.Sent())
					}
					outcomes[isWaiting] = both
				})
			}
			if outcomes[true] != outcomes[false] {
				t.Errorf("single   %q\ntogether %q", outcomes[false], outcomes[true])
			}
		})
	}
}

// outcome describes what a create returned, without request ids.
func outcome(m *api.Mailbox, err error) string {
	var failed *Error
	var unknown *UnknownOutcomeError
	switch {
	case errors.As(err, &unknown):
		return fmt.Sprintf("unknown %s %s %s because of %s", unknown.Operation, unknown.Object, unknown.Effect, outcome(m, unknown.Cause))
	case errors.As(err, &failed):
		return fmt.Sprintf("%d %s %s %v %q", failed.Status, failed.Operation, failed.Object, IsConflict(err), failed.Problems)
	case err != nil:
		return err.Error()
	}
	return m.PrimaryEmail
}

// TestWaitingCreatesSendEveryField checks that a bulk request has every field of a single
// create: otherwise a create would lose one if it had to wait.
func TestWaitingCreatesSendEveryField(t *testing.T) {
	var body api.CreateMailboxBody
	for field, v := range reflect.ValueOf(&body).Elem().Fields() {
		if v.Kind() == reflect.Pointer {
			v.Set(reflect.New(v.Type().Elem()))
			v = v.Elem()
		}
		v.SetString("value-of-" + field.Name)
	}
	f := fakeapi.New()
	newClient(t, f).sendWaitingMailboxes(t.Context(), []api.CreateMailboxBody{body})
	for field := range reflect.TypeFor[api.CreateMailboxBody]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !strings.Contains(f.Requests[0].Body, fmt.Sprintf("%q:%q", name, "value-of-"+field.Name)) {
			t.Errorf("%s is not in %s", field.Name, f.Requests[0].Body)
		}
	}
}

// TestCancelledWaitingCreate checks that a create that is cancelled while it waits leaves its
// batch, and that one that is cancelled after the batch was sent still has its outcome.
func TestCancelledWaitingCreate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeapi.New()
		c := realTimeClient(t, Options{Transport: &fakeapi.Limited{Next: f, Latency: 4 * time.Second}, Limits: Limits{RequestsPerMinute: 6}})
		c.transport.TryPermit(api.CreateMailbox.Spec).Release()
		create := func(local string, after time.Duration) <-chan string {
			done := make(chan string, 1)
			go func() {
				ctx, cancel := context.WithTimeout(t.Context(), after)
				defer cancel()
				m, _, err := c.CreateMailbox(ctx, newBody(local))
				if err != nil {
					done <- err.Error()
					return
				}
				done <- m.PrimaryEmail
			}()
			return done
		}
		early, late, patient := create("early", 5*time.Second), create("late", 12*time.Second), create("patient", time.Hour)
		if text := <-early; !strings.Contains(text, "the time for it is over, while it waited to be sent") || !strings.Contains(text, "early@example.com") {
			t.Errorf("early: %s", text)
		}
		if text := <-late; text != "late@example.com" {
			t.Errorf("late: %s", text)
		}
		if text := <-patient; text != "patient@example.com" {
			t.Errorf("patient: %s", text)
		}
		if n := len(f.Stored["mailboxes"]); n != 2 || len(f.Sent()) != 1 {
			t.Errorf("%d mailboxes after %v", n, f.Sent())
		}
	})
}

// TestAllCancelled checks that a request ends when all of its callers have given up, so that
// an interrupted run does not wait for it.
func TestAllCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, sent := fakeapi.New(), make(chan bool, 1)
		hanging := roundTripper(func(r *http.Request) (*http.Response, error) {
			if !strings.HasSuffix(r.URL.Path, "/bulk") {
				return f.RoundTrip(r)
			}
			sent <- true
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		c := realTimeClient(t, Options{Transport: hanging, Limits: Limits{RequestsPerMinute: 6}})
		c.transport.TryPermit(api.CreateMailbox.Spec).Release()
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for _, local := range []string{"jane", "joe"} {
			wg.Go(func() {
				_, _, err := c.CreateMailbox(ctx, newBody(local))
				if unknown, ok := errors.AsType[*UnknownOutcomeError](err); !ok || unknown.Object != local+"@example.com" {
					t.Errorf("%s: %v", local, err)
				}
			})
		}
		<-sent
		started := time.Now()
		cancel()
		wg.Wait()
		if took := time.Since(started); took > 15*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestWaitingCreatesWithOneAddress checks that two creates of one address never share a
// request, and that an API without a bulk create gets single ones.
func TestWaitingCreatesWithOneAddress(t *testing.T) {
	for _, without := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := fakeapi.New()
			f.Unique, f.Without["create-mailboxes"] = true, without
			c := realTimeClient(t, Options{Transport: &fakeapi.Limited{Next: f, Latency: time.Second}, Limits: Limits{Concurrency: 1}})
			created, conflicts := 0, 0
			var wg sync.WaitGroup
			results := make(chan error, 6)
			for _, local := range []string{"first", "jane", "JANE", "joe", "Jane", "jim"} {
				wg.Go(func() {
					_, _, err := c.CreateMailbox(t.Context(), newBody(local))
					results <- err
				})
			}
			wg.Wait()
			close(results)
			for err := range results {
				switch {
				case err == nil:
					created++
				case IsConflict(err):
					conflicts++
				default:
					t.Error(err)
				}
			}
			if created != 4 || conflicts != 2 || len(f.Stored["mailboxes"]) != 4 {
				t.Errorf("%d created, %d conflicts: %v", created, conflicts, f.Sent())
			}
		})
	}
}
