package mailbox_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestListStopsAtTheLimit counts the API's requests for a limited list.
func TestListStopsAtTheLimit(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	for i := range 12 {
		s.Mailbox(t, "example.com", fmt.Sprintf("m%02d", i))
	}
	var pages, size atomic.Int64
	p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.HasSuffix(r.URL.Path, "/mailboxes") {
			pages.Add(1)
			n, _ := strconv.ParseInt(r.URL.Query().Get("page_size"), 10, 64)
			size.Store(n)
			if r.URL.Query().Get("page") == "3" {
				acctest.Refuse(w, http.StatusForbidden, "body", "no more")
				return
			}
		}
		next.ServeHTTP(w, r)
	}))
	listed, diags := p.List(typeName, nil, 5)
	p.NoErrors(diags)
	assert.Check(t, len(listed) == 5 && pages.Load() == 1 && size.Load() == 5, "listed %d in %d pages of %d, want 5 in one of 5", len(listed), pages.Load(), size.Load())
	listed, diags = p.List(typeName, nil, 0)
	p.NoErrors(diags)
	assert.Check(t, len(listed) == 12, "listed %d without a limit, want 12", len(listed))
}

// TestListReportsFailure checks that a failure in the middle of a stream is reported.
func TestListReportsFailure(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	for i := range 3 {
		s.Mailbox(t, "example.com", fmt.Sprintf("m%d", i))
	}
	p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		q := r.URL.Query()
		if q.Get("page") == "2" {
			acctest.Refuse(w, http.StatusForbidden, "body", "no more")
			return
		}
		if q.Has("page_size") {
			q.Set("page_size", "2")
			r.URL.RawQuery = q.Encode()
		}
		next.ServeHTTP(w, r)
	}))
	listed, diags := p.List(typeName, nil, 100)
	assert.Check(t, len(listed) == 2, "listed %d before the failure, want 2", len(listed))
	acctest.Expect(t, diags, "ERROR: Can't list the mailboxes", "No more", "HTTP 403")
}
