package provider_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestVolatile changes what the service, or somebody in its control panel, changes on its own: the
// state has it after a refresh, no plan changes it, and an update returns what was planned.
func TestVolatile(t *testing.T) {
	t.Parallel()
	for typeName, c := range map[string]struct {
		change values
		moved  []string
		want   values
	}{
		"mailhost_mailbox": {
			values{"first_name": "Janet"},
			[]string{`"used":0`, `"used":4711`, `"status":"active"`, `"status":"paused"`, `"aliases":[]`, `"aliases":[{"alias":"info@example.com","is_catch_all":true}]`},
			values{"status": "paused", "quota": values{"used": int64(4711)}, "aliases": []any{values{"alias": "info@example.com"}}},
		},
		"mailhost_domain": {
			values{"auto_renew": true},
			[]string{
				`"status":"active"`, `"status":"failed"`, `"outbound_routing_ready":true`, `"outbound_routing_ready":false`, `"dedicated_ip_id":null`, `"dedicated_ip_id":"` + noID + `"`,
				`"inbound_tenant_id":null`, `"inbound_tenant_id":"t"`, `"inbound_tenant_external_id":null`, `"inbound_tenant_external_id":"x"`,
				`"inbound_tenant_name":null`, `"inbound_tenant_name":"n"`, `"inbound_tenant_type":null`, `"inbound_tenant_type":"y"`,
				`"redirect_mode":null`, `"redirect_mode":"302"`, `"tags":[]`, `"tags":[{"id":"1","name":"blue"}]`,
			},
			values{
				"status": "failed", "outbound_routing_ready": false, "dedicated_ip_id": noID, "inbound_tenant_id": "t", "inbound_tenant_external_id": "x", "inbound_tenant_name": "n",
				"inbound_tenant_type": "y", "redirect_mode": "302", "tags": []any{values{"name": "blue"}},
			},
		},
	} {
		acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
			s.Domain(t, "example.com")
			config := kinds(s.AccountID)[typeName].config
			var isMoved atomic.Bool
			p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				acctest.Rewrite(w, r, next, func(body string) string {
					if !isMoved.Load() {
						return body
					}
					return strings.NewReplacer(c.moved...).Replace(body)
				})
			}))
			o, diags := p.Apply(t.Context(), typeName, config, nil)
			p.NoErrors(diags)
			isMoved.Store(true)
			if !s.PublishedOnly {
				before := plain(t, o.State).(values)
				for name, value := range c.change {
					config[name], before[name] = value, value
				}
				o, diags = p.Walk().Apply(t.Context(), typeName, config, o)
				p.NoErrors(diags)
				delete(before, "updated_at")
				assert.Check(t, is.Equal(difference(before, plain(t, o.State)), ""), "%s: the update differs from the plan (-want +got)", typeName)
			}
			o, diags = p.Walk().Read(typeName, o)
			p.NoErrors(diags)
			assert.Check(t, is.Equal(difference(c.want, plain(t, o.State)), ""), "%s (-want +got)", typeName)
			plan, diags := p.Plan(typeName, config, o)
			assert.Check(t, len(diags) == 0 && plan.State.Equal(o.State), "%s: planned %s\n%s", typeName, plan.State, acctest.Render(diags))
		})
	}
}

// TestInterrupted interrupts an apply while it waits until its object is ready: the object is in the
// state, and is not tainted.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for typeName, c := range map[string]struct{ path, status string }{
		"mailhost_mailbox": {"/mailboxes", "provisioning"}, "mailhost_domain": {"/domains", "pending"}, "mailhost_dedicated_ip": {"/dedicated-ips", "provisioning"},
	} {
		s := acctest.NewServer(t, acctest.Options{})
		s.Domain(t, "example.com")
		ctx, interrupt := context.WithCancel(t.Context())
		var isCreated atomic.Bool
		p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			isOne := strings.Contains(r.URL.Path, c.path)
			if isOne && r.Method == http.MethodGet && isCreated.Load() {
				interrupt()
			}
			acctest.Rewrite(w, r, next, func(body string) string {
				if isOne && r.Method == http.MethodPost {
					isCreated.Store(true)
				} else if !isOne {
					return body
				}
				return strings.ReplaceAll(body, `"status":"active"`, `"status":"`+c.status+`"`)
			})
		}))
		o, diags := p.Apply(ctx, typeName, kinds(s.AccountID)[typeName].config, nil)
		p.NoErrors(diags)
		acctest.Expect(t, diags, "WARNING: The ", " is not ready yet", "Run apply again")
		assert.Check(t, o.Text("id") != "" && o.Text("status") == c.status, "%s: the state is %s", typeName, o.State)
	}
}
