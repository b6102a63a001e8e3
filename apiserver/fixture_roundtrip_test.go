package apiserver_test

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

// TestDumpEqualsLoadedFixture checks that the dump of a fixture with every field and id, and no
// default value, is the fixture.
func TestDumpEqualsLoadedFixture(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/every_field.json")
	assert.NilError(t, err)
	h, f := apitest.New(t), parseFixture(t, string(text))
	for range 2 { // the second time, its own dump
		assert.NilError(t, h.Service.Reset(t.Context(), f))
		same(t, "the dump", strings.Split(dump(t, h.Service)+"\n", "\n"), strings.Split(string(text), "\n"))
		f = parseFixture(t, dump(t, h.Service))
	}
	seen := map[reflect.Type]map[string]bool{}
	noteFields(seen, reflect.ValueOf(*f))
	for typ, fields := range seen {
		for field := range typ.Fields() {
			assert.Check(t, fields[field.Name], "every_field.json has no %s of a %s", field.Name, typ)
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
