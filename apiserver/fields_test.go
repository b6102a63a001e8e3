package apiserver_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest/sample"
)

// TestEachFieldIsStored checks that the object shows each field of the sample of a create and of an
// update, in the response and in a read after it, and that null removes a field of an update that it
// can remove.
func TestEachFieldIsStored(t *testing.T) {
	for _, spec := range api.Specs() {
		k := sample.Of(spec.Kind)
		if k == nil || spec.Status != http.StatusCreated && spec.Method != http.MethodPatch {
			continue
		}
		t.Run(spec.ID, func(t *testing.T) {
			h := apitest.New(t)
			r := ready(h, newRequest(t, spec))
			current := func() *apitest.Response { return nil } // no operation reads one
			if get := k.Get(); get != nil && spec.Method == http.MethodPatch {
				current = func() *apitest.Response {
					return (&request{spec: *get, path: r.path}).send(h.In(t)).Want(http.StatusOK)
				}
			}
			before := current()
			written := r.send(h.In(t)).Want(spec.Status)
			if get := k.Get(); get != nil && spec.Method == http.MethodPost {
				path := map[string]string{"account_id": accountID, k.Parameter: idOf(written, "id")}
				current = func() *apitest.Response { return (&request{spec: *get, path: path}).send(h.In(t)).Want(http.StatusOK) }
			}
			after := current()
			stored := func(got *apitest.Response, f *api.Field, place string, sent any) {
				if !isSame(got.At(place), sent) {
					t.Errorf("%s: %s sent %s, and the response of %s shows %s in %s: store and show it in apiserver/internal/account/%s.go", f.Name, spec.ID, text(sent), got.Request.Method, text(got.At(place)), place, k.File)
				}
			}
			for _, f := range spec.Body().Members {
				if k.Hidden[f.Name] != "" {
					continue
				}
				sent, place := r.body.(obj)[f.Name], cmp.Or(k.Shown[f.Name], f.Name)
				if spec.Method == http.MethodPost && fmt.Sprint(sent) == f.Default || before != nil && isSame(before.At(place), sent) && sent != false {
					t.Errorf("%s: %s sends %s, which the object shows without that: give the sample another value in apiserver/apitest/sample/%s.go", f.Name, spec.ID, text(sent), k.File)
				}
				if after == nil || slices.ContainsFunc(api.FieldsOf(spec.Response), func(f *api.Field) bool { return f.Name == place }) {
					stored(written, f, place, sent)
				}
				if after != nil {
					stored(after, f, place, sent)
				}
			}
			for _, f := range spec.Body().Members {
				if spec.Request.FieldByIndex(spec.Body().Index).Type.FieldByIndex(f.Index).Type == reflect.TypeFor[api.Nullable[string]]() {
					r.body = obj{f.Name: nil}
					r.send(h.In(t)).Want(spec.Status)
					stored(current(), f, cmp.Or(k.Shown[f.Name], f.Name), nil)
				}
			}
		})
	}
}

// text returns a value as JSON.
func text(v any) string {
	data, err := json.Marshal(v)
	return cmp.Or(string(data), fmt.Sprint(err))
}

// isSame reports whether two values are equal as JSON, or the same time.
func isSame(got, sent any) bool {
	a, errA := time.Parse(time.RFC3339, fmt.Sprint(got))
	b, errB := time.Parse(time.RFC3339, fmt.Sprint(sent))
	return text(got) == text(sent) || errA == nil && errB == nil && a.Equal(b)
}
