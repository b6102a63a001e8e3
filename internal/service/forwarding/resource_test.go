package forwarding_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

const literalTargets = `
resource "mailhost_mailbox_set" "staff" {
  domain    = DOMAIN
  mailboxes = { ann = { first_name = "Ann", last_name = "Doe" } }

  max_deletions = 9
}

resource "mailhost_mailbox" "bob" {
  domain     = DOMAIN
  local_part = "bob"
  first_name = "Bob"
  last_name  = "Doe"
}

resource "mailhost_forwarding" "ann" {
  target_email = "ann@example.com"
}

resource "mailhost_forwarding" "bob" {
  target_email = "bob@example.com"
}
`

// TestAccTargetOfSameApply applies rules with the mailboxes of their targets, to which they do not refer. The remote
// server creates the rules first.
func TestAccTargetOfSameApply(t *testing.T) {
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	var rules sync.WaitGroup
	rules.Add(2)
	remote := strings.Replace(s.ProviderConfig(), s.URL, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		isRule := strings.HasSuffix(r.URL.Path, "/forwarding")
		if r.Method == http.MethodPost && !isRule {
			rules.Wait()
		}
		next.ServeHTTP(w, r)
		if r.Method == http.MethodPost && isRule {
			rules.Done()
		}
	}), 1) + strings.ReplaceAll(literalTargets, "DOMAIN", `"example.com"`)
	embedded := fmt.Sprintf("provider \"mailhost\" {\n  embedded = { data_dir = %q }\n}\n\nresource \"mailhost_domain\" \"main\" {\n  name         = \"example.com\"\n  contact_info = {\n", t.TempDir())
	for name, value := range contact {
		embedded += fmt.Sprintf("    %s = %q\n", name, value)
	}
	embedded += "  }\n}\n" + strings.ReplaceAll(literalTargets, "DOMAIN", "mailhost_domain.main.name")
	for name, config := range map[string]string{"remote": remote, "embedded": embedded} {
		t.Run(name, func(t *testing.T) {
			var internal []statecheck.StateCheck
			for _, address := range []string{"mailhost_forwarding.ann", "mailhost_forwarding.bob"} {
				internal = append(internal, statecheck.ExpectKnownValue(address, tfjsonpath.New("verification_state"), knownvalue.StringExact(vocab.VerificationInternal)),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("active"), knownvalue.Bool(true)))
			}
			resource.ParallelTest(t, resource.TestCase{ProtoV6ProviderFactories: acctest.Providers(), Steps: []resource.TestStep{
				{Config: config},
				{Config: config, PlanOnly: true},
				{Config: config, ConfigStateChecks: internal},
			}})
		})
	}
}
