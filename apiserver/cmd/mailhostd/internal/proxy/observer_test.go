package proxy_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/proxy"
)

// TestAbsentForObjects checks when a 404 for an object shows that the host lacks the operation: the host must show the
// object elsewhere, and nothing may have removed or created it in between.
func TestAbsentForObjects(t *testing.T) {
	t.Parallel()
	const jane, john = "/mailboxes/jane@example.com", "/mailboxes/john@example.com"
	names := apitest.Object{"last_name": "Roe"}
	lacks := func(operations ...string) map[string]func(*response) {
		changes := map[string]func(*response){}
		for _, operation := range operations {
			changes[operation] = func(r *response) {
				r.status, r.body = 404, `{"detail":[{"loc":["path"],"msg":"m","type":"not_found"}]}`
				r.header.Set("Content-Type", "application/json")
			}
		}
		return changes
	}
	for _, tt := range []struct {
		name      string
		operation string
		changes   map[string]func(*response)
		send      func(h *host)
		want      string
	}{
		{"a change", "update-mailbox", lacks("update-mailbox"), func(h *host) { h.send("GET", "/mailboxes", nil); h.send("PATCH", jane, names) }, proxy.Absent},
		{"a change before the list", "update-mailbox", lacks("update-mailbox"), func(h *host) { h.send("PATCH", jane, names); h.send("GET", "/mailboxes", nil) }, proxy.Absent},
		{"a removal", "delete-mailbox", lacks("delete-mailbox"), func(h *host) { h.send("GET", "/mailboxes", nil); h.send("DELETE", jane, nil) }, proxy.Absent},
		{"a failed removal in between", "update-mailbox", lacks("update-mailbox", "delete-mailbox"), func(h *host) {
			h.send("GET", "/mailboxes", nil)
			h.send("DELETE", john, nil)
			h.send("PATCH", jane, names)
		}, proxy.Absent},
		{"removals at the same time", "delete-mailbox", lacks("delete-mailbox", "delete-domain"), func(h *host) {
			h.send("GET", "/mailboxes", nil)
			var clients sync.WaitGroup
			for range 4 {
				clients.Go(func() { _, _ = h.client.Try(h.T.Context(), "DELETE", jane, nil) })
				clients.Go(func() { _, _ = h.client.Try(h.T.Context(), "DELETE", "/domains/example.com", nil) })
			}
			clients.Wait()
		}, proxy.Absent},
		{"an object of a create", "delete-forwarding", lacks("delete-forwarding"), func(h *host) {
			id := h.send("POST", "/forwarding", apitest.Object{"target_email": "a@example.net"}).Str("id")
			h.send("DELETE", "/forwarding/"+id, nil)
		}, proxy.Absent},
		{"a router's 404", "get-dns-record", map[string]func(*response){"get-dns-record": func(r *response) { r.status, r.body = 404, `{"detail":"Not Found"}` }}, func(h *host) {
			h.send("GET", "/dns-records/1", nil)
			assert.Check(h.T, !h.proxy.Report().Differs)
		}, proxy.Absent},
		{"another object", "update-mailbox", nil, func(h *host) { h.send("GET", "/mailboxes", nil); h.send("PATCH", "/mailboxes/none@example.com", names) }, proxy.Refused},
		{"only names", "get-mailbox", map[string]func(*response){"get-mailbox": func(r *response) {
			if strings.HasSuffix(r.request.URL.Path, ".com") {
				lacks("get-mailbox")["get-mailbox"](r)
			}
		}}, func(h *host) {
			id := h.send("GET", "/mailboxes", nil).At("items.0.id").(string)
			h.send("GET", "/mailboxes/"+id, nil)
			h.send("GET", jane, nil)
			assert.Check(h.T, is.DeepEqual(lines(h.proxy.Report()), []string{"get-mailbox | status | a success, because the host shows an object with this name | 404"}))
		}, proxy.Differs},
		{"a removal in between", "get-mailbox", nil, func(h *host) {
			h.send("GET", "/mailboxes", nil)
			h.send("DELETE", jane, nil)
			h.send("GET", jane, nil)
		}, proxy.Refused},
		{"a removal without a response in between", "get-mailbox", map[string]func(*response){"delete-mailbox": func(*response) { panic(http.ErrAbortHandler) }}, func(h *host) {
			h.send("GET", "/mailboxes", nil)
			h.send("DELETE", jane, nil)
			h.send("GET", jane, nil)
		}, proxy.Refused},
		{"a create in between", "get-mailbox", nil, func(h *host) {
			h.send("GET", "/mailboxes/new@example.com", nil)
			h.send("POST", "/mailboxes", apitest.Object{"domain": "example.com", "local_part": "new", "first_name": "A", "last_name": "B"})
			h.send("GET", "/mailboxes", nil)
		}, proxy.Refused},
		{"a record that the account's own replaces", "get-dns-record", nil, func(h *host) {
			list := h.send("GET", "/dns-records?type=MX", nil)
			h.send("POST", "/dns-records", apitest.Object{"domain": "example.com", "name": "@", "type": "MX", "value": "mx.example.net", "prio": 5})
			h.send("GET", "/dns-records/"+strconv.Itoa(int(list.At("items.0.id").(float64))), nil)
		}, proxy.Refused},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t, false, tt.changes)
			h.Domain("example.com")
			h.Mailbox("example.com", "jane")
			h.Mailbox("example.com", "john")
			tt.send(h)
			operations := h.proxy.Report().Operations
			i := slices.IndexFunc(operations, func(op proxy.Operation) bool { return op.ID == tt.operation })
			assert.Check(t, is.Equal(operations[i].State, tt.want))
		})
	}
}

// TestCompressed checks that a response in an unknown coding is named, and counts as not compared.
func TestCompressed(t *testing.T) {
	t.Parallel()
	h := newHost(t, false, map[string]func(*response){"list-mailboxes": compress("br"), "list-domains": compress("gzip")})
	h.send("GET", "/mailboxes", nil)
	h.send("GET", "/domains", nil)
	r := h.proxy.Report()
	const want = "header Content-Encoding | no header, because the request accepts no compression | "
	assert.Check(t, is.DeepEqual(lines(r), []string{"list-mailboxes | " + want + "br", "list-domains | " + want + "gzip"}))
	assert.Check(t, is.Equal(r.Unfinished, 1))
}
