package apiserver_test

import (
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
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
	// The page shows nothing else of this account, and nothing of another one.
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
	bought := h.Purchase(h.DefaultWorkspace(), "example.com").Want(200)
	assert.Check(t, bought.At("payment_url") == nil, "the page asks for a payment")
	url := "http://localhost:8080/pay/" + bought.Str("purchase_batch_id")
	shows(t, h, "GET", url, 200, "Nothing to pay", "<li><strong>example.com</strong> is being set up</li>")
	h.Clock.Advance(time.Hour)
	shows(t, h, "GET", url, 200, "Nothing to pay", "<li><strong>example.com</strong> is active</li>")
}
