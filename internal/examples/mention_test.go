package examples_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	tfjson "github.com/hashicorp/terraform-json"
)

// mentions reports references to types, attributes and functions that the provider does
// not have.
func (c *checker) mentions(body *hclsyntax.Body) (diags hcl.Diagnostics) {
	references, calls := expressions(body)
	for _, t := range references {
		diags = append(diags, c.mention(t)...)
	}
	for _, call := range calls {
		name, ours := strings.CutPrefix(call.Name, "provider::mailhost::")
		if _, known := c.schema.Functions[name]; ours && !known {
			diags = append(diags, problem(call.NameRange, "The provider has no function "+name, "It has "+strings.Join(names(c.schema.Functions), ", ")+".")...)
		}
	}
	return diags
}

// mention checks one reference, such as data.mailhost_account.this.id.
func (c *checker) mention(t hcl.Traversal) hcl.Diagnostics {
	blockType, path := "resource", attributesIn(t)
	if slices.Contains([]string{"data", "ephemeral", "action", "list"}, path[0]) {
		blockType, path = path[0], path[1:]
	}
	if len(path) < 2 || !strings.HasPrefix(path[0], "mailhost_") {
		return nil
	}
	schema := c.schemaOf(blockType, path[0])
	switch {
	case schema == nil:
		return problem(t.SourceRange(), fmt.Sprintf("The provider has no %s %s", blockType, path[0]), "Check the name.")
	case len(path) < 3 || blockType == "list" || blockType == "action":
		return nil
	}
	return lacks(t, schema.Attributes, path[2:])
}

// lacks reports the first attribute of a path that does not exist.
func lacks(t hcl.Traversal, attributes map[string]*tfjson.SchemaAttribute, path []string) hcl.Diagnostics {
	a := attributes[path[0]]
	switch {
	case a == nil:
		return problem(t.SourceRange(), "There is no attribute "+path[0], "There are "+strings.Join(names(attributes), ", ")+".")
	case len(path) > 1 && a.AttributeNestedType != nil && a.AttributeNestedType.NestingMode != tfjson.SchemaNestingModeMap:
		return lacks(t, a.AttributeNestedType.Attributes, path[1:])
	}
	return nil
}

// attributesIn returns the names in a reference, without indexes.
func attributesIn(t hcl.Traversal) []string {
	found := []string{t.RootName()}
	for _, step := range t[1:] {
		if a, ok := step.(hcl.TraverseAttr); ok {
			found = append(found, a.Name)
		}
	}
	return found
}
