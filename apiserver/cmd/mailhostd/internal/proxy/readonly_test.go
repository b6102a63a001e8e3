package proxy_test

import (
	"net/http"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest/sample"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/proxy"
)

// TestReadOnly checks that only requests that change nothing reach the host.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	h := newHost(t, true, nil)
	h.Domain("example.com")
	h.Mailbox("example.com", "jane")
	before := apitest.Content(t, h.Service)
	for _, s := range api.Specs() {
		path := strings.TrimPrefix(s.Path, api.Prefix)
		for _, parameter := range s.PathParameters()[1:] {
			path = strings.Replace(path, "{"+parameter+"}", apitest.UnknownID, 1)
		}
		var body any
		if s.Body() != nil {
			body = sample.Body(s)
		}
		r := h.send(s.Method, path, body)
		if !s.Changes() {
			assert.Check(t, r.Status != http.StatusForbidden, "%s: %s", s.ID, r)
			continue
		}
		r.Refused(http.StatusForbidden, "path read_only").Says("mailhostd proxy --read-only", s.ID, "nothing has changed")
	}
	h.send("PUT", "/mailboxes/jane@example.com", nil).Refused(http.StatusForbidden, "path read_only").Says("a PUT")
	assert.Check(t, is.Equal(apitest.Content(t, h.Service), before))
	for i, op := range h.proxy.Report().Operations {
		changes := api.Specs()[i].Changes()
		assert.Check(t, changes == (op.Blocked == 1) && changes == (op.State == proxy.NotSeen) && changes == (op.Requests == 0), "%+v", op)
	}
}

// TestMethodOverride checks that a read-only proxy refuses a request with a method that some hosts take from a header
// or from the query, and passes on one with the method of a read.
func TestMethodOverride(t *testing.T) {
	t.Parallel()
	h := newHost(t, true, nil)
	for _, name := range []string{"X-HTTP-Method-Override", "x-http-method", "X-Method-Override"} {
		h.send("GET", "/mailboxes", nil, name, "delete").Refused(http.StatusForbidden, "path read_only").Says("list-mailboxes")
		h.send("POST", "/mailboxes/export", apitest.Object{}, name, "PATCH").Refused(http.StatusForbidden, "path read_only")
		h.send("GET", "/mailboxes", nil, name, "GET").Want(http.StatusOK)
	}
	for _, query := range []string{"_method=DELETE", "page=1;_method=delete", "page=1&%5Fmethod=PUT"} {
		h.send("GET", "/mailboxes?"+query, nil).Refused(http.StatusForbidden, "path read_only")
		h.send("HEAD", "/mailboxes?"+query, nil).Want(http.StatusForbidden)
	}
	h.send("GET", "/mailboxes?search=_method", nil).Want(http.StatusOK)
	r := h.proxy.Report()
	assert.Check(t, r.Blocked == 12 && r.Requests() == 4 && r.Outside == 0, "%+v", r)
}
