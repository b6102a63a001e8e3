package apiserver_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

// disconnectStore calls functions around the commit of the next update, so that a client
// can disconnect there.
type disconnectStore struct {
	store.Store
	before  func()
	after   func(ctx context.Context)
	updates atomic.Int64
}

func (s *disconnectStore) Update(ctx context.Context, fn func(store.Tx) error) error {
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

// cutOff is a response writer that fails when the body is written.
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

// creates are the requests that can be resumed, each with a change of the created object.
var creates = []struct {
	path, body, change string
}{
	{"/mailboxes", `{"domain":"example.com","local_part":"jane","first_name":"Jane","last_name":"Doe"}`, `{"first_name":"Joan"}`},
	{"/forwarding", `{"domain":"example.com","target_email":"jane@example.org"}`, `{"target_email":"joan@example.org"}`},
	{"/dns-records", `{"domain":"example.com","name":"www","type":"A","value":"192.0.2.1","ttl":300}`, `{"ttl":600}`},
}

// lostResponses are the ways in which a client does not receive a response.
var lostResponses = map[string]func(*apitest.Server, *disconnectStore, *http.Request){
	"the handler is aborted": func(h *apitest.Server, _ *disconnectStore, r *http.Request) {
		defer func() { _ = recover() }()
		h.Service.Handler().ServeHTTP(cutOff{httptest.NewRecorder(), true}, r)
	},
	"writing fails": func(h *apitest.Server, _ *disconnectStore, r *http.Request) {
		h.Service.Handler().ServeHTTP(cutOff{httptest.NewRecorder(), false}, r)
	},
	"the request is cancelled": func(h *apitest.Server, s *disconnectStore, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		s.after = func(context.Context) { cancel() }
		h.Service.Handler().ServeHTTP(httptest.NewRecorder(), r.WithContext(ctx))
	},
	"the request is cancelled before the commit": func(h *apitest.Server, s *disconnectStore, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		s.before = cancel
		h.Service.Handler().ServeHTTP(httptest.NewRecorder(), r.WithContext(ctx))
	},
	"the body is not read": func(h *apitest.Server, s *disconnectStore, r *http.Request) {
		before := s.updates.Load()
		resp, err := h.Service.Client().Do(r)
		if err != nil {
			h.T.Fatal(err)
		}
		resp.Body.Close()
		for s.updates.Load() < before+2 { // the create and its delivery mark
			runtime.Gosched()
		}
	},
	"the socket is closed": func(h *apitest.Server, s *disconnectStore, r *http.Request) {
		server := httptest.NewServer(h.Service.Handler())
		defer server.Close() // waits for the handler
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			h.T.Fatal(err)
		}
		done := make(chan struct{})
		s.after = func(ctx context.Context) {
			_ = conn.Close()
			<-ctx.Done()
			close(done)
		}
		if err := r.Write(conn); err != nil {
			h.T.Fatal(err)
		}
		apitest.Receive(h.T, done)
	},
}

// interrupted returns a client whose create request has lost its response.
func interrupted(t *testing.T, path, body string, lose func(*apitest.Server, *disconnectStore, *http.Request)) (*apitest.Server, *apitest.Client) {
	t.Helper()
	s := &disconnectStore{Store: newStore(t)}
	h := apitest.New(t, func(o *apiserver.Options) { o.Store = s })
	h.Domain("example.com")
	token, err := h.Service.IssueOwnerToken(t.Context(), h.Account, "test")
	if err != nil {
		t.Fatal(err)
	}
	c := h.As(token)
	c.Get("").Want(200) // authentication writes its state before the interrupted request
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://mailhost.test/v1/public/accounts/"+h.Account+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + token}, "Idempotency-Key": {key}}
	lose(h, s, r)
	s.before, s.after = nil, nil
	return h, c
}

func aborted(h *apitest.Server, s *disconnectStore, r *http.Request) {
	lostResponses["the handler is aborted"](h, s, r)
}

// TestInterruptedCreate checks that a new create request resumes one whose response was
// lost, and does so only once.
func TestInterruptedCreate(t *testing.T) {
	for _, create := range creates {
		for name, lose := range lostResponses {
			t.Run(create.path+"/"+name, func(t *testing.T) {
				_, c := interrupted(t, create.path, create.body, lose)
				for i, want := range []int{201, 409, 409} {
					a := c.PostKeyed(uuid.NewString(), create.path, create.body).Want(want)
					if a.Resumed() != (i == 0) {
						t.Errorf("create %d: resumed %t", i, a.Resumed())
					}
				}
			})
		}
	}
}

// TestUninterruptedCreate checks when a create is not resumed: after its response was
// delivered or its outcome was looked up, after its object was changed, after its record
// has expired, and for another caller.
func TestUninterruptedCreate(t *testing.T) {
	for _, create := range creates {
		for name, tt := range map[string]struct {
			meanwhile func(h *apitest.Server, c *apitest.Client)
			want      int
		}{
			"its response is replayed": {func(_ *apitest.Server, c *apitest.Client) {
				if a := c.PostKeyed(key, create.path, create.body).Want(201); !a.Replayed() || a.Resumed() {
					t.Errorf("replayed %t, resumed %t", a.Replayed(), a.Resumed())
				}
			}, 409},
			"its outcome is looked up": {func(_ *apitest.Server, c *apitest.Client) {
				if a := c.Do("GET", create.path, nil, "Idempotency-Lookup", key).Want(200); a.Header.Get("Idempotency-Replayed") != "false" {
					t.Error("the lookup does not say that the create would be replayed")
				}
			}, 409},
			"its object was changed": {func(h *apitest.Server, _ *apitest.Client) {
				h.Patch(create.path+"/"+newest(h, create.path), create.change).Want(200)
			}, 0},
			"its object was deleted": {func(h *apitest.Server, _ *apitest.Client) {
				h.Delete(create.path + "/" + newest(h, create.path)).Want(204)
			}, 201},
			"its record has expired":        {func(h *apitest.Server, _ *apitest.Client) { h.Clock.Advance(24 * time.Hour) }, 409},
			"another caller sends the same": {func(h *apitest.Server, c *apitest.Client) { *c = *h.Client }, 409},
		} {
			t.Run(create.path+"/"+name, func(t *testing.T) {
				h, c := interrupted(t, create.path, create.body, aborted)
				tt.meanwhile(h, c)
				a := c.PostKeyed(otherKey, create.path, create.body)
				if a.Resumed() {
					t.Errorf("it was resumed: %s", a)
				}
				if tt.want != 0 {
					a.Want(tt.want)
				}
			})
		}
		t.Run(create.path+"/others look it up", func(t *testing.T) {
			h, c := interrupted(t, create.path, create.body, aborted)
			for _, other := range []*apitest.Response{
				h.Do("GET", create.path, nil, "Idempotency-Lookup", key).Want(200),
				c.Do("GET", create.path, nil, "Idempotency-Lookup", otherKey).Want(200),
			} {
				if found := other.Header.Get("Idempotency-Replayed"); found != "" {
					t.Errorf("a lookup of somebody else finds a record: %s", found)
				}
				if other.Header.Get("Idempotency-Lookup") != "none" {
					t.Error("a lookup without a record does not say so")
				}
			}
			c.Do("GET", "/mailboxes/nobody", nil, "Idempotency-Lookup", key).Want(404)
			if !c.PostKeyed(otherKey, create.path, create.body).Want(201).Resumed() {
				t.Error("it was not resumed")
			}
		})
		t.Run(create.path+"/its response was delivered", func(t *testing.T) {
			h := apitest.New(t)
			h.Domain("example.com")
			h.PostKeyed(key, create.path, create.body).Want(201)
			h.PostKeyed(otherKey, create.path, create.body).Want(409)
		})
	}
}

// TestReplayByAnotherReplica checks that a create is not resumed if another replica delivered
// its response, or looked up its outcome, while the first one still served the create.
func TestReplayByAnotherReplica(t *testing.T) {
	for _, create := range creates {
		for name, learn := range map[string]func(c *apitest.Client){
			"replayed": func(c *apitest.Client) {
				if !c.PostKeyed(key, create.path, create.body).Want(201).Replayed() {
					t.Error("the response is not a replay")
				}
			},
			"looked up": func(c *apitest.Client) { c.Do("GET", create.path, nil, "Idempotency-Lookup", key).Want(200) },
			"resumed": func(c *apitest.Client) {
				if !c.PostKeyed(uuid.NewString(), create.path, create.body).Want(201).Resumed() {
					t.Error("it was not resumed")
				}
			},
		} {
			t.Run(create.path+"/"+name, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "mailhost.db")
				s := &disconnectStore{}
				var replicas [2]*apitest.Server
				for i := range replicas {
					db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
					if err != nil {
						t.Fatal(err)
					}
					replicas[i] = apitest.New(t, func(o *apiserver.Options) {
						if o.Store = db; i == 0 {
							s.Store, o.Store = db, s
						}
					})
				}
				first, second := replicas[0], replicas[1]
				first.Domain("example.com")
				token, err := first.Service.IssueOwnerToken(t.Context(), first.Account, "test")
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if name == "resumed" { // which needs the mark of the create's own transaction
					s.before = cancel
				}
				s.after = func(context.Context) { learn(second.As(token)) }
				r, err := http.NewRequestWithContext(ctx, http.MethodPost, "/v1/public/accounts/"+first.Account+create.path, strings.NewReader(create.body))
				if err != nil {
					t.Fatal(err)
				}
				r.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + token}, "Idempotency-Key": {key}}
				aborted(first, s, r)
				for _, h := range replicas {
					if a := h.As(token).PostKeyed(uuid.NewString(), create.path, create.body).Want(409); a.Resumed() {
						t.Errorf("it was resumed once more: %s", a)
					}
				}
			})
		}
	}
}

// newest returns the id of the only object that does not come with the account.
func newest(h *apitest.Server, path string) string {
	for _, item := range h.Get(path).Want(200).At("items").([]any) {
		if o := item.(obj); o["is_system_managed"] != true {
			if id, ok := o["id"].(string); ok {
				return id
			}
			return itoa(int(o["id"].(float64)))
		}
	}
	h.T.Fatalf("%s has nothing new", path)
	return ""
}
