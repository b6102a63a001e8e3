package client

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/fakeapi"
)

// secretCreator creates an object whose response contains a secret.
type secretCreator struct {
	op, list, stored string
	do               func(context.Context, *Client) (id, secret string, leftovers []string, err error)
}

var secretCreators = map[string]secretCreator{
	"service account": {"create-service-account", "list-service-accounts", "auth/service-accounts",
		func(ctx context.Context, c *Client) (string, string, []string, error) {
			a, err := c.CreateServiceAccount(ctx, api.CreateServiceAccountBody{Name: "ci"})
			if err != nil {
				return "", "", nil, err
			}
			return a.ID, a.Token, a.Leftovers, nil
		}},
	"generated password": {"create-master-password", "list-master-passwords", "credentials",
		func(ctx context.Context, c *Client) (string, string, []string, error) {
			p, err := c.CreateMasterPassword(ctx, api.CreateMasterPasswordBody{Name: "ci", Generate: true})
			if err != nil {
				return "", "", nil, err
			}
			return p.ID, *p.GeneratedSecret, p.Leftovers, nil
		}},
}

func TestSecretIsReplayed(t *testing.T) {
	for name, create := range secretCreators {
		for fate, faults := range map[string][]fakeapi.Fault{
			"once":        {{DropAfter: true}},
			"three times": {{DropAfter: true, Times: 3}},
			"500 after":   {{DropAfter: true}, {Status: 500}},
		} {
			t.Run(name+"/"+fate, func(t *testing.T) {
				f := fakeapi.New()
				f.HonoursKeys = true
				for _, each := range faults {
					each.Op = create.op
					f.Fail(each)
				}
				id, secret, leftovers, err := create.do(t.Context(), newClient(t, f))
				if err != nil || secret == "" || len(leftovers) > 0 {
					t.Fatalf("secret %q, leftovers %v, %v", secret, leftovers, err)
				}
				if stored := f.Stored[create.stored]; len(stored) != 1 || stored[0]["id"] != id {
					t.Errorf("got %s, stored %v", id, stored)
				}
			})
		}
	}
}

// TestSecretIsReplayedWithoutALookupAfterProof checks that the same key is resent if the
// API has proved that it supports keys.
func TestSecretIsReplayedWithoutALookupAfterProof(t *testing.T) {
	for name, create := range secretCreators {
		t.Run(name, func(t *testing.T) {
			f := fakeapi.New()
			f.HonoursKeys = true
			c := newClient(t, f)
			prove(t, f, c)
			f.Fail(fakeapi.Fault{Op: create.op, DropAfter: true})
			_, secret, _, err := create.do(t.Context(), c)
			if err != nil || secret == "" || f.Count(create.list) != 0 || f.Count(create.op) != 2 {
				t.Errorf("secret %q, %v after %v", secret, err, f.Sent())
			}
		})
	}
}

// TestSecretIsLostWhereNamesAreUnique checks that the error names the existing object if
// the API ignores keys and refuses the duplicate name.
func TestSecretIsLostWhereNamesAreUnique(t *testing.T) {
	for name, create := range secretCreators {
		t.Run(name, func(t *testing.T) {
			f := fakeapi.New()
			f.Unique = true
			f.Fail(fakeapi.Fault{Op: create.op, DropAfter: true})
			_, _, _, err := create.do(t.Context(), newClient(t, f))
			gone, ok := errors.AsType[*SecretLostError](err)
			stored := f.Stored[create.stored]
			if !ok || len(stored) != 1 || len(gone.IDs) != 1 || gone.IDs[0] != stored[0]["id"] || f.Count(create.op) != 2 {
				t.Errorf("%v after %v, stored %v", err, f.Sent(), stored)
			}
		})
	}
}

// TestSecretDuplicateIsALeftover checks that an API that ignores keys and allows equal
// names leaves exactly one leftover, after any number of lost responses.
func TestSecretDuplicateIsALeftover(t *testing.T) {
	for name, create := range secretCreators {
		t.Run(name, func(t *testing.T) {
			f := fakeapi.New().Fail(fakeapi.Fault{Op: create.op, DropAfter: true})
			id, secret, leftovers, err := create.do(t.Context(), newClient(t, f))
			stored := f.Stored[create.stored]
			if err != nil || secret == "" || len(stored) != 2 || len(leftovers) != 1 || leftovers[0] != stored[0]["id"] || id != stored[1]["id"] {
				t.Errorf("id %s, leftovers %v, %v, stored %v", id, leftovers, err, stored)
			}

			f = fakeapi.New().Fail(fakeapi.Fault{Op: create.op, DropAfter: true, Times: 9})
			_, _, _, err = create.do(t.Context(), newClient(t, f))
			gone, ok := errors.AsType[*SecretLostError](err)
			if !ok || len(gone.IDs) != 2 || f.Count(create.op) != 2 {
				t.Errorf("%v after %v", err, f.Sent())
			}
		})
	}
}

// TestOlderNamesakeIsNoLeftover checks that an older service account with the same name is
// not reported as a leftover.
func TestOlderNamesakeIsNoLeftover(t *testing.T) {
	f := fakeapi.New()
	f.HonoursKeys = true
	f.Add("auth/service-accounts", fakeapi.Object{"name": "ci", "created_at": f.Clock.Time.Add(-time.Hour).Format(time.RFC3339)})
	f.Fail(fakeapi.Fault{Op: "create-service-account", DropBefore: true})
	_, token, leftovers, err := secretCreators["service account"].do(t.Context(), newClient(t, f))
	if err != nil || token == "" || len(leftovers) != 0 {
		t.Errorf("token %q, leftovers %v, %v", token, leftovers, err)
	}
}

// TestNamesakeOfAReplayIsNoLeftover checks that, if the response is a replay, a service
// account that another program created meanwhile is not reported as a leftover.
func TestNamesakeOfAReplayIsNoLeftover(t *testing.T) {
	f := fakeapi.New()
	f.HonoursKeys = true
	f.Fail(fakeapi.Fault{Op: "create-service-account", DropAfter: true})
	f.Clock.OnSleep = func() { f.Add("auth/service-accounts", fakeapi.Object{"name": "ci"}) }
	_, token, leftovers, err := secretCreators["service account"].do(t.Context(), newClient(t, f))
	if err != nil || token == "" || len(leftovers) != 0 {
		t.Errorf("token %q, leftovers %v, %v", token, leftovers, err)
	}
}

// TestSecretWithoutAList checks that without a list, which would show a duplicate, nothing
// is resent unless the API has proved that it supports keys.
func TestSecretWithoutAList(t *testing.T) {
	for _, proven := range []bool{false, true} {
		f := fakeapi.New()
		f.HonoursKeys = true
		f.Without["list-service-accounts"] = true
		c := newClient(t, f)
		if proven {
			f.Header = http.Header{"Idempotency-Replayed": {"false"}}
			if _, err := c.SubmitFeedback(t.Context(), api.SubmitFeedbackBody{Title: "t"}); err != nil {
				t.Fatal(err)
			}
			f.Header = nil
		}
		f.Fail(fakeapi.Fault{Op: "create-service-account", DropAfter: true})
		_, token, _, err := secretCreators["service account"].do(t.Context(), c)
		_, unknown := errors.AsType[*UnknownOutcomeError](err)
		if unknown == proven || proven == (token == "") || IsUnsupported(err) {
			t.Errorf("proven %v: token %q, %v after %v", proven, token, err, f.Sent())
		}
	}
}

// TestSecretInAnUnreadableResponse checks that a request is not resent after an unreadable
// success, whose secret is lost.
func TestSecretInAnUnreadableResponse(t *testing.T) {
	for name, create := range secretCreators {
		for _, text := range []string{"{}", "<html>"} {
			f := fakeapi.New().Fail(fakeapi.Fault{Op: create.op, Text: text})
			_, _, _, err := create.do(t.Context(), newClient(t, f))
			gone, ok := errors.AsType[*SecretLostError](err)
			if !ok || len(gone.IDs) != 1 || f.Count(create.op) != 1 {
				t.Errorf("%s, %s: %v after %v", name, text, err, f.Sent())
			}
		}
	}
}

// TestOwnPasswordIsTaken checks that a password that the caller has chosen is not lost
// with the response.
func TestOwnPasswordIsTaken(t *testing.T) {
	f := fakeapi.New().Fail(fakeapi.Fault{Op: "create-master-password", DropAfter: true})
	if _, err := creators["master password"].do(t.Context(), newClient(t, f)); err != nil || f.Count("create-master-password") != 1 {
		t.Errorf("%v after %v", err, f.Sent())
	}
}
