package simulate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// connection connects a provider with a service over net/http, and injects one kind of
// fault. It is the client's http.RoundTripper, and the server's http.Handler.
type connection struct {
	seed    uint64
	fault   *fault
	percent int
	mode    mode
	service http.Handler

	connections chan net.Conn
	client      *http.Transport
	server      *http.Server

	mu      sync.Mutex
	quiet   bool                  // there are no faults for now
	sent    map[string]int        // how often each request was sent
	failed  map[string]bool       // whether the latest attempt of a request had a fault
	names   map[string]string     // of the ids that the service has assigned
	pending map[string]*rand.Rand // faults of requests on their way, by X-Request-Id
	log     func(line string)

	requests, faults, retries int
}

func newConnection(seed uint64, r row, service http.Handler) *connection {
	n := &connection{
		seed: seed, fault: r.fault, percent: r.percent, mode: r.mode, service: service,
		connections: make(chan net.Conn), sent: map[string]int{}, failed: map[string]bool{},
		names: map[string]string{}, pending: map[string]*rand.Rand{}, log: func(string) {},
	}
	n.client = &http.Transport{
		DialContext: n.dial, MaxIdleConnsPerHost: 32,
		ResponseHeaderTimeout: 90 * time.Second, // as the provider's own
		// A refused connection is a fault of one request only if each has its own.
		DisableKeepAlives: r.fault.refuses,
	}
	n.server = &http.Server{Handler: http.HandlerFunc(n.serve), ErrorLog: log.New(io.Discard, "", 0)}
	return n
}

// listen serves the provider in this process, in whose bubble there are no real
// connections.
func (n *connection) listen() {
	go func() { _ = n.server.Serve(n) }()
}

// stop closes all connections and waits for the requests that the service still has.
func (n *connection) stop() {
	n.client.CloseIdleConnections()
	time.Sleep(late) // requests may still arrive
	_ = n.server.Close()
}

type refusedKey struct{}

// dial opens a connection in memory.
func (n *connection) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	if ctx.Value(refusedKey{}) != nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	ours, theirs := net.Pipe()
	select {
	case n.connections <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener.
func (n *connection) Accept() (net.Conn, error) {
	c, ok := <-n.connections
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

// Close implements net.Listener.
func (n *connection) Close() error {
	close(n.connections)
	return nil
}

// Addr implements net.Listener.
func (n *connection) Addr() net.Addr { return &net.TCPAddr{} }

// RoundTrip implements http.RoundTripper for the provider.
func (n *connection) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close()
	}
	ctx := r.Context()
	chance, attempt := n.draw(r, body)
	if chance != nil && n.fault.refuses {
		ctx = context.WithValue(ctx, refusedKey{}, true)
	}
	out := r.Clone(ctx)
	if r.Body != nil {
		out.Body = io.NopCloser(bytes.NewReader(body))
	}
	resp, err := n.client.RoundTrip(out)
	if err != nil {
		n.note("%s -> %v", attempt, err)
		return nil, err
	}
	n.note("%s -> %s", attempt, resp.Status)
	return resp, nil
}

// draw counts a request, and decides whether it has a fault. What decides is the request
// and how often it was sent before, so that the order of concurrent requests does not
// matter.
func (n *connection) draw(r *http.Request, body []byte) (chance *rand.Rand, attempt string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	key := r.Method + " " + n.replaceIDs(strings.TrimPrefix(r.URL.RequestURI(), api.Prefix)) + " " + n.replaceIDs(string(body))
	count := n.sent[key]
	n.sent[key]++
	n.requests++
	if n.failed[key] {
		n.retries++
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %d", key, count)
	random := rand.New(rand.NewPCG(n.seed, h.Sum64())) //nolint:gosec // must be reproducible
	n.failed[key] = !n.quiet && random.IntN(100) < n.percent
	if n.failed[key] {
		n.faults++
		chance = random
		if !n.fault.refuses {
			n.pending[r.Header.Get("X-Request-Id")] = random
		}
	}
	mark := ""
	if chance != nil {
		mark = " [" + n.fault.name + "]"
	}
	return chance, fmt.Sprintf("%s, attempt %d%s", key, count+1, mark)
}

func (n *connection) note(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.log(fmt.Sprintf(format, args...))
}

// setQuiet ends the faults, or begins them again.
func (n *connection) setQuiet(quiet bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.quiet = quiet
}

var idPattern = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9]{12,}`)

// replaceIDs replaces ids by what they name, because ids are different in each run. The
// caller holds mu.
func (n *connection) replaceIDs(text string) string {
	return idPattern.ReplaceAllStringFunc(text, func(id string) string {
		if name, ok := n.names[id]; ok {
			return name
		}
		return id
	})
}

// learn names the objects in the response to a create by their domain or address, or else
// by the request.
func (n *connection) learn(r *http.Request, body, response []byte) {
	var decoded any
	decoder := json.NewDecoder(bytes.NewReader(response))
	decoder.UseNumber() // ids of DNS records
	if r.Method != http.MethodPost || decoder.Decode(&decoded) != nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	h := fnv.New32a()
	_, _ = h.Write([]byte(n.replaceIDs(string(body))))
	n.learnFrom(decoded, fmt.Sprintf("%08x", h.Sum32()))
}

// learnFrom names the objects in a part of a response. The caller holds mu.
func (n *connection) learnFrom(part any, fallback string) {
	switch part := part.(type) {
	case []any:
		for _, each := range part {
			n.learnFrom(each, fallback)
		}
	case map[string]any:
		for _, each := range part {
			n.learnFrom(each, fallback)
		}
		if id := part["id"]; id != nil && n.names[fmt.Sprint(id)] == "" {
			name := fallback
			for _, field := range []string{"domain_name", "primary_email"} {
				if value, ok := part[field].(string); ok {
					name = value
				}
			}
			n.names[fmt.Sprint(id)] = "<" + name + ">"
		}
	}
}

// serve handles a request at the server's end.
func (n *connection) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	id := r.Header.Get("X-Request-Id")
	n.mu.Lock()
	chance := n.pending[id]
	delete(n.pending, id) // net/http's client may send the request again by itself
	n.mu.Unlock()
	x := &exchange{w: w, r: r, body: body, random: chance, keys: n.mode.keys, serve: func(lost bool) *httptest.ResponseRecorder {
		in := r.Clone(context.WithoutCancel(r.Context()))
		if !n.mode.keys {
			in.Header.Del(api.IdempotencyKeyHeader)
		}
		resp := serve(n.service, in, body, lost)
		if !lost && resp.Code < 300 {
			n.learn(r, body, resp.Body.Bytes())
		}
		return resp
	}}
	if chance == nil {
		x.send(x.process())
		return
	}
	n.fault.inject(x)
}
