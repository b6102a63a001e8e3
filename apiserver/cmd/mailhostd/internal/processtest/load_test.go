package processtest

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

var (
	loadFlag    = flag.Duration("load", 0, "how long TestReplicasAreKilled sends requests from many clients; 0 for a short run of a few")
	clientsFlag = flag.Int("clients", 200, "with -load: how many clients there are at once")
	everyFlag   = flag.Duration("every", 5*time.Second, "with -load: the time from one kill to the next")
)

// load lets many clients send requests while one server after the other is killed, and logs how
// long the responses took. A client one of whose requests has an unknown outcome is replaced.
func (c *replicaRun) load() {
	m, stop := &meter{times: map[string][]time.Duration{}, failures: map[string]int{}}, make(chan struct{})
	errs := make([]error, *clientsFlag)
	var clients sync.WaitGroup
	for i := range errs {
		clients.Go(func() {
			for errs[i] == nil && !isClosed(stop) {
				client := c.newClient()
				client.as.HTTP.Transport = meteredTransport{m, client.as.HTTP.Transport}
				errs[i] = client.runUntilUnknown(func() {}, stop)
			}
		})
	}
	kills := 0
	for end := time.After(*loadFlag); !isClosed(stop); {
		select {
		case <-end:
			close(stop)
		case <-time.After(*everyFlag):
			i := kills % len(c.servers)
			kills++
			if err := c.servers[i].Cmd.Process.Kill(); err != nil {
				c.Fatal(err)
			}
			c.servers[i].ExitCode(c.T)
			c.startReplica(i)
		}
	}
	clients.Wait()
	if err := errors.Join(errs...); err != nil {
		c.Error(err)
	}
	c.Logf("%d clients for %s, %d kills, %d clients with a request of unknown outcome\n%s", len(errs), *loadFlag, kills, len(c.clients)-len(errs), m)
	c.verifyAfter("load")
	c.end()
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// meter collects how long requests took, and how many have failed.
type meter struct {
	mu       sync.Mutex
	times    map[string][]time.Duration // by method
	failures map[string]int             // by status or error
}

func (m *meter) String() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var text strings.Builder
	for _, method := range slices.Sorted(maps.Keys(m.times)) {
		times := m.times[method]
		slices.Sort(times)
		at := func(percent int) time.Duration { return times[len(times)*percent/100].Round(time.Millisecond) }
		fmt.Fprintf(&text, "%-6s %6d requests, p50 %s, p99 %s, longest %s\n", method, len(times), at(50), at(99), times[len(times)-1].Round(time.Millisecond))
	}
	for _, cause := range slices.Sorted(maps.Keys(m.failures)) {
		fmt.Fprintf(&text, "%6d times %s\n", m.failures[cause], cause)
	}
	return text.String()
}

// meteredTransport measures the time to the header of each response.
type meteredTransport struct {
	meter *meter
	next  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t meteredTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	began := time.Now()
	resp, err := t.next.RoundTrip(r)
	took := time.Since(began)
	t.meter.mu.Lock()
	defer t.meter.mu.Unlock()
	t.meter.times[r.Method] = append(t.meter.times[r.Method], took)
	switch {
	case err != nil:
		t.meter.failures["no response"]++
	case resp.StatusCode >= 400:
		t.meter.failures[resp.Status]++
	}
	return resp, err
}
