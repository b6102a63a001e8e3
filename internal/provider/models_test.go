package provider_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"gotest.tools/v3/assert"
)

// TestModels checks that every field of a response is in the model of its resource.
func TestModels(t *testing.T) {
	for typeName, d := range definitions() {
		if len(operations(typeName)) == 0 {
			continue
		}
		setModel := d.Addr().MethodByName("SetModel")
		domains, model, response := reflect.Zero(setModel.Type().In(1)), reflect.New(setModel.Type().In(2).Elem()), reflect.New(setModel.Type().In(3).Elem())
		fill(response.Elem())
		setModel.Call([]reflect.Value{reflect.ValueOf(t.Context()), domains, model, response})
		have := map[string]bool{}
		for _, f := range reflect.VisibleFields(model.Elem().Type()) {
			if name := f.Tag.Get("tfsdk"); name != "" {
				have[name] = !model.Elem().FieldByIndex(f.Index).Interface().(attr.Value).IsNull()
			}
		}
		for _, f := range reflect.VisibleFields(response.Elem().Type()) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
				assert.Check(t, have[name], "%s: %s of a response is not in the model", typeName, name)
			}
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
