package examples_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	tfjson "github.com/hashicorp/terraform-json"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
	"github.com/mailhost/terraform-provider-mailhost/internal/docs/schemajson"
	"github.com/mailhost/terraform-provider-mailhost/internal/provider"
)

// checker validates configurations without a CLI.
type checker struct {
	server tfprotov6.ProviderServer
	schema *tfjson.ProviderSchema
}

func schemas(t *testing.T) *checker {
	t.Helper()
	server := provider.NewServer(provider.New("test")())
	schema, err := schemajson.Of(t.Context(), server)
	assert.NilError(t, err)
	return &checker{server, schema}
}

// check fails the test for each problem of a configuration.
func (c *checker) check(t *testing.T, name, text string) {
	t.Helper()
	for _, d := range c.problems(t.Context(), name, text) {
		t.Errorf("%s: %s: %s", d.Subject, d.Summary, d.Detail)
	}
}

// problems returns the problems of a configuration: in its syntax and format, in each
// block of this provider, and in each reference to one.
func (c *checker) problems(ctx context.Context, name, text string) hcl.Diagnostics {
	file, diags := hclsyntax.ParseConfig([]byte(text), name, hcl.InitialPos)
	if diags.HasErrors() {
		return diags
	}
	body := file.Body.(*hclsyntax.Body)
	if formatted := string(hclwrite.Format([]byte(text))); formatted != text {
		diags = append(diags, problem(body.Range(), "It is not formatted", "It should be:\n"+formatted)...)
	}
	for _, block := range body.Blocks {
		diags = append(diags, c.block(ctx, block)...)
		diags = append(diags, c.mentions(block.Body)...)
	}
	return diags
}

// meta are the meta-arguments of each block type, which the provider does not see.
var meta = map[string]*hcl.BodySchema{
	"provider":  metaArguments([]string{"alias", "version"}),
	"resource":  metaArguments([]string{"count", "for_each", "provider", "depends_on"}, "lifecycle", "connection", "provisioner"),
	"data":      metaArguments([]string{"count", "for_each", "provider", "depends_on"}, "lifecycle"),
	"ephemeral": metaArguments([]string{"count", "for_each", "provider", "depends_on"}, "lifecycle"),
	"action":    metaArguments([]string{"count", "for_each", "provider"}, "config"),
	"list":      metaArguments([]string{"count", "for_each", "provider", "limit", "include_resource"}, "config"),
}

func metaArguments(attributes []string, blocks ...string) *hcl.BodySchema {
	s := &hcl.BodySchema{}
	for _, name := range attributes {
		s.Attributes = append(s.Attributes, hcl.AttributeSchema{Name: name})
	}
	for _, name := range blocks {
		header := hcl.BlockHeaderSchema{Type: name}
		if name == "provisioner" {
			header.LabelNames = []string{"type"}
		}
		s.Blocks = append(s.Blocks, header)
	}
	return s
}

// block validates a block of this provider and ignores all others.
func (c *checker) block(ctx context.Context, b *hclsyntax.Block) hcl.Diagnostics {
	if meta[b.Type] == nil || len(b.Labels) == 0 || b.Labels[0] != "mailhost" && !strings.HasPrefix(b.Labels[0], "mailhost_") {
		return nil
	}
	schema := c.schemaOf(b.Type, b.Labels[0])
	if schema == nil {
		return problem(b.DefRange(), fmt.Sprintf("The provider has no %s %s", b.Type, b.Labels[0]), "Check the name, or remove the block.")
	}
	body, diags := configured(b)
	if diags.HasErrors() {
		return diags
	}
	value, diags := decode(body, schema)
	if diags.HasErrors() {
		return diags
	}
	found, err := c.validate(ctx, b.Type, b.Labels[0], value)
	if err != nil {
		return problem(b.DefRange(), "It can't be validated", err.Error())
	}
	if acctest.Errors(found) > 0 {
		return problem(b.DefRange(), "The provider refuses it", acctest.Render(found))
	}
	return nil
}

// configured returns the part of a block that the provider receives: the config block of
// a list resource or an action, and everything but meta-arguments of other blocks.
func configured(b *hclsyntax.Block) (hcl.Body, hcl.Diagnostics) {
	content, rest, diags := b.Body.PartialContent(meta[b.Type])
	if diags.HasErrors() || b.Type != "list" && b.Type != "action" {
		return rest, diags
	}
	if _, diags := rest.Content(&hcl.BodySchema{}); diags.HasErrors() {
		return nil, diags
	}
	if len(content.Blocks) == 0 {
		return hcl.EmptyBody(), nil
	}
	return content.Blocks[0].Body, nil
}

// problem returns an error of this package itself.
func problem(at hcl.Range, summary, detail string) hcl.Diagnostics {
	return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &at}}
}

func (c *checker) schemaOf(blockType, typeName string) *tfjson.SchemaBlock {
	if a := c.schema.ActionSchemas[typeName]; blockType == "action" && a != nil {
		return a.Block
	}
	s := map[string]map[string]*tfjson.Schema{
		"provider": {"mailhost": c.schema.ConfigSchema}, "resource": c.schema.ResourceSchemas, "data": c.schema.DataSourceSchemas,
		"ephemeral": c.schema.EphemeralResourceSchemas, "list": c.schema.ListResourceSchemas,
	}[blockType][typeName]
	if s == nil {
		return nil
	}
	return s.Block
}

// validate calls the provider's validation.
func (c *checker) validate(ctx context.Context, blockType, typeName string, config *tfprotov6.DynamicValue) ([]*tfprotov6.Diagnostic, error) {
	switch blockType {
	case "provider":
		resp, err := c.server.ValidateProviderConfig(ctx, &tfprotov6.ValidateProviderConfigRequest{Config: config})
		return resp.Diagnostics, err
	case "resource":
		resp, err := c.server.ValidateResourceConfig(ctx, &tfprotov6.ValidateResourceConfigRequest{
			TypeName: typeName, Config: config,
			ClientCapabilities: &tfprotov6.ValidateResourceConfigClientCapabilities{WriteOnlyAttributesAllowed: true},
		})
		return resp.Diagnostics, err
	case "data":
		resp, err := c.server.ValidateDataResourceConfig(ctx, &tfprotov6.ValidateDataResourceConfigRequest{TypeName: typeName, Config: config})
		return resp.Diagnostics, err
	case "ephemeral":
		resp, err := c.server.ValidateEphemeralResourceConfig(ctx, &tfprotov6.ValidateEphemeralResourceConfigRequest{TypeName: typeName, Config: config})
		return resp.Diagnostics, err
	case "list":
		resp, err := c.server.(tfprotov6.ListResourceServer).ValidateListResourceConfig(ctx, &tfprotov6.ValidateListResourceConfigRequest{TypeName: typeName, Config: config})
		return resp.Diagnostics, err
	}
	resp, err := c.server.(tfprotov6.ActionServer).ValidateActionConfig(ctx, &tfprotov6.ValidateActionConfigRequest{ActionType: typeName, Config: config})
	return resp.Diagnostics, err
}
