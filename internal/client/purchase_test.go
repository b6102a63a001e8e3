package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/fakeapi"
)

// purchaseAll buys domains at about the same time, as an apply does, and returns a word for
// each outcome: its status, or the type or status of its error.
func purchaseAll(ctx context.Context, c *Client, names []string, workspace func(i int) string) []string {
	words := make([]string, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() {
			time.Sleep(time.Duration(i) * 20 * time.Millisecond)
			d, err := c.PurchaseDomain(ctx, name, workspace(i), api.ContactInfo{City: "Berlin"})
			failed, _ := errors.AsType[*Error](err)
			unknown, _ := errors.AsType[*UnknownOutcomeError](err)
			switch {
			case unknown != nil:
				words[i] = "unknown " + unknown.Object
			case failed != nil && len(failed.Problems) > 0:
				words[i] = failed.Problems[0].Type + " " + failed.Object
			case failed != nil:
				words[i] = fmt.Sprint(failed.Status, " ", failed.Object)
			case err != nil:
				words[i] = err.Error()
			default:
				words[i] = d.Status + " " + d.Name
				if d.ID == "" || d.Adopted {
					words[i] += " without an id, or adopted"
				}
			}
		})
	}
	wg.Wait()
	return words
}

// TestPurchasesTogether checks, for every fault of the request, that each domain has its own
// outcome, that none is bought twice or lost, and how many requests there are.
func TestPurchasesTogether(t *testing.T) {
	workspaces := func(i int) string { return []string{"w", "w", "w", "w", "other"}[i] }
	same := func(int) string { return "w" }
	refusal := `{"detail":[{"loc":["body","domains","1"],"msg":"no","type":"value_error"}]}`
	for _, tc := range []struct {
		name      string
		names     []string
		workspace func(int) string
		fault     fakeapi.Fault
		proven    bool // the API has replayed a response before
		cancel    bool // when the response is lost
		requests  int
		want      []string
	}{
		{"one request", []string{"a.example", "b.example", "c.example"}, same, fakeapi.Fault{}, false, false, 1,
			[]string{"purchased a.example", "purchased b.example", "purchased c.example"}},
		{"one refused", []string{"a.example", "taken.example", "c.example"}, same, fakeapi.Fault{}, false, false, 1,
			[]string{"purchased a.example", "unavailable taken.example", "purchased c.example"}},
		{"two workspaces", []string{"a.example", "b.example", "c.example", "d.example", "e.example"}, workspaces, fakeapi.Fault{}, false, false, 2,
			[]string{"purchased a.example", "purchased b.example", "purchased c.example", "purchased d.example", "purchased e.example"}},
		{"lost after commit", []string{"a.example", "b.example"}, same, fakeapi.Fault{DropAfter: true}, false, false, 1,
			[]string{"purchased a.example", "purchased b.example"}},
		{"lost before commit", []string{"a.example", "b.example"}, same, fakeapi.Fault{DropBefore: true}, false, false, 2,
			[]string{"purchased a.example", "purchased b.example"}},
		{"lost after commit, one refused", []string{"a.example", "taken.example", "c.example"}, same, fakeapi.Fault{DropAfter: true}, false, false, 1,
			[]string{"purchased a.example", "unknown taken.example", "purchased c.example"}},
		{"lost after commit, one refused, with keys", []string{"a.example", "taken.example", "c.example"}, same, fakeapi.Fault{DropAfter: true}, true, false, 2,
			[]string{"purchased a.example", "unavailable taken.example", "purchased c.example"}},
		{"incomplete response", []string{"a.example", "b.example"}, same, fakeapi.Fault{Text: `{"results":[{"domain_name":"a.example","status":"purchased","id":"1"}]}`}, false, false, 1,
			[]string{"purchased a.example", "unknown b.example"}},
		{"empty response", []string{"a.example", "b.example"}, same, fakeapi.Fault{Text: `{}`}, false, false, 1,
			[]string{"purchased a.example", "purchased b.example"}},
		{"refused as a whole", []string{"a.example", "b.example"}, same, fakeapi.Fault{Status: 422, Text: refusal}, false, false, 3,
			[]string{"purchased a.example", "purchased b.example"}},
		{"forbidden", []string{"a.example", "b.example"}, same, fakeapi.Fault{Status: 403, Times: 9}, false, false, 1,
			[]string{"403 a.example", "403 b.example"}},
		{"interrupted after commit", []string{"a.example", "b.example"}, same, fakeapi.Fault{DropAfter: true}, false, true, 1,
			[]string{"purchased a.example", "purchased b.example"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fakeapi.New()
				f.HonoursKeys = tc.proven
				c := realTimeClient(t, Options{Transport: f})
				if tc.proven {
					prove(t, f, c)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tc.cancel {
					f.OnDrop = cancel
				}
				if tc.fault.Op = "purchase-domains"; tc.fault.DropAfter || tc.fault.DropBefore || tc.fault.Status != 0 || tc.fault.Text != "" {
					f.Fail(tc.fault)
				}
				if got := purchaseAll(ctx, c, tc.names, tc.workspace); !slices.Equal(got, tc.want) {
					t.Errorf("outcomes %q,\nwant     %q", got, tc.want)
				}
				if n := f.Count("purchase-domains"); n != tc.requests {
					t.Errorf("%d requests, want %d", n, tc.requests)
				}
				bought := map[any]int{}
				for _, d := range f.Stored["domains"] {
					if bought[d["name"]]++; bought[d["name"]] > 1 {
						t.Errorf("%s was bought twice", d["name"])
					}
				}
			})
		})
	}
}

// TestPurchasesHaveTheirOwnKeys checks that two purchases have two keys, and that no request
// names a domain twice.
func TestPurchasesHaveTheirOwnKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeapi.New()
		c := realTimeClient(t, Options{Transport: f})
		purchaseAll(t.Context(), c, []string{"a.example", "a.example", "b.example"}, func(int) string { return "w" })
		purchaseAll(t.Context(), c, []string{"c.example", "d.example"}, func(int) string { return "w" })
		keys, names := map[string]bool{}, map[string]int{}
		for _, r := range f.Requests {
			var body api.PurchaseDomainsBody
			if r.Op != "purchase-domains" || json.Unmarshal([]byte(r.Body), &body) != nil {
				continue
			}
			keys[r.Key] = true
			within := map[string]bool{}
			for _, name := range body.Domains {
				if names[normalizeDomain(name)]++; within[normalizeDomain(name)] {
					t.Errorf("one request for %q", body.Domains)
				}
				within[normalizeDomain(name)] = true
			}
		}
		if len(keys) != f.Count("purchase-domains") || names["c.example"] != 1 || len(f.Stored["domains"]) != 4 {
			t.Errorf("%d keys for %v; names %v", len(keys), f.Sent(), names)
		}
	})
}
