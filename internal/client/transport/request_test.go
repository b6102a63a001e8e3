package transport

import (
	"reflect"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// TestEveryOperationCanBeEncoded checks that every operation of the contract can be
// encoded, with each kind of parameter and each {name} of a path.
func TestEveryOperationCanBeEncoded(t *testing.T) {
	for _, s := range api.Specs() {
		req := reflect.New(s.Request)
		for _, f := range reflect.VisibleFields(s.Request) {
			if field := req.Elem().FieldByIndex(f.Index); field.Kind() == reflect.String {
				field.SetString("x")
			} else if field.CanInt() {
				field.SetInt(1)
			}
		}
		e, err := encode("https://h", s, req.Interface())
		if err != nil || strings.ContainsAny(e.url.String(), "{}") || strings.Contains(string(e.body), "AccountID") {
			t.Errorf("%s: %+v, %v", s.ID, e, err)
		}
	}
}
