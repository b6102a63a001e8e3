package apiserver_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

func (a *answer) delivered() string { return a.header.Get("Idempotency-Delivered") }

// leavingStore calls leave, as a client may, when a request's change is committed.
type leavingStore struct {
	store.Store
	leave func(ctx context.Context)
}

func (s *leavingStore) Update(ctx context.Context, fn func(store.Tx) error) error {
	err := s.Store.Update(ctx, fn)
	if s.leave != nil {
		s.leave(ctx)
	}
	return err
}

// cutOff is a connection that breaks with the response.
type cutOff struct {
	http.ResponseWriter
	panics bool
}

func (c cutOff) Write([]byte) (int, error) {
	if c.panics {
		panic(http.ErrAbortHandler)
	}
	return 0, io.ErrClosedPipe
}

// A response to a client that is gone is not delivered, however that shows.
func TestNotDelivered(t *testing.T) {
	const path, body = "/workspaces", `{"name":"lost"}`
	for name, send := range map[string]func(*harness, *leavingStore, *http.Request){
		"the handler is aborted": func(h *harness, _ *leavingStore, r *http.Request) {
			defer func() { _ = recover() }()
			h.svc.Handler().ServeHTTP(cutOff{httptest.NewRecorder(), true}, r)
		},
		"writing fails": func(h *harness, _ *leavingStore, r *http.Request) {
			h.svc.Handler().ServeHTTP(cutOff{httptest.NewRecorder(), false}, r)
		},
		"the request is cancelled": func(h *harness, s *leavingStore, r *http.Request) {
			ctx, cancel := context.WithCancel(r.Context())
			s.leave = func(context.Context) { cancel() }
			h.svc.Handler().ServeHTTP(httptest.NewRecorder(), r.WithContext(ctx))
		},
		"the body is not read": func(h *harness, _ *leavingStore, r *http.Request) {
			resp, err := h.svc.Client().Do(r)
			if err != nil {
				h.t.Fatal(err)
			}
			resp.Body.Close()
		},
		"the socket is closed": func(h *harness, s *leavingStore, r *http.Request) {
			server := httptest.NewServer(h.svc.Handler())
			defer server.Close() // waits for the handler
			conn, err := net.Dial("tcp", server.Listener.Addr().String())
			if err != nil {
				h.t.Fatal(err)
			}
			done := make(chan struct{})
			s.leave = func(ctx context.Context) {
				_ = conn.Close()
				<-ctx.Done()
				close(done)
			}
			if err := r.Write(conn); err != nil {
				h.t.Fatal(err)
			}
			<-done
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &leavingStore{Store: newStore(t)}
			h := newHarness(t, func(o *apiserver.Options) { o.Store = s })
			token, err := h.svc.IssueOwnerToken(t.Context(), h.account, "test")
			if err != nil {
				t.Fatal(err)
			}
			h.as(token).get(path) // what authentication stores is stored by now
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://mailhost.test/v1/public/accounts/"+h.account+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + token}, "Idempotency-Key": {key}}
			send(h, s, r)
			s.leave = nil
			for _, delivered := range []string{"false", "true"} { // a replay is a delivery
				a := h.as(token).keyed(key, path, obj{"name": "lost"})
				for a.status == http.StatusConflict && a.header.Get("Retry-After") != "" { // the handler has not ended yet
					a = h.as(token).keyed(key, path, obj{"name": "lost"})
				}
				if a.want(http.StatusCreated); a.delivered() != delivered {
					t.Errorf("delivered %q, want %s", a.delivered(), delivered)
				}
			}
		})
	}
}

// A replayed response reports whether it had been delivered, after a restart too.
func TestDelivered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mailhost.db")
	for i, want := range []string{"", "true"} {
		t.Run(itoa(i), func(t *testing.T) {
			s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			h := newHarness(t, func(o *apiserver.Options) { o.Store = s })
			for _, want := range []string{want, "true"} {
				if a := h.keyed(key, "/workspaces", obj{"name": "a"}).want(http.StatusCreated); a.delivered() != want {
					t.Errorf("delivered %q, want %q", a.delivered(), want)
				}
			}
		})
	}
}
