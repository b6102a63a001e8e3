package console_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/console"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/signin"
)

// TestConsoleReadsNoLargeBodies sends 1 MiB to each page, with and without a session: the console must
// not read a multipart form, and at most 16 KiB of another body.
func TestConsoleReadsNoLargeBodies(t *testing.T) {
	t.Parallel()
	const public = "http://mail.example.com"
	var pages *console.Console
	h := apitest.New(t, func(o *apiserver.Options) {
		unavailable := &signin.Website{Client: signin.Client{Issuer: "http://127.0.0.1:1", ID: "console"}, Endpoint: func(context.Context) (oauth2.Endpoint, error) { return oauth2.Endpoint{}, io.EOF }}
		pages = console.New(console.Options{PublicURL: public, Clock: time.Now, Log: apitest.NewLog().Logger(), Issuer: unavailable})
		o.Middleware = pages.Middleware
	})
	pages.Start(h.Service)
	_, token := h.LimitedAccount("reader")
	sealed, err := h.Service.SignIn(context.Background(), token, "192.0.2.7:1234", time.Hour)
	assert.NilError(t, err)
	form := "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a\"\r\n\r\n" + strings.Repeat("x", 1<<20)
	id := "11111111-2222-4333-8444-555555555555"
	for method, paths := range map[string]string{
		http.MethodGet: strings.Join(consolePages, " ") + " /sign-in /sign-in/start /sign-in/return /accounts /tokens/" + id +
			" /tokens/" + id + "/revoke /grants/" + id + "/revoke /nothing /style.css",
		http.MethodPost: "/sign-in /sign-out /accounts /forwarding/" + id + "/resend /tokens/" + id + "/revoke /grants/" + id + "/revoke",
	} {
		for path := range strings.SplitSeq(paths, " ") {
			for mediaType, limit := range map[string]int{"multipart/form-data; boundary=B": 0, "application/x-www-form-urlencoded": 17 << 10} {
				for _, session := range []string{"", sealed} {
					body := strings.NewReader(form)
					r := httptest.NewRequestWithContext(t.Context(), method, public+"/console"+path, body)
					r.Header.Set("Content-Type", mediaType)
					if session != "" {
						r.AddCookie(&http.Cookie{Name: "mailhost_console", Value: session})
					}
					w := httptest.NewRecorder()
					h.Service.Handler().ServeHTTP(w, r)
					read := len(form) - body.Len()
					assert.Check(t, read <= limit, "%s %s with %s (session: %t): %d bytes were read; status %d", method, path, mediaType, session != "", read, w.Code)
				}
			}
		}
	}
}
