package client

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

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
	if f.count("purchase-domains") != 0 {
		t.Errorf("%v", f.sent())
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
