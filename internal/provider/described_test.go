package provider_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/provider"
)

// TestEverythingIsDescribed checks that every type and attribute has a description for the
// documentation.
func TestEverythingIsDescribed(t *testing.T) {
	t.Parallel()
	all := schemas(t)
	checkBlock(t, "provider", all.Provider.Block)
	for kind, of := range map[string]map[string]*tfprotov6.Schema{
		"": all.ResourceSchemas, "data.": all.DataSourceSchemas, "ephemeral.": all.EphemeralResourceSchemas, "list.": all.ListResourceSchemas,
	} {
		for name, s := range of {
			checkBlock(t, kind+name, s.Block)
		}
	}
	for name, s := range all.ActionSchemas {
		checkBlock(t, "action."+name, s.Schema.Block)
	}
	for name, f := range all.Functions {
		checkFunction(t, "function "+name, f)
	}
	checkIdentities(t)
}

func checkBlock(t *testing.T, name string, b *tfprotov6.SchemaBlock) {
	t.Helper()
	checkText(t, name, b.Description, b.DescriptionKind)
	checkAttributes(t, name, b.Attributes)
	assert.Check(t, len(b.BlockTypes) <= 0, "%s has blocks: an attribute can be computed from others, a block can't", name)
}

func checkAttributes(t *testing.T, name string, attributes []*tfprotov6.SchemaAttribute) {
	t.Helper()
	for _, a := range attributes {
		at := name + "." + a.Name
		checkText(t, at, a.Description, a.DescriptionKind)
		if a.NestedType != nil {
			checkAttributes(t, at, a.NestedType.Attributes)
		}
	}
}

func checkFunction(t *testing.T, name string, f *tfprotov6.Function) {
	t.Helper()
	checkText(t, name, f.Description, f.DescriptionKind)
	assert.Check(t, f.Summary != "" && !strings.Contains(f.Summary, "\n"), "%s needs a Summary of one line; it is %q", name, f.Summary)
	parameters := f.Parameters
	if f.VariadicParameter != nil {
		parameters = append(parameters, f.VariadicParameter)
	}
	for _, p := range parameters {
		checkText(t, name+"("+p.Name+")", p.Description, p.DescriptionKind)
	}
}

// checkIdentities checks the descriptions of identity attributes, which are plain text.
func checkIdentities(t *testing.T) {
	t.Helper()
	server := provider.NewServer(provider.New("test")())
	resp, err := server.GetResourceIdentitySchemas(t.Context(), &tfprotov6.GetResourceIdentitySchemasRequest{})
	assert.NilError(t, err)
	for name, s := range resp.IdentitySchemas {
		for _, a := range s.IdentityAttributes {
			checkText(t, "identity of "+name+"."+a.Name, a.Description, tfprotov6.StringKindMarkdown)
		}
	}
}

// checkText checks that a description consists of sentences in Markdown.
func checkText(t *testing.T, name, text string, kind tfprotov6.StringKind) {
	t.Helper()
	switch {
	case strings.TrimSpace(text) == "":
		t.Errorf("%s has no description: give it a MarkdownDescription that helps somebody who has never seen the product", name)
	case kind != tfprotov6.StringKindMarkdown && !strings.Contains(name, ".timeouts"):
		t.Errorf("%s is not described in Markdown: set its MarkdownDescription", name)
	case !strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "```"):
		t.Errorf("%s: the description %q is no sentence", name, text)
	}
}
