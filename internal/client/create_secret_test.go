package client

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest/sample"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/fakeapi"
)

// secretCreator creates an object whose response contains a secret.
type secretCreator struct {
	collection
	op string
	// do may return the id of the object with an error.
	do func(context.Context, *Client) (id, secret string, err error)
}

var secretCreators = map[string]secretCreator{
	"service account": {collectionOf(api.CreateServiceAccount.Kind), api.CreateServiceAccount.ID,
		func(ctx context.Context, c *Client) (string, string, error) {
			a, err := c.CreateServiceAccount(ctx, api.CreateServiceAccountBody{Name: "ci"})
			if a == nil {
				return "", "", err
			}
			return a.ID, a.Token, err
		}},
	"generated password": {collectionOf(api.CreateMasterPassword.Kind), api.CreateMasterPassword.ID,
		func(ctx context.Context, c *Client) (string, string, error) {
			p, err := c.CreateMasterPassword(ctx, api.CreateMasterPasswordBody{Name: "ci", Generate: true})
			if p == nil {
				return "", "", err
			}
			return p.ID, api.Value(p.GeneratedSecret), err
		}},
}

// TestCreatesAreTested checks that creators and secretCreators contain every create of a managed object.
func TestCreatesAreTested(t *testing.T) {
	tested := map[string]bool{}
	for _, c := range creators {
		tested[c.op] = true
	}
	for _, c := range secretCreators {
		tested[c.op] = true
	}
	for _, l := range lifecycles {
		if op := sample.Of(l.kind).Create(); op != nil {
			assert.Check(t, tested[op.ID], "%s has no row in creators (create_test.go) or, if its response has a secret, in secretCreators (create_secret_test.go)", op.ID)
		}
	}
}

func TestSecretIsReplayed(t *testing.T) {
	for name, create := range secretCreators {
		for fate, faults := range map[string][]fakeapi.Fault{
			"once":        {{DropAfter: true}},
			"three times": {{DropAfter: true, Times: 3}},
			"500 after":   {{DropAfter: true}, {Status: 500}},
			"damaged":     {{Text: `{"id": "`}},
		} {
			t.Run(name+"/"+fate, func(t *testing.T) {
				f := fakeapi.New()
				f.HonoursKeys = true
				for _, each := range faults {
					each.Op = create.op
					f.Fail(each)
				}
				id, secret, err := create.do(t.Context(), newClient(t, f))
				assert.Assert(t, err == nil && secret != "", "secret %q, %v", secret, err)
				stored := f.Stored[create.stored]
				assert.Check(t, len(stored) == 1 && stored[0]["id"] == id, "got %s, stored %v", id, stored)
			})
		}
	}
}

// TestSecretIsLost checks that nothing is resent to an API that ignores keys once the
// lookup has found the object, which is returned with the error.
func TestSecretIsLost(t *testing.T) {
	for name, create := range secretCreators {
		for fate, faults := range map[string][]fakeapi.Fault{
			"at first":               {{DropAfter: true}},
			"on a retry":             {{DropBefore: true}, {DropAfter: true}},
			"and refused":            {{DropAfter: true, Times: 9}},
			"after a timeout":        {{Status: 504}, {DropAfter: true}},
			"with an empty response": {{Text: "{}"}},
		} {
			t.Run(name+"/"+fate, func(t *testing.T) {
				f := fakeapi.New()
				for _, each := range faults {
					each.Op = create.op
					f.Fail(each)
				}
				id, secret, err := create.do(t.Context(), newClient(t, f))
				gone, ok := errors.AsType[*SecretLostError](err)
				stored := f.Stored[create.stored]
				assert.Check(t, ok && secret == "" && len(stored) == 1 && id == stored[0]["id"] && len(gone.IDs) == 1 && gone.IDs[0] == id, "id %s, %v after %v, stored %v", id, err, f.Sent(), stored)
			})
		}
	}
}

// TestNamesakeIsNotReturned checks that an older object, or another object that this client
// created, is not mistaken for the object with the lost secret.
func TestNamesakeIsNotReturned(t *testing.T) {
	f := fakeapi.New()
	f.Add("auth/service-accounts", fakeapi.Object{"name": "ci", "created_at": f.Clock.Time.Add(-time.Hour).Format(time.RFC3339)})
	c := newClient(t, f)
	other, _, err := secretCreators["service account"].do(t.Context(), c)
	assert.NilError(t, err)
	f.Fail(fakeapi.Fault{Op: "create-service-account", DropAfter: true})
	id, _, err := secretCreators["service account"].do(t.Context(), c)
	gone, ok := errors.AsType[*SecretLostError](err)
	assert.Check(t, ok && len(gone.IDs) == 1 && id != "" && id != other && id == f.Stored["auth/service-accounts"][2]["id"], "id %s, %v, stored %v", id, err, f.Stored)
}

// TestObjectOfUnknownAgeIsNotReturned checks that the error names an object that may be older
// than the request, but the object is not returned.
func TestObjectOfUnknownAgeIsNotReturned(t *testing.T) {
	for createdAt, transport := range map[string]func(f *fakeapi.API) http.RoundTripper{
		"long ago":             func(f *fakeapi.API) http.RoundTripper { return f },
		"2026-03-01T12:00:01Z": func(f *fakeapi.API) http.RoundTripper { return dateless{f} },
	} {
		f := fakeapi.New()
		f.Unique = true
		f.Add("credentials", fakeapi.Object{"name": "ci", "scope_type": "account", "created_at": createdAt})
		f.Fail(fakeapi.Fault{Op: "create-master-password", DropBefore: true})
		c := newClient(t, f, func(o *Options) { o.Transport = transport(f) })
		id, _, err := secretCreators["generated password"].do(t.Context(), c)
		gone, ok := errors.AsType[*SecretLostError](err)
		assert.Check(t, ok && len(gone.IDs) == 1 && id == "", "%s: id %s, %v", createdAt, id, err)
	}
}

// dateless is an API whose responses have no Date header.
type dateless struct{ *fakeapi.API }

func (d dateless) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := d.API.RoundTrip(r)
	if err == nil {
		resp.Header.Del("Date")
	}
	return resp, err
}

// TestSecretWithoutAList checks that without a list, which would show a duplicate, nothing
// is resent unless the API has proved that it supports keys. The lookup proves it.
func TestSecretWithoutAList(t *testing.T) {
	for _, honours := range []bool{false, true} {
		f := fakeapi.New()
		f.HonoursKeys = honours
		f.Without["list-service-accounts"] = true
		f.Fail(fakeapi.Fault{Op: "create-service-account", DropAfter: true})
		_, token, err := secretCreators["service account"].do(t.Context(), newClient(t, f))
		_, unknown := errors.AsType[*UnknownOutcomeError](err)
		if unknown == honours || honours == (token == "") || IsUnsupported(err) || len(f.Stored["auth/service-accounts"]) != 1 {
			t.Errorf("it honours keys: %v; token %q, %v after %v", honours, token, err, f.Sent())
		}
	}
}
