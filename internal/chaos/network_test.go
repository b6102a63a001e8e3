package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"maps"
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

// network connects a provider with a service, and injects one kind of fault. On the
// client's side it is an http.RoundTripper, on the server's an http.Handler.
type network struct {
	seed    uint64
	fault   *fault
	percent int
	mode    mode
	service http.Handler

	// isRemote: the provider is in another process, so that only the server's end is here.
	isRemote    bool
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

func newNetwork(seed uint64, r row, service http.Handler) *network {
	n := &network{
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
func (n *network) listen() {
	go func() { _ = n.server.Serve(n) }()
}

// listenOnLoopback serves a provider in another process, and returns the URL.
func (n *network) listenOnLoopback() (url string, err error) {
	n.isRemote = true
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go func() { _ = n.server.Serve(l) }()
	return "http://" + l.Addr().String(), nil
}

// settle waits for requests that arrive late.
func (n *network) settle() {
	if !n.isRemote {
		time.Sleep(late)
	}
}

// stop closes all connections and waits for the requests that the service still has.
func (n *network) stop() {
	n.client.CloseIdleConnections()
	n.settle()
	_ = n.server.Close()
}

type refusedKey struct{}

// dial opens a connection in memory.
func (n *network) dial(ctx context.Context, _, _ string) (net.Conn, error) {
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
func (n *network) Accept() (net.Conn, error) {
	c, ok := <-n.connections
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

// Close implements net.Listener.
func (n *network) Close() error {
	close(n.connections)
	return nil
}

// Addr implements net.Listener.
func (n *network) Addr() net.Addr { return &net.TCPAddr{} }

// RoundTrip implements http.RoundTripper for the provider.
func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
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
func (n *network) draw(r *http.Request, body []byte) (chance *rand.Rand, attempt string) {
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

func (n *network) note(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.log(fmt.Sprintf(format, args...))
}

// setQuiet ends the faults, or begins them again.
func (n *network) setQuiet(quiet bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.quiet = quiet
}

var idPattern = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9]{12,}`)

// replaceIDs replaces ids by what they name, because ids are different in each run. The
// caller holds mu.
func (n *network) replaceIDs(text string) string {
	return idPattern.ReplaceAllStringFunc(text, func(id string) string {
		if name, ok := n.names[id]; ok {
			return name
		}
		return id
	})
}

// learn names the objects in the response to a create by their domain or address, or else
// by the request.
func (n *network) learn(r *http.Request, body, response []byte) {
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
func (n *network) learnFrom(part any, fallback string) {
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
func (n *network) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if n.isRemote {
		_, attempt := n.draw(r, body)
		n.note("%s", attempt)
	}
	id := r.Header.Get("X-Request-Id")
	n.mu.Lock()
	chance := n.pending[id]
	delete(n.pending, id) // net/http's client may send the request again by itself
	n.mu.Unlock()
	x := &exchange{network: n, w: w, r: r, body: body, random: chance}
	if chance == nil {
		x.send(x.process())
		return
	}
	n.fault.inject(x)
}

// exchange is a request at the server's end of the connection.
type exchange struct {
	network *network
	w       http.ResponseWriter
	r       *http.Request
	body    []byte
	random  *rand.Rand
}

// process passes the request on to the service, whose client does not disconnect.
func (x *exchange) process() *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	x.network.service.ServeHTTP(w, x.request(context.WithoutCancel(x.r.Context())))
	if w.Code < 300 {
		x.network.learn(x.r, x.body, w.Body.Bytes())
	}
	return w
}

// processUnnoticed passes the request on to the service, whose client has disconnected
// when the response is written.
func (x *exchange) processUnnoticed() {
	ctx, cancel := context.WithCancel(context.WithoutCancel(x.r.Context()))
	defer cancel()
	x.network.service.ServeHTTP(&disconnected{header: http.Header{}, cancel: cancel}, x.request(ctx))
}

func (x *exchange) request(ctx context.Context) *http.Request {
	r := x.r.Clone(ctx)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(x.body)), int64(len(x.body))
	if !x.network.mode.keys {
		r.Header.Del(api.IdempotencyKeyHeader)
		r.Header.Del(api.IdempotencyLookupHeader)
	}
	return r
}

// send sends a response of the service to the client.
func (x *exchange) send(resp *httptest.ResponseRecorder) {
	maps.Copy(x.w.Header(), resp.Header())
	x.w.WriteHeader(resp.Code)
	_, _ = x.w.Write(resp.Body.Bytes())
}

// page sends a response that is not the API's.
func (x *exchange) page(status int, contentType, text string) {
	x.w.Header().Set("Content-Type", contentType)
	x.w.WriteHeader(status)
	_, _ = io.WriteString(x.w, text)
}

// reset closes the connection.
func (x *exchange) reset() {
	if conn, _, err := http.NewResponseController(x.w).Hijack(); err == nil {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // with a reset
		}
		_ = conn.Close()
	}
	panic(http.ErrAbortHandler)
}

// disconnected is the http.ResponseWriter of a client that has disconnected.
type disconnected struct {
	header http.Header
	cancel context.CancelFunc
}

// Header implements http.ResponseWriter.
func (d *disconnected) Header() http.Header { return d.header }

// WriteHeader implements http.ResponseWriter.
func (d *disconnected) WriteHeader(int) { d.cancel() }

// Write implements http.ResponseWriter.
func (d *disconnected) Write([]byte) (int, error) {
	d.cancel()
	return 0, errors.New("connection reset by peer")
}
