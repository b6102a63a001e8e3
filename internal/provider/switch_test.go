package provider_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestSwitches switches forwarding rules on and off before and after their verification, which
// causes no plan itself.
func TestSwitches(t *testing.T) {
	t.Parallel()
	jane, joe, office := values{"target_email": "jane@example.org"}, values{"target_email": "joe@example.org"}, values{"target_email": "office@example.com"}
	state := func(active bool, verification string) values {
		return values{"active": active, "verification_state": verification}
	}
	for name, steps := range map[string]func(r *rule) []step{
		"verified": func(r *rule) []step {
			return []step{
				{config: jane, does: creates, want: state(false, vocab.VerificationPending)},
				{before: func() error { r.s.Advance(100 * time.Hour); return nil }, config: jane, does: noChange, want: state(false, vocab.VerificationExpired)},
				{before: func() error { return r.s.Client.Forwarding.Delete(r.Context(), r.o.Text("id")) }, config: jane, does: creates, want: state(false, vocab.VerificationPending)},
				{before: r.confirm, config: jane, does: noChange, want: state(true, vocab.VerificationVerified)},
			}
		},
		"off": func(r *rule) []step {
			off, on := with(jane, "active", false), with(jane, "active", true)
			return []step{
				{config: off, does: creates, want: values{"active": false}},
				{before: r.confirm, config: off, does: noChange, want: values{"active": false}},
				{config: jane, does: noChange, want: values{"active": false}},
				{config: on, does: updates, planned: values{"active": true, "verification_state": isSet}, want: values{"active": true}},
				{config: off, does: updates, planned: values{"active": false, "verification_state": isSet}, want: values{"active": false}},
				{before: r.turned(true), config: off, does: updates, planned: values{"active": false}, want: values{"active": false}},
				{config: jane, does: noChange, want: values{"active": false}},
				{before: r.turned(true), config: jane, does: noChange, want: values{"active": true}},
				{before: r.turned(false), config: jane, does: noChange, want: values{"active": false}},
			}
		},
		"on": func(r *rule) []step {
			on, otherOn := with(jane, "active", true), with(joe, "active", true)
			return []step{
				{config: on, does: creates, want: state(true, vocab.VerificationPending)},
				{config: jane, does: noChange, want: state(true, vocab.VerificationPending)},
				{config: on, does: noChange, want: state(true, vocab.VerificationPending)},
				{before: r.confirm, config: on, does: noChange, want: state(true, vocab.VerificationVerified)},
				{before: r.turned(false), config: on, does: updates, want: state(true, vocab.VerificationVerified)},
				{config: otherOn, does: updates, want: state(true, vocab.VerificationPending)},
				{before: func() error { return r.s.Client.Forwarding.Delete(r.Context(), r.o.Text("id")) }, config: otherOn, does: creates},
			}
		},
		"off while pending": func(r *rule) []step {
			return []step{
				{config: jane, does: creates},
				{config: with(jane, "active", false), does: updates, planned: values{"verification_state": vocab.VerificationPending}},
				{config: jane, does: noChange},
				{before: r.confirm, config: jane, does: noChange, want: values{"active": false}},
			}
		},
		"with another target": func(*rule) []step {
			return []step{
				{config: with(jane, "active", false), does: creates},
				{config: with(office, "active", false), does: updates, want: values{"active": false}},
				{config: joe, does: updates, planned: values{"active": isUnknown}, want: values{"verification_state": vocab.VerificationPending}},
				{config: office, does: updates, want: values{"active": false}},
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := acctest.NewServer(t, acctest.Options{})
			s.Domain(t, "example.com")
			s.Mailbox(t, "example.com", "office")
			r := &rule{subject{T: t, s: s, p: s.Protocol(t, ""), typeName: "mailhost_forwarding", changes: map[string]bool{}}}
			for i, step := range steps(r) {
				r.take(i, step)
			}
		})
	}
}

// rule is a forwarding rule whose switch is tested.
type rule struct{ subject }

// confirm opens the verification link of the newest message.
func (r *rule) confirm() error {
	messages := r.s.Service.Outbox()
	link, err := url.Parse(messages[len(messages)-1].Link)
	if err != nil {
		return err
	}
	resp, err := http.Post(r.s.URL+link.Path, "", nil)
	if err != nil {
		return err
	}
	assert.Check(r, resp.StatusCode == http.StatusOK, "the verification link returns %s", resp.Status)
	return resp.Body.Close()
}

// turned switches the rule outside Terraform.
func (r *rule) turned(on bool) func() error {
	return func() error {
		var f *api.Forwarding
		f, err := r.s.Client.SetForwardingActive(r.Context(), r.o.Text("id"), on)
		assert.Check(r, err != nil || f.Active == on, "the rule is %+v", f)
		return err
	}
}

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
			config := kinds(t, s)[typeName].config
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
		o, diags := p.Apply(ctx, typeName, kinds(t, s)[typeName].config, nil)
		p.NoErrors(diags)
		acctest.Expect(t, diags, "WARNING: The ", " is not ready yet", "Run apply again")
		assert.Check(t, o.Text("id") != "" && o.Text("status") == c.status, "%s: the state is %s", typeName, o.State)
	}
}
