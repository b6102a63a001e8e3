package simulate

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// run is one run of Terraform: a plan walk, or an apply walk.
type run struct {
	name    string
	account int
	rand    *rand.Rand
	// faults is the percentage of requests with a fault.
	faults int
	// killAt is the number of the request at which the provider is killed; 0 for
	// never.
	killAt int
	// requests counts the requests, and faulted those with a fault.
	requests, faulted int
	// incomplete reports that a set has left out mailboxes that could not be created.
	incomplete bool
	// appeared reports that a zone has left records alone that its plan did not know.
	appeared bool
	// slept is how long the client has slept during one call of the provider.
	slept time.Duration
	// killed stops background reads of a killed provider.
	killed atomic.Bool
	// yield, if set, runs another run between two calls of the provider.
	yield func()
}

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

var errConnection = errors.New("connection reset by peer")

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
	if limit := w.bulkLimit; limit > 0 && bytes.Count(body, []byte(`"local_part"`)) > limit && strings.HasSuffix(r.URL.Path, "/mailboxes/bulk") {
		w.report.logf("  %s: %s %s %s -> 413", run.name, r.Method, shortPath(r), body)
		return proxyResponse(r, http.StatusRequestEntityTooLarge, nil), nil
	}
	if run.rand.IntN(100) < run.faults {
		run.faulted++
		return n.injectFault(r, body)
	}
	resp := w.serve(r, body, false)
	replayed := ""
	if resp.Header.Get("Idempotency-Replayed") != "" {
		replayed = " (replayed)"
	}
	w.report.logf("  %s: %s %s %s -> %d%s", run.name, r.Method, shortPath(r), body, resp.StatusCode, replayed)
	return resp, nil
}

// faults describes the faults of injectFault, by number.
var faults = []string{
	"lost before it arrived", "response lost", "response lost after it was written", "500", "429", "503",
	"service killed after it, response lost", "service restarted before it",
	"processed, response without content",
}

func shortPath(r *http.Request) string {
	return strings.TrimPrefix(r.URL.Path, "/v1/public/accounts/00000001-0000-4000-8000-000000000000")
}

func (n *network) injectFault(r *http.Request, body []byte) (*http.Response, error) {
	w := n.environment
	kinds := len(faults)
	if w.single || r.Method != http.MethodPost {
		kinds-- // the last one is about creates
	}
	fault := n.run.rand.IntN(kinds)
	w.report.logf("  %s: %s %s %s -> %s", n.run.name, r.Method, shortPath(r), body, faults[fault])
	switch fault {
	case 0:
		return nil, errConnection
	case 1:
		w.serve(r, body, true)
		return nil, errConnection
	case 2:
		w.serve(r, body, false)
		return nil, errConnection
	case 3:
		return proxyResponse(r, http.StatusInternalServerError, nil), nil
	case 4:
		return proxyResponse(r, http.StatusTooManyRequests, http.Header{"Retry-After": {"2"}}), nil
	case 5:
		return proxyResponse(r, http.StatusServiceUnavailable, http.Header{"Retry-After": {"1"}}), nil
	case 6: // the service is killed after the request, and restarted
		w.serve(r, body, true)
		w.restart(true)
		return nil, errConnection
	case 7: // restarted before the request
		w.restart(n.run.rand.IntN(2) == 0)
		return nil, errConnection
	default:
		resp := w.serve(r, body, false)
		resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader("{}")), 2
		return resp, nil
	}
}

// proxyResponse returns an error response as a proxy would.
func proxyResponse(r *http.Request, status int, header http.Header) *http.Response {
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: http.NoBody, Request: r,
	}
}
