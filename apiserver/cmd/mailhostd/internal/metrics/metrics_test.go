package metrics_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/certificate"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/certificate/certificatetest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/metrics"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

// scrape returns the metrics as text.
func scrape(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	assert.Assert(t, w.Code == http.StatusOK, "status %d: %s", w.Code, w.Body)
	return w.Body.String()
}

func contains(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		assert.Check(t, strings.Contains(text, line+"\n"), "there is no line %q in\n%s", line, text)
	}
}

// TestMiddleware checks that every request is counted, and that no label contains text
// from a request.
func TestMiddleware(t *testing.T) {
	t.Parallel()
	m := metrics.New("v1")
	for _, tt := range []struct {
		method  string
		handler http.HandlerFunc
		want    string
	}{
		{"GET", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, `method="get",code=404`},
		{"POST", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("x")) }, `method="post",code=200`},
		{"PUT", func(http.ResponseWriter, *http.Request) {}, `method="put",code=200`},
		{"BREW", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusTeapot)
		}, `method="unknown",code=418`},
		{"DELETE", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, `method="delete",code=0`},
		{"PATCH", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("x"))
			panic(http.ErrAbortHandler)
		}, `method="patch",code=200`},
	} {
		func() {
			defer func() { _ = recover() }() // as net/http does
			m.Middleware(tt.handler).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(tt.method, "/secret", nil))
		}()
		method, code, _ := strings.Cut(tt.want, ",code=")
		labels := `{code="` + code + `",` + method + `,operation="other"}`
		contains(t, scrape(t, m), "mailhostd_http_requests_total"+labels+" 1", "mailhostd_http_request_duration_seconds_count"+labels+" 1")
	}
	text := scrape(t, m)
	contains(t, text, `mailhostd_http_requests_aborted_total{operation="other"} 2`, "mailhostd_http_requests_in_flight 0",
		`mailhostd_http_response_size_bytes_count{operation="other"} 6`, `mailhostd_http_response_size_bytes_sum{operation="other"} 2`)
	for _, not := range []string{"secret", "BREW", "brew"} {
		assert.Check(t, !strings.Contains(text, not), "a label contains %q from the request", not)
	}
}

func TestGauges(t *testing.T) {
	t.Parallel()
	m := metrics.New("v1.2.3")
	db, err := sqlite.Open(t.Context(), sqlite.Memory, sqlite.Options{})
	assert.NilError(t, err)
	service, err := apiserver.New(apiserver.Options{Store: db})
	assert.NilError(t, err)
	defer service.Close()
	pair := certificatetest.NewPair(t, 1)
	pair.Write(t, 2, time.Unix(1234567890, 0))
	cert, err := certificate.Open(pair.Cert, pair.Key, time.Now, slog.New(slog.DiscardHandler))
	assert.NilError(t, err)
	m.Watch(service, db, cert)
	text := scrape(t, m)
	contains(t, text, "mailhostd_ready 1", "mailhostd_tls_certificate_expiry_timestamp_seconds 1.23456789e+09")
	for _, want := range []string{`version="v1.2.3"`, "go_goroutines ", "process_open_fds "} {
		assert.Check(t, strings.Contains(text, want), "there is no %q in\n%s", want, text)
	}
	service.Retire()
	contains(t, scrape(t, m), "mailhostd_ready 0")
	m.ConnState(nil, http.StateNew)
	m.ConnState(nil, http.StateActive)
	contains(t, scrape(t, m), "mailhostd_http_connections 1")
	m.ConnState(nil, http.StateClosed)
	contains(t, scrape(t, m), "mailhostd_http_connections 0")
}

// hungStore is a store whose database does not respond.
type hungStore struct{ store.Store }

func (hungStore) Usage(ctx context.Context) (store.Usage, error) {
	<-ctx.Done()
	return store.Usage{Connections: 3, MaxConnections: 9}, ctx.Err()
}

// TestOutage scrapes while the database does not respond: the other metrics stay.
func TestOutage(t *testing.T) {
	t.Parallel()
	m := metrics.New("v1")
	db, err := sqlite.Open(t.Context(), sqlite.Memory, sqlite.Options{})
	assert.NilError(t, err)
	service, err := apiserver.New(apiserver.Options{Store: db})
	assert.NilError(t, err)
	defer service.Close()
	m.Watch(service, hungStore{db}, nil)
	contains(t, scrape(t, m), "mailhostd_http_requests_in_flight 0", "mailhostd_database_size_bytes NaN", "mailhostd_database_connections 3", "mailhostd_ready 1")
}
