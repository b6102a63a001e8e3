package transport_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/fakeapi"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/transport"
)

func newTransport(t *testing.T, a *fakeapi.Limited, perMinute int) *transport.Transport {
	t.Helper()
	tr, err := transport.New(transport.Options{BaseURL: "http://embedded", AccountID: fakeapi.AccountID, Transport: a, RequestsPerMinute: perMinute})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// send sends requests from ten callers at once with each transport, as Terraform does.
func send(t *testing.T, requests int, transports ...*transport.Transport) {
	t.Helper()
	var wg sync.WaitGroup
	for _, tr := range transports {
		work := make(chan int, requests)
		for i := range requests {
			work <- i
		}
		close(work)
		for range 10 {
			wg.Go(func() {
				for range work {
					if _, err := transport.Do(t.Context(), tr, api.UpdateMailbox, &api.UpdateMailboxRequest{Mailbox: "m"}); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
}

// TestStaysBelowTheAPIsLimit checks, for limits of many sizes and kinds, that a run takes
// hardly longer than the limit allows, and that the API refuses hardly any request: at most
// those of the first moment, in which nothing is known of the limit.
func TestStaysBelowTheAPIsLimit(t *testing.T) {
	for _, limit := range []struct {
		n   int
		per time.Duration
	}{{10, time.Second}, {5, time.Second}, {2, time.Second}, {50, time.Second}, {100, 10 * time.Second}, {600, time.Minute}, {60, time.Minute}, {3000, 5 * time.Minute}} {
		for _, latency := range []time.Duration{2 * time.Millisecond, 50 * time.Millisecond} {
			for _, tc := range []struct {
				name      string
				window    bool
				processes int
				slower    float64 // than the limit allows, at most
				refused   int     // requests, at most
			}{
				{"token bucket", false, 1, 1.25, max(0, 10-limit.n) + 2},
				{"fixed window", true, 1, 1.8, max(0, 10-limit.n) + 15},
				{"token bucket of three processes", false, 3, 1.25, 100},
			} {
				t.Run(fmt.Sprintf("%s/%d in %s/%s away", tc.name, limit.n, limit.per, latency), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						a := &fakeapi.Limited{Limit: limit.n, Per: limit.per, IsWindow: tc.window, Latency: latency}
						var all []*transport.Transport
						for range tc.processes {
							all = append(all, newTransport(t, a, 0))
						}
						started, total := time.Now(), 5*limit.n
						send(t, total/tc.processes, all...)
						bound := limit.per * time.Duration(total-limit.n) / time.Duration(limit.n)
						if took := time.Since(started); took.Seconds() > tc.slower*bound.Seconds()+4 {
							t.Errorf("%d requests took %s; the limit allows them in %s", total, took, bound)
						}
						if a.Refused > tc.refused {
							t.Errorf("%d of %d requests were refused", a.Refused, total)
						}
					})
				})
			}
		}
	}
}

// TestUsedUpLimit checks that a client that begins when others have used the limit up goes on
// as soon as the API accepts a request: at the rate of a token bucket, or in the next window.
func TestUsedUpLimit(t *testing.T) {
	for _, isWindow := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			a := &fakeapi.Limited{Limit: 600, Per: time.Minute, IsWindow: isWindow, IsUsedUp: true, Latency: 2 * time.Millisecond}
			started, most := time.Now(), 15*time.Second
			if isWindow {
				most = 62 * time.Second
			}
			send(t, 100, newTransport(t, a, 0))
			if took := time.Since(started); took > most || a.Refused > 12 {
				t.Errorf("window %t: 100 requests took %s, want at most %s; %d were refused", isWindow, took, most, a.Refused)
			}
		})
	}
}

// TestFormsOfTheHeaders checks that a limit is learned from every form of its headers.
func TestFormsOfTheHeaders(t *testing.T) {
	reset := func(reset int) string { return strconv.Itoa(int(time.Now().Unix()) + reset) }
	for name, headers := range map[string]func(limit, remaining, reset int) map[string]string{
		"RateLimit-": func(l, r, t int) map[string]string {
			return map[string]string{"RateLimit-Limit": fmt.Sprintf("%d, %d;w=10", l, l), "RateLimit-Remaining": strconv.Itoa(r), "RateLimit-Reset": strconv.Itoa(t)}
		},
		"X-RateLimit- with a Unix time": func(l, r, t int) map[string]string {
			return map[string]string{"X-RateLimit-Limit": strconv.Itoa(l), "X-RateLimit-Remaining": strconv.Itoa(r), "X-RateLimit-Reset": reset(t)}
		},
		"RateLimit of draft 7": func(l, r, t int) map[string]string {
			return map[string]string{"RateLimit": fmt.Sprintf("limit=%d, remaining=%d, reset=%d", l, r, t)}
		},
		"RateLimit and RateLimit-Policy": func(l, r, t int) map[string]string {
			return map[string]string{"RateLimit": fmt.Sprintf(`"day";r=9000;t=80000, "burst";r=%d;t=%d`, r, t), "RateLimit-Policy": fmt.Sprintf(`"day";q=10000;w=86400, "burst";q=%d;w=10`, l)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &fakeapi.Limited{Limit: 20, Per: 10 * time.Second, Latency: time.Millisecond, Headers: func(limit, remaining, reset int) http.Header {
					h := http.Header{}
					for k, v := range headers(limit, remaining, reset) {
						h.Set(k, v)
					}
					return h
				}}
				send(t, 60, newTransport(t, a, 0))
				if a.Refused > 0 {
					t.Errorf("%d requests were refused", a.Refused)
				}
			})
		})
	}
}

// TestARefusalStopsAllCallers checks that one 429 stops every caller until its time, and
// that one without RateLimit headers stops those of the same operation.
func TestARefusalStopsAllCallers(t *testing.T) {
	for _, tc := range []struct {
		name   string
		header http.Header
		want   map[string]int // requests of each operation within 29 seconds
	}{
		{"of the account", http.Header{"Retry-After": {"30"}, "Ratelimit-Limit": {"10"}, "Ratelimit-Remaining": {"0"}, "Ratelimit-Reset": {"60"}}, map[string]int{"update-mailbox": 1, "get-mailbox": 0}},
		{"of the operation", http.Header{"Retry-After": {"30"}}, map[string]int{"update-mailbox": 1, "get-mailbox": 5}},
		{"beyond the time of a call", http.Header{"Retry-After": {"3600"}}, map[string]int{"update-mailbox": 5, "get-mailbox": 5}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fakeapi.New().Fail(fakeapi.Fault{Op: "update-mailbox", Status: 429, Header: tc.header, Times: 9})
				id := f.Add("mailboxes", fakeapi.Mailbox("jane", "example.com"))[0]
				c := realTimeClient(t, f, 0)
				update := func(ctx context.Context) { _, _ = c.UpdateMailbox(ctx, id, api.UpdateMailboxBody{}) }
				ctx, cancel := context.WithCancel(t.Context())
				go update(ctx)
				synctest.Wait()
				for range 4 {
					go update(ctx)
				}
				for range 5 {
					go func() { _, _ = c.GetMailbox(ctx, id) }()
				}
				time.Sleep(29 * time.Second)
				for op, n := range tc.want {
					if f.Count(op) != n {
						t.Errorf("%d requests of %s, want %d", f.Count(op), op, n)
					}
				}
				cancel()
				synctest.Wait()
			})
		})
	}
}

// realTimeClient returns a client with the clock of a synctest bubble.
func realTimeClient(t *testing.T, rt http.RoundTripper, perMinute int) *client.Client {
	t.Helper()
	c, err := client.New(client.Options{BaseURL: "http://embedded", AccountID: fakeapi.AccountID, Transport: rt, RequestsPerMinute: perMinute})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestOwnLimits checks the limits of the provider block.
func TestOwnLimits(t *testing.T) {
	for _, perMinute := range []int{1, 2, 7, 60, 600, 100_000} {
		t.Run(fmt.Sprint(perMinute, " per minute"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &fakeapi.Limited{Latency: time.Millisecond}
				send(t, min(3*perMinute, 1500), newTransport(t, a, perMinute))
				most := 0
				for i, from := range a.Times {
					n, _ := slices.BinarySearchFunc(a.Times[i:], from.Add(time.Minute), time.Time.Compare)
					most = max(most, n)
				}
				if took := a.Times[len(a.Times)-1].Sub(a.Times[0]); most > perMinute || perMinute <= 600 && took > 200*time.Second {
					t.Errorf("%d requests in a minute, want at most %d; all took %s", most, perMinute, took)
				}
			})
		})
	}
}

// TestWaitingForAPermit checks that a call that waits for its first permit keeps its whole
// time for retries, can be cancelled, says why it waited, and hands its turn on.
func TestWaitingForAPermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeapi.New()
		id := f.Add("mailboxes", fakeapi.Mailbox("jane", "example.com"))[0]
		var logged []string
		c, err := client.New(client.Options{
			BaseURL: "http://embedded", AccountID: fakeapi.AccountID, Transport: f, RequestsPerMinute: 1,
			Hooks: client.Hooks{RetryBudget: 30 * time.Second, Jitter: func(d time.Duration) time.Duration { return d }},
			Log: func(_ context.Context, msg string, _ ...map[string]any) {
				if strings.Contains(msg, "rate limit") {
					logged = append(logged, msg)
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.GetMailbox(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		cancelled := make(chan error)
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			go func() {
				_, err := c.GetMailbox(ctx, id)
				cancelled <- err
			}()
		}
		synctest.Wait()
		f.Fail(fakeapi.Fault{Op: "get-mailbox", Status: 500, Times: 2})
		done := make(chan error)
		started := time.Now()
		go func() {
			_, err := c.GetMailbox(t.Context(), id)
			done <- err
		}()
		for range 2 {
			if err := <-cancelled; !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "max_requests_per_minute") {
				t.Errorf("cancelled: %v", err)
			}
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		if took := time.Since(started); took < 175*time.Second || f.Count("get-mailbox") != 4 || len(logged) != 1 {
			t.Errorf("%d requests in %s; logged %q", f.Count("get-mailbox"), took, logged)
		}
	})
}
