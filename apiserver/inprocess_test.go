package apiserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// endlessReader returns mailboxes without end. After before mailboxes it returns err, if set, or
// panics if err is errPanic.
type endlessReader struct {
	store.Reader
	before int64
	err    error
}

func (r endlessReader) EachMailbox(_ string, f store.MailboxFilter, fn func(store.Mailbox) error) error {
	begin := int64(0)
	if f.After != nil {
		last, _ := strconv.ParseInt(f.After.ID, 10, 64)
		begin = last + 1
	}
	for i := begin; r.err == nil || i < r.before; i++ {
		if err := fn(store.Mailbox{ID: fmt.Sprint(i), LocalPart: fmt.Sprint("u", i), DomainName: "example.com"}); err != nil {
			return err
		}
	}
	if r.err == errPanic {
		panic(r.err)
	}
	return r.err
}

var errPanic = errors.New("the disk is gone, and a rule panics")

// endless returns a store with an endlessReader.
func endless(t *testing.T, before int64, err error) *faulty {
	s := newFaulty(t)
	s.reader = func(r store.Reader) store.Reader { return endlessReader{r, before, err} }
	return s
}

// exportOf starts an export over HTTP from an endless store. done is closed when the handler
// returns.
func exportOf(ctx context.Context, t *testing.T, s store.Store) (resp *http.Response, done chan struct{}) {
	t.Helper()
	done = make(chan struct{})
	h := apitest.New(t, func(o *apiserver.Options) {
		o.Store = s
		o.Middleware = func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				defer close(done)
				next.ServeHTTP(w, r)
			})
		}
	})
	return startExport(ctx, t, h.Listen()), done
}

// startExport requests an export, and returns the response before it ends.
func startExport(ctx context.Context, t *testing.T, c *apitest.Client) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+"/v1/public/accounts/"+accountID+"/mailboxes/export", strings.NewReader(`{}`))
	assert.NilError(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+c.Token)
	resp, err := c.HTTP.Do(r)
	assert.NilError(t, err)
	return resp
}

func TestCancelledExport(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	resp, done := exportOf(ctx, t, endless(t, 0, nil))
	defer resp.Body.Close()
	_, err := io.ReadFull(resp.Body, make([]byte, 1000))
	assert.NilError(t, err)
	cancel()
	_, err = io.Copy(io.Discard, resp.Body)
	assert.Check(t, errors.Is(err, context.Canceled), "reading the rest returns %v; want context.Canceled", err)
	apitest.Receive(t, done)
}

// TestExportCutOff checks that a cut-off response ends with an error, over HTTP and in process, so
// that it does not look complete.
func TestExportCutOff(t *testing.T) {
	for _, cause := range []error{errors.New("the disk is gone"), errPanic} {
		h := apitest.New(t, func(o *apiserver.Options) { o.Store = endless(t, 5000, cause) })
		inProcess := *h.Client
		inProcess.URL = "http://mailhost.test"
		for _, c := range []*apitest.Client{h.Listen(), &inProcess} {
			resp := startExport(t.Context(), t, c)
			defer resp.Body.Close()
			n, err := io.Copy(io.Discard, resp.Body)
			assert.Check(t, n > 0 && err != nil && !strings.Contains(err.Error(), "disk"), "%s: %d bytes, then %v; want an error without details", cause, n, err)
		}
	}
}

// stalled is a response to a client that reads nothing until it disconnects.
type stalled struct {
	http.ResponseWriter
	begun chan<- struct{}
	gone  <-chan struct{}
}

func (w stalled) Write([]byte) (int, error) {
	w.begun <- struct{}{}
	<-w.gone
	return 0, io.ErrClosedPipe
}

// TestStalledExports checks that clients that don't read their exports don't block other readers.
func TestStalledExports(t *testing.T) {
	t.Parallel()
	begun, gone := make(chan struct{}), make(chan struct{})
	h := apitest.New(t, func(o *apiserver.Options) {
		o.Store = endless(t, 0, nil)
		o.Middleware = func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					w = stalled{w, begun, gone}
				}
				next.ServeHTTP(w, r)
			})
		}
	})
	var exports sync.WaitGroup
	for range max(16, 2*runtime.GOMAXPROCS(0)) { // as many as the readers
		exports.Go(func() { _, _ = h.Try(t.Context(), "POST", "/mailboxes/export", obj{}) })
		apitest.Receive(t, begun)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	a, err := h.Try(ctx, "GET", "/workspaces", nil)
	assert.Check(t, err == nil && a.Status == 200, "%v %v", a, err)
	close(gone)
	exports.Wait()
}

func TestInProcessCancelsARequest(t *testing.T) {
	s, left := newFaulty(t), make(chan struct{})
	h := apitest.New(t, func(o *apiserver.Options) { o.Store = s })
	ctx, cancel := context.WithCancel(t.Context())
	block := hook(func(ctx context.Context) error {
		defer close(left)
		cancel()
		<-ctx.Done()
		return ctx.Err()
	})
	s.view.Store(&block)
	_, err := h.Try(ctx, "GET", "/mailboxes", nil)
	assert.Check(t, errors.Is(err, context.Canceled), "the request returns %v; want context.Canceled", err)
	apitest.Receive(t, left)
}

// TestInProcessAborts checks that a request fails if its handler aborts before it responds.
func TestInProcessAborts(t *testing.T) {
	h := apitest.New(t, func(o *apiserver.Options) {
		o.Middleware = func(http.Handler) http.Handler {
			return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
		}
	})
	a, err := h.Try(t.Context(), "GET", "/mailboxes", nil)
	assert.Check(t, err != nil, "the response is %v", a)
}

func TestPanics(t *testing.T) {
	s := newFaulty(t)
	h := apitest.New(t, func(o *apiserver.Options) { o.Store = s })
	panics := hook(func(context.Context) error { panic("secret: 10.1.2.3") })
	s.view.Store(&panics)
	a := h.Get("/mailboxes").Refused(500, "header internal_error")
	assert.Check(t, !strings.Contains(string(a.Raw), "10.1.2.3"), "the response contains the internal error: %s", a)
	s.view.Store(nil)
	h.Get("/mailboxes").Want(200)
}

// closeNotifier is a body that reports its Close.
type closeNotifier struct {
	io.Reader
	once   sync.Once
	closed chan struct{}
}

func (b *closeNotifier) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}

func TestInProcessClosesTheRequest(t *testing.T) {
	h := apitest.New(t)
	for _, path := range []string{"/workspaces", "/nothing"} {
		b := &closeNotifier{Reader: strings.NewReader(`{"name":"x"}`), closed: make(chan struct{})}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://mailhost.test/v1/public/accounts/"+accountID+path, b)
		assert.NilError(t, err)
		r.Header.Set("Content-Type", "application/json")
		resp, err := h.HTTP.Do(r)
		assert.NilError(t, err)
		assert.Check(t, resp.Body.Close())
		apitest.Receive(t, b.closed)
	}
	h.Get("/workspaces").Is("total", 2) // the body of unknown length was read
}

// TestOwnerClient checks that the owner's client ignores an Authorization header and can use only
// its own account.
func TestOwnerClient(t *testing.T) {
	var trusted []bool
	h := apitest.New(t, func(o *apiserver.Options) {
		o.Middleware = func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				trusted = append(trusted, apiserver.RequestOf(r.Context()).Trusted)
				next.ServeHTTP(w, r)
			})
		}
	})
	h.HTTP = h.Service.OwnerClient("urn:uuid:" + accountID) // any form of a UUID
	h.Do("GET", "/mailboxes", nil, "Authorization", "Bearer x").Want(200)
	if h.As("").Get("/mailboxes").Want(401); !slices.Equal(trusted, []bool{true, false}) {
		t.Errorf("the requests are trusted: %v", trusted)
	}
	h.Account = nobody
	h.Get("/mailboxes").Refused(403, "header.Authorization permission_denied")
}
