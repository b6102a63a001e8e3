package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/fakeapi"
)

// creator creates one object and returns its id.
type creator struct {
	collection
	op string
	do func(context.Context, *Client) (id string, err error)
}

func creatorOf(op api.Spec, do func(context.Context, *Client) (id string, err error)) creator {
	return creator{collectionOf(op.Kind), op.ID, do}
}

var creators = map[string]creator{
	"mailbox": creatorOf(api.CreateMailbox.Spec, func(ctx context.Context, c *Client) (string, error) {
		return idOr(mailboxKeys.ID)(c.CreateMailbox(ctx, api.CreateMailboxBody{Domain: "example.com", LocalPart: "Jane", FirstName: "Jane", LastName: "Doe"}))
	}),
	"forwarding": creatorOf(api.CreateForwarding.Spec, func(ctx context.Context, c *Client) (string, error) {
		return idOr(forwardingKeys.ID)(c.CreateForwarding(ctx, api.CreateForwardingBody{TargetEmail: "a@B.example"}))
	}),
	"master password": creatorOf(api.CreateMasterPassword.Spec, func(ctx context.Context, c *Client) (string, error) {
		value := "s3cret"
		return idOr(func(p *api.CreatedMasterPassword) string { return p.ID })(c.CreateMasterPassword(ctx, api.CreateMasterPasswordBody{Name: "ops", Value: &value}))
	}),
	"dns record": creatorOf(api.CreateDNSRecord.Spec, func(ctx context.Context, c *Client) (string, error) {
		return idOr(dnsRecordKeys.ID)(c.CreateDNSRecord(ctx, api.CreateDNSRecordBody{Domain: "example.com", Name: "WWW.example.com.", Type: "A", Value: "192.0.2.1"}))
	}),
	"dedicated ip": creatorOf(api.ClaimDedicatedIP.Spec, func(ctx context.Context, c *Client) (string, error) {
		return idOr(dedicatedIPKeys.ID)(c.ClaimDedicatedIP(ctx, "option"))
	}),
	"purchase": creatorOf(api.PurchaseDomains.Spec, func(ctx context.Context, c *Client) (string, error) {
		return idOr(func(d *PurchasedDomain) string { return d.ID })(c.PurchaseDomain(ctx, "Example.com", api.PurchaseDomainsBody{WorkspaceID: "w"}))
	}),
}

// idOr returns a function that takes the results of a call, and returns the object's id.
func idOr[T any](id func(*T) string) func(*T, error) (string, error) {
	return func(v *T, err error) (string, error) {
		if err != nil {
			return "", err
		}
		return id(v), nil
	}
}

// TestCreateWithLostResponses checks that there is exactly one object, and the caller gets
// it, for every fault, with and without support for keys.
func TestCreateWithLostResponses(t *testing.T) {
	for name, create := range creators {
		for _, honours := range []bool{false, true} {
			for fate, tc := range map[string]struct {
				faults []fakeapi.Fault
				posts  int
			}{
				"lost after commit":         {[]fakeapi.Fault{{DropAfter: true}}, 1},
				"lost before commit":        {[]fakeapi.Fault{{DropBefore: true}}, 2},
				"lost before and after":     {[]fakeapi.Fault{{DropBefore: true}, {DropAfter: true}}, 2},
				"500 and not done":          {[]fakeapi.Fault{{Status: 500}}, 2},
				"empty response":            {[]fakeapi.Fault{{Text: " "}}, 1},
				"null":                      {[]fakeapi.Fault{{Text: "null"}}, 1},
				"empty object":              {[]fakeapi.Fault{{Text: "{}"}}, 1},
				"HTML response":             {[]fakeapi.Fault{{Text: "<html>"}}, 1},
				"not processed, then lost":  {[]fakeapi.Fault{{Status: 429}, {DropAfter: true}}, 2},
				"lost twice before, then 5": {[]fakeapi.Fault{{DropBefore: true}, {Status: 502}}, 3},
			} {
				t.Run(strings.Join([]string{name, fate, map[bool]string{false: "ignores keys", true: "honours keys"}[honours]}, "/"), func(t *testing.T) {
					f := fakeapi.New()
					f.HonoursKeys = honours
					for _, each := range tc.faults {
						each.Op = create.op
						f.Fail(each)
					}
					id, err := create.do(t.Context(), newClient(t, f))
					assert.NilError(t, err)
					stored := f.Stored[create.stored]
					assert.Check(t, len(stored) == 1 && id == idText(stored[0]), "got id %q, stored %v", id, stored)
					n := f.Count(create.op)
					assert.Check(t, n == tc.posts, "%d requests, want %d: %v", n, tc.posts, f.Sent())
				})
			}
		}
	}
}

func idText(o fakeapi.Object) string {
	if n, ok := o["id"].(int); ok {
		return dnsRecordKeys.ID(&api.DNSRecord{ID: int64(n)})
	}
	return o["id"].(string)
}

// TestCreateWithoutALookup checks that nothing is resent after a failed lookup, and that
// the error describes it.
func TestCreateWithoutALookup(t *testing.T) {
	for name, create := range creators {
		t.Run(name, func(t *testing.T) {
			f := fakeapi.New().Fail(fakeapi.Fault{Op: create.op, DropAfter: true, Times: 3}, fakeapi.Fault{Op: create.list, Status: 403, Times: 9})
			if create.op == "purchase-domains" { // the list before the purchase has to succeed
				f.Faults[1].Times = 0
				f.OnList = func() {
					if f.Count(create.op) > 0 {
						f.Faults[1].Times = 9
					}
				}
			}
			_, err := create.do(t.Context(), newClient(t, f))
			unknown, ok := errors.AsType[*UnknownOutcomeError](err)
			assert.Assert(t, ok && unknown.Lookup != nil && errors.Is(err, fakeapi.ErrDropped), "%T %v", err, err)
			assert.Check(t, is.Equal(f.Count(create.op), 1), "requests")
			text := err.Error()
			assert.Check(t, strings.Contains(text, create.op+" for ") && strings.Contains(text, "not sent again") && strings.Contains(text, "may have been"), "text %q", text)
		})
	}
}

// TestCreateWithoutALookupAfterProof checks that the request is resent after a failed
// lookup if the API has proved that it supports keys, unless it spends money.
func TestCreateWithoutALookupAfterProof(t *testing.T) {
	for name, create := range creators {
		if create.list == "list-domains" {
			continue // it lists the domains first
		}
		t.Run(name, func(t *testing.T) {
			f := fakeapi.New()
			f.HonoursKeys = true
			c := newClient(t, f)
			prove(t, f, c)
			f.Fail(fakeapi.Fault{Op: create.op, DropAfter: true}, fakeapi.Fault{Op: create.list, Status: 403, Times: 9})
			_, err := create.do(t.Context(), c)
			paid := create.op == "claim-dedicated-ip"
			assert.Check(t, paid == (err != nil), "error %v", err)
			assert.Check(t, is.Equal(len(f.Stored[create.stored]), 1), "objects")
		})
	}
}

// prove makes the API replay a response.
func prove(t *testing.T, f *fakeapi.API, c *Client) {
	t.Helper()
	f.Fail(fakeapi.Fault{Op: "create-service-account", DropAfter: true})
	_, err := c.CreateServiceAccount(t.Context(), api.CreateServiceAccountBody{Name: "proof"})
	assert.NilError(t, err)
	assert.Assert(t, c.transport.HonoursKeys.Load(), "no proof")
	f.Stored["auth/service-accounts"] = nil
	f.Requests = nil
}

// TestConflictAfterLostAttempt checks that a 409 after a lost attempt counts as the success
// of that attempt.
func TestConflictAfterLostAttempt(t *testing.T) {
	f := fakeapi.New()
	f.Unique = true
	f.Fail(fakeapi.Fault{Op: "create-mailbox", DropBefore: true})
	c := newClient(t, f)
	f.Fail(fakeapi.Fault{Op: "create-mailbox", Status: 409})
	lookups := 0
	f.OnList = func() { // the API processes the lost request just after the first lookup
		if lookups++; lookups == 2 {
			f.Add("mailboxes", withNames(fakeapi.Mailbox("jane", "example.com"), "Jane", "Doe"))
		}
	}
	id, err := creators["mailbox"].do(t.Context(), c)
	assert.Check(t, err == nil && id != "" && f.Count("create-mailbox") == 2, "%q, %v after %v", id, err, f.Sent())
}

func withNames(m fakeapi.Object, first, last string) fakeapi.Object {
	m["first_name"], m["last_name"] = first, last
	return m
}

// TestConflictWithAnOlderMailbox checks that an older mailbox with the same address and
// another name is a conflict.
func TestConflictWithAnOlderMailbox(t *testing.T) {
	for _, names := range [][2]string{{"Janet", "Doe"}, {"Jane", "Roe"}} {
		f := fakeapi.New()
		f.Unique = true
		f.Add("mailboxes", withNames(fakeapi.Mailbox("jane", "example.com"), names[0], names[1]))
		f.Fail(fakeapi.Fault{Op: "create-mailbox", DropBefore: true})
		_, err := creators["mailbox"].do(t.Context(), newClient(t, f))
		assert.Check(t, IsConflict(err) && f.Count("create-mailbox") == 2, "%v after %v", err, f.Sent())
	}
}

// TestCancelledCreateIsLookedUp checks that a cancelled create looks for its object, so
// that the object is not orphaned.
func TestCancelledCreateIsLookedUp(t *testing.T) {
	for _, committed := range []bool{true, false} {
		f := fakeapi.New()
		ctx, cancel := context.WithCancel(t.Context())
		f.Fail(fakeapi.Fault{Op: "create-mailbox", DropAfter: committed, DropBefore: !committed})
		f.Clock.OnSleep = cancel
		id, err := creators["mailbox"].do(ctx, newClient(t, f))
		unknown, _ := errors.AsType[*UnknownOutcomeError](err)
		assert.Check(t, committed == (id != "") && committed != (unknown != nil) && f.Count("create-mailbox") == 1, "committed %v: %q, %v after %v", committed, id, err, f.Sent())
		assert.Check(t, f.Requests[0].Key != "" && f.Requests[0].Key == f.Requests[1].Key, "the lookup does not carry the key of its create")
	}
}

// TestCreateFailsForGood checks that a create that always fails without a found object returns
// the API's error, and a paid create an unknown outcome.
func TestCreateFailsForGood(t *testing.T) {
	for name, create := range creators {
		t.Run(name, func(t *testing.T) {
			f := fakeapi.New().Fail(fakeapi.Fault{Op: create.op, Status: 500, Text: `{"detail":"boom"}`, Times: 99})
			_, err := create.do(t.Context(), newClient(t, f))
			_, unknown := errors.AsType[*UnknownOutcomeError](err)
			paid := create.op == "claim-dedicated-ip" || create.op == "purchase-domains"
			assert.Check(t, StatusOf(err) == 500 && strings.Contains(err.Error(), "boom") && unknown == paid, "%T %v", err, err)
			assert.Check(t, is.Equal(f.Count(create.op), 9), "requests")
		})
	}
}

// TestRefusalAsAPage checks that a create does not take an existing record after a refusal that is an HTML page. A record
// has no time of creation.
func TestRefusalAsAPage(t *testing.T) {
	for _, status := range []int{400, 409, 422} {
		f := fakeapi.New()
		f.Add("dns-records", fakeapi.Object{"name": "www", "type": "A", "value": "192.0.2.1", "ttl": 3600})
		f.Fail(fakeapi.Fault{Op: creators["dns record"].op, Status: status, Header: http.Header{"Content-Type": {"text/html"}}, Text: "<html>exists</html>"})
		id, err := creators["dns record"].do(t.Context(), newClient(t, f))
		assert.Check(t, id == "" && StatusOf(err) == status && strings.Contains(err.Error(), "exists"), "%d: %q, %v after %v", status, id, err, f.Sent())
	}
}

func TestPaidCreateIsLookedUpThreeTimes(t *testing.T) {
	f := fakeapi.New().Fail(fakeapi.Fault{Op: "claim-dedicated-ip", DropBefore: true})
	c := newClient(t, f)
	lists := 0
	f.OnList = func() { // the API processes the claim just before the third lookup
		if lists++; lists == 4 {
			f.Add("dedicated-ips", fakeapi.Object{"name": "ip"})
		}
	}
	_, err := c.ClaimDedicatedIP(t.Context(), "option")
	assert.Check(t, err == nil && f.Count("claim-dedicated-ip") == 1, "%v after %v", err, f.Sent())
}

func TestClaimWithTwoNewAddresses(t *testing.T) {
	f := fakeapi.New().Fail(fakeapi.Fault{Op: "claim-dedicated-ip", DropAfter: true})
	f.Add("dedicated-ips", fakeapi.Object{"name": "old"})
	f.Clock.OnSleep = func() { f.Clock.OnSleep = nil; f.Add("dedicated-ips", fakeapi.Object{"name": "another program's"}) }
	_, err := newClient(t, f).ClaimDedicatedIP(t.Context(), "option")
	unknown, _ := errors.AsType[*UnknownOutcomeError](err)
	ambiguous, _ := errors.AsType[*AmbiguousError](unknown.Lookup)
	assert.Check(t, ambiguous != nil && len(ambiguous.IDs) == 2 && f.Count("claim-dedicated-ip") == 1, "%v after %v", err, f.Sent())
}

// TestEmptySuccessIsNotRepeated checks that a paid request is not resent after a success without
// the object, although the lookup shows that the API honours keys.
func TestEmptySuccessIsNotRepeated(t *testing.T) {
	for _, name := range []string{"purchase", "dedicated ip"} {
		f := fakeapi.New().Fail(fakeapi.Fault{Op: creators[name].op, Status: 200, Text: "{}"})
		f.HonoursKeys = true
		_, err := creators[name].do(t.Context(), newClient(t, f))
		_, ok := errors.AsType[*UnknownOutcomeError](err)
		assert.Check(t, ok && f.Count(creators[name].op) == 1, "%s: %v after %v", name, err, f.Sent())
	}
}

// TestPaidSuccessIsAwaited checks that a paid create that succeeded according to its response is looked up for minutes,
// because the lists of some APIs lag; a lost one only three times.
func TestPaidSuccessIsAwaited(t *testing.T) {
	for name, text := range map[string]string{
		"dedicated ip": `{}`,
		"purchase":     `{"results":[{"domain_name":"example.com","status":"ok"}]}`,
	} {
		for _, minutes := range []int{9, 20} {
			f := fakeapi.New().Fail(fakeapi.Fault{Op: creators[name].op, Status: 200, Text: text})
			due := f.Clock.Now().Add(time.Duration(minutes) * time.Minute)
			f.Clock.OnSleep = func() {
				if f.Clock.Now().After(due) && len(f.Stored[creators[name].stored]) == 0 {
					f.Add(creators[name].stored, fakeapi.Object{"name": "example.com"})
				}
			}
			id, err := creators[name].do(t.Context(), newClient(t, f))
			unknown, _ := errors.AsType[*UnknownOutcomeError](err)
			assert.Check(t, (id != "") == (minutes == 9) && (unknown != nil) == (minutes == 20) && f.Count(creators[name].op) == 1, "%s, %d minutes: %q, %v after %v", name, minutes, id, err, f.Sent())
		}
	}
}

// TestPlainCreationWithoutAResponse checks that a create without a lookup ends with an
// UnknownOutcomeError, not only with the network's error.
func TestPlainCreationWithoutAResponse(t *testing.T) {
	for op, do := range map[string]func(*Client) error{
		"cancel-plan":     func(c *Client) error { return second(c.CancelPlan(t.Context(), api.CancelPlanBody{})) },
		"change-plan":     func(c *Client) error { return second(c.ChangePlan(t.Context(), api.ChangePlanBody{})) },
		"submit-feedback": func(c *Client) error { return second(c.SubmitFeedback(t.Context(), api.SubmitFeedbackBody{})) },
	} {
		f := fakeapi.New().Fail(fakeapi.Fault{Op: op, DropAfter: true, Times: 9})
		err := do(newClient(t, f))
		_, ok := errors.AsType[*UnknownOutcomeError](err)
		assert.Check(t, ok && f.Count(op) == 1, "%s: %T %v after %v", op, err, err, f.Sent())
	}
}

// TestCreateTakesNothingOlder checks that, after a lost response, an older object is not
// mistaken for the result of the request, whatever the client's clock.
func TestCreateTakesNothingOlder(t *testing.T) {
	for name, old := range map[string]fakeapi.Object{
		"mailbox":    fakeapi.Mailbox("jane", "example.com"),
		"forwarding": {"target_email": "a@b.example", "scope_type": "account", "scope_id": fakeapi.AccountID},
	} {
		for _, skew := range []time.Duration{0, 5 * time.Hour, -5 * time.Hour} {
			t.Run(fmt.Sprint(name, " ", skew), func(t *testing.T) {
				create := creators[name]
				f := fakeapi.New()
				f.Unique = true
				old = maps.Clone(old)
				old["created_at"] = "2026-03-01T11:00:00Z"
				f.Add(create.stored, old)
				f.Fail(fakeapi.Fault{Op: create.op, DropBefore: true})
				id, err := create.do(t.Context(), newClient(t, f, func(o *Options) {
					o.Hooks.Now = func() time.Time { return f.Clock.Now().Add(skew) }
				}))
				assert.Check(t, id != idText(f.Stored[create.stored][0]), "took %s, which existed before; error %v", id, err)
			})
		}
	}
}

// TestLostRefusalIsRetriedUnderOneKey checks that after a lost refusal only the same key
// is sent, for paid and free operations.
func TestLostRefusalIsRetriedUnderOneKey(t *testing.T) {
	for _, name := range []string{"mailbox", "purchase", "dedicated ip"} {
		op, f := creators[name].op, fakeapi.New()
		f.HonoursKeys = true
		f.Refuses = map[string]fakeapi.Response{op: fakeapi.Problem(409, api.TypeConflict, "not now")}
		f.Fail(fakeapi.Fault{Op: op, DropAfter: true})
		_, err := creators[name].do(t.Context(), newClient(t, f))
		keys := map[string]bool{}
		for _, r := range f.Requests {
			if r.Op == op {
				keys[r.Key] = true
			}
		}
		assert.Check(t, err != nil && f.Count(op) <= 2 && len(keys) == 1, "%s was sent %d times under %d keys: %v", op, f.Count(op), len(keys), err)
	}
}

// lateRequest is a transport that delays the first POST for longer than the client waits.
type lateRequest struct {
	*fakeapi.API

	delayed *http.Request
	body    []byte
}

func (l *lateRequest) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodPost || l.delayed != nil {
		return l.API.RoundTrip(r)
	}
	l.body, _ = io.ReadAll(r.Body)
	l.delayed = r.Clone(context.WithoutCancel(r.Context()))
	l.Clock.Advance(90 * time.Second)
	return nil, errors.New("no response within 1m30s")
}

// arrive lets the API process the delayed request.
func (l *lateRequest) arrive(t *testing.T) {
	t.Helper()
	l.delayed.Body = io.NopCloser(bytes.NewReader(l.body))
	resp, err := l.API.RoundTrip(l.delayed)
	assert.NilError(t, err)
	_ = resp.Body.Close()
}

// TestLateRequest delays a request beyond its lookups, and checks that the API executes no
// paid or secret create twice: with keys the request is resent, and without them the outcome
// is reported as unknown.
func TestLateRequest(t *testing.T) {
	claim, purchase, account := creators["dedicated ip"], creators["purchase"], secretCreators["service account"]
	for name, create := range map[string]struct {
		stored string
		do     func(context.Context, *Client) (string, error)
	}{
		"dedicated ip": {claim.stored, claim.do},
		"purchase":     {purchase.stored, purchase.do},
		"service account": {account.stored, func(ctx context.Context, c *Client) (string, error) {
			id, _, err := account.do(ctx, c)
			return id, err
		}},
	} {
		for _, honours := range []bool{false, true} {
			f := fakeapi.New()
			f.HonoursKeys = honours
			late := &lateRequest{API: f}
			_, err := create.do(t.Context(), newClient(t, f, func(o *Options) { o.Transport = late }))
			_, isUnknown := errors.AsType[*UnknownOutcomeError](err)
			assert.Check(t, isUnknown != honours && (!honours || err == nil), "%s, keys %t: %v", name, honours, err)
			late.arrive(t)
			stored := f.Stored[create.stored]
			assert.Check(t, len(stored) == 1, "%s, keys %t: stored %v", name, honours, stored)
		}
	}
	f := fakeapi.New()
	_, err := creators["mailbox"].do(t.Context(), newClient(t, f, func(o *Options) { o.Transport = &lateRequest{API: f} }))
	assert.Check(t, err == nil && f.Count("create-mailbox") == 1, "what is free is sent again: %v", err)
}
