package provider

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// TestDefinitions checks of every kind with data sources what its type can't express.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	for _, o := range objects {
		d := reflect.ValueOf(o.definition).Elem()
		name := d.FieldByName("Name").String()
		for _, required := range []string{"Names", "Noun", "Nouns", "Attributes", "List", "ID", "ResourceDescription", "DeleteOperation", "Single.Description", "Single.Keys", "Listing.DisplayName"} {
			assert.Check(t, !member(d, required).IsZero(), "%s has no %s", name, required)
		}
		keys := member(d, "Single.Keys").Interface().([]service.Filter)
		assert.Check(t, len(keys) >= 2 && keys[0].Name == "id", "%s: the keys are not the id and a natural key: %v", name, keys)
		assert.Check(t, !member(d, "NaturalKeys").IsZero() || member(d, "IsValuable").IsZero(), "%s is valuable, and has no natural key by which a plan could protect it", name)
		assert.Check(t, !member(d, "Kind").IsZero() || !member(d, "FindBy").IsZero(), "%s has neither a kind of the client nor a way of its own to read an object", name)
		model := member(d, "Listing.Imported").Type().In(2).Elem()
		_, isScoped := model.FieldByName("Scope")
		assert.Check(t, isScoped == !member(d, "FindInScope").IsZero(), "%s: the model has a scope: %t; objects are found in one: %t", name, isScoped, !isScoped)
		attributes := member(d, "Attributes").Interface().(func() map[string]schema.Attribute)()
		if settings := member(d, "Settings").Interface().(func() map[string]schema.Attribute); settings != nil {
			maps.Copy(attributes, settings())
		}
		for _, attribute := range slices.Concat(member(d, "Volatile").Interface().([]string), member(d, "ReplacedBy").Interface().([]string)) {
			assert.Check(t, attributes[attribute] != nil, "%s: Volatile or ReplacedBy has %s, which is no attribute", name, attribute)
		}
		var ways []string
		for _, way := range []string{"Find", "FindInScope", "FindBy"} {
			if !member(d, way).IsZero() {
				ways = append(ways, way)
			}
		}
		assert.Check(t, len(ways) == 1, "%s has not one way to find an object by its natural key, but %q", name, ways)
	}
}

// member returns a member of a struct by its path.
func member(v reflect.Value, path string) reflect.Value {
	for name := range strings.SplitSeq(path, ".") {
		v = v.FieldByName(name)
	}
	return v
}
