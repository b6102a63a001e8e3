package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest/sample"
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

// TestRefusals checks that every call returns the refusal of any of its requests, and otherwise
// succeeds, except that ClaimDedicatedIP tolerates a refusal of its first list. TestCaller tests
// Caller.
func TestRefusals(t *testing.T) {
	for call, fn := range callsOf(newClient(t, fakeapi.New())) {
		last := fn.Type().Out(fn.Type().NumOut() - 1)
		if last != reflect.TypeFor[error]() && last.Kind() != reflect.Func || call == "Caller" {
			continue
		}
		for _, name := range []string{domainUUID, "example.com"} {
			argument := name
			if strings.HasPrefix(call, "DNSRecords.") || call == "UpdateDNSRecord" {
				argument = "1"
			}
			for n, isRefused := 1, true; isRefused; n++ {
				f := fakeapi.New()
				for _, k := range sample.Kinds() {
					if k.Parameter == "" {
						continue
					}
					o := fakeapi.Object{"id": name, "domain_id": name, "scope_type": "domain", "scope_id": name}
					for _, key := range k.Key {
						o[key] = name
					}
					if n, err := strconv.Atoi(k.Path); err == nil { // its ids are numbers
						o["id"] = n
					}
					f.Add(strings.TrimPrefix(k.Collection(), "/"), o)
				}
				f.Add("domains/availability", fakeapi.Object{"id": fakeapi.AccountID, "domain_name": name})
				r := &refusing{API: f, n: n}
				err := makeCall(t.Context(), callsOf(newClient(t, f, func(o *Options) { o.Transport = r }))[call], argument)
				isRefused = r.sent >= n
				assert.Check(t, isRefused && StatusOf(err) == http.StatusForbidden || err == nil && (!isRefused || call == "ClaimDedicatedIP" && n == 1), "%s, request %d of %v: %v", call, n, f.Sent(), err)
			}
		}
	}
}

// callsOf returns the methods of a client, and Get and Delete of each kind, by their names.
func callsOf(c *Client) map[string]reflect.Value {
	all, v := map[string]reflect.Value{}, reflect.ValueOf(c)
	for m := range v.Type().Methods() {
		all[m.Name] = v.Method(m.Index)
	}
	for field := range v.Elem().Type().Fields() {
		if !field.IsExported() {
			continue
		}
		for _, verb := range []string{"Get", "Delete"} {
			all[field.Name+"."+verb] = v.Elem().FieldByIndex(field.Index).Elem().FieldByName(verb)
		}
	}
	return all
}

// makeCall makes a call with the same id or name in each argument, and returns its error.
func makeCall(ctx context.Context, fn reflect.Value, name string) error {
	args := []reflect.Value{reflect.ValueOf(ctx)}
	for i := 1; i < fn.Type().NumIn(); i++ {
		arg := reflect.New(fn.Type().In(i)).Elem()
		fillIn(arg, name)
		args = append(args, arg)
	}
	results := fn.Call(args)
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
