package examples_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	tfjson "github.com/hashicorp/terraform-json"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/msgpack"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// mocks is the file with the values of a mocked provider.
const mocks = examples + "/testing/tests/mocks/mailhost.tfmock.hcl"

// TestMocks checks that the mocks have a value for each computed attribute of each type, and that the provider accepts
// each value wherever an attribute of a resource or a data source takes it.
func TestMocks(t *testing.T) {
	t.Parallel()
	c := schemas(t)
	file, diags := hclsyntax.ParseConfig([]byte(read(t, mocks)), mocks, hcl.InitialPos)
	assert.Assert(t, !diags.HasErrors(), "%s", diags)
	mocked := map[string]map[string]cty.Value{}
	for _, b := range file.Body.(*hclsyntax.Body).Blocks {
		defaults, diags := b.Body.Attributes["defaults"].Expr.Value(nil)
		assert.Assert(t, !diags.HasErrors(), "%s", diags)
		mocked[strings.TrimPrefix(b.Type, "mock_")+" "+b.Labels[0]] = defaults.AsValueMap()
	}
	types := map[string]map[string]*tfjson.Schema{"resource": c.schema.ResourceSchemas, "data": c.schema.DataSourceSchemas}
	values := map[string][]cty.Value{} // by attribute
	for kind, all := range types {
		for name, s := range all {
			found := mocked[kind+" "+name]
			var computed []string
			for attribute, a := range s.Block.Attributes {
				if a.Computed && canBeMocked(a) {
					computed = append(computed, attribute)
				}
			}
			slices.Sort(computed)
			assert.Check(t, is.DeepEqual(slices.Sorted(maps.Keys(found)), computed), "the attributes of %s %s in %s", kind, name, mocks)
			for attribute, v := range found {
				a := s.Block.Attributes[attribute]
				if a == nil {
					continue
				}
				_, err := convert.Convert(v, attributeType(a))
				assert.Check(t, err, "%s of %s %s", attribute, kind, name)
				if isSame := func(other cty.Value) bool { return other.RawEquals(v) }; !v.IsNull() && !slices.ContainsFunc(values[attribute], isSame) {
					values[attribute] = append(values[attribute], v)
				}
			}
			delete(mocked, kind+" "+name)
		}
	}
	assert.Check(t, len(mocked) == 0, "the provider lacks the types %v", slices.Sorted(maps.Keys(mocked)))
	for attribute, others := range map[string][]string{"target_email": {"primary_email"}, "domain": {"domain_name", "domain_id"}} {
		for _, other := range others { // such as target_email = mailhost_mailbox.jane.primary_email
			values[attribute] = append(values[attribute], values[other]...)
		}
	}
	for _, attribute := range []string{"id", "name", "type"} { // they differ by type
		delete(values, attribute)
	}
	checked := 0
	for kind, all := range types {
		for name, s := range all {
			for attribute, a := range s.Block.Attributes {
				for _, v := range values[attribute] {
					if a.Required || a.Optional {
						checked++
						assert.Check(t, is.Len(c.refusals(t, kind, name, attribute, v), 0), "%s of %s %s", attribute, kind, name)
					}
				}
			}
		}
	}
	assert.Check(t, checked > 20, "only %d values were checked", checked)
}

// canBeMocked reports whether Terraform uses a mock's value for an attribute. Collections of objects are always empty.
func canBeMocked(a *tfjson.SchemaAttribute) bool {
	return a.AttributeNestedType == nil || a.AttributeNestedType.NestingMode == tfjson.SchemaNestingModeSingle
}

// refusals returns the provider's errors about the value of one attribute.
func (c *checker) refusals(t *testing.T, kind, name, attribute string, v cty.Value) (details []string) {
	t.Helper()
	config := map[string]cty.Value{}
	for other, a := range c.schemaOf(kind, name).Attributes {
		config[other] = cty.NullVal(attributeType(a).WithoutOptionalAttributesDeep())
	}
	config[attribute] = v
	object := cty.ObjectVal(config)
	encoded, err := msgpack.Marshal(object, object.Type())
	assert.NilError(t, err)
	found, err := c.validate(t.Context(), kind, name, &tfprotov6.DynamicValue{MsgPack: encoded})
	assert.NilError(t, err)
	for _, d := range found {
		if d.Severity == tfprotov6.DiagnosticSeverityError && d.Summary != "Invalid Attribute Combination" && tftypes.NewAttributePath().WithAttributeName(attribute).Equal(d.Attribute) {
			details = append(details, d.Detail)
		}
	}
	return details
}

// TestAccMocks applies references to mocked values, with the shared file of mocks.
func TestAccMocks(t *testing.T) {
	w := enter(t, "testing")
	if out := w.must(t, "version"); strings.HasPrefix(out, "OpenTofu") {
		t.Skip("OpenTofu reads no files of mocks")
	}
	w.write(t, "references.tf", references)
	w.write(t, filepath.Join("tests", "mocks", "mocked.tftest.hcl"), `mock_provider "mailhost" {
  source = "./tests/mocks"
}

run "mocked" {
  variables {
    domain  = "example.com"
    members = { "jane.doe" = { first_name = "Jane", last_name = "Doe" } }
    archive = "mail@example.net"
  }
}
`)
	w.must(t, "init")
	passes(t, w.must(t, "test", "-test-directory=tests/mocks", "-filter=tests/mocks/mocked.tftest.hcl"), 1)
}

const references = `
data "mailhost_account" "this" {}

data "mailhost_mailbox" "jane" {
  id = mailhost_mailbox.this["jane.doe"].id
}

resource "mailhost_forwarding" "jane" {
  domain       = mailhost_mailbox.this["jane.doe"].domain_id
  target_email = data.mailhost_mailbox.jane.primary_email
}

resource "mailhost_forwarding" "all" {
  workspace_id = data.mailhost_account.this.default_workspace_id
  target_email = mailhost_mailbox_set.team.addresses["jane.doe"]
}


resource "mailhost_mailbox_set" "team" {
  domain    = mailhost_domain.this.id
  mailboxes = { "jane.doe" = { first_name = "Jane", last_name = "Doe" } }
}

resource "mailhost_dns_zone" "this" {
  domain  = mailhost_mailbox_set.team.domain_name
  records = { "web CNAME" = { values = [mailhost_dns_record.www.fqdn] } }
}

resource "mailhost_dns_record" "www" {
  domain = mailhost_domain.this.id
  name   = "www"
  type   = "CNAME"
  value  = "example.org"
}

resource "mailhost_service_account" "ci" {
  name        = "ci"
  permissions = [{ capability_key = "mailbox.view", resource_type = "domain", resource_id = mailhost_domain.this.id }]
}

resource "mailhost_service_account" "next" {
  name       = "next"
  expires_at = mailhost_service_account.ci.expires_at
}
`
