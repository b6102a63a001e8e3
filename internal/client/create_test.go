package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// creator creates one object and returns its id.
type creator struct {
	op, list string
	stored   string
	do       func(context.Context, *Client) (id string, err error)
}

var creators = map[string]creator{
	"mailbox": {"create-mailbox", "list-mailboxes", "mailboxes", func(ctx context.Context, c *Client) (string, error) {
		m, _, err := c.CreateMailbox(ctx, api.CreateMailboxBody{Domain: "example.com", LocalPart: "Jane", FirstName: "Jane", LastName: "Doe"})
		return idOr(m, err, mailboxKeys.ID)
	}},
	"forwarding": {"create-forwarding", "list-forwarding", "forwarding", func(ctx context.Context, c *Client) (string, error) {
		f, _, err := c.CreateForwarding(ctx, api.CreateForwardingBody{TargetEmail: "a@B.example"})
		return idOr(f, err, forwardingKeys.ID)
	}},
	"master password": {"create-master-password", "list-master-passwords", "credentials", func(ctx context.Context, c *Client) (string, error) {
		value := "s3cret"
		p, err := c.CreateMasterPassword(ctx, api.CreateMasterPasswordBody{Name: "ops", Value: &value})
		return idOr(p, err, func(p *CreatedMasterPassword) string { return p.ID })
	}},
	"dns record": {"create-dns-record", "list-dns-records", "dns-records", func(ctx context.Context, c *Client) (string, error) {
		r, _, err := c.CreateDNSRecord(ctx, api.CreateDNSRecordBody{Domain: "example.com", Name: "WWW.example.com.", Type: "A", Value: "192.0.2.1"})
		return idOr(r, err, dnsRecordKeys.ID)
	}},
	"dedicated ip": {"claim-dedicated-ip", "list-dedicated-ips", "dedicated-ips", func(ctx context.Context, c *Client) (string, error) {
		d, err := c.ClaimDedicatedIP(ctx, "option")
		return idOr(d, err, dedicatedIPKeys.ID)
	}},
	"purchase": {"purchase-domains", "list-domains", "domains", func(ctx context.Context, c *Client) (string, error) {
		d, err := c.PurchaseDomain(ctx, "example.com", "w", api.ContactInfo{})
		return idOr(d, err, func(d *PurchasedDomain) string { return d.ID })
	}},
}

func idOr[T any](v *T, err error, id func(*T) string) (string, error) {
	if err != nil {
		return "", err
	}
	return id(v), nil
}

// Whatever happens to the answer and whether or not keys are honoured, there is
// exactly one object in the end and the caller knows it.
func TestCreateWithLostAnswers(t *testing.T) {
	for name, create := range creators {
		for _, honours := range []bool{false, true} {
			for fate, tc := range map[string]struct {
				faults []fault
				posts  int
			}{
				"lost after commit":         {[]fault{{dropAfter: true}}, 1},
				"lost before commit":        {[]fault{{dropBefore: true}}, 2},
				"lost before and after":     {[]fault{{dropBefore: true}, {dropAfter: true}}, 2},
				"500 and not done":          {[]fault{{status: 500}}, 2},
				"empty answer":              {[]fault{{text: " "}}, 1},
				"null":                      {[]fault{{text: "null"}}, 1},
				"empty object":              {[]fault{{text: "{}"}}, 1},
				"HTML answer":               {[]fault{{text: "<html>"}}, 1},
				"not processed, then lost":  {[]fault{{status: 429}, {dropAfter: true}}, 2},
				"lost twice before, then 5": {[]fault{{dropBefore: true}, {status: 502}}, 3},
			} {
				t.Run(strings.Join([]string{name, fate, map[bool]string{false: "ignores keys", true: "honours keys"}[honours]}, "/"), func(t *testing.T) {
					f := newFakeAPI()
					f.honoursKeys = honours
					for _, each := range tc.faults {
						each.op = create.op
						f.fail(each)
					}
					id, err := create.do(t.Context(), f.client(t))
					if err != nil {
						t.Fatal(err)
					}
					stored := f.stored[create.stored]
					if len(stored) != 1 || id != idText(stored[0]) {
						t.Errorf("got id %q, stored %v", id, stored)
					}
					if n := f.count(create.op); n != tc.posts {
						t.Errorf("%d requests, want %d: %v", n, tc.posts, f.sent())
					}
				})
			}
		}
	}
}

func idText(o object) string {
	if n, ok := o["id"].(int); ok {
		return dnsRecordKeys.ID(&api.DNSRecord{ID: int64(n)})
	}
	return o["id"].(string)
}

// Where no list can tell, nothing is sent again and the error says so.
func TestCreateWithoutALook(t *testing.T) {
	for name, create := range creators {
		t.Run(name, func(t *testing.T) {
			f := newFakeAPI().fail(fault{op: create.op, dropAfter: true, times: 3}, fault{op: create.list, status: 403, times: 9})
			if create.op == "purchase-domains" { // the look before it has to succeed
				f.faults[1].times = 0
				f.onList = func() {
					if f.count(create.op) > 0 {
						f.faults[1].times = 9
					}
				}
			}
			_, err := create.do(t.Context(), f.client(t))
			unknown, ok := errors.AsType[*UnknownOutcomeError](err)
			if !ok || unknown.Lookup == nil || !errors.Is(err, errDropped) {
				t.Fatalf("%T %v", err, err)
			}
			if n := f.count(create.op); n != 1 {
				t.Errorf("%d requests", n)
			}
			if text := err.Error(); !strings.Contains(text, "not sent again") || !strings.Contains(text, "may have been") {
				t.Errorf("text %q", text)
			}
		})
	}
}

// An API that has proved to honour keys gets the same key again where no list
// can tell, unless money is spent.
func TestCreateWithoutALookAfterProof(t *testing.T) {
	for name, create := range creators {
		if create.list == "list-domains" {
			continue // looks before
		}
		t.Run(name, func(t *testing.T) {
			f := newFakeAPI()
			f.honoursKeys = true
			c := f.client(t)
			prove(t, f, c)
			f.fail(fault{op: create.op, dropAfter: true}, fault{op: create.list, status: 403, times: 9})
			_, err := create.do(t.Context(), c)
			if paid := create.op == "claim-dedicated-ip"; paid != (err != nil) {
				t.Errorf("error %v", err)
			}
			if n := len(f.stored[create.stored]); n != 1 {
				t.Errorf("%d objects", n)
			}
		})
	}
}

// prove makes the API replay an answer.
func prove(t *testing.T, f *fakeAPI, c *Client) {
	t.Helper()
	f.fail(fault{op: "create-service-account", dropAfter: true})
	if _, err := c.CreateServiceAccount(t.Context(), api.CreateServiceAccountBody{Name: "proof"}); err != nil {
		t.Fatal(err)
	}
	if !c.transport.HonoursKeys() {
		t.Fatal("no proof")
	}
	f.stored["auth/service-accounts"] = nil
	f.requests = nil
}

// A 409 that follows a lost attempt comes from that attempt.
func TestConflictAfterLostAttempt(t *testing.T) {
	f := newFakeAPI()
	f.unique = true
	f.fail(fault{op: "create-mailbox", dropBefore: true})
	c := f.client(t)
	f.fail(fault{op: "create-mailbox", status: 409})
	looks := 0
	f.onList = func() { // the lost request is done just after the first look
		if looks++; looks == 2 {
			f.add("mailboxes", withNames(mailboxObject("jane", "example.com"), "Jane", "Doe"))
		}
	}
	id, err := creators["mailbox"].do(t.Context(), c)
	if err != nil || id == "" || f.count("create-mailbox") != 2 {
		t.Errorf("%q, %v after %v", id, err, f.sent())
	}
}

func withNames(m object, first, last string) object {
	m["first_name"], m["last_name"] = first, last
	return m
}

// A mailbox of the same address but with other names was there before: the
// conflict is real.
func TestConflictWithSomebodyElses(t *testing.T) {
	f := newFakeAPI()
	f.unique = true
	f.add("mailboxes", withNames(mailboxObject("jane", "example.com"), "Janet", "Roe"))
	f.fail(fault{op: "create-mailbox", dropBefore: true})
	_, err := creators["mailbox"].do(t.Context(), f.client(t))
	if !IsConflict(err) || f.count("create-mailbox") != 2 {
		t.Errorf("%v after %v", err, f.sent())
	}
}

// A cancelled create still looks, so that what was created is not orphaned.
func TestCancelledCreateLooks(t *testing.T) {
	for _, committed := range []bool{true, false} {
		f := newFakeAPI()
		ctx, cancel := context.WithCancel(t.Context())
		f.fail(fault{op: "create-mailbox", dropAfter: committed, dropBefore: !committed})
		f.clock.onSleep = cancel
		id, err := creators["mailbox"].do(ctx, f.client(t))
		unknown, _ := errors.AsType[*UnknownOutcomeError](err)
		if committed != (id != "") || committed == (unknown != nil) || f.count("create-mailbox") != 1 {
			t.Errorf("committed %v: %q, %v after %v", committed, id, err, f.sent())
		}
	}
}

// A create that never succeeds and is never there reports what the API said; a
// paid one says that the outcome is unknown.
func TestCreateFailsForGood(t *testing.T) {
	for name, create := range creators {
		t.Run(name, func(t *testing.T) {
			f := newFakeAPI().fail(fault{op: create.op, status: 500, text: `{"detail":"boom"}`, times: 99})
			_, err := create.do(t.Context(), f.client(t))
			_, unknown := errors.AsType[*UnknownOutcomeError](err)
			paid := create.op == "claim-dedicated-ip" || create.op == "purchase-domains"
			if StatusOf(err) != 500 || !strings.Contains(err.Error(), "boom") || unknown != paid {
				t.Errorf("%T %v", err, err)
			}
			if n := f.count(create.op); n != 9 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestLookAfterPaidIsPatient(t *testing.T) {
	f := newFakeAPI().fail(fault{op: "claim-dedicated-ip", dropBefore: true})
	c := f.client(t)
	looks := 0
	f.onList = func() { // the claim is done just before the third look
		if looks++; looks == 4 {
			f.add("dedicated-ips", object{"name": "ip"})
		}
	}
	if _, err := c.ClaimDedicatedIP(t.Context(), "option"); err != nil || f.count("claim-dedicated-ip") != 1 {
		t.Errorf("%v after %v", err, f.sent())
	}
}

func TestClaimWithTwoNewAddresses(t *testing.T) {
	f := newFakeAPI().fail(fault{op: "claim-dedicated-ip", dropAfter: true})
	f.add("dedicated-ips", object{"name": "old"})
	f.clock.onSleep = func() { f.clock.onSleep = nil; f.add("dedicated-ips", object{"name": "another program's"}) }
	_, err := f.client(t).ClaimDedicatedIP(t.Context(), "option")
	unknown, _ := errors.AsType[*UnknownOutcomeError](err)
	ambiguous, _ := errors.AsType[*AmbiguousError](unknown.Lookup)
	if ambiguous == nil || len(ambiguous.IDs) != 2 || f.count("claim-dedicated-ip") != 1 {
		t.Errorf("%v after %v", err, f.sent())
	}
}

// Without the list from before, the one from after tells nothing.
func TestClaimWithoutTheListBefore(t *testing.T) {
	f := newFakeAPI().fail(fault{op: "list-dedicated-ips", status: 403}, fault{op: "claim-dedicated-ip", dropBefore: true})
	f.add("dedicated-ips", object{"name": "old"})
	_, err := f.client(t).ClaimDedicatedIP(t.Context(), "option")
	if _, ok := errors.AsType[*UnknownOutcomeError](err); !ok || f.count("claim-dedicated-ip") != 1 {
		t.Errorf("%v after %v", err, f.sent())
	}
}

// The list before a claim is taken before the claim is sent.
func TestClaimListsFirst(t *testing.T) {
	f := newFakeAPI()
	if _, err := f.client(t).ClaimDedicatedIP(t.Context(), "option"); err != nil {
		t.Fatal(err)
	}
	if sent := strings.Join(f.sent(), " "); sent != "list-dedicated-ips claim-dedicated-ip" {
		t.Error(sent)
	}
}

// The last attempt counts: a 429 before it does not make its loss an answer.
func TestLostAfterAnAnswer(t *testing.T) {
	f := newFakeAPI().fail(fault{op: "create-mailbox", status: 429}, fault{op: "create-mailbox", dropBefore: true})
	_, err := creators["mailbox"].do(t.Context(), f.client(t, func(o *Options) { o.RetryMax = 1 }))
	if unknown, _ := errors.AsType[*UnknownOutcomeError](err); unknown == nil || unknown.Attempts != 2 || unknown.Lookup != nil {
		t.Errorf("%v after %v", err, f.sent())
	}
}

// plainCreations are the keyed operations that make no object of their own, whose
// loss no list can tell; creators and secretCreators have all others. The
// master password is in both: its secret may be the caller's or the API's.
var plainCreations = map[string]func(context.Context, *Client) error{
	"cancel-plan": func(ctx context.Context, c *Client) error {
		_, err := c.CancelPlan(ctx, api.CancelPlanBody{})
		return err
	},
	"change-plan": func(ctx context.Context, c *Client) error {
		_, err := c.ChangePlan(ctx, api.ChangePlanBody{})
		return err
	},
	"submit-feedback": func(ctx context.Context, c *Client) error {
		_, err := c.SubmitFeedback(ctx, api.SubmitFeedbackBody{})
		return err
	},
	"create-mailboxes": func(ctx context.Context, c *Client) error { // the list tells of some
		_, err := c.CreateMailboxes(ctx, bulk("x"))
		return err
	},
}

// Every keyed operation is sent by create, and is in the tables by which it is
// tested what happens when an answer is lost.
func TestEveryKeyedOperationIsCreated(t *testing.T) {
	known, secret := map[string]bool{}, map[string]bool{}
	for _, c := range creators {
		known[c.op] = true
	}
	for _, c := range secretCreators {
		known[c.op], secret[c.op] = true, true
	}
	for _, s := range api.Specs() {
		_, plain := plainCreations[s.ID]
		switch told := tellsSecret(s); {
		case !s.Keyed() && (known[s.ID] || plain):
			t.Errorf("%s takes no key", s.ID)
		case notNeeded[s.ID]:
		case s.Keyed() && known[s.ID] == plain:
			t.Errorf("%s must be in creators, in secretCreators (its answer has a secret), or in plainCreations", s.ID)
		case s.Keyed() && told != secret[s.ID]:
			t.Errorf("%s tells a secret: %t; it is in secretCreators: %t", s.ID, told, secret[s.ID])
		}
	}
}

// tellsSecret reports whether an operation's answer has what no other has.
func tellsSecret(s api.Spec) bool {
	if s.Response.Kind() != reflect.Struct {
		return false
	}
	for _, f := range reflect.VisibleFields(s.Response) {
		if name := strings.ToLower(f.Name); strings.Contains(name, "secret") || strings.Contains(name, "token") {
			return true
		}
	}
	return false
}

// What was sent by create ends with the unknown outcome told, and not with a
// bare failure of the network.
func TestPlainCreationWithoutAnAnswer(t *testing.T) {
	for op, do := range plainCreations {
		t.Run(op, func(t *testing.T) {
			f := newFakeAPI().fail(fault{op: op, dropAfter: true, times: 9}, fault{op: "list-mailboxes", status: 403, times: 9})
			err := do(t.Context(), f.client(t))
			if _, ok := errors.AsType[*UnknownOutcomeError](err); !ok {
				t.Errorf("%T %v after %v", err, err, f.sent())
			}
		})
	}
}

// After a lost response, an object that was there before the request is not taken
// for what the request created, whatever the client's clock shows.
func TestCreateTakesNothingOlder(t *testing.T) {
	for name, old := range map[string]object{
		"mailbox":    mailboxObject("jane", "example.com"),
		"forwarding": {"target_email": "a@b.example", "scope_type": "account", "scope_id": accountID, "created_at": "2026-03-01T11:00:00Z"},
	} {
		for _, skew := range []time.Duration{0, 5 * time.Hour, -5 * time.Hour} {
			t.Run(fmt.Sprint(name, " ", skew), func(t *testing.T) {
				create := creators[name]
				f := newFakeAPI()
				f.unique = true
				if old = maps.Clone(old); name == "mailbox" {
					old["first_name"], old["last_name"], old["created_at"] = "Jane", "Doe", "2026-03-01T11:00:00Z"
				}
				f.add(create.stored, old)
				f.fail(fault{op: create.op, dropBefore: true})
				id, err := create.do(t.Context(), f.client(t, func(o *Options) {
					o.Hooks.Now = func() time.Time { return f.clock.Now().Add(skew) }
				}))
				if id == idText(f.stored[create.stored][0]) {
					t.Errorf("took %s, which existed before; error %v", id, err)
				}
			})
		}
	}
}
