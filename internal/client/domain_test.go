package client

import (
	"errors"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/fakeapi"
)

func TestPurchaseAdoptsWhatIsOwned(t *testing.T) {
	f := fakeapi.New()
	id := f.Add("domains", fakeapi.Object{"name": "example.com", "status": "active"})[0]
	d, err := newClient(t, f).PurchaseDomain(t.Context(), "EXAMPLE.com.", api.PurchaseDomainsBody{WorkspaceID: "w"})
	assert.Check(t, err == nil && d.Adopted && d.ID == id && d.Domain != nil && d.Status == "active" && f.Count("purchase-domains") == 0, "%+v, %v after %v", d, err, f.Sent())
}

// TestPurchaseAdoptsAlreadyOwned buys a domain that somebody else in the account buys after the
// list was read.
func TestPurchaseAdoptsAlreadyOwned(t *testing.T) {
	f := fakeapi.New()
	id := ""
	f.OnRequest = func() {
		if len(f.Requests) == 1 {
			id = f.Add("domains", fakeapi.Object{"name": "example.com"})[0]
		}
	}
	d, err := newClient(t, f).PurchaseDomain(t.Context(), "example.com", api.PurchaseDomainsBody{WorkspaceID: "w"})
	assert.Check(t, err == nil && d.Adopted && d.ID == id, "%+v, %v", d, err)
}

func TestPurchaseReportsFailure(t *testing.T) {
	f := fakeapi.New()
	_, err := newClient(t, f).PurchaseDomain(t.Context(), "taken.example", api.PurchaseDomainsBody{WorkspaceID: "w"})
	e, ok := errors.AsType[*Error](err)
	assert.Check(t, ok && len(e.Problems) == 1 && e.Problems[0].Type == api.PurchaseUnavailable && e.RequestID != "" && strings.Contains(err.Error(), "somebody else owns it"), "%v", err)
	assert.Check(t, len(ProblemsAt(err, "body", "domains")) == 1, "the problem has no place")
}

// TestPurchasedDomainIsReadFromAFreshList checks that a purchased domain is read from a
// list that was requested after the purchase.
func TestPurchasedDomainIsReadFromAFreshList(t *testing.T) {
	for _, byName := range []bool{false, true} {
		f := fakeapi.New().PublishedOnly(405)
		c := newClient(t, f)
		d, err := c.PurchaseDomain(t.Context(), "example.com", api.PurchaseDomainsBody{WorkspaceID: "w"})
		assert.NilError(t, err)
		key := d.ID
		if byName {
			key = "Example.com"
		}
		for range 2 {
			got, err := c.Domains.Get(t.Context(), key)
			assert.Check(t, err == nil && got.ID == d.ID, "%s: %+v, %v", key, got, err)
		}
		assert.Check(t, is.Equal(f.Count("list-domains"), 2), "lists")
	}
}

func TestNothingIsBoughtBlindly(t *testing.T) {
	f := fakeapi.New().Fail(fakeapi.Fault{Op: "list-domains", Status: 403, Times: 9})
	c := newClient(t, f)
	_, err := c.PurchaseDomain(t.Context(), "example.com", api.PurchaseDomainsBody{WorkspaceID: "w"})
	assert.Check(t, StatusOf(err) == 403, "%v", err)
	assert.Check(t, f.Count("purchase-domains") == 0, "%v", f.Sent())
}

func TestPendingPayment(t *testing.T) {
	f := fakeapi.New().Fail(fakeapi.Fault{Op: "purchase-domains", Status: 200,
		Text: `{"results":[{"domain_name":"example.com","status":"pending_payment","id":"d1"}],"payment_url":"https://pay.example/1"}`})
	d, err := newClient(t, f).PurchaseDomain(t.Context(), "example.com", api.PurchaseDomainsBody{WorkspaceID: "w"})
	assert.Check(t, err == nil && d.Status == api.PurchasePendingPayment && d.PaymentURL == "https://pay.example/1" && d.ID == "d1", "%+v, %v", d, err)

	f = fakeapi.New().Fail(fakeapi.Fault{Op: "purchase-domains", DropAfter: true})
	f.OnDrop = func() { f.Stored["domains"][0]["status"] = vocab.DomainPendingPayment }
	d, err = newClient(t, f).PurchaseDomain(t.Context(), "example.com", api.PurchaseDomainsBody{WorkspaceID: "w"})
	assert.Check(t, err == nil && d.Status == api.PurchasePendingPayment && d.ID != "", "after a lost response: %+v, %v", d, err)
}

// TestPurchaseThatIsProcessedLate checks that a domain counts as bought if the API processes
// the first request only after its lookups, and refuses the second one.
func TestPurchaseThatIsProcessedLate(t *testing.T) {
	f := fakeapi.New().Fail(fakeapi.Fault{Op: "purchase-domains", DropBefore: true})
	f.OnRequest = func() {
		if f.Count("purchase-domains") == 1 && f.Count("list-domains") == 1+paidLookups && len(f.Stored["domains"]) == 0 {
			f.Add("domains", fakeapi.Object{"name": "example.com", "status": vocab.DomainPending})
		}
	}
	d, err := newClient(t, f).PurchaseDomain(t.Context(), "example.com", api.PurchaseDomainsBody{WorkspaceID: "w"})
	assert.Check(t, err == nil && !d.Adopted && d.ID != "" && d.Status == vocab.DomainPending && f.Count("purchase-domains") == 2, "%+v, %v after %v", d, err, f.Sent())
}
