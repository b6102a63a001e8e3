package apiserver_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

func TestPaymentPage(t *testing.T) {
	h := apitest.New(t, func(o *apiserver.Options) {
		o.Registrar = apiserver.Registrar{PaymentNeeded: true, Taken: []string{"taken.com"}}
		o.PublicURL = "https://mail.example"
	})
	bought := h.Purchase(h.DefaultWorkspace(), "example.com", "taken.com", "bücher.de").Want(200)
	url := bought.Str("payment_url")
	assert.Assert(t, url == "https://mail.example/pay/"+bought.Str("purchase_batch_id"), "the payment is at %s", url)
	second := h.Owner(t, nobody)
	other := second.Purchase(second.DefaultWorkspace(), "other.com").Want(200).Str("payment_url")

	for _, address := range []string{url, strings.Replace(url, bought.Str("purchase_batch_id"), strings.ToUpper(bought.Str("purchase_batch_id")), 1)} {
		shows(t, h, "GET", address, 200, "Payment needed", "<li><strong>example.com</strong> waits for payment</li>",
			"<li><strong>xn--bcher-kva.de</strong> waits for payment</li>", "This server takes no money itself")
	}
	// The page shows nothing else of this account, and nothing of other accounts.
	_, _, page := visit(t, h, "GET", url)
	for _, foreign := range []string{"other.com", "taken.com", accountID, "Jane", "<form"} {
		assert.Check(t, !strings.Contains(page, foreign), "the page shows %q:\n%s", foreign, page)
	}
	shows(t, h, "GET", other, 200, "Payment needed", "<li><strong>other.com</strong> waits for payment</li>")
	status, header, _ := visit(t, h, "POST", url)
	assert.Check(t, status == 405 && header.Get("Allow") == "GET, HEAD", "POST returns %d, Allow %q", status, header.Get("Allow"))
	h.Delete("/domains/example.com").Want(204)
	h.Delete("/domains/bücher.de").Want(204)
	for _, address := range []string{url, "https://mail.example/pay/" + accountID, "https://mail.example/pay/x"} {
		shows(t, h, "GET", address, 404, "There is no such purchase")
	}
}

func TestPaymentPageOfAPaidPurchase(t *testing.T) {
	h := apitest.New(t, func(o *apiserver.Options) { o.Registrar.ProvisioningDelay = apiserver.Duration(time.Hour) })
	h.Domain("first.com")
	_, err := h.Service.SettlePayment(t.Context(), nobody)
	assert.ErrorIs(t, err, apiserver.ErrNoPurchase)
	bought := h.Purchase(h.DefaultWorkspace(), "example.com").Want(200)
	assert.Check(t, bought.At("payment_url") == nil, "the page asks for a payment")
	url := "http://localhost:8080/pay/" + bought.Str("purchase_batch_id")
	shows(t, h, "GET", url, 200, "Nothing to pay", "<li><strong>example.com</strong> is being set up</li>")
	h.Clock.Advance(time.Hour)
	_, err = h.Service.SettlePayment(t.Context(), bought.Str("purchase_batch_id"))
	assert.NilError(t, err)
	shows(t, h, "GET", url, 200, "Nothing to pay", "<li><strong>example.com</strong> is active</li>")
}

const week = 7 * 24 * time.Hour

// TestUnpaidPurchaseIsDeleted checks that a purchase deletes the overdue domains of its account and
// of its name, that other changes don't see them, and that they don't keep an account from being
// deleted. The audit log names the system as the subject.
func TestUnpaidPurchaseIsDeleted(t *testing.T) {
	a := newAudited(t)
	fixture, err := fixture.Read(strings.NewReader(`{"registrar":{"payment_needed":true},"accounts":[{"id":"33333333-2222-4333-8444-555555555555","domains":[{
		"name":"late.com","status":"pending_payment","mailboxes":[{"local_part":"jane","first_name":"J","last_name":"D"}],"forwarding":[{"target_email":"x@example.net"}]}]}]}`))
	assert.NilError(t, err)
	assert.NilError(t, a.Service.LoadFixture(t.Context(), fixture))
	batch := a.Purchase(a.DefaultWorkspace(), "example.com").Want(200).Is("results.0.status", "pending_payment").Str("purchase_batch_id")
	a.Clock.Advance(week)
	_, err = a.Service.SettlePayment(t.Context(), batch)
	assert.ErrorIs(t, err, apiserver.ErrNoPurchase)
	log := func() (logged []string) {
		for _, e := range a.entries(store.AuditFilter{Operation: "expire-purchase"}) {
			text := e.Subject.Type + e.Subject.ID + e.RequestID + ":"
			for _, c := range e.Changes {
				text += " " + c.Action + " " + c.Type + " " + c.Name
			}
			logged = append(logged, text)
		}
		return logged
	}
	got := log()
	assert.Check(t, len(got) == 0, "a read deleted: %q", got)
	a.Get("/mailboxes").Is("total", 0)
	dumped, err := a.Service.DumpFixture(t.Context())
	assert.Check(t, err == nil && len(dumped.Accounts[0].Domains)+len(dumped.Accounts[1].Domains) == 0, "a dump has %+v, %v", dumped, err)
	a.Post("/dns-records", map[string]any{"domain": "example.com", "name": "www", "type": "A", "value": "192.0.2.1"}).Want(422)
	a.Purchase(a.DefaultWorkspace(), "example.org").Want(200)
	got = log()
	assert.Check(t, len(got) == 1 && strings.HasPrefix(got[0], "system: deleted domain example.com"), "a purchase in the account: %q", got)
	a.Purchase(a.DefaultWorkspace(), "late.com").Want(200).Is("results.0.status", "pending_payment")
	got = log()
	assert.Check(t, len(got) == 2 && strings.Contains(strings.Join(got, "\n"), "system: deleted mailbox jane@late.com deleted domain late.com"), "a purchase of the name: %q", got)
	assert.ErrorContains(t, a.Service.DeleteAccount(t.Context(), apitest.AccountID, "jane"), "still has domains (2)")
	a.Clock.Advance(week + time.Second)
	assert.Check(t, a.Service.DeleteAccount(t.Context(), apitest.AccountID, "jane"))
	assert.Check(t, len(log()) == 3, "the deletion of the account: %q", log())
}

func TestPurchaseRefusals(t *testing.T) {
	h := apitest.New(t, func(o *apiserver.Options) {
		o.Registrar = apiserver.Registrar{
			Taken: []string{"taken.com"}, Premium: []string{"Gold.com"}, UnsupportedTLDs: []string{"zip"}, Prices: map[string]string{"co.uk": "7.50", "de": "0.10"}, Currency: "EUR",
		}
	})
	mine := h.Domain("mine.com")
	h.Owner(t, nobody).Domain("theirs.com")
	a := h.Purchase(h.DefaultWorkspace(), "new.com", "taken.com", "GOLD.com", "x.zip", "mine.com", "theirs.com", "new.com", "not a name", "www.new.com", "co.uk",
		"x.github.io", "x.invalidtld", "x.co.uk", "x.de", "-x.com", "localhost", "").Want(200)
	want := []string{
		"new.com purchased ", "taken.com failed unavailable", "gold.com failed premium_domain", "x.zip failed unsupported_tld", "mine.com failed already_owned",
		"theirs.com failed unavailable", "new.com failed already_owned", "not a name failed invalid_domain", "www.new.com failed invalid_domain",
		"co.uk failed invalid_domain", "x.github.io failed unsupported_tld", "x.invalidtld failed unsupported_tld", "x.co.uk purchased ", "x.de purchased ",
		"-x.com failed invalid_domain", "localhost failed invalid_domain", " failed invalid_domain",
	}
	for i, w := range want {
		place := "results." + itoa(i) + "."
		assert.Check(t, is.Equal(a.Str(place+"domain_name")+" "+a.Str(place+"status")+" "+a.Str(place+"error_code"), w), "result %d", i)
		failed := a.Str(place+"status") == "failed"
		owned := a.Str(place+"error_code") == "already_owned"
		assert.Check(t, (a.Str(place+"error") != "") == failed && (a.Str(place+"id") == "") == (failed && !owned), "result %d: error %q, id %q", i, a.Str(place+"error"), a.Str(place+"id"))
	}
	a.Is("successful_count", 3, "failed_count", len(want)-3, "currency", "EUR", "estimated_total", "19.60")
	// The availability of a name matches the result of its purchase.
	for _, name := range []string{"free.com", "taken.com", "GOLD.com", "x.zip", "mine.com", "theirs.com", "not a name", "www.new.com", "x.invalidtld", "free.co.uk", "-x.com", ""} {
		offer := h.Get("/domains/availability?name=" + url.QueryEscape(name)).Want(200)
		bought := h.Purchase(h.DefaultWorkspace(), name).Want(200)
		offer.Is("domain_name", bought.Str("results.0.domain_name"), "error", bought.At("results.0.error"), "error_code", bought.At("results.0.error_code"),
			"available", bought.Str("results.0.status") == "purchased", "currency", bought.At("currency"))
		total := bought.Str("estimated_total")
		assert.Check(t, offer.Str("price") == total, "%s costs %q, and was bought for %q", name, offer.Str("price"), total)
	}
	// A domain of the account is reported with its id.
	a.Is("results.4.id", mine, "results.6.id", a.Str("results.0.id"))
	h.Get("/domains").Is("total", 6)

	nothing := obj{"domains": []string{"taken.com"}, "workspace_id": h.DefaultWorkspace(), "contact_info": contact()}
	h.PostKeyed(key, "/domains/purchase", nothing).Want(200).Is("successful_count", 0, "failed_count", 1, "currency", nil, "estimated_total", nil, "payment_url", nil)
	assert.Check(t, !h.PostKeyed(key, "/domains/purchase", nothing).Replayed(), "a purchase of nothing is replayed")
}
