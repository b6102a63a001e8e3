package apiserver_test

import (
	"net/url"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

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
		if (a.Str(place+"error") != "") != failed || (a.Str(place+"id") == "") != (failed && !owned) {
			t.Errorf("result %d: error %q, id %q", i, a.Str(place+"error"), a.Str(place+"id"))
		}
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
	// A domain that the account owns is reported with its id.
	a.Is("results.4.id", mine, "results.6.id", a.Str("results.0.id"))
	h.Get("/domains").Is("total", 6)

	h.Purchase(h.DefaultWorkspace(), "taken.com").Want(200).Is("successful_count", 0, "failed_count", 1, "currency", nil, "estimated_total", nil, "payment_url", nil)
}
