package apiserver_test

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

// TestDumpEqualsLoadedFixture checks that the dump of a fixture with every field and id, and no
// default value, is the fixture.
func TestDumpEqualsLoadedFixture(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/every_field.json")
	if err != nil {
		t.Fatal(err)
	}
	h, f := apitest.New(t), parseFixture(t, string(text))
	for range 2 { // the second time, its own dump
		if err := h.Service.Reset(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		same(t, "the dump", strings.Split(dump(t, h.Service)+"\n", "\n"), strings.Split(string(text), "\n"))
		f = parseFixture(t, dump(t, h.Service))
	}
	seen := map[reflect.Type]map[string]bool{}
	noteFields(seen, reflect.ValueOf(*f))
	for typ, fields := range seen {
		for field := range typ.Fields() {
			if !fields[field.Name] {
				t.Errorf("every_field.json has no %s of a %s", field.Name, typ)
			}
		}
	}
}

// noteFields adds the non-zero fields of all structs in v to seen.
func noteFields(seen map[reflect.Type]map[string]bool, v reflect.Value) {
	switch {
	case v.Kind() == reflect.Pointer && !v.IsNil():
		noteFields(seen, v.Elem())
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			noteFields(seen, v.Index(i))
		}
	case v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[time.Time]():
		if seen[v.Type()] == nil {
			seen[v.Type()] = map[string]bool{}
		}
		for field, value := range v.Fields() {
			if !value.IsZero() {
				seen[v.Type()][field.Name] = true
			}
			noteFields(seen, value)
		}
	}
}
