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
		r.Refused(http.StatusForbidden, "path permission_denied").Says("mailhostd proxy --read-only", s.ID, "nothing has changed")
	}
	h.send("PUT", "/mailboxes/jane@example.com", nil).Refused(http.StatusForbidden, "path permission_denied").Says("a PUT")
	assert.Check(t, is.Equal(apitest.Content(t, h.Service), before))
	for i, op := range h.proxy.Report().Operations {
		changes := api.Specs()[i].Changes()
		assert.Check(t, changes == (op.Blocked == 1) && changes == (op.State == proxy.NotSeen) && changes == (op.Requests == 0), "%+v", op)
	}
}
