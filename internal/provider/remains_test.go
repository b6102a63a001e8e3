package provider_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// resourceConfig has a resource's configuration and one that replaces it, and what the warning
// says of an object that remains.
type resourceConfig struct {
	config, replacing map[string]any
	remains           []string
}

func everyResource(t *testing.T, s *acctest.Server) map[string]resourceConfig {
	t.Helper()
	s.Domain(t, "example.com")
	s.Domain(t, "example.org")
	var options []string
	for o, err := range s.Client.ListDedicatedIPOptions(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		options = append(options, o.ID)
	}
	return map[string]resourceConfig{
		"mailhost_dedicated_ip":    {map[string]any{"option_id": options[0]}, map[string]any{"option_id": options[1]}, []string{"still paid for"}},
		"mailhost_dns_record":      {map[string]any{"domain": "example.com", "type": "A", "name": "www", "value": "192.0.2.1"}, map[string]any{"name": "web"}, []string{"The A record www of example.com", "192.0.2.1", "can't be imported"}},
		"mailhost_dns_zone":        {map[string]any{"domain": "example.com", "records": map[string]any{"web A": map[string]any{"values": []string{"192.0.2.1"}}}, "ignore": []string{"www"}}, map[string]any{"domain": "example.org"}, nil},
		"mailhost_domain":          {map[string]any{"name": "example.com", "on_existing": "adopt"}, map[string]any{"name": "example.org"}, nil},
		"mailhost_forwarding":      {map[string]any{"target_email": "jane@example.net"}, map[string]any{"domain": "example.com"}, nil},
		"mailhost_mailbox":         {map[string]any{"domain": "example.com", "local_part": "jane", "first_name": "Jane", "last_name": "Doe"}, map[string]any{"local_part": "john"}, []string{"The mailbox jane@example.com", "still paid for"}},
		"mailhost_master_password": {map[string]any{"name": "ops", "generate": true}, map[string]any{"domain": "example.com"}, []string{"The master password \"ops\"", "STILL WORKS", "another name"}},
		"mailhost_service_account": {map[string]any{"name": "ci"}, map[string]any{"name": "cd"}, nil},
	}
}

// TestRemainsAreAnnounced plans the destroy and the replacement of each resource: if the
// API can't delete it, the plan warns that it will still exist.
func TestRemainsAreAnnounced(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		resources := everyResource(t, s)
		// A set has several mailboxes; its own tests have their warnings.
		want := slices.DeleteFunc(slices.Sorted(maps.Keys(schemas(t).ResourceSchemas)), func(name string) bool { return name == "mailhost_mailbox_set" })
		if got := slices.Sorted(maps.Keys(resources)); !slices.Equal(got, want) {
			t.Errorf("this test has %q, the provider %q", got, want)
		}
		for name, r := range resources {
			p := s.Protocol(t, "")
			o, diags := p.Apply(t.Context(), name, r.config, nil)
			p.NoErrors(diags)
			another := maps.Clone(r.config)
			maps.Copy(another, r.replacing)
			for what, config := range map[string]map[string]any{"destroy": nil, "replacement": another, "nothing": r.config} {
				plan, diags := s.Protocol(t, "").Plan(name, config, o) // a provider that has sent no request yet
				p.NoErrors(diags)
				if replaced := len(plan.Replace) > 0; replaced != (what == "replacement") {
					t.Errorf("%s of %s replaces at %s", what, name, plan.Replace)
				}
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
