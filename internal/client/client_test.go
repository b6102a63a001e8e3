package client

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/fakeapi"
)

// newClient returns a client of a fake API that waits with a fake clock.
func newClient(t *testing.T, f *fakeapi.API, change ...func(*Options)) *Client {
	t.Helper()
	o := Options{
		BaseURL: "http://embedded", AccountID: fakeapi.AccountID, Token: "secret-token", Transport: f,
		Hooks: Hooks{Now: f.Clock.Now, Sleep: f.Clock.Sleep, Jitter: func(d time.Duration) time.Duration { return d }},
	}
	for _, c := range change {
		c(&o)
	}
	return New(o)
}

func TestClockOffset(t *testing.T) {
	for ahead, want := range map[time.Duration]time.Duration{-time.Hour: -time.Hour, -time.Second: 0, 90 * time.Second: 90 * time.Second} {
		f := fakeapi.New()
		c := newClient(t, f, func(o *Options) { o.Hooks.Now = func() time.Time { return f.Clock.Now().Add(-ahead) } })
		for range 2 {
			got := c.ClockOffset(t.Context())
			assert.Check(t, (got-want).Abs() <= time.Second && (want != 0 || got == 0) && len(f.Requests) == 1, "%s for a clock that is %s ahead, after %d requests", got, ahead, len(f.Requests))
		}
	}
}

func TestWhoseClient(t *testing.T) {
	c := newClient(t, fakeapi.New(), func(o *Options) { o.Token = "mh_public_secret" })
	assert.Check(t, c.AccountID() == fakeapi.AccountID && c.UsesServiceAccount("mh", "public") && !c.UsesServiceAccount("mh", "pub"))
}

// TestMessages pins the errors of creates whose responses are lost, which say what may exist now.
func TestMessages(t *testing.T) {
	cause := &Error{Status: 502, RequestID: "r"}
	for _, c := range []struct {
		err  error
		want string
	}{
		{&UnknownOutcomeError{Operation: "create-x", Object: "a", Effect: "a may exist", Cause: cause, Lookup: errNoList},
			"the outcome is unknown: a may exist. The request create-x for a failed: the API gave no reason (HTTP 502 Bad Gateway, request id r). A lookup could not find out: " + errNoList.Error() + ". It was not sent again. Run apply again: if it exists by then, the error says how to import it."},
		{&UnknownOutcomeError{Operation: "create-x", Effect: "a may exist", Check: "Look.", RequestID: "r"},
			"the outcome is unknown: a may exist. The response to create-x was empty (request id r). A lookup does not show it yet. It was not sent again. Look."},
		{&SecretLostError{Operation: "create-x", Object: "a", IDs: []string{"1", "2"}, Cause: cause},
			"the response to create-x for a was lost, and with it the secret, which the API returns only once; what exists now has the id 1 or 2. The request failed: the API gave no reason (HTTP 502 Bad Gateway, request id r). Delete it, or choose another name, and try again."},
		{unsupported(ErrReadUnsupported, api.Spec{ID: "read-x"}, "a"), "this API can't read such an object (operation read-x for a)"},
		{&AmbiguousError{Object: "a", IDs: []string{"1", "2"}}, "a: several match, with the ids 1, 2"},
		{&UnknownOutcomeError{Operation: "create-x", Effect: "a may exist", Check: "Look.", Cause: errors.New("a reset")},
			"the outcome is unknown: a may exist. The request create-x failed: a reset. A lookup does not show it yet. It was not sent again. Look."},
		{&SecretLostError{Operation: "create-x", IDs: []string{"1"}, Next: "Go on."},
			"the response to create-x was lost, and with it the secret, which the API returns only once; what exists now has the id 1. Go on."},
	} {
		assert.Check(t, is.Equal(c.err.Error(), c.want))
	}
}

func TestErrorHelpers(t *testing.T) {
	e := &Error{Status: 422, Problems: []Problem{{Loc: []string{"body", "a", "0"}, Msg: "x"}, {Loc: []string{"body", "b"}, Msg: "y"}, {Msg: "z"}}}
	wrapped := fmt.Errorf("more: %w", e)
	got := ProblemsAt(wrapped, "body", "a")
	assert.Check(t, len(got) == 1 && got[0].Msg == "x", "%v", got)
	got = ProblemsAt(wrapped)
	assert.Check(t, len(got) == 3, "%v", got)
	for _, tc := range []struct {
		err                             error
		notFound, conflict, unsupported bool
	}{
		{&Error{Status: 404}, true, false, false},
		{&Error{Status: 409}, false, true, false},
		{&Error{Status: 405}, false, false, true},
		{&Error{Status: 501}, false, false, true},
		{&Error{Status: 501, Problems: []Problem{{Type: api.TypeNotRecorded}}}, false, false, false},
		{&Error{Status: 500}, false, false, false},
		{unsupported(ErrDeleteUnsupported, api.Spec{}, ""), false, false, true},
		{notFound("x"), true, false, false},
		{errors.New("x"), false, false, false},
		{nil, false, false, false},
		{&Error{Status: 409, Problems: []Problem{{Loc: []string{"header", api.IdempotencyKeyHeader}}}}, false, false, false},
		{&Error{Status: 200, Operation: "create-mailboxes", Problems: []Problem{{Type: api.BulkQuotaExceeded}}}, false, true, false},
		{&Error{Status: 200, Operation: "purchase-domains", Problems: []Problem{{Type: api.BulkQuotaExceeded}}}, false, false, false},
		{&Error{Status: 409, Operation: "create-mailboxes"}, false, true, false},
	} {
		assert.Check(t, IsNotFound(tc.err) == tc.notFound && IsConflict(tc.err) == tc.conflict && IsUnsupported(tc.err) == tc.unsupported && len(ProblemsAt(tc.err, "x")) == 0, "%v", tc.err)
	}
}
