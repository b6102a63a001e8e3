package provider_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
)

// TestDefinitions checks of every kind with data sources what its type can't express.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	all := schemas(t).ResourceSchemas
	for name, d := range definitions() {
		isGroup := d.FieldByName("Names").String() == "" && len(operations(name)) == 0 // a zone or a set
		if checkModel(t, name, d, all[name].Block.Attributes, isGroup); isGroup {
			continue
		}
		for _, required := range []string{"Names", "Noun", "Nouns", "List.All", "ResourceDescription", "DeleteOperation", "Single.Description", "Single.Keys"} {
			assert.Check(t, !member(d, required).IsZero(), "%s has no %s", name, required)
		}
		keys := member(d, "Single.Keys").Interface().([]attribute.Filter)
		assert.Check(t, len(keys) >= 2 && keys[0].Name == "id", "%s: the keys are not the id and a natural key: %v", name, keys)
		isProtected := !member(d, "NaturalKeys").IsZero() || name == "mailhost_dedicated_ip" // see planCreate in its package
		assert.Check(t, isProtected || member(d, "IsValuable").IsZero(), "%s is valuable, and has no natural key by which a plan could protect it", name)
		assert.Check(t, !member(d, "Objects").IsZero() || !member(d, "FindBy").IsZero(), "%s has neither a kind of the client nor a way of its own to read an object", name)
		model := member(d, "Listing.Imported").Type().In(2).Elem()
		_, isScoped := model.FieldByName("Scope")
		assert.Check(t, isScoped == !member(d, "FindInScope").IsZero(), "%s: the model has a scope: %t; objects are found in one: %t", name, isScoped, !isScoped)
		attributes := map[string]bool{}
		for _, a := range all[name].Block.Attributes {
			attributes[a.Name] = true
		}
		for _, attribute := range slices.Concat(member(d, "Volatile").Interface().([]string), member(d, "ReplacedBy").Interface().([]string)) {
			assert.Check(t, attributes[attribute], "%s: Volatile or ReplacedBy has %s, which is no attribute", name, attribute)
		}
		var ways []string
		for _, way := range []string{"Find", "FindInScope"} {
			if !member(d, way).IsZero() {
				ways = append(ways, way)
			}
		}
		assert.Check(t, len(ways) == 1, "%s has not one way to find an object by its natural key, but %q", name, ways)
	}
}

// checkModel checks that the model of a resource has a field for each attribute and no other, and that a
// response, unless the resource is a group of objects, sets each of its fields in the model.
func checkModel(t *testing.T, typeName string, d reflect.Value, attributes []*tfprotov6.SchemaAttribute, isGroup bool) {
	t.Helper()
	setModel := d.Addr().MethodByName("SetModel")
	model, response := reflect.New(setModel.Type().In(2).Elem()), reflect.New(setModel.Type().In(3).Elem())
	fields := map[string]reflect.Value{}
	for _, f := range reflect.VisibleFields(model.Elem().Type()) {
		if name := f.Tag.Get("tfsdk"); name != "" {
			fields[name] = model.Elem().FieldByIndex(f.Index)
		}
	}
	kind, from := strings.TrimPrefix(typeName, "mailhost_"), response.Elem().Type()
	at, isWhole := "internal/service/"+strings.ReplaceAll(kind, "_", ""), true
	if !isGroup {
		at += "/definition.go"
	}
	returned, described := map[string]bool{}, map[string]bool{}
	for _, f := range reflect.VisibleFields(from) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		returned[name] = name != ""
	}
	for _, a := range attributes {
		described[a.Name] = true
		if _, ok := fields[a.Name]; !ok {
			also := ""
			if returned[a.Name] {
				also = " and " + from.String()
			}
			isWhole = false
			t.Errorf("%s: the model has no field with tfsdk:%q, which the attributes%s have: add it to model in %s", kind, a.Name, also, at)
		}
	}
	for name := range fields {
		if !described[name] {
			isWhole = false
			t.Errorf("%s: model in %s has a field with tfsdk:%q, and there is no such attribute: add it to the attributes or to %s, or correct the name", kind, at, name, from)
		}
	}
	if !isWhole || isGroup {
		return
	}
	fill(response.Elem())
	setModel.Call([]reflect.Value{reflect.ValueOf(t.Context()), reflect.Zero(setModel.Type().In(1)), model, response})
	for name := range returned {
		if name != "" && fields[name].Interface().(attr.Value).IsNull() {
			t.Errorf("%s: %s has %s, but it is null in the model after SetModel: correct Flatten in %s", kind, from, name, at)
		}
	}
}

// fill sets every field to a value that is not zero.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		for _, field := range v.Fields() {
			if field.CanSet() {
				fill(field)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	}
}

// member returns a member of a struct by its path.
func member(v reflect.Value, path string) reflect.Value {
	for name := range strings.SplitSeq(path, ".") {
		v = v.FieldByName(name)
	}
	return v
}
