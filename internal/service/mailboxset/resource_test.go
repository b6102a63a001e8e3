package mailboxset_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

const resourceAddress = "mailhost_mailbox_set.staff"

func block(settings string, keys ...string) string {
	var entries strings.Builder
	for _, key := range keys {
		fmt.Fprintf(&entries, "    %q = { first_name = \"Jane\", last_name = \"Doe\" }\n", key)
	}
	return fmt.Sprintf("resource \"mailhost_mailbox_set\" \"staff\" {\n  domain = \"example.com\"\n  mailboxes = {\n%s  }\n  %s\n}\n", entries.String(), settings)
}

func action(a plancheck.ResourceActionType) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(resourceAddress, a)}}
}

func count(attribute string, n int) statecheck.StateCheck {
	at, check := tfjsonpath.New(attribute), knownvalue.Check(knownvalue.MapSizeExact(n))
	if attribute == "unmanaged" {
		check = knownvalue.ListSizeExact(n)
	}
	return statecheck.ExpectKnownValue(resourceAddress, at, check)
}

// TestAccPartialCreate checks that the CLI accepts a create without one of its entries, that the
// set is not tainted, and that the next apply completes it. With the postcondition of the
// documentation, the apply also fails.
func TestAccPartialCreate(t *testing.T) {
	const postcondition = `
  lifecycle {
    postcondition {
      condition     = length(self.ids) == 3
      error_message = "Some mailboxes were not created."
    }
  }`
	t.Run("warnings", func(t *testing.T) { testAccPartialCreate(t, "", resource.TestStep{ExpectNonEmptyPlan: true}) })
	t.Run("postcondition", func(t *testing.T) {
		testAccPartialCreate(t, postcondition, resource.TestStep{ExpectError: regexp.MustCompile(`Some mailboxes were not created\.`)})
	})
}

// testAccPartialCreate applies a set twice. The first apply is the step partial.
func testAccPartialCreate(t *testing.T, lifecycle string, partial resource.TestStep) {
	s := server(t, acctest.Options{})
	var refused atomic.Bool
	url := s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !strings.HasSuffix(r.URL.Path, "/bulk") || refused.Swap(true) {
			next.ServeHTTP(w, r)
			return
		}
		var body api.CreateMailboxesBody
		assert.Check(t, json.NewDecoder(r.Body).Decode(&body))
		last := len(body.Items) - 1
		body.Items = body.Items[:last]
		data, _ := json.Marshal(body)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
		acctest.Rewrite(w, r, next, func(response string) string {
			return strings.Replace(response, `"failed":[]`, fmt.Sprintf(`"failed":[{"code":"quota_exceeded","index":%d,"message":"no more mailboxes"}]`, last), 1)
		})
	})
	config := strings.Replace(s.ProviderConfig(), s.URL, url, 1) + block("max_deletions = 9"+lifecycle, "ann", "bob", "zed")
	partial.Config = config
	if partial.ExpectError == nil {
		partial.ConfigStateChecks = []statecheck.StateCheck{count("mailboxes", 2), count("ids", 2)}
	}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Providers(),
		Steps: []resource.TestStep{
			partial,
			{
				Config: config, ConfigPlanChecks: action(plancheck.ResourceActionUpdate),
				ConfigStateChecks: []statecheck.StateCheck{count("mailboxes", 3), count("ids", 3)},
			},
		},
	})
}

// TestAccMoves checks that mailboxes move between single resources and a set, and back,
// and with retired to another set, without a change in the account.
func TestAccMoves(t *testing.T) {
	s := server(t, acctest.Options{})
	single := func(key string) string {
		return fmt.Sprintf("resource \"mailhost_mailbox\" %q {\n  domain = \"example.com\"\n  local_part = %[1]q\n  first_name = \"Jane\"\n  last_name = \"Doe\"\n}\n", key)
	}
	forget := func(address string) string {
		return fmt.Sprintf("removed {\n  from = %s\n  lifecycle {\n    destroy = false\n  }\n}\n", address)
	}
	imports := func(address, id string) string {
		return fmt.Sprintf("import {\n  to = %s\n  id = %q\n}\n", address, id)
	}
	both := single("ann") + single("bob")
	const retired = `retired = { ann = "keep", Bob = "keep" }`
	guests := strings.Replace(block("on_existing = \"adopt\"\n  max_deletions = 9", "ann"), "staff", "guests", 1)
	none := func() {
		for _, op := range s.Sent() {
			assert.Check(t, !strings.HasPrefix(op, "create-mailbox") && op != "delete-mailbox" && op != "update-mailbox", "the move sent %s", op)
		}
		s.Journal.Clear()
	}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Providers(),
		Steps: []resource.TestStep{
			{Config: s.ProviderConfig() + both},
			{
				PreConfig: s.Journal.Clear,
				Config: s.ProviderConfig() + forget("mailhost_mailbox.ann") + forget("mailhost_mailbox.bob") +
					imports(resourceAddress, "example.com") + block("", "ann", "bob"),
				ConfigStateChecks: []statecheck.StateCheck{count("ids", 2)},
			},
			{PreConfig: none, Config: s.ProviderConfig() + block("", "ann", "bob"), PlanOnly: true},
			{
				Config: s.ProviderConfig() + forget(resourceAddress) + imports("mailhost_mailbox.ann", "ann@example.com") +
					imports("mailhost_mailbox.bob", "bob@example.com") + both,
			},
			{PreConfig: none, Config: s.ProviderConfig() + both, PlanOnly: true},
			{Config: s.ProviderConfig() + forget("mailhost_mailbox.ann") + forget("mailhost_mailbox.bob") + imports(resourceAddress, "example.com") + block("", "ann", "bob")},
			{Config: s.ProviderConfig() + block(retired, "bob") + guests},
			{Config: s.ProviderConfig() + block(retired) + guests + imports("mailhost_mailbox.bob", "bob@example.com") + single("bob")},
			{PreConfig: none, Config: s.ProviderConfig() + block(retired) + guests + single("bob"), PlanOnly: true},
		},
	})
}

// TestAccUnknownDomain checks that nothing is deleted, created or bought because a plan does not know
// the domain, for example because of a depends_on on a changed resource.
func TestAccUnknownDomain(t *testing.T) {
	s := server(t, acctest.Options{})
	config := func(revision string) string {
		return s.ProviderConfig() + strings.ReplaceAll(`
resource "terraform_data" "name" {
  input            = "example.com"
  triggers_replace = "REVISION"
}
resource "mailhost_domain" "main" {
  name        = terraform_data.name.output
  on_existing = "adopt"
}
resource "mailhost_mailbox" "jane" {
  domain     = terraform_data.name.output
  depends_on = [mailhost_domain.main]
  local_part = "jane"
  first_name = "Jane"
  last_name  = "Doe"
}
resource "mailhost_mailbox_set" "staff" {
  domain        = terraform_data.name.output
  depends_on    = [mailhost_domain.main]
  mailboxes     = { ann = { first_name = "Ann", last_name = "Doe" } }
  max_deletions = 9
}
resource "mailhost_dns_zone" "main" {
  domain     = terraform_data.name.output
  depends_on = [mailhost_domain.main]
  records    = { "www A" = { values = ["192.0.2.1"] } }
}
`, "REVISION", revision)
	}
	resource.ParallelTest(t, resource.TestCase{ProtoV6ProviderFactories: acctest.Providers(), Steps: []resource.TestStep{
		{Config: config("1")},
		{PreConfig: s.Journal.Clear, Config: config("2")},
		{
			PreConfig: func() {
				for _, op := range s.Sent() {
					assert.Check(t, strings.HasPrefix(op, "get-") || strings.HasPrefix(op, "list-"), "the apply sent %s", op)
				}
			},
			Config: config("2"), PlanOnly: true,
		},
	}})
}

// TestAccTypes checks that the CLI accepts every type of map, partly unknown maps, and a change
// of the type without a change of the content.
func TestAccTypes(t *testing.T) {
	s := server(t, acctest.Options{})
	const variable = `
variable "people" {
  type    = map(object({ first_name = string, last_name = string, team = optional(string) }))
  default = { ann = { first_name = "Jane", last_name = "Doe" }, bob = { first_name = "Jane", last_name = "Doe" } }
}
resource "terraform_data" "name" {
  input = "Jane"
}
`
	config := func(mailboxes string) string {
		return s.ProviderConfig() + variable + fmt.Sprintf("resource \"mailhost_mailbox_set\" \"staff\" {\n  domain = \"example.com\"\n  max_deletions = 9\n  mailboxes = %s\n}\n", mailboxes)
	}
	const names = `{ for k, p in var.people : k => { first_name = p.first_name, last_name = p.last_name } }`
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Providers(),
		Steps: []resource.TestStep{
			{
				Config:            config(`{ ann = { first_name = "${terraform_data.name.output}", last_name = "Doe" }, "bob" = { first_name = terraform_data.name.id, last_name = 5 } }`),
				ConfigStateChecks: []statecheck.StateCheck{count("ids", 2)},
			},
			{Config: config(names), ConfigPlanChecks: action(plancheck.ResourceActionUpdate)},
			{Config: config("tomap(" + names + ")"), PlanOnly: true},
			{Config: config("var.people"), ConfigPlanChecks: action(plancheck.ResourceActionUpdate)},
			{Config: config("merge(var.people, { (terraform_data.name.id) = var.people.ann })"), ConfigStateChecks: []statecheck.StateCheck{count("ids", 3)}},
		},
	})
}
