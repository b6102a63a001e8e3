package apiserver_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

func (a *answer) resumed() bool { return a.header.Get("Idempotency-Resumed") == "true" }

// leavingStore lets a client leave around the commit of a request's change.
type leavingStore struct {
	store.Store
	before  func()
	after   func(ctx context.Context)
	updates atomic.Int64
}

func (s *leavingStore) Update(ctx context.Context, fn func(store.Tx) error) error {
	defer s.updates.Add(1)
	if s.before == nil && s.after == nil {
		return s.Store.Update(ctx, fn)
	}
	before, after := s.before, s.after
	s.before, s.after = nil, nil
	err := s.Store.Update(ctx, func(tx store.Tx) error {
		if before != nil {
			before()
		}
		return fn(tx)
	})
	if after != nil {
		after(ctx)
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

// creates are the requests that can be resumed, with a change of the object.
var creates = []struct {
	path, body, change string
}{
	{"/mailboxes", `{"domain":"example.com","local_part":"jane","first_name":"Jane","last_name":"Doe"}`, `{"first_name":"Joan"}`},
	{"/forwarding", `{"domain":"example.com","target_email":"jane@example.org"}`, `{"target_email":"joan@example.org"}`},
	{"/dns-records", `{"domain":"example.com","name":"www","type":"A","value":"192.0.2.1","ttl":300}`, `{"ttl":600}`},
}

// lostResponses are ways in which a client does not get a response.
var lostResponses = map[string]func(*harness, *leavingStore, *http.Request){
	"the handler is aborted": func(h *harness, _ *leavingStore, r *http.Request) {
		defer func() { _ = recover() }()
		h.svc.Handler().ServeHTTP(cutOff{httptest.NewRecorder(), true}, r)
	},
	"writing fails": func(h *harness, _ *leavingStore, r *http.Request) {
		h.svc.Handler().ServeHTTP(cutOff{httptest.NewRecorder(), false}, r)
	},
	"the request is cancelled": func(h *harness, s *leavingStore, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		s.after = func(context.Context) { cancel() }
		h.svc.Handler().ServeHTTP(httptest.NewRecorder(), r.WithContext(ctx))
	},
	"the request is cancelled before the commit": func(h *harness, s *leavingStore, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		s.before = cancel
		h.svc.Handler().ServeHTTP(httptest.NewRecorder(), r.WithContext(ctx))
	},
	"the body is not read": func(h *harness, s *leavingStore, r *http.Request) {
		before := s.updates.Load()
		resp, err := h.svc.Client().Do(r)
		if err != nil {
			h.t.Fatal(err)
		}
		resp.Body.Close()
		for s.updates.Load() < before+2 { // the create and its mark
			runtime.Gosched()
		}
	},
	"the socket is closed": func(h *harness, s *leavingStore, r *http.Request) {
		server := httptest.NewServer(h.svc.Handler())
		defer server.Close() // waits for the handler
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			h.t.Fatal(err)
		}
		done := make(chan struct{})
		s.after = func(ctx context.Context) {
			_ = conn.Close()
			<-ctx.Done()
			close(done)
		}
		if err := r.Write(conn); err != nil {
			h.t.Fatal(err)
		}
		<-done
	},
}

// interrupted returns a client whose create lost its response.
func interrupted(t *testing.T, path, body string, lose func(*harness, *leavingStore, *http.Request)) (*harness, *client) {
	t.Helper()
	s := &leavingStore{Store: newStore(t)}
	h := newHarness(t, func(o *apiserver.Options) { o.Store = s })
	h.domain("example.com")
	token, err := h.svc.IssueOwnerToken(t.Context(), h.account, "test")
	if err != nil {
		t.Fatal(err)
	}
	c := h.as(token)
	c.get("").want(200) // what authentication stores is stored by now
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://mailhost.test/v1/public/accounts/"+h.account+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + token}, "Idempotency-Key": {key}}
	lose(h, s, r)
	s.before, s.after = nil, nil
	return h, c
}

func aborted(h *harness, s *leavingStore, r *http.Request) {
	lostResponses["the handler is aborted"](h, s, r)
}

// TestInterruptedCreate checks that a create goes on, once, where one ended whose
// response was lost.
func TestInterruptedCreate(t *testing.T) {
	for _, create := range creates {
		for name, lose := range lostResponses {
			t.Run(create.path+"/"+name, func(t *testing.T) {
				_, c := interrupted(t, create.path, create.body, lose)
				for i, want := range []int{201, 409, 409} {
					a := c.keyed(uuid.NewString(), create.path, create.body).want(want)
					if a.resumed() != (i == 0) {
						t.Errorf("create %d: resumed %t", i, a.resumed())
					}
				}
			})
		}
	}
}

// TestUninterruptedCreate checks what ends an interruption, and what is none.
func TestUninterruptedCreate(t *testing.T) {
	for _, create := range creates {
		for name, tt := range map[string]struct {
			meanwhile func(h *harness, c *client)
			want      int
		}{
			"its response is replayed": {func(_ *harness, c *client) {
				if a := c.keyed(key, create.path, create.body).want(201); !a.replayed() || a.resumed() {
					t.Errorf("replayed %t, resumed %t", a.replayed(), a.resumed())
				}
			}, 409},
			"its outcome is looked up": {func(_ *harness, c *client) {
				c.do("GET", create.path, nil, "Idempotency-Lookup", key).want(200)
			}, 409},
			"its object was changed": {func(h *harness, _ *client) {
				h.patch(create.path+"/"+h.newest(create.path), create.change).want(200)
			}, 0},
			"its object was deleted":        {func(h *harness, _ *client) { h.delete(create.path + "/" + h.newest(create.path)).want(204) }, 201},
			"its record has expired":        {func(h *harness, _ *client) { h.clock.Advance(24 * time.Hour) }, 409},
			"another caller sends the same": {func(h *harness, c *client) { *c = *h.client }, 409},
		} {
			t.Run(create.path+"/"+name, func(t *testing.T) {
				h, c := interrupted(t, create.path, create.body, aborted)
				tt.meanwhile(h, c)
				a := c.keyed(otherKey, create.path, create.body)
				if a.resumed() {
					t.Errorf("it was resumed: %s", a)
				}
				if tt.want != 0 {
					a.want(tt.want)
				}
			})
		}
		t.Run(create.path+"/others look it up", func(t *testing.T) {
			h, c := interrupted(t, create.path, create.body, aborted)
			h.do("GET", create.path, nil, "Idempotency-Lookup", key).want(200)
			c.do("GET", create.path, nil, "Idempotency-Lookup", otherKey).want(200)
			c.do("GET", "/mailboxes/nobody", nil, "Idempotency-Lookup", key).want(404)
			if !c.keyed(otherKey, create.path, create.body).want(201).resumed() {
				t.Error("it was not resumed")
			}
		})
		t.Run(create.path+"/its response was delivered", func(t *testing.T) {
			h := newHarness(t)
			h.domain("example.com")
			h.keyed(key, create.path, create.body).want(201)
			h.keyed(otherKey, create.path, create.body).want(409)
		})
	}
}

// newest returns the id of the one object that the account was not created with.
func (h *harness) newest(path string) string {
	for _, item := range h.get(path).want(200).at("items").([]any) {
		if o := item.(obj); o["is_system_managed"] != true {
			if id, ok := o["id"].(string); ok {
				return id
			}
			return itoa(int(o["id"].(float64)))
		}
	}
	h.t.Fatalf("%s has nothing new", path)
	return ""
}
