package provider_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestRemainsAreAnnounced plans the destroy and the replacement of each resource: if the
// API can't delete it, the plan warns that it will still exist. A set has several mailboxes; its
// own tests have their warnings.
func TestRemainsAreAnnounced(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		resources := everyKind(t, s)
		for name, r := range resources {
			p := s.Protocol(t, "")
			o, diags := p.Apply(t.Context(), name, r.config, nil)
			p.NoErrors(diags)
			for what, config := range map[string]map[string]any{"destroy": nil, "replacement": r.replacing, "nothing": r.config} {
				if what == "replacement" && config == nil {
					continue
				}
				plan, diags := s.Protocol(t, "").Plan(name, config, o) // a provider that has sent no request yet
				p.NoErrors(diags)
				replaced := len(plan.Replace) > 0
				assert.Check(t, replaced == (what == "replacement"), "%s of %s replaces at %s", what, name, plan.Replace)
				text := acctest.Render(diags)
				if told := strings.Contains(text, "will still exist") && strings.Contains(text, o.Text("id")); told != (s.PublishedOnly && what != "nothing") {
					t.Errorf("the plan of %s of %s has the diagnostics %q", what, name, text)
				} else if told {
					acctest.Expect(t, diags, append([]string{"WARNING"}, r.remains...)...)
				}
			}
		}
	})
}

// TestImpossibleChange plans changes that the published operations can't make: the plan says so.
func TestImpossibleChange(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		s.Domain(t, "example.com")
		s.Mailbox(t, "example.com", "office")
		for typeName, c := range map[string]struct {
			config, change values
			want           []string
		}{
			"mailhost_dns_record": {
				kinds(s.AccountID)["mailhost_dns_record"].config, values{"value": "192.0.2.2"},
				[]string{"WARNING: The A record www of example.com can't be changed in place", "the apply will fail"},
			},
			"mailhost_forwarding": {
				values{"target_email": "office@example.com"}, values{"active": false},
				[]string{`WARNING at AttributeName("active"): The forwarding rule to office@example.com of the account can't be switched on or off`, "the apply will fail"},
			},
			"mailhost_master_password": {
				values{"name": "ops", "value": "a-long-secret"}, values{"value": "another-secret"},
				[]string{"WARNING", "will still exist", `ERROR at AttributeName("name")`, `The master password "ops" can't be deleted`, "Set another name"},
			},
		} {
			p := s.Protocol(t, "")
			o, diags := p.Apply(t.Context(), typeName, c.config, nil)
			p.NoErrors(diags)
			if _, diags = s.Protocol(t, "").Plan(typeName, c.config, o); len(diags) > 0 {
				t.Errorf("%s: no change: %s", typeName, acctest.Render(diags))
			}
			plan, diags := s.Protocol(t, "").Plan(typeName, merged(c.config, c.change), o)
			if s.PublishedOnly {
				acctest.Expect(t, diags, c.want...)
			} else if d := difference(c.change, plain(t, plan.State)); d != "" || acctest.Errors(diags) > 0 {
				t.Errorf("%s: (-want +got):\n%s\n%s", typeName, d, acctest.Render(diags))
			}
		}
	})
}
