package transport_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/oauth2"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/fakeapi"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/transport"
)

// over returns a client that connects to a test server over the network.
func over(t *testing.T, url string, change ...func(*client.Options)) (*client.Client, *fakeapi.Clock) {
	t.Helper()
	f := fakeapi.New()
	network := func(o *client.Options) { o.BaseURL, o.Transport, o.Hooks.RetryMax = url, nil, 3 }
	return newClient(t, f, append([]func(*client.Options){network}, change...)...), f.Clock
}

// serve runs a fake API over the network.
func serve(t *testing.T, f *fakeapi.API) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		resp, err := f.RoundTrip(r)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		maps.Copy(w.Header(), resp.Header)
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
	}))
	t.Cleanup(server.Close)
	return server
}

// TestTransportDoesNotRepeatACreate checks that only the create logic repeats a create. By
// default, net/http repeats a request with an Idempotency-Key if a reused connection
// breaks.
func TestTransportDoesNotRepeatACreate(t *testing.T) {
	f := fakeapi.New().Fail(fakeapi.Fault{Op: "create-mailbox", DropAfter: true})
	server := serve(t, f)
	c, _ := over(t, server.URL)
	for range c.ListMailboxes(t.Context(), api.ListMailboxesRequest{}) { //nolint:errcheck // leaves a connection to reuse
	}
	_, err := createMailbox(t.Context(), c)
	assert.NilError(t, err)
	n := f.Count("create-mailbox")
	assert.Check(t, n == 1 && len(f.Stored["mailboxes"]) == 1, "%d requests: %v", n, f.Sent())
}

func TestPermanentFailuresAreNotRetried(t *testing.T) {
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	secure.Config.ErrorLog = nil
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	for name, url := range map[string]string{
		"unknown certificate": secure.URL,
		"no TLS":              strings.Replace(plain.URL, "http", "https", 1),
	} {
		c, clock := over(t, url)
		_, err := c.Mailboxes.Get(t.Context(), "m")
		assert.Check(t, err != nil && len(clock.Sleeps) == 0 && client.StatusOf(err) == 0 && strings.Contains(err.Error(), "can't be reached"), "%s: %v after %d waits", name, err, len(clock.Sleeps))
	}
	noSuchHost := roundTripper(func(r *http.Request) (*http.Response, error) {
		return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
	})
	for isTraced, next := range map[bool]http.RoundTripper{true: tracing(noSuchHost), false: noSuchHost} { // which may have sent the request before
		c, clock := over(t, "http://nowhere.invalid", func(o *client.Options) { o.Transport = next })
		_, err := c.Mailboxes.Get(t.Context(), "m")
		assert.Check(t, err != nil && (len(clock.Sleeps) == 0) == isTraced, "%v after %d waits", err, len(clock.Sleeps))
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// tracing makes a RoundTripper report that it sent nothing.
func tracing(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		httptrace.ContextClientTrace(r.Context()).GetConn("")
		return next.RoundTrip(r)
	})
}

// TestRedirectIsNotFollowed checks that a redirect is an error: following it would send
// the token elsewhere.
func TestRedirectIsNotFollowed(t *testing.T) {
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	c, _ := over(t, server.URL)
	_, err := c.SubmitFeedback(t.Context(), api.SubmitFeedbackBody{Title: "t"})
	if client.StatusOf(err) != http.StatusTemporaryRedirect || elsewhere.Load() != 0 || !strings.Contains(err.Error(), "request submit-feedback for t failed: the response is a redirect") {
		t.Errorf("%v, %d requests elsewhere", err, elsewhere.Load())
	}
}

func TestHeaders(t *testing.T) {
	f := fakeapi.New()
	c := newClient(t, f, func(o *client.Options) {
		o.UserAgent = "test/1"
		o.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
			assert.Check(t, (r.Body == nil) == (r.Method == http.MethodGet) && !strings.HasSuffix(r.URL.String(), "?"), "%s %s with the body %v", r.Method, r.URL, r.Body)
			return f.RoundTrip(r)
		})
	})
	_, _ = createMailbox(t.Context(), c)
	_, _ = c.Mailboxes.Get(t.Context(), "m")
	post, get := f.Requests[0], f.Requests[1]
	for _, r := range []fakeapi.Request{post, get} {
		h := r.Header
		assert.Check(t, h.Get("Authorization") == "Bearer secret-token" && h.Get("User-Agent") == "test/1" && h.Get("Accept") == "application/json" && h.Get("X-Request-Id") != "", "%s: %v", r.Op, h)
	}
	assert.Check(t, post.Header.Get("Content-Type") == "application/json" && post.Key != "" && post.Header.Get("X-Request-Id") != post.Key, "%v", post.Header)
	_, keyed := get.Header["Idempotency-Key"]
	assert.Check(t, !keyed && get.Header.Get("Content-Type") == "", "%v", get.Header)
	export, err := c.ExportMailboxes(t.Context(), api.ExportMailboxesBody{})
	assert.NilError(t, err)
	csv, err := io.ReadAll(export)
	assert.Check(t, err == nil && len(csv) > 0 && export.Close() == nil && f.Requests[len(f.Requests)-1].Header.Get("Accept") == "text/csv, application/json", "%q, %v", csv, err)
	trusted := newClient(t, f, func(o *client.Options) { o.Token = "" })
	_, _ = trusted.Mailboxes.Get(t.Context(), "m")
	_, ok := f.Requests[len(f.Requests)-1].Header["Authorization"]
	assert.Check(t, !ok, "a credential without a token")
}

type tokenFunc func() (*oauth2.Token, error)

func (f tokenFunc) Token() (*oauth2.Token, error) { return f() }

func TestTokenSource(t *testing.T) {
	results := []error{
		&oauth2.RetrieveError{Response: &http.Response{StatusCode: 503}, Body: []byte("client_secret=hush")},
		errors.New("dial tcp"),
		nil,
	}
	calls := 0
	source := tokenFunc(func() (*oauth2.Token, error) {
		err := results[min(calls, len(results)-1)]
		calls++
		return &oauth2.Token{AccessToken: "from-source", Expiry: time.Now().Add(time.Hour)}, err
	})
	f := fakeapi.New()
	c := newClient(t, f, func(o *client.Options) { o.Token, o.TokenSource = "mhsa_x_y", source })
	assert.Check(t, !c.UsesServiceAccount("mhsa", "x"), "the token is used in place of the source")
	// A create is repeated only if it was certainly not sent.
	for range 2 {
		_, err := c.SubmitFeedback(t.Context(), api.SubmitFeedbackBody{Title: "t"})
		assert.NilError(t, err)
	}
	assert.Check(t, calls == 3 && f.Requests[0].Header.Get("Authorization") == "Bearer from-source", "%d calls, %v", calls, f.Requests[0].Header)

	for _, tc := range []struct {
		err     error
		text    string
		retried bool
	}{
		{&oauth2.RetrieveError{Response: &http.Response{StatusCode: 401}, Body: []byte("client_secret=hush"), ErrorCode: "invalid_client"}, "issuer: invalid_client (HTTP 401)", false},
		{&oauth2.RetrieveError{ErrorCode: "x", ErrorDescription: "client_secret=hush%2Bhush"}, "issuer: x client_secret=[redacted]", true},
		{&oauth2.RetrieveError{Response: &http.Response{StatusCode: 429}}, "issuer (HTTP 429)", true},
		{&oauth2.RetrieveError{Response: &http.Response{StatusCode: 500}}, "issuer (HTTP 500)", true},
		{&oauth2.RetrieveError{Body: []byte("hush")}, "issuer", true},
		{&url.Error{Op: "Post", URL: "https://issuer.example/hush", Err: errRefused}, "issuer: connection refused", true},
		{&transport.TokenError{Msg: "no such file", Permanent: true}, "no such file", false},
		{&transport.TokenError{Msg: "no such file"}, "no such file", true},
	} {
		f = fakeapi.New().Fail(fakeapi.Fault{Op: "get-mailbox", Status: 401})
		var sourceErr error
		c = newClient(t, f, func(o *client.Options) {
			o.Secrets = []string{"hush+hush"}
			o.TokenSource = tokenFunc(func() (*oauth2.Token, error) {
				return &oauth2.Token{AccessToken: "x", Expiry: time.Unix(1, 0)}, sourceErr
			})
		})
		_, refused := c.Mailboxes.Get(t.Context(), "m")
		sourceErr = tc.err
		_, err := c.Mailboxes.Get(t.Context(), "m")
		assert.Check(t, client.IncidentOf(err) == client.IncidentOf(refused), "%v and %v are two incidents", err, refused)
		if err == nil || strings.Contains(err.Error(), "hush") || !strings.Contains(err.Error(), tc.text+" (request id") || (len(f.Clock.Sleeps) > 0) != tc.retried {
			t.Errorf("%v after %d waits", err, len(f.Clock.Sleeps))
		}
		_, again := c.Mailboxes.Get(t.Context(), "m")
		assert.Check(t, !tc.retried || strings.Contains(again.Error(), tc.text+" (so failed"), "%v", again)
	}
}

// endless is a body without an end.
type endless struct{ read atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	e.read.Add(int64(len(p)))
	return len(p), nil
}

func TestResponsesAreLimited(t *testing.T) {
	for status, limit := range map[int]int64{200: 64 << 20, 422: 64 << 10} {
		body := &endless{}
		c, clock := over(t, "http://embedded", func(o *client.Options) {
			o.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(body), Request: r}, nil
			})
		})
		_, err := c.Mailboxes.Get(t.Context(), "m")
		if err == nil || len(err.Error()) > 2000 || body.read.Load() > limit+1 || len(clock.Sleeps) != 0 {
			t.Errorf("%d: %d bytes read, %d waits, %v", status, body.read.Load(), len(clock.Sleeps), err)
		}
		_, err = c.SubmitFeedback(t.Context(), api.SubmitFeedbackBody{Title: "t"})
		assert.Check(t, errors.As(err, new(*client.UnknownOutcomeError)) == (status == 200), "%d: %v", status, err)
	}
}

// TestReads checks the facts that a transport records from a read, that an object is no list, and that
// malformed requests are not sent.
func TestReads(t *testing.T) {
	var sent []context.Context
	tr := transport.New(transport.Options{BaseURL: "http://embedded", AccountID: "a", Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		sent = append(sent, r.Context())
		return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader("{}"))}, nil
	})})
	c, err := tr.NewCall(api.GetMailbox.Spec, &api.MailboxRequest{Mailbox: "m"})
	assert.NilError(t, err)
	_, err = transport.Send[api.Mailbox](t.Context(), c)
	_, isKnown := tr.ClockOffset()
	assert.Check(t, err == nil && c.MayBeProcessed() && !isKnown && !tr.Changed.Load() && len(sent) == 1 && sent[0].Err() != nil, "%v, %d requests", err, len(sent))
	malformed := api.GetMailbox
	malformed.Method = "a b"
	_, noMethod := transport.Do(t.Context(), tr, malformed, &api.MailboxRequest{Mailbox: "m"})
	_, noID := transport.Do(t.Context(), tr, api.GetMailbox, &api.MailboxRequest{Mailbox: ".."})
	_, noList := transport.Do(t.Context(), tr, api.ListAuthorizations, &api.ListAuthorizationsRequest{})
	tr.AccountID = ".."
	_, noAccount := transport.Stream(t.Context(), tr, api.ExportMailboxes, &api.ExportMailboxesRequest{})
	assert.Check(t, noMethod != nil && noID != nil && noList != nil && noAccount != nil && len(sent) == 2, "%v, %v, %v, %v, %d requests", noMethod, noID, noList, noAccount, len(sent))
}
