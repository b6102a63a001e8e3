package client

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

func buy(names ...string) api.PurchaseDomainsBody {
	return api.PurchaseDomainsBody{Domains: names, WorkspaceID: "w"}
}

func TestPurchaseAdoptsWhatIsOwned(t *testing.T) {
	f := newFakeAPI()
	id := f.add("domains", object{"name": "example.com", "status": "active"})[0]
	d, err := f.client(t).PurchaseDomain(t.Context(), "EXAMPLE.com.", "w", api.ContactInfo{})
	if err != nil || !d.Adopted || d.ID != id || d.Domain == nil || d.Status != "active" || f.count("purchase-domains") != 0 {
		t.Errorf("%+v, %v after %v", d, err, f.sent())
	}
}

// Bought by somebody else after the list was read.
func TestPurchaseAdoptsAlreadyOwned(t *testing.T) {
	f := newFakeAPI()
	c := f.client(t)
	if _, err := c.PurchaseDomain(t.Context(), "first.example", "w", api.ContactInfo{}); err != nil {
		t.Fatal(err)
	}
	id := f.add("domains", object{"name": "example.com"})[0]
	d, err := c.PurchaseDomain(t.Context(), "example.com", "w", api.ContactInfo{})
	if err != nil || !d.Adopted || d.ID != id {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestPurchaseReportsFailure(t *testing.T) {
	f := newFakeAPI()
	_, err := f.client(t).PurchaseDomain(t.Context(), "taken.example", "w", api.ContactInfo{})
	e, ok := errors.AsType[*Error](err)
	if !ok || len(e.Problems) != 1 || e.Problems[0].Type != api.PurchaseUnavailable || e.RequestID == "" || !strings.Contains(err.Error(), "somebody else owns it") {
		t.Errorf("%v", err)
	}
	if len(ProblemsAt(err, "body", "domains")) != 1 {
		t.Error("the problem has no place")
	}
}

// Many purchases read the list of domains once.
func TestPurchasesShareTheLook(t *testing.T) {
	f := newFakeAPI()
	c := f.client(t)
	for i := range 20 {
		d, err := c.PurchaseDomain(t.Context(), fmt.Sprintf("d%d.example", i), "w", api.ContactInfo{})
		if err != nil || d.ID == "" || d.Adopted || d.Status != api.PurchasePurchased {
			t.Fatalf("%+v, %v", d, err)
		}
		if got, err := c.GetDomain(t.Context(), d.ID); err != nil || got.Name != d.Name {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	if n := f.count("list-domains"); n != 1 {
		t.Errorf("%d lists", n)
	}
}

// A purchased domain is read from a list that is younger than the purchase.
func TestPurchasedDomainIsReadFromAFreshList(t *testing.T) {
	for _, byName := range []bool{false, true} {
		f := newFakeAPI().publishedOnly(405)
		c := f.client(t)
		d, err := c.PurchaseDomain(t.Context(), "example.com", "w", api.ContactInfo{})
		if err != nil {
			t.Fatal(err)
		}
		key := d.ID
		if byName {
			key = "Example.com"
		}
		for range 2 {
			if got, err := c.GetDomain(t.Context(), key); err != nil || got.ID != d.ID {
				t.Errorf("%s: %+v, %v", key, got, err)
			}
		}
		if n := f.count("list-domains"); n != 2 {
			t.Errorf("%d lists", n)
		}
	}
}

func TestNothingIsBoughtBlindly(t *testing.T) {
	f := newFakeAPI().fail(fault{op: "list-domains", status: 403, times: 9})
	c := f.client(t)
	if _, err := c.PurchaseDomain(t.Context(), "example.com", "w", api.ContactInfo{}); StatusOf(err) != 403 {
		t.Errorf("%v", err)
	}
	if _, err := c.PurchaseDomains(t.Context(), buy("example.com")); StatusOf(err) != 403 {
		t.Errorf("%v", err)
	}
	if f.count("purchase-domains") != 0 {
		t.Errorf("%v", f.sent())
	}
}

func TestPurchaseOfManyWithALostAnswer(t *testing.T) {
	for _, tc := range []struct {
		name   string
		owned  []string // before
		names  []string
		fault  fault
		result string // status of each
		posts  int
	}{
		{"lost after", nil, []string{"a.example", "b.example"}, fault{dropAfter: true}, "purchased purchased", 1},
		{"lost before", nil, []string{"a.example", "b.example"}, fault{dropBefore: true}, "purchased purchased", 2},
		{"one owned before", []string{"a.example"}, []string{"a.example", "b.example"}, fault{dropAfter: true}, "failed purchased", 1},
		{"one can't be had", nil, []string{"a.example", "taken.example"}, fault{dropAfter: true}, "", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFakeAPI()
			for _, name := range tc.owned {
				f.add("domains", object{"name": name})
			}
			tc.fault.op = "purchase-domains"
			f.fail(tc.fault)
			p, err := f.client(t).PurchaseDomains(t.Context(), buy(tc.names...))
			if n := f.count("purchase-domains"); n != tc.posts {
				t.Errorf("%d requests", n)
			}
			if tc.result == "" {
				unknown, _ := errors.AsType[*UnknownOutcomeError](err)
				if unknown == nil || !strings.Contains(err.Error(), "but not taken.example") {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var status []string
			for _, r := range p.Results {
				status = append(status, r.Status)
			}
			if got := strings.Join(status, " "); got != tc.result {
				t.Errorf("results %s, want %s", got, tc.result)
			}
		})
	}
}

func TestPendingPayment(t *testing.T) {
	f := newFakeAPI().fail(fault{op: "purchase-domains", status: 200,
		text: `{"results":[{"domain_name":"example.com","status":"pending_payment","id":"d1"}],"payment_url":"https://pay.example/1"}`})
	d, err := f.client(t).PurchaseDomain(t.Context(), "example.com", "w", api.ContactInfo{})
	if err != nil || d.Status != api.PurchasePendingPayment || d.PaymentURL != "https://pay.example/1" || d.ID != "d1" {
		t.Errorf("%+v, %v", d, err)
	}
}
