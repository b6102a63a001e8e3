package tracing_test

import (
	"bytes"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/tracing"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/tracing/tracingtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

const (
	account = "/v1/public/accounts/0b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10"
	link    = "c2VjcmV0LW9mLWEtdmVyaWZpY2F0aW9uLWxpbmstMTIzNDU"
	parent  = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
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
	if err != nil {
		t.Fatal(err)
	}
	h := &traced{Collector: tracingtest.NewCollector(t)}
	log := slog.New(tracing.LogHandler(slog.NewTextHandler(&h.log, nil)))
	endpoint, err := tracing.Endpoint(h.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if h.Tracing, err = tracing.Start(t.Context(), tracing.Options{Endpoint: endpoint, LinkParents: linkParents, Version: "v1.2.3", Log: log}); err != nil {
		t.Fatal(err)
	}
	service, err := apiserver.New(apiserver.Options{Store: db, Logger: log, Middleware: func(next http.Handler) http.Handler {
		for _, m := range around {
			next = m(next)
		}
		return h.Middleware(next)
	}})
	if err != nil {
		t.Fatal(err)
	}
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

// end exports the remaining spans and returns all spans.
func (h *traced) end(t *testing.T) map[string]tracingtest.Span {
	t.Helper()
	if err := h.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	return h.Spans(t)
}

func TestSpanOfAnOperation(t *testing.T) {
	t.Parallel()
	h := newTraced(t, false)
	h.send("GET", account+"/mailboxes?search=private", "Authorization", "Bearer mhsa_secret", "X-Request-Id", "request-1", "traceparent", parent)
	span, ok := h.end(t)[api.ListMailboxes.ID]
	if !ok {
		t.Fatalf("there is no span: %v", h.Spans(t))
	}
	for key, want := range map[string]string{
		"http.request.method":               "GET",
		"http.route":                        api.ListMailboxes.Path,
		"url.path":                          account + "/mailboxes",
		"http.response.status_code":         "401",
		"http.response.header.x-request-id": "request-1",
	} {
		if got := span.Attributes[key]; !strings.Contains(got, want) {
			t.Errorf("%s is %s, want %s", key, got, want)
		}
	}
	if span.Resource["service.name"] != "mailhostd" || span.Resource["service.version"] != "v1.2.3" {
		t.Errorf("resource: %v", span.Resource)
	}
	if id := hex.EncodeToString(span.GetTraceId()); !strings.Contains(parent, id) || !strings.Contains(parent, hex.EncodeToString(span.GetParentSpanId())) {
		t.Errorf("trace %s does not continue %s", id, parent)
	} else if !strings.Contains(h.log.String(), "trace_id="+id) || !strings.Contains(h.log.String(), "span_id="+hex.EncodeToString(span.GetSpanId())) {
		t.Errorf("the request's log line lacks trace %s:\n%s", id, &h.log)
	}
	for _, secret := range []string{"private", "mhsa_secret"} {
		if strings.Contains(h.Received(), secret) {
			t.Errorf("%q is in the trace", secret)
		}
	}
}

func TestLinkedParent(t *testing.T) {
	t.Parallel()
	h := newTraced(t, true)
	h.send("GET", account+"/mailboxes", "traceparent", parent)
	span := h.end(t)[api.ListMailboxes.ID]
	if strings.Contains(parent, hex.EncodeToString(span.GetTraceId())) || len(span.GetParentSpanId()) > 0 {
		t.Errorf("the caller's trace is continued: %v", span)
	}
	if len(span.GetLinks()) != 1 || !strings.Contains(parent, hex.EncodeToString(span.GetLinks()[0].GetTraceId())) {
		t.Errorf("links: %v", span.GetLinks())
	}
}

// TestTokensInHeaders checks that a token in the User-Agent header is redacted.
func TestTokensInHeaders(t *testing.T) {
	t.Parallel()
	h := newTraced(t, false)
	h.send("GET", account+"/mailboxes", "User-Agent", "curl/8 mhsa_secret", "X-Request-Id", "mhsa_secret")
	h.send("GET", account+"/domains", "User-Agent", "eyJhbGciOiJub25lIn0.secret.x", "X-Request-Id", "eyJhbGciOiJub25lIn0.secret.x")
	h.send("GET", account+"/workspaces", "User-Agent", "curl/8")
	spans := h.end(t)
	if strings.Contains(h.Received(), "secret") || strings.Contains(h.log.String(), "secret") {
		t.Errorf("a token is in the trace or in the log: %v\n%s", spans, &h.log)
	}
	for id, want := range map[string]string{api.ListMailboxes.ID: "REDACTED", api.ListDomains.ID: "REDACTED", api.ListWorkspaces.ID: "curl/8"} {
		if got := spans[id].Attributes["user_agent.original"]; !strings.Contains(got, want) {
			t.Errorf("%s: the user agent is %s, want %s", id, got, want)
		}
	}
}

// TestSpansOfPages checks that no verification link appears in a trace, even a malformed
// one, because links are secrets.
func TestSpansOfPages(t *testing.T) {
	t.Parallel()
	h := newTraced(t, false)
	h.send("GET", "/verify-forwarding/"+link)
	h.send("PUT", "/verify-forwarding/"+link)
	h.send("POST", "/verify-forwarding/"+link+"/")
	h.send("OPTIONS", "//verify-forwarding/"+link)
	h.send("GET", "/healthz/ready") // health checks are not traced
	spans := h.end(t)
	if strings.Contains(h.Received(), link[:20]) {
		t.Errorf("the link is in the trace: %v", spans)
	}
	page := spans["GET /verify-forwarding/{link}"]
	if !strings.Contains(page.Attributes["url.path"], `"/verify-forwarding/{link}"`) {
		t.Errorf("the page's attributes: %v", page.Attributes)
	}
	for _, name := range []string{"PUT", "POST", "OPTIONS"} {
		if got := spans[name].Attributes["url.path"]; !strings.Contains(got, `"REDACTED"`) {
			t.Errorf("%s: the span's path is %s", name, got)
		}
	}
	if len(spans) != 4 {
		t.Errorf("%d spans, want 4: %v", len(spans), spans)
	}
}

// TestSpanOfADroppedConnection checks that a dropped connection ends its span with an
// error.
func TestSpanOfADroppedConnection(t *testing.T) {
	t.Parallel()
	h := newTraced(t, false, func(http.Handler) http.Handler {
		return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	})
	h.send("GET", account+"/mailboxes")
	span := h.end(t)[api.ListMailboxes.ID]
	if span.Span == nil || span.GetStatus().GetCode().String() != "STATUS_CODE_ERROR" || !strings.Contains(span.Attributes["error.type"], "aborted") {
		t.Errorf("span: %v", span)
	}
}

func TestEndpoint(t *testing.T) {
	t.Parallel()
	const own, all = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=", "OTEL_EXPORTER_OTLP_ENDPOINT="
	for _, tt := range []struct {
		base    string
		environ []string
		want    string
		err     string
	}{
		{},
		{base: "http://c:4318", environ: []string{all + "http://other", "OTEL_SDK_DISABLED=true"}, want: "http://c:4318/v1/traces"},
		{base: "https://c/otlp/", want: "https://c/otlp/v1/traces"},
		{environ: []string{all + "http://c:4318/"}, want: "http://c:4318/v1/traces"},
		{environ: []string{all + "http://c", own + "http://d/x"}, want: "http://d/x"},
		{environ: []string{all + "http://c", "OTEL_SDK_DISABLED=TRUE"}},
		{environ: []string{all + "http://c", "OTEL_TRACES_EXPORTER=none"}},
		{environ: []string{all + "http://c", "OTEL_TRACES_EXPORTER=otlp"}, want: "http://c/v1/traces"},
		{environ: []string{all + "http://c", "OTEL_TRACES_EXPORTER=zipkin"}, err: `"zipkin"`},
		{environ: []string{all}},
		{base: "c:4318", err: "must be an http or https URL"},
		{base: "http://", err: "must be an http or https URL"},
		{environ: []string{all + "grpc://c:4317"}, err: "OTEL_EXPORTER_OTLP_ENDPOINT: must be"},
		{environ: []string{own + "http://user:secret@c"}, err: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: must be"},
	} {
		got, err := tracing.Endpoint(tt.base, tt.environ)
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%q, %q: %q, %v; want %q, %q", tt.base, tt.environ, got, err, tt.want, tt.err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("a credential is logged: %v", err)
		}
	}
}
