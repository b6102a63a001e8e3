package apiserver_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
)

func TestPaymentPage(t *testing.T) {
	h := newHarness(t, func(o *apiserver.Options) {
		o.Registrar = apiserver.Registrar{PaymentNeeded: true, Taken: []string{"taken.com"}}
		o.PublicURL = "https://mail.example"
	})
	bought := h.purchase(h.defaultWorkspace(), "example.com", "taken.com", "bücher.de").want(200)
	url := bought.str("payment_url")
	if url != "https://mail.example/pay/"+bought.str("purchase_batch_id") {
		t.Fatalf("the payment is at %s", url)
	}
	second := h.owner(t, nobody)
	other := second.purchase(second.defaultWorkspace(), "other.com").want(200).str("payment_url")

	for _, address := range []string{url, strings.Replace(url, bought.str("purchase_batch_id"), strings.ToUpper(bought.str("purchase_batch_id")), 1)} {
		h.shows(t, "GET", address, 200, "Payment needed", "<li><strong>example.com</strong> waits for payment</li>",
			"<li><strong>xn--bcher-kva.de</strong> waits for payment</li>", "This server takes no money itself")
	}
	// Nothing else of the account, and nothing of another, is on it.
	_, _, page := h.visit(t, "GET", url)
	for _, foreign := range []string{"other.com", "taken.com", accountID, "Jane", "<form"} {
		if strings.Contains(page, foreign) {
			t.Errorf("the page shows %q:\n%s", foreign, page)
		}
	}
	h.shows(t, "GET", other, 200, "Payment needed", "<li><strong>other.com</strong> waits for payment</li>")
	if status, header, _ := h.visit(t, "POST", url); status != 405 || header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST answers %d, Allow %q", status, header.Get("Allow"))
	}
	h.delete("/domains/example.com").want(204)
	h.delete("/domains/bücher.de").want(204)
	for _, address := range []string{url, "https://mail.example/pay/" + accountID, "https://mail.example/pay/x"} {
		h.shows(t, "GET", address, 404, "There is no such purchase")
	}
}

func TestPaymentPageOfAPaidPurchase(t *testing.T) {
	h := newHarness(t, func(o *apiserver.Options) { o.Registrar.ProvisioningDelay = apiserver.Duration(time.Hour) })
	h.domain("first.com")
	bought := h.purchase(h.defaultWorkspace(), "example.com").want(200)
	if bought.at("payment_url") != nil {
		t.Error("there is something to pay")
	}
	url := "http://localhost:8080/pay/" + bought.str("purchase_batch_id")
	h.shows(t, "GET", url, 200, "Nothing to pay", "<li><strong>example.com</strong> is being set up</li>")
	h.clock.Advance(time.Hour)
	h.shows(t, "GET", url, 200, "Nothing to pay", "<li><strong>example.com</strong> is active</li>")
}
