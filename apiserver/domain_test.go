package apiserver_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

func TestPurchase(t *testing.T) {
	h := apitest.New(t)
	a := h.Purchase(h.DefaultWorkspace(), "Example.COM", "bücher.de").Want(200).Is(
		"results.0.domain_name", "example.com", "results.0.status", "purchased", "results.0.error", nil, "results.0.error_code", nil,
		"results.1.domain_name", "xn--bcher-kva.de", "results.1.status", "purchased", "results.2", nil,
		"currency", "USD", "estimated_total", "24.00", "successful_count", 2, "failed_count", 0, "payment_url", nil,
	)
	if a.Str("purchase_batch_id") == "" {
		t.Errorf("no purchase_batch_id: %s", a)
	}
	h.Get("/domains/"+a.Str("results.0.id")).Want(200).Is(
		"name", "example.com", "status", "active", "outbound_routing_ready", true, "workspace_id", h.DefaultWorkspace(), "auto_renew", false,
		"dedicated_ip_id", nil, "inbound_tenant_id", nil, "inbound_tenant_external_id", nil, "inbound_tenant_name", nil, "inbound_tenant_type", nil,
		"redirect_mode", nil, "redirect_url", nil, "tags.0", nil, "created_at", "2026-03-14T15:09:26.535897Z",
	)
}

// TestOutboundRouting checks that a domain that is active need not be ready to send mail.
func TestOutboundRouting(t *testing.T) {
	s := newStore(t)
	h := apitest.New(t, func(o *apiserver.Options) { o.Store = s })
	id := h.Domain("example.com")
	if err := s.Update(t.Context(), func(tx store.Tx) error {
		_, err := tx.UpdateDomain(accountID, id, func(d *store.Domain) error {
			d.OutboundRoutingReady = false
			return nil
		})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	h.Get("/domains/"+id).Is("status", "active", "outbound_routing_ready", false)
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
		if got := a.Str(place+"domain_name") + " " + a.Str(place+"status") + " " + a.Str(place+"error_code"); got != w {
			t.Errorf("result %d is %q; want %q", i, got, w)
		}
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
		if total := bought.Str("estimated_total"); offer.Str("price") != total {
			t.Errorf("%s costs %q, and was bought for %q", name, offer.Str("price"), total)
		}
	}
	// A domain that the account owns is reported with its id.
	a.Is("results.4.id", mine, "results.6.id", a.Str("results.0.id"))
	h.Get("/domains").Is("total", 6)

	h.Purchase(h.DefaultWorkspace(), "taken.com").Want(200).Is("successful_count", 0, "failed_count", 1, "currency", nil, "estimated_total", nil, "payment_url", nil)
}

func TestPurchaseInput(t *testing.T) {
	h := apitest.New(t)
	h.Purchase(nobody, "example.com").Refused(422, "body.workspace_id value_error")
	h.Purchase("x", "example.com").Refused(422, "body.workspace_id uuid_parsing")
	h.Purchase(h.DefaultWorkspace()).Refused(422, "body.domains list_type")
	h.Purchase(h.DefaultWorkspace(), []string{}...).Refused(422, "body.domains too_short")
	h.Purchase(h.DefaultWorkspace(), make([]string, 101)...).Refused(422, "body.domains too_long")
	body := obj{"domains": []any{}, "workspace_id": h.DefaultWorkspace(), "contact_info": contact()}
	h.Post("/domains/purchase", body).Refused(422, "body.domains too_short")
	h.Post("/domains/purchase", with(body, "domains", []any{"example.com", 1, nil})).Refused(422, "body.domains.1 string_type", "body.domains.2 string_type")
	h.Post("/domains/purchase", with(body, "domains", []any{"example.com"}, "contact_info", with(contact(), "country", "XX", "phone", "0221 12345", "email", "jane", "zip", ""))).
		Refused(422, "body.contact_info.zip string_too_short", "body.contact_info.country value_error", "body.contact_info.email value_error", "body.contact_info.phone value_error")
	h.Post("/domains/purchase", with(body, "domains", []any{"example.com"}, "contact_info", with(contact(), "country", "DEU", "email", "Jane <jane@example.com>"))).
		Refused(422, "body.contact_info.country string_too_long", "body.contact_info.email value_error")
	h.Post("/domains/purchase", with(body, "domains", []any{"example.com"}, "contact_info", with(contact(), "country", "us"))).Want(200).Is("successful_count", 1)
}

func TestPurchaseWithPayment(t *testing.T) {
	h := apitest.New(t, func(o *apiserver.Options) { o.Registrar.PaymentNeeded, o.PublicURL = true, "https://mail.example/" })
	a := h.Purchase(h.DefaultWorkspace(), "example.com").Want(200).Is("results.0.status", "pending_payment", "successful_count", 1)
	if got, want := a.Str("payment_url"), "https://mail.example/pay/"+a.Str("purchase_batch_id"); got != want {
		t.Errorf("payment_url is %q; want %q", got, want)
	}
	h.Get("/domains/example.com").Want(200).Is("status", "pending_payment", "outbound_routing_ready", false)
	h.CreateMailbox("example.com", "x").Refused(409, "body conflict").Says("pending_payment")
	h.CreateRecord("example.com", "www", "A", "192.0.2.1").Refused(409, "body conflict")
}

func TestDomainProvisioning(t *testing.T) {
	h := apitest.New(t, func(o *apiserver.Options) { o.Registrar.ProvisioningDelay = apiserver.Duration(time.Minute) })
	h.Purchase(h.DefaultWorkspace(), "example.com").Want(200).Is("results.0.status", "purchased")
	h.Get("/domains/example.com").Is("status", "pending", "outbound_routing_ready", false)
	h.Get("/domains?status=pending").Is("total", 1)
	h.Clock.Advance(time.Minute)
	h.Get("/domains/example.com").Is("status", "active", "outbound_routing_ready", true)
	h.Get("/domains?status=pending").Is("total", 0)
}

func TestDomainReferences(t *testing.T) {
	h := apitest.New(t)
	id := h.Domain("bücher.de")
	for _, ref := range []string{id, strings.ToUpper(id), "bücher.de", "BÜCHER.DE", "xn--bcher-kva.de", "XN--BCHER-KVA.DE", "bücher.de."} {
		h.Get("/domains/"+url.PathEscape(ref)).Want(200).Is("id", id)
		h.Patch("/domains/"+url.PathEscape(ref), obj{}).Want(200).Is("id", id)
		h.Get("/mailboxes?domain=" + url.QueryEscape(ref)).Want(200)
	}
	for _, ref := range []string{nobody, "example.com", "x", "www.bücher.de", "b%C3%BCcher.de"} {
		h.Get("/domains/"+url.PathEscape(ref)).Refused(404, "path.domain not_found")
		h.Patch("/domains/"+url.PathEscape(ref), obj{}).Refused(404, "path.domain not_found")
		h.Delete("/domains/"+url.PathEscape(ref)).Refused(404, "path.domain not_found")
	}
}

func TestUpdateDomain(t *testing.T) {
	h := apitest.New(t)
	id := h.Domain("example.com")
	sales := h.Workspace("Sales")
	const target = "https://www.example.net/a?b=c"
	for _, tt := range []struct {
		body                      obj
		autoRenew                 bool
		redirect, mode, workspace any
	}{
		{obj{}, false, nil, nil, h.DefaultWorkspace()},
		{obj{"auto_renew": true}, true, nil, nil, h.DefaultWorkspace()},
		{obj{"auto_renew": nil, "workspace_id": nil}, true, nil, nil, h.DefaultWorkspace()},
		{obj{"redirect_url": target}, true, target, "301", h.DefaultWorkspace()},
		{obj{"workspace_id": strings.ToUpper(sales)}, true, target, "301", sales},
		{obj{"redirect_url": "http://example.org"}, true, "http://example.org", "301", sales},
		{obj{"redirect_url": nil, "auto_renew": false}, false, nil, nil, sales},
	} {
		h.Clock.Advance(time.Second)
		a := h.Patch("/domains/example.com", tt.body).Want(200).Is("id", id, "auto_renew", tt.autoRenew, "redirect_url", tt.redirect, "workspace_id", tt.workspace)
		if n := len(a.JSON.(map[string]any)); n != 4 {
			t.Errorf("the response has %d fields: %s", n, a)
		}
		h.Get("/domains/"+id).Is("auto_renew", tt.autoRenew, "redirect_url", tt.redirect, "redirect_mode", tt.mode, "workspace_id", tt.workspace)
	}
	h.Get("/domains/"+id).Is("updated_at", "2026-03-14T15:09:33.535897Z")
	h.Patch("/domains/example.com", obj{"workspace_id": nobody}).Refused(422, "body.workspace_id value_error")
	for _, bad := range []string{"", "example.net", "ftp://example.net/", "javascript:alert(1)", "https://", "https://user@example.net/"} {
		h.Patch("/domains/example.com", obj{"redirect_url": bad}).Refused(422, "body.redirect_url value_error")
	}
	h.Patch("/domains/example.com", obj{"redirect_url": "https://" + strings.Repeat("x", 2048)}).Refused(422, "body.redirect_url string_too_long")
	h.Get("/domains/"+id).Is("redirect_url", nil)
}

func TestDeleteDomain(t *testing.T) {
	h := apitest.New(t)
	id := h.Domain("example.com")
	h.Domain("example.net")
	mailbox := h.Mailbox("example.com", "jane")
	forwarding, password := h.Forwarding("x@example.org", obj{"domain": id}), h.Password("p", obj{"domain": id})
	h.Delete("/domains/example.com").Refused(409, "body conflict").Says(id, "mailboxes (1)")
	h.Get("/domains/example.com").Want(200)
	h.Delete("/mailboxes/" + mailbox).Want(204)
	h.Delete("/domains/EXAMPLE.com").Want(204)
	h.Get("/domains/example.com").Want(404)
	h.Get("/dns-records").Is("total", 5) // the records of the other domain
	h.Get("/forwarding/" + forwarding).Want(404)
	h.Get("/credentials/" + password).Want(404)
	h.Domain("example.com") // the name is for sale again
}
