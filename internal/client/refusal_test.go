package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/client/fakeapi"
)

// refusing is an API that refuses the nth request.
type refusing struct {
	*fakeapi.API
	n, sent int
}

func (r *refusing) RoundTrip(req *http.Request) (*http.Response, error) {
	if r.sent++; r.sent != r.n {
		return r.API.RoundTrip(req)
	}
	return &http.Response{StatusCode: http.StatusForbidden, Header: http.Header{}, Request: req, Body: io.NopCloser(strings.NewReader(`{"detail":[{"msg":"no"}]}`))}, nil
}

// TestRefusals calls every method with each of its requests refused: it returns the refusal, and
// otherwise succeeds. ClaimDedicatedIP can do without the list that it reads first, and Caller
// looks at another operation.
func TestRefusals(t *testing.T) {
	for m := range reflect.TypeFor[*Client]().Methods() {
		last := m.Type.Out(m.Type.NumOut() - 1)
		if last != reflect.TypeFor[error]() && last.Kind() != reflect.Func || m.Name == "Caller" {
			continue
		}
		for _, name := range []string{domainUUID, "example.com"} {
			for n, isRefused := 1, true; isRefused; n++ {
				f := fakeapi.New()
				for _, stored := range []string{"auth/authorizations", "auth/service-accounts", "credentials", "dedicated-ips", "domains", "forwarding", "mailboxes"} {
					f.Add(stored, fakeapi.Object{"id": name, "name": name, "domain_id": name, "scope_type": "domain", "scope_id": name, "target_email": name, "primary_email": name})
				}
				f.Add("dns-records", fakeapi.Object{"id": 1, "name": name, "type": name, "value": name})
				f.Add("domains/availability", fakeapi.Object{"id": fakeapi.AccountID, "domain_name": name})
				r := &refusing{API: f, n: n}
				err := callMethod(t.Context(), newClient(t, f, func(o *Options) { o.Transport = r }), m, name)
				isRefused = r.sent >= n
				assert.Check(t, isRefused && StatusOf(err) == http.StatusForbidden || err == nil && (!isRefused || m.Name == "ClaimDedicatedIP" && n == 1), "%s, request %d of %v: %v", m.Name, n, f.Sent(), err)
			}
		}
	}
}

// callMethod calls a method with the same id or name in each argument, and returns its error.
func callMethod(ctx context.Context, c *Client, m reflect.Method, name string) error {
	args := []reflect.Value{reflect.ValueOf(c), reflect.ValueOf(ctx)}
	for i := 2; i < m.Type.NumIn(); i++ {
		arg := reflect.New(m.Type.In(i)).Elem()
		fillIn(arg, name)
		args = append(args, arg)
	}
	results := m.Func.Call(args)
	last := results[len(results)-1]
	if last.Kind() == reflect.Func { // a list
		for _, err := range last.Seq2() {
			if !err.IsNil() {
				return err.Interface().(error)
			}
		}
		return nil
	}
	if len(results) > 1 && results[0].IsZero() && last.IsNil() {
		return errors.New("there is no result")
	}
	err, _ := reflect.TypeAssert[error](last)
	return err
}

func fillIn(v reflect.Value, name string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(name)
	case reflect.Int64:
		v.SetInt(1)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fillIn(v.Field(i), name)
			}
		}
	}
}
