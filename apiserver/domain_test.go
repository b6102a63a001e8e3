package apiserver_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
)

func TestPurchase(t *testing.T) {
	h := newHarness(t)
	a := h.purchase(h.defaultWorkspace(), "Example.COM", "bücher.de").want(200).is(
		"results.0.domain_name", "example.com", "results.0.status", "purchased", "results.0.error", nil, "results.0.error_code", nil,
		"results.1.domain_name", "xn--bcher-kva.de", "results.1.status", "purchased", "results.2", nil,
		"currency", "USD", "estimated_total", "24.00", "successful_count", 2, "failed_count", 0, "payment_url", nil,
	)
	if a.str("purchase_batch_id") == "" {
		t.Errorf("no batch: %s", a)
	}
	h.get("/domains/"+a.str("results.0.id")).want(200).is(
		"name", "example.com", "status", "active", "outbound_routing_ready", true, "workspace_id", h.defaultWorkspace(), "auto_renew", false,
		"dedicated_ip_id", nil, "inbound_tenant_id", nil, "inbound_tenant_external_id", nil, "inbound_tenant_name", nil, "inbound_tenant_type", nil,
		"redirect_mode", nil, "redirect_url", nil, "tags.0", nil, "created_at", "2026-03-14T15:09:26.535897Z",
	)
}

func TestPurchaseRefusals(t *testing.T) {
	h := newHarness(t, func(o *apiserver.Options) {
		o.Registrar = apiserver.Registrar{
			Taken: []string{"taken.com"}, Premium: []string{"Gold.com"}, UnsupportedTLDs: []string{"zip"}, Prices: map[string]string{"co.uk": "7.50", "de": "0.10"}, Currency: "EUR",
		}
	})
	mine := h.domain("mine.com")
	h.owner(t, nobody).domain("theirs.com")
	a := h.purchase(h.defaultWorkspace(), "new.com", "taken.com", "GOLD.com", "x.zip", "mine.com", "theirs.com", "new.com", "not a name", "www.new.com", "co.uk",
		"x.github.io", "x.invalidtld", "x.co.uk", "x.de", "-x.com", "localhost", "").want(200)
	want := []string{
		"new.com purchased ", "taken.com failed unavailable", "gold.com failed premium_domain", "x.zip failed unsupported_tld", "mine.com failed already_owned",
		"theirs.com failed unavailable", "new.com failed already_owned", "not a name failed invalid_domain", "www.new.com failed invalid_domain",
		"co.uk failed invalid_domain", "x.github.io failed unsupported_tld", "x.invalidtld failed unsupported_tld", "x.co.uk purchased ", "x.de purchased ",
		"-x.com failed invalid_domain", "localhost failed invalid_domain", " failed invalid_domain",
	}
	for i, w := range want {
		place := "results." + itoa(i) + "."
		if got := a.str(place+"domain_name") + " " + a.str(place+"status") + " " + a.str(place+"error_code"); got != w {
			t.Errorf("result %d is %q; want %q", i, got, w)
		}
		failed := a.str(place+"status") == "failed"
		owned := a.str(place+"error_code") == "already_owned"
		if (a.str(place+"error") != "") != failed || (a.str(place+"id") == "") != (failed && !owned) {
			t.Errorf("result %d: error %q, id %q", i, a.str(place+"error"), a.str(place+"id"))
		}
	}
	a.is("successful_count", 3, "failed_count", len(want)-3, "currency", "EUR", "estimated_total", "19.60")
	// The availability of a name is what its purchase would report.
	for _, name := range []string{"free.com", "taken.com", "GOLD.com", "x.zip", "mine.com", "theirs.com", "not a name", "www.new.com", "x.invalidtld", "free.co.uk", "-x.com", ""} {
		offer := h.get("/domains/availability?name=" + url.QueryEscape(name)).want(200)
		bought := h.purchase(h.defaultWorkspace(), name).want(200)
		offer.is("domain_name", bought.str("results.0.domain_name"), "error", bought.at("results.0.error"), "error_code", bought.at("results.0.error_code"),
			"available", bought.str("results.0.status") == "purchased", "currency", bought.at("currency"))
		if total := bought.str("estimated_total"); offer.str("price") != total {
			t.Errorf("%s costs %q, and was bought for %q", name, offer.str("price"), total)
		}
	}
	// What is owned already is named by its id.
	a.is("results.4.id", mine, "results.6.id", a.str("results.0.id"))
	h.get("/domains").is("total", 6)

	h.purchase(h.defaultWorkspace(), "taken.com").want(200).is("successful_count", 0, "failed_count", 1, "currency", nil, "estimated_total", nil, "payment_url", nil)
}

func TestPurchaseInput(t *testing.T) {
	h := newHarness(t)
	h.purchase(nobody, "example.com").refused(422, "body.workspace_id value_error")
	h.purchase("x", "example.com").refused(422, "body.workspace_id uuid_parsing")
	h.purchase(h.defaultWorkspace()).refused(422, "body.domains list_type")
	h.purchase(h.defaultWorkspace(), []string{}...).refused(422, "body.domains too_short")
	h.purchase(h.defaultWorkspace(), make([]string, 101)...).refused(422, "body.domains too_long")
	body := obj{"domains": []any{}, "workspace_id": h.defaultWorkspace(), "contact_info": contact()}
	h.post("/domains/purchase", body).refused(422, "body.domains too_short")
	h.post("/domains/purchase", with(body, "domains", []any{"example.com", 1, nil})).refused(422, "body.domains.1 string_type", "body.domains.2 string_type")
	h.post("/domains/purchase", with(body, "domains", []any{"example.com"}, "contact_info", with(contact(), "country", "XX", "phone", "0221 12345", "email", "jane", "zip", ""))).
		refused(422, "body.contact_info.zip string_too_short", "body.contact_info.country value_error", "body.contact_info.email value_error", "body.contact_info.phone value_error")
	h.post("/domains/purchase", with(body, "domains", []any{"example.com"}, "contact_info", with(contact(), "country", "us"))).want(200).is("successful_count", 1)
}

func TestPurchaseWithPayment(t *testing.T) {
	h := newHarness(t, func(o *apiserver.Options) { o.Registrar.PaymentNeeded, o.PublicURL = true, "https://mail.example/" })
	a := h.purchase(h.defaultWorkspace(), "example.com").want(200).is("results.0.status", "pending_payment", "successful_count", 1)
	if got, want := a.str("payment_url"), "https://mail.example/pay/"+a.str("purchase_batch_id"); got != want {
		t.Errorf("payment_url is %q; want %q", got, want)
	}
	h.get("/domains/example.com").want(200).is("status", "pending_payment", "outbound_routing_ready", false)
	h.createMailbox("example.com", "x").refused(409, "body conflict").says("pending_payment")
	h.record("example.com", "www", "A", "192.0.2.1").refused(409, "body conflict")
}

func TestDomainProvisioning(t *testing.T) {
	h := newHarness(t, func(o *apiserver.Options) { o.Registrar.ProvisioningDelay = apiserver.Duration(time.Minute) })
	h.purchase(h.defaultWorkspace(), "example.com").want(200).is("results.0.status", "purchased")
	h.get("/domains/example.com").is("status", "pending", "outbound_routing_ready", false)
	h.get("/domains?status=pending").is("total", 1)
	h.clock.Advance(time.Minute)
	h.get("/domains/example.com").is("status", "active", "outbound_routing_ready", true)
	h.get("/domains?status=pending").is("total", 0)
}

func TestDomainReferences(t *testing.T) {
	h := newHarness(t)
	id := h.domain("bücher.de")
	for _, ref := range []string{id, strings.ToUpper(id), "bücher.de", "BÜCHER.DE", "xn--bcher-kva.de", "XN--BCHER-KVA.DE", "bücher.de."} {
		h.get("/domains/"+url.PathEscape(ref)).want(200).is("id", id)
		h.patch("/domains/"+url.PathEscape(ref), obj{}).want(200).is("id", id)
		h.get("/mailboxes?domain=" + url.QueryEscape(ref)).want(200)
	}
	for _, ref := range []string{nobody, "example.com", "x", "www.bücher.de", "b%C3%BCcher.de"} {
		h.get("/domains/"+url.PathEscape(ref)).refused(404, "path.domain not_found")
		h.patch("/domains/"+url.PathEscape(ref), obj{}).refused(404, "path.domain not_found")
		h.delete("/domains/"+url.PathEscape(ref)).refused(404, "path.domain not_found")
	}
}

func TestUpdateDomain(t *testing.T) {
	h := newHarness(t)
	id := h.domain("example.com")
	sales := h.workspace("Sales")
	const target = "https://www.example.net/a?b=c"
	for _, tt := range []struct {
		body                      obj
		autoRenew                 bool
		redirect, mode, workspace any
	}{
		{obj{}, false, nil, nil, h.defaultWorkspace()},
		{obj{"auto_renew": true}, true, nil, nil, h.defaultWorkspace()},
		{obj{"auto_renew": nil, "workspace_id": nil}, true, nil, nil, h.defaultWorkspace()},
		{obj{"redirect_url": target}, true, target, "301", h.defaultWorkspace()},
		{obj{"workspace_id": strings.ToUpper(sales)}, true, target, "301", sales},
		{obj{"redirect_url": "http://example.org"}, true, "http://example.org", "301", sales},
		{obj{"redirect_url": nil, "auto_renew": false}, false, nil, nil, sales},
	} {
		h.clock.Advance(time.Second)
		a := h.patch("/domains/example.com", tt.body).want(200).is("id", id, "auto_renew", tt.autoRenew, "redirect_url", tt.redirect, "workspace_id", tt.workspace)
		if n := len(a.json.(map[string]any)); n != 4 {
			t.Errorf("the answer has %d fields: %s", n, a)
		}
		h.get("/domains/"+id).is("auto_renew", tt.autoRenew, "redirect_url", tt.redirect, "redirect_mode", tt.mode, "workspace_id", tt.workspace)
	}
	h.get("/domains/"+id).is("updated_at", "2026-03-14T15:09:33.535897Z")
	h.patch("/domains/example.com", obj{"workspace_id": nobody}).refused(422, "body.workspace_id value_error")
	for _, bad := range []string{"", "example.net", "ftp://example.net/", "javascript:alert(1)", "https://", "https://user@example.net/"} {
		h.patch("/domains/example.com", obj{"redirect_url": bad}).refused(422, "body.redirect_url value_error")
	}
	h.patch("/domains/example.com", obj{"redirect_url": "https://" + strings.Repeat("x", 2048)}).refused(422, "body.redirect_url string_too_long")
	h.get("/domains/"+id).is("redirect_url", nil)
}

func TestDeleteDomain(t *testing.T) {
	h := newHarness(t)
	id := h.domain("example.com")
	h.domain("example.net")
	mailbox := h.mailbox("example.com", "jane")
	forwarding, password := h.forwarding("x@example.org", obj{"domain": id}), h.password("p", obj{"domain": id})
	h.delete("/domains/example.com").refused(409, "body conflict").says(id, "mailboxes (1)")
	h.get("/domains/example.com").want(200)
	h.delete("/mailboxes/" + mailbox).want(204)
	h.delete("/domains/EXAMPLE.com").want(204)
	h.get("/domains/example.com").want(404)
	h.get("/dns-records").is("total", 5) // the other domain's
	h.get("/forwarding/" + forwarding).want(404)
	h.get("/credentials/" + password).want(404)
	h.domain("example.com") // it can be bought again
}
