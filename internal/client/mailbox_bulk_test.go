package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/fakeapi"
)

func bulk(locals ...string) []api.NewMailboxItem {
	var items []api.NewMailboxItem
	for _, local := range locals {
		items = append(items, api.NewMailboxItem{LocalPart: local, FirstName: "Jane", LastName: "Doe"})
	}
	return items
}

// outcomesOf returns a word for each outcome: created, unknown, or the type or
// status of an error.
func outcomesOf(outcomes []MailboxOutcome) string {
	var words []string
	for _, o := range outcomes {
		failed, _ := errors.AsType[*Error](o.Err)
		_, unknown := errors.AsType[*UnknownOutcomeError](o.Err)
		switch {
		case unknown:
			words = append(words, "unknown")
		case failed != nil && len(failed.Problems) > 0:
			words = append(words, failed.Problems[0].Type)
		case failed != nil:
			words = append(words, fmt.Sprint(failed.Status))
		case o.Mailbox != nil && o.Err == nil:
			words = append(words, "created")
		default:
			words = append(words, "nothing")
		}
	}
	return strings.Join(words, " ")
}

// TestBulkWithLostResponses checks the outcome of each item after faults, with and without
// support for keys.
func TestBulkWithLostResponses(t *testing.T) {
	made := func(at string, o fakeapi.Object) fakeapi.Object {
		o["created_at"] = at
		return o
	}
	for _, tc := range []struct {
		name   string
		items  []api.NewMailboxItem
		before []fakeapi.Object
		faults []fakeapi.Fault
		posts  int // with support for keys
		want   string
	}{
		{"no loss", bulk("a", "B"), nil, nil, 1, "created created"},
		{"lost after commit", bulk("a", "B"), nil, []fakeapi.Fault{{DropAfter: true}}, 1, "created created"},
		{"lost before commit", bulk("a", "b"), nil, []fakeapi.Fault{{DropBefore: true}}, 2, "created created"},
		{"500", bulk("a", "b"), nil, []fakeapi.Fault{{Status: 500}}, 2, "created created"},
		{"lost before and after", bulk("a", "b"), nil, []fakeapi.Fault{{DropBefore: true}, {DropAfter: true}}, 2, "created created"},
		{"empty response", bulk("a", "b"), nil, []fakeapi.Fault{{Text: "{}"}}, 1, "created created"},
		{"an item missing in the response", bulk("a", "b"), nil, []fakeapi.Fault{{Text: `{"created":[],"failed":[{"index":1,"code":"invalid_name","message":"m"}]}`}}, 1, "created created"},
		{"an index that is none", bulk("a"), nil, []fakeapi.Fault{{Text: `{"created":[],"failed":[{"index":1,"code":"invalid_name","message":"m"}]}`}}, 1, "created"},
		{"an index below all", bulk("a"), nil, []fakeapi.Fault{{Text: `{"created":[],"failed":[{"index":-1,"code":"invalid_name","message":"m"}]}`}}, 1, "created"},
		{"other mailboxes in the response", bulk("a"), nil, []fakeapi.Fault{{Text: `{"created":[{"index":0,"mailbox":{"id":"1","local_part":"b"}}],"failed":[]}`}}, 1, "created"},
		{"a created index that is none", bulk("a"), nil, []fakeapi.Fault{{Text: `{"created":[{"index":1,"mailbox":{"id":"1","local_part":"a"}}],"failed":[]}`}}, 1, "created"},
		{"a mailbox without an id", bulk("a"), nil, []fakeapi.Fault{{Text: `{"created":[{"index":0,"mailbox":{"id":"","local_part":"a"}}],"failed":[]}`}}, 1, "created"},
		{"one twice and one never", bulk("a", "b"), nil, []fakeapi.Fault{{Text: `{"created":[{"index":0,"mailbox":{"id":"1","local_part":"a"}}],"failed":[{"index":0,"code":"invalid_name","message":"m"}]}`}}, 1, "created created"},
		{"created and failed", bulk("a"), nil, []fakeapi.Fault{{Text: `{"created":[{"index":0,"mailbox":{"id":"1","local_part":"a"}}],"failed":[{"index":0,"code":"invalid_name","message":"m"}]}`}}, 1, "created"},
		{"one has another name", bulk("a", "b"), []fakeapi.Object{withNames(fakeapi.Mailbox("b", "example.com"), "Joan", "Roe")}, []fakeapi.Fault{{DropBefore: true}}, 2, "created already_exists"},
		{"one can't be created", bulk("a", "", "c"), nil, []fakeapi.Fault{{DropAfter: true}}, 2, "created invalid_local_part created"},
		{"one existed before", bulk("a", "b", "c"), []fakeapi.Object{made("2026-03-01T11:00:00Z", fakeapi.Mailbox("b", "example.com"))}, []fakeapi.Fault{{DropAfter: true}}, 2, "created already_exists created"},
		{"one is in another domain", bulk("a"), []fakeapi.Object{fakeapi.Mailbox("a", "example.org")}, []fakeapi.Fault{{DropBefore: true}}, 2, "created"},
		{"half created", bulk("a", "b", "c"), []fakeapi.Object{fakeapi.Mailbox("b", "example.com")}, []fakeapi.Fault{{DropBefore: true}}, 2, "created created created"},
		{"made at a time that can't be read", bulk("a"), []fakeapi.Object{made("yesterday", fakeapi.Mailbox("a", "example.com"))}, []fakeapi.Fault{{DropBefore: true}}, 1, "created"},
		{"two that no address can have", bulk("a b", "c d"), nil, nil, 1, "created created"},
		{"refused", bulk("a", "b"), nil, []fakeapi.Fault{{Status: 403}}, 1, "403 403"},
		{"invalid", bulk("a", "b"), nil, []fakeapi.Fault{{Status: 422, Text: `{"detail":[{"loc":["body","domain"],"msg":"m","type":"value_error"}]}`}}, 1, "value_error value_error"},
		{"too large alone", bulk("a"), nil, []fakeapi.Fault{{Status: 413}}, 1, "413"},
		{"never a response", bulk("a", "b"), nil, []fakeapi.Fault{{DropBefore: true, Times: 99}}, 9, "unknown unknown"},
		{"half created, then never a response", bulk("a", "b"), []fakeapi.Object{fakeapi.Mailbox("b", "example.com"), fakeapi.Mailbox("z", "example.com")}, []fakeapi.Fault{{DropBefore: true, Times: 99}}, 9, "unknown created"},
	} {
		for _, honours := range []bool{false, true} {
			t.Run(fmt.Sprint(tc.name, "/keys ", honours), func(t *testing.T) {
				f := fakeapi.New()
				f.HonoursKeys = honours
				f.Add("mailboxes", tc.before...)
				for _, fault := range tc.faults {
					fault.Op = api.CreateMailboxes.ID
					f.Fail(fault)
				}
				outcomes := newClient(t, f).CreateMailboxes(t.Context(), "example.com", tc.items)
				got := outcomesOf(outcomes)
				assert.Check(t, got == tc.want, "%s, want %s; sent %v; %v", got, tc.want, f.Sent(), outcomes[0].Err)
				n := f.Count(api.CreateMailboxes.ID)
				assert.Check(t, n == tc.posts, "%d requests, want %d: %v", n, tc.posts, f.Sent())
				for i, o := range outcomes {
					if o.Mailbox != nil && (o.Mailbox.LocalPart != localPartKey(tc.items[i].LocalPart) || o.Mailbox.DomainName != "example.com") {
						t.Errorf("item %d is %+v", i, o.Mailbox)
					}
				}
			})
		}
	}
}

// TestBulkReplayed checks that a replayed response takes precedence over the lookup: a
// mailbox just created by somebody else is a conflict.
func TestBulkReplayed(t *testing.T) {
	f := fakeapi.New().Fail(fakeapi.Fault{Op: api.CreateMailboxes.ID, DropAfter: true})
	f.HonoursKeys = true
	f.Add("mailboxes", fakeapi.Mailbox("a", "example.com"))
	got := outcomesOf(newClient(t, f).CreateMailboxes(t.Context(), "example.com", bulk("a", "")))
	assert.Check(t, got == "already_exists invalid_local_part", "%s after %v", got, f.Sent())
}

// TestBulkThatIsProcessedLate checks that, with an API that ignores keys, mailboxes that the
// first attempt creates only after the lookup are taken.
func TestBulkThatIsProcessedLate(t *testing.T) {
	for _, canList := range []bool{true, false} {
		f := fakeapi.New().Fail(fakeapi.Fault{Op: api.CreateMailboxes.ID, DropBefore: true})
		f.Add("mailboxes", fakeapi.Mailbox("c", "example.com")) // the first lookup finds it
		ids := 0
		c := newClient(t, f, func(o *Options) {
			o.Hooks.NewID = func() string {
				if ids++; ids == 4 { // the key, the first attempt, the lookup, the second attempt
					f.Add("mailboxes", fakeapi.Mailbox("a", "example.com"))
					if !canList {
						f.Fail(fakeapi.Fault{Op: api.ListMailboxes.ID, Status: 403})
					}
				}
				return fmt.Sprint("id", ids)
			}
		})
		want := "created created created invalid_local_part"
		if !canList {
			want = "unknown created created invalid_local_part"
		}
		got := outcomesOf(c.CreateMailboxes(t.Context(), "example.com", bulk("a", "b", "c", "")))
		assert.Check(t, got == want, "%s, want %s, after %v", got, want, f.Sent())
	}
}

// TestBulkSplits checks that a call with too many items for one request is split, also if the
// API accepts fewer items than the contract, which is learned once.
func TestBulkSplits(t *testing.T) {
	var locals []string
	for i := range 250 {
		locals = append(locals, fmt.Sprint("m", i))
	}
	for name, tc := range map[string]struct {
		change   func(*fakeapi.API, *Client)
		requests int
	}{
		"limit of the contract": {func(_ *fakeapi.API, c *Client) { c.bulkLimit.Store(100) }, 3},
		"limit of the API":      {func(f *fakeapi.API, _ *Client) { f.MaxBulkItems = 100 }, 7}, // 250, 125, 62 four times, and 2
		"size of the body": {func(f *fakeapi.API, _ *Client) {
			f.Fail(fakeapi.Fault{Op: api.CreateMailboxes.ID, Status: 413, Times: 2})
		}, 7},
	} {
		t.Run(name, func(t *testing.T) {
			f := fakeapi.New()
			c := newClient(t, f)
			tc.change(f, c)
			got := outcomesOf(c.CreateMailboxes(t.Context(), "example.com", bulk(locals...)))
			assert.Check(t, strings.Count(got, "created") == len(locals), "%.200s", got)
			before := len(f.Requests)
			assert.Check(t, before == tc.requests, "%d requests, want %d", before, tc.requests)
			outcomes := c.CreateMailboxes(t.Context(), "example.org", bulk(locals[:50]...))
			assert.Check(t, outcomes[0].Err == nil && len(f.Requests) == before+1, "50 more mailboxes took %d requests: %v", len(f.Requests)-before, outcomes[0].Err)
		})
	}
}

// TestBulkInterrupted checks that mailboxes created before an interruption of the run are found.
func TestBulkInterrupted(t *testing.T) {
	f := fakeapi.New().Fail(fakeapi.Fault{Op: api.CreateMailboxes.ID, DropAfter: true})
	ctx, cancel := context.WithCancel(t.Context())
	f.OnDrop = cancel
	got := outcomesOf(newClient(t, f).CreateMailboxes(ctx, "example.com", bulk("a", "b")))
	assert.Check(t, got == "created created", "%s after %v", got, f.Sent())
	assert.Check(t, f.Requests[1].Key == f.Requests[0].Key, "the lookup does not name its create")

}

// TestBulkItemErrors checks that the error of an item is like that of a single create.
func TestBulkItemErrors(t *testing.T) {
	item := bulk("a")[0]
	invalid := itemError("example.com", item, api.FailedMailboxItem{Code: api.BulkInvalidName, Message: "first_name: too long"}, "r1")
	if p := ProblemsAt(invalid, "body", "first_name"); len(p) != 1 || p[0].Msg != "too long" || IsConflict(invalid) || !strings.Contains(invalid.Error(), "r1") {
		t.Error(invalid)
	}
	if exists := itemError("example.com", item, api.FailedMailboxItem{Code: api.BulkAlreadyExists, Message: "it exists"}, "r1"); !IsConflict(exists) || !strings.Contains(exists.Error(), "a@example.com") {
		t.Error(exists)
	}
	assert.ErrorContains(t, itemError("example.com", item, api.FailedMailboxItem{Code: "odd"}, "r"), "no reason but the code odd")
}
