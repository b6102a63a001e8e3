package simulate

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// maxSleep limits the sleep during one call. It replaces the context's deadline, which
// is in real time.
const maxSleep = 2 * time.Hour

// hooks returns the client's clock and random source of the history.
func (w *environment) hooks(r *run) client.Hooks {
	return client.Hooks{
		Now: func() time.Time {
			if r.killed.Load() {
				return startTime
			}
			return w.clock
		},
		Sleep: func(ctx context.Context, d time.Duration) error {
			if err := ctx.Err(); err != nil || r.killed.Load() {
				return context.Canceled
			}
			if r.slept += d; r.slept > maxSleep {
				r.slept = 0
				return context.DeadlineExceeded
			}
			w.advance(d)
			return nil
		},
		Jitter: func(ceiling time.Duration) time.Duration {
			if r.killed.Load() {
				return 0
			}
			return time.Duration(w.clientID.Int64N(int64(ceiling) + 1))
		},
		Parallel: 1,
		NewID: func() string {
			if r.killed.Load() {
				return ""
			}
			return w.newUUID()
		},
	}
}

// network is the http.RoundTripper between a provider and the service. It injects the
// run's faults.
type network struct {
	environment *environment
	run         *run
	kill        context.CancelFunc
}

// RoundTrip implements http.RoundTripper.
func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close()
	}
	w, run := n.environment, n.run
	if run.killed.Load() || r.Context().Err() != nil {
		return nil, context.Canceled
	}
	run.requests++
	if run.requests == run.killAt {
		committed := run.rand.IntN(2) == 0
		w.report.logf("  %s: %s %s %s -> provider killed, request processed: %v", run.name, r.Method, shortPath(r), body, committed)
		if committed {
			w.serve(r, body, run.rand.IntN(2) == 0)
		}
		run.killed.Store(true)
		n.kill()
		return nil, context.Canceled
	}
	w.noteTouched(run, r.Method, shortPath(r))
	w.deliverLate(false)
	x := &exchange{r: r, body: body, random: run.rand, keys: !w.noKeys, serve: func(lost bool) *httptest.ResponseRecorder { return w.serve(r, body, lost) }}
	x.late = func() {
		w.late = append(w.late, lateRequest{w.requests + run.rand.IntN(4), func() { w.serve(r, body, true) }})
	}
	what, respond := "", func() { x.ResponseRecorder = x.process() }
	switch limit := w.bulkLimit; {
	case limit > 0 && bytes.Count(body, []byte(`"local_part"`)) > limit && strings.HasSuffix(r.URL.Path, "/mailboxes/bulk"):
		respond = func() { x.page(http.StatusRequestEntityTooLarge, "text/plain", "") }
	case run.rand.IntN(100) < run.faults:
		run.faulted++
		what, respond = n.draw(x)
	}
	resp, err := x.respond(respond)
	if err != nil {
		w.report.logf("  %s: %s %s %s -> %s: %v", run.name, r.Method, shortPath(r), body, what, err)
		return nil, err
	}
	if resp.Header.Get("Idempotency-Replayed") == "true" {
		what += " (replayed)"
	}
	w.report.logf("  %s: %s %s %s -> %d %s", run.name, r.Method, shortPath(r), body, resp.StatusCode, what)
	return resp, nil
}

// draw chooses a fault for a request: a fault of the connection, or a restart of the service.
func (n *network) draw(x *exchange) (name string, respond func()) {
	w := n.environment
	if f := n.run.fault; f != nil {
		return f.name, func() { f.inject(x) }
	}
	timeless := slices.DeleteFunc(slices.Clone(faults), func(f fault) bool { return f.named })
	switch i := n.run.rand.IntN(len(timeless) + 2); i {
	case len(timeless):
		return "service killed after it", func() {
			x.serve(true)
			w.restart(true)
			x.reset()
		}
	case len(timeless) + 1:
		return "service restarted before it", func() {
			w.restart(n.run.rand.IntN(2) == 0)
			x.reset()
		}
	default:
		return timeless[i].name, func() { timeless[i].inject(x) }
	}
}

// lateRequest is a request that arrives after others were served.
type lateRequest struct {
	after   int
	deliver func()
}

// deliverLate delivers the due requests, or all of them.
func (w *environment) deliverLate(all bool) {
	waiting := w.late
	w.late = nil
	for _, l := range waiting {
		if !all && w.requests < l.after {
			w.late = append(w.late, l)
			continue
		}
		w.report.logf("  a late request arrives")
		l.deliver()
	}
}

func shortPath(r *http.Request) string {
	return strings.TrimPrefix(r.URL.Path, "/v1/public/accounts/00000001-0000-4000-8000-000000000000")
}
