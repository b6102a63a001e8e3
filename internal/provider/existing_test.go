package provider_test

import (
	"maps"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// importBlock matches the import block in an error about an existing object.
var importBlock = regexp.MustCompile(`import \{\n    to = (\w+)\.<name>\n    id = (".*")\n  \}`)

// TestExistingIsImportable creates objects twice, with and without lifecycle operations.
// The error of the second create contains an import block whose import plans no change.
func TestExistingIsImportable(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		resources := everyResource(t, s)
		p := s.Protocol(t, "")
		for _, c := range []struct {
			resource string
			also     map[string]any
		}{
			{"mailhost_mailbox", nil},
			{"mailhost_mailbox", map[string]any{"domain": "EXAMPLE.org.", "local_part": "O'Neill"}},
			{"mailhost_forwarding", nil},
			{"mailhost_forwarding", map[string]any{"domain": "example.com"}},
			{"mailhost_forwarding", map[string]any{"workspace_id": s.WorkspaceID}},
			{"mailhost_master_password", nil},
			{"mailhost_master_password", map[string]any{"domain": "example.com", "name": `${it}'s "own" %{name}`}},
			{"mailhost_master_password", map[string]any{"workspace_id": s.WorkspaceID}},
			{"mailhost_dns_record", nil},
			{"mailhost_dns_record", map[string]any{"type": "TXT", "value": `say "hi"; v=1`}},
		} {
			config := maps.Clone(resources[c.resource].config)
			maps.Copy(config, c.also)
			if c.resource == "mailhost_dns_record" && s.PublishedOnly {
				continue // the API can't read it: see the resource's tests
			}
			first, diags := p.Apply(t.Context(), c.resource, config, nil)
			p.NoErrors(diags)
			_, diags = p.Apply(t.Context(), c.resource, config, nil)
			if acctest.Errors(diags) != 1 {
				t.Fatalf("%s %v is created twice: %s", c.resource, config, acctest.Render(diags))
			}
			block := importBlock.FindStringSubmatch(diags[0].Detail)
			if block == nil || block[1] != c.resource || !strings.Contains(diags[0].Detail, "terraform import '"+c.resource+".<name>' '") {
				t.Errorf("%s %v: the error has no import block:\n%s", c.resource, config, acctest.Render(diags))
				continue
			}
			id, err := strconv.Unquote(strings.NewReplacer("$${", "${", "%%{", "%{").Replace(block[2]))
			if err != nil {
				t.Errorf("%s: %v", block[2], err)
			}
			imported, diags := p.Import(c.resource, id, nil)
			p.NoErrors(diags)
			imported, diags = p.Read(c.resource, imported)
			p.NoErrors(diags)
			if imported.Text("id") != first.Text("id") {
				t.Errorf("%s: %q imports %s, want %s", c.resource, id, imported.Text("id"), first.Text("id"))
			}
			plan, diags := p.Plan(c.resource, config, imported)
			p.NoErrors(diags)
			if len(plan.Replace) > 0 {
				t.Errorf("%s: %q is imported, and then replaced because of %v", c.resource, id, plan.Replace)
			}
		}
	})
}
