package acctest

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// Fault makes the server misbehave.
func (s *Server) Fault(t testing.TB, rule fault.Rule) {
	t.Helper()
	_, err := s.Control.Faults.Add(rule)
	must(t, err)
}

// WithoutKeys serves the server as an API that ignores Idempotency-Keys. It
// returns the URL, for Protocol.
func (s *Server) WithoutKeys(t testing.TB) string {
	t.Helper()
	return s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		r.Header.Del(api.IdempotencyKeyHeader)
		next.ServeHTTP(w, r)
	})
}

// Front serves the server behind a handler that may answer in its place: it
// calls next, or does not. It is for what no fault does: answers of another
// content, and steps of the test in the middle of a request. It returns the URL,
// for Protocol.
func (s *Server) Front(t testing.TB, handle func(w http.ResponseWriter, r *http.Request, next http.Handler)) string {
	t.Helper()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handle(w, r, s.Config.Handler)
	}))
	t.Cleanup(front.Close)
	return front.URL
}

// Rewrite answers as next does, but for what edit makes of the body.
func Rewrite(w http.ResponseWriter, r *http.Request, next http.Handler, edit func(body string) string) {
	answer := httptest.NewRecorder()
	next.ServeHTTP(answer, r)
	maps.Copy(w.Header(), answer.Header())
	w.Header().Del("Content-Length")
	w.WriteHeader(answer.Code)
	_, _ = io.WriteString(w, edit(answer.Body.String()))
}

// Refuse answers with an error in the API's own form. loc is written with dots.
func Refuse(w http.ResponseWriter, status int, loc, msg string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Request-Id", "refused-by-test")
	w.WriteHeader(status)
	steps := strings.Split(loc, ".")
	for i := range steps {
		steps[i] = fmt.Sprintf("%q", steps[i])
	}
	fmt.Fprintf(w, `{"detail":[{"loc":[%s],"msg":%q,"type":"value_error"}]}`, strings.Join(steps, ","), msg)
}

// Expect fails the test unless the diagnostics, as Render writes them, have all
// parts, in this order.
func Expect(t testing.TB, diags []*tfprotov6.Diagnostic, parts ...string) {
	t.Helper()
	ExpectText(t, Render(diags), parts...)
}

// ExpectText fails the test unless a text has all parts, in this order.
func ExpectText(t testing.TB, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, part := range parts {
		_, after, ok := strings.Cut(rest, part)
		if !ok {
			t.Fatalf("%q is missing in:\n%s", part, text)
		}
		rest = after
	}
}

// Render writes diagnostics as text: a severity, an attribute, a summary and a
// detail each.
func Render(diags []*tfprotov6.Diagnostic) string {
	var b bytes.Buffer
	for _, d := range diags {
		fmt.Fprintf(&b, "%s", d.Severity)
		if d.Attribute != nil && len(d.Attribute.Steps()) > 0 {
			fmt.Fprintf(&b, " at %s", d.Attribute)
		}
		fmt.Fprintf(&b, ": %s\n%s\n\n", d.Summary, d.Detail)
	}
	return b.String()
}
