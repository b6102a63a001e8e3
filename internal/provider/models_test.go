package provider_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/dedicatedip"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/dnsrecord"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/domain"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/forwarding"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/mailbox"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/masterpassword"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/serviceaccount"
)

// TestModels checks that every field of a response is in the model of its resource.
func TestModels(t *testing.T) {
	testModel(t, dedicatedip.Definition)
	testModel(t, dnsrecord.Definition)
	testModel(t, domain.Definition)
	testModel(t, forwarding.Definition)
	testModel(t, mailbox.Definition)
	testModel(t, masterpassword.Definition)
	testModel(t, serviceaccount.Definition)
}

func testModel[T any, M fmt.Stringer](t *testing.T, d *service.Definition[T, M]) {
	var response T
	fill(reflect.ValueOf(&response).Elem())
	var m M
	d.SetModel(t.Context(), nil, &m, &response)
	have := map[string]bool{}
	model := reflect.ValueOf(m)
	for _, f := range reflect.VisibleFields(model.Type()) {
		if name := f.Tag.Get("tfsdk"); name != "" {
			have[name] = !model.FieldByIndex(f.Index).Interface().(attr.Value).IsNull()
		}
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			assert.Check(t, have[name], "%s: %s of a response is not in the model", d.Name, name)
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
