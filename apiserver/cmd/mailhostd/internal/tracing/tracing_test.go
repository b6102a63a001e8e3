package tracing_test

import (
	"bytes"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/tracing"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/tracing/tracingtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

const (
	account = "/v1/public/accounts/0b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10"
	link    = "c2VjcmV0LW9mLWEtdmVyaWZpY2F0aW9uLWxpbmstMTIzNDU"
	traceID = "0af7651916cd43dd8448eb211c80319c"
	parent  = "00-" + traceID + "-b7ad6b7169203331-01"
)

// traced is a service that exports its spans to a collector.
type traced struct {
	http.Handler
	*tracing.Tracing
	*tracingtest.Collector
	log bytes.Buffer
}

func newTraced(t *testing.T, linkParents bool, around ...func(http.Handler) http.Handler) *traced {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlite.Memory, sqlite.Options{})
	assert.NilError(t, err)
	h := &traced{Collector: tracingtest.NewCollector(t)}
	log := slog.New(tracing.LogHandler(slog.NewTextHandler(&h.log, nil)))
	if h.Tracing, err = tracing.Start(t.Context(), tracing.Options{Collector: h.URL + "/", LinkParents: linkParents, Version: "v1.2.3", Log: log}); err != nil {
		t.Fatal(err)
	}
	service, err := apiserver.New(apiserver.Options{Store: db, Logger: log, Middleware: func(next http.Handler) http.Handler {
		for _, m := range around {
			next = m(next)
		}
		return h.Middleware(next)
	}})
	assert.NilError(t, err)
	t.Cleanup(func() { _ = service.Close() })
	h.Handler = h.Tracing.Handler(service.Handler())
	return h
}

func (h *traced) send(method, path string, headers ...string) {
	r := httptest.NewRequest(method, path, http.NoBody)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	defer func() { _ = recover() }() // as net/http does
	h.ServeHTTP(httptest.NewRecorder(), r)
}

// end exports the remaining spans.
func (h *traced) end(t *testing.T) {
	t.Helper()
	h.Stop(t.Context())
}

// TestSpanOfAnOperation checks the attributes of a span, and that it continues the caller's trace or
// only links to it.
func TestSpanOfAnOperation(t *testing.T) {
	t.Parallel()
	id, err := hex.DecodeString(traceID)
	assert.NilError(t, err)
	for _, linked := range []bool{false, true} {
		h := newTraced(t, linked)
		h.send("GET", account+"/mailboxes?search=private", "Authorization", "Bearer mhsa_secret", "X-Request-Id", "request-1", "traceparent", parent)
		h.end(t)
		h.Has(t, true, api.ListMailboxes.ID, "http.route", api.ListMailboxes.Path, account+"/mailboxes", "http.response.header.x-request-id", "request-1", "service.name", "mailhostd", "v1.2.3", string(id))
		h.Has(t, false, "private", "mhsa_secret")
		continued := strings.Contains(h.log.String(), "trace_id="+traceID)
		assert.Check(t, continued != linked && strings.Contains(h.log.String(), "span_id="), "linked %t, and the request's log line has the caller's trace: %t\n%s", linked, continued, &h.log)
	}
}

// TestSecretsInSpans checks that a token in the wrong header is redacted, and that no verification
// link appears, even a malformed one. Health checks are not traced.
func TestSecretsInSpans(t *testing.T) {
	t.Parallel()
	h := newTraced(t, false)
	h.send("GET", account+"/mailboxes", "User-Agent", "curl/8 mhsa_secret", "X-Request-Id", "mhsa_secret")
	h.send("GET", account+"/domains", "User-Agent", "eyJhbGciOiJub25lIn0.secret.x", "X-Request-Id", "eyJhbGciOiJub25lIn0.secret.x")
	h.send("GET", account+"/workspaces", "User-Agent", "curl/9")
	for method, path := range map[string]string{"GET": "/", "PUT": "/", "POST": "/x/", "OPTIONS": "//"} {
		h.send(method, path[:1]+"verify-forwarding/"+link+path[1:])
	}
	h.send("GET", "/healthz/ready")
	h.end(t)
	h.Has(t, true, "curl/9", "REDACTED", "/verify-forwarding/{link}")
	h.Has(t, false, "secret", link[:20], "ready")
	assert.Check(t, !strings.Contains(h.log.String(), "secret"), "a token is in the log:\n%s", &h.log)
}

// TestSpanOfADroppedConnection checks that a dropped connection ends its span with an
// error.
func TestSpanOfADroppedConnection(t *testing.T) {
	t.Parallel()
	h := newTraced(t, false, func(http.Handler) http.Handler {
		return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	})
	h.send("GET", account+"/mailboxes")
	h.end(t)
	h.Has(t, true, "aborted", "the connection was closed before the end of the response")
}

func TestIsConfigured(t *testing.T) {
	t.Parallel()
	const own, all = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://c", "OTEL_EXPORTER_OTLP_ENDPOINT=http://c"
	for variables, want := range map[string]bool{
		"": false, all: true, own: true, all + " OTEL_SDK_DISABLED=TRUE": false, all + " OTEL_TRACES_EXPORTER=none": false, all + " OTEL_TRACES_EXPORTER=otlp": true, "OTEL_EXPORTER_OTLP_ENDPOINT=": false,
	} {
		assert.Check(t, tracing.IsConfigured(cli.Variables(strings.Fields(variables))) == want, variables)
	}
}
