package apiserver_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

// visit requests a page without a credential, like a recipient. headers alternates names and
// values.
func visit(t *testing.T, h *apitest.Server, method, link string, headers ...string) (status int, header http.Header, page string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, link, nil)
	assert.NilError(t, err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := h.Service.Client().Do(r)
	assert.NilError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	assert.NilError(t, err)
	return resp.StatusCode, resp.Header, string(body)
}

// shows checks a page's status, title, heading and words.
func shows(t *testing.T, h *apitest.Server, method, link string, status int, title string, words ...string) {
	t.Helper()
	got, header, page := visit(t, h, method, link)
	assert.Check(t, got == status, "%s returns %d; want %d", method, got, status)
	words = append(words, `<html lang="en">`, `<meta name="viewport" content="width=device-width, initial-scale=1">`, "<title>"+title+"</title>", "<main>\n<h1>"+title+"</h1>")
	for _, w := range words {
		assert.Check(t, strings.Count(page, w) == 1, "%s does not show %q exactly once:\n%s", method, w, page)
	}
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
	} {
		assert.Check(t, is.Equal(header.Get(name), want), name)
	}
	csp := header.Get("Content-Security-Policy")
	assert.Check(t, strings.HasPrefix(csp, "default-src 'none'; style-src 'sha256-") && strings.Contains(csp, "frame-ancestors 'none'") && !strings.Contains(csp, "unsafe"), "the policy is %s", csp)
	status, of, body := visit(t, h, http.MethodHead, link)
	if method == http.MethodGet && (status != got || body != "" || of.Get("Content-Type") != header.Get("Content-Type")) {
		t.Errorf("HEAD returns %d %v %s", status, of, body)
	}
}

// confirm opens the link of a sent message and confirms.
func confirm(t *testing.T, h *apitest.Server, message int) {
	t.Helper()
	status, _, page := visit(t, h, "POST", h.Service.Outbox()[message].Link)
	assert.Assert(t, status == 200 && strings.Contains(page, "<h1>Confirmed</h1>"), "confirming returns %d %s", status, page)
}

func TestVerification(t *testing.T) {
	h := apitest.New(t, func(o *apiserver.Options) { o.PublicURL = "https://mail.example" })
	id := h.Forwarding("x@example.net", nil)
	link := h.Service.Outbox()[0].Link
	secret, ok := strings.CutPrefix(link, "https://mail.example/verify-forwarding/")
	assert.Check(t, ok && !strings.Contains(string(h.Get("/forwarding/"+id).Raw), secret), "the link is %s, or the rule shows its secret", link)

	// Opening the link, like a mail scanner, confirms nothing.
	for range 2 {
		shows(t, h, "GET", link, 200, "Forward mail to you?", "x@example.net", `<form method="post"><button type="submit">Confirm</button></form>`, "until 17 March 2026 at 15:09 UTC")
	}
	h.Get("/forwarding/"+id).Is("verification_state", "pending")

	h.Clock.Advance(time.Hour)
	shows(t, h, "POST", link, 200, "Confirmed", "x@example.net", "Mail is forwarded to this address from now on")
	h.Get("/forwarding/"+id).Is("verification_state", "verified", "active", true, "verification_verified_at", "2026-03-14T16:09:26.535897Z", "verification_required", true)

	// A used link shows that it was used, and changes nothing.
	h.Clock.Advance(100 * time.Hour)
	for _, method := range []string{"GET", "POST"} {
		shows(t, h, method, link, 200, "Confirmed already", "x@example.net", "used on 14 March 2026 at 16:09 UTC")
		_, _, page := visit(t, h, method, link)
		assert.Check(t, !strings.Contains(page, "<form") && !strings.Contains(page, "is forwarded"), "%s of a used link: %s", method, page)
	}
	h.Get("/forwarding/"+id).Is("verification_state", "verified", "verification_verified_at", "2026-03-14T16:09:26.535897Z")
	status, header, _ := visit(t, h, "PUT", link)
	assert.Check(t, status == 405 && header.Get("Allow") == "GET, HEAD, POST", "PUT returns %d, Allow %q", status, header.Get("Allow"))
}

// TestVerificationOfADisabledRule checks that the page of a disabled rule does not claim that mail
// is forwarded.
func TestVerificationOfADisabledRule(t *testing.T) {
	h := apitest.New(t)
	id := h.Forwarding("x@example.net", nil)
	h.Patch("/forwarding/"+id+"/active", obj{"active": false}).Want(200)
	shows(t, h, "POST", h.Service.Outbox()[0].Link, 200, "Confirmed", "You have confirmed this address:", "x@example.net", "switched off at present")
	h.Get("/forwarding/"+id).Is("verification_state", "verified", "active", false)
}

// TestVerificationFromAnotherOrigin checks that a cross-site POST confirms, because its sender
// knows the link, and that the response allows nothing else.
func TestVerificationFromAnotherOrigin(t *testing.T) {
	h := apitest.New(t)
	id := h.Forwarding("x@example.net", nil)
	status, header, page := visit(t, h, "POST", h.Service.Outbox()[0].Link, "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site")
	if status != 200 || !strings.Contains(page, "<h1>Confirmed</h1>") || header.Get("Access-Control-Allow-Origin") != "" || header.Get("Set-Cookie") != "" {
		t.Errorf("%d %v %s", status, header, page)
	}
	h.Get("/forwarding/"+id).Is("verification_state", "verified")
}

// TestVerificationInACancelledAccount checks that the links of a cancelled account change
// nothing and show no form.
func TestVerificationInACancelledAccount(t *testing.T) {
	h := apitest.New(t)
	open, used := h.Forwarding("x@example.net", nil), h.Forwarding("y@example.net", nil)
	confirm(t, h, 1)
	h.Post("/billing/cancel-plan", obj{}).Want(200)
	shows(t, h, "GET", h.Service.Outbox()[0].Link, 200, "Forward mail to you?") // the cancellation is pending

	h.Post("/billing/cancel-plan", obj{"cancel_immediately": true}).Want(200)
	before := h.Get("/forwarding/"+open).Want(200).Is("verification_state", "pending", "active", false)
	for range 2 { // the second time with an expired link
		for _, method := range []string{"GET", "POST"} {
			shows(t, h, method, h.Service.Outbox()[0].Link, 410, "This link can no longer be used", "was cancelled", "Nothing is forwarded")
			_, _, page := visit(t, h, method, h.Service.Outbox()[0].Link)
			assert.Check(t, !strings.Contains(page, "<form") && !strings.Contains(page, "@example.net"), "%s: %s", method, page)
			shows(t, h, method, h.Service.Outbox()[1].Link, 200, "Confirmed already", "y@example.net")
		}
		after := h.Get("/forwarding/" + open)
		assert.Check(t, after.Str("updated_at") == before.Str("updated_at") && after.Str("verification_verified_at") == "", "%s; it was %s", after, before)
		h.Clock.Advance(100 * time.Hour)
	}
	h.Get("/forwarding/"+used).Is("verification_state", "verified")
}

func TestVerificationLinkStates(t *testing.T) {
	h := apitest.New(t)
	id := h.Forwarding("x@example.net", nil)
	check := func(link string, want int, title string) {
		t.Helper()
		for _, method := range []string{"GET", "POST"} {
			shows(t, h, method, link, want, title)
			_, _, page := visit(t, h, method, link)
			assert.Check(t, !strings.Contains(page, "<form") && !strings.Contains(page, "@example.net"), "%s of %s: %s", method, link, page)
		}
	}
	const expired, unknown = "This link has expired", "This link is not valid"
	link := h.Service.Outbox()[0].Link
	h.Clock.Advance(72 * time.Hour)
	check(link, 410, expired)
	h.Get("/forwarding/"+id).Is("verification_state", "expired")

	h.Patch("/forwarding/"+id, obj{"target_email": "x@example.net"}).Want(200)
	check(link, 404, unknown) // replaced by a newer link
	check(link+"x", 404, unknown)
	check(link[:len(link)-1], 404, unknown)
	check("http://localhost:8080/verify-forwarding/x", 404, unknown)
	confirm(t, h, 1)

	h.Patch("/forwarding/"+id, obj{"target_email": "y@example.net"}).Want(200)
	check(h.Service.Outbox()[1].Link, 404, unknown)
	h.Delete("/forwarding/" + id).Want(204)
	check(h.Service.Outbox()[2].Link, 404, unknown)
}

// TestTargetWithoutItsDomain checks that deleting a domain stops the rules of every account to
// addresses in it, so that its next owner does not get the forwarded mail. Deleting a domain that
// was never paid stops no rule.
func TestTargetWithoutItsDomain(t *testing.T) {
	h := apitest.New(t, func(o *apiserver.Options) { o.Registrar.PaymentNeeded = true })
	other, rules := h.Owner(t, nobody), map[string]string{}
	for i, target := range []string{"x@example.com", "x@sub.example.com", "x@unpaid.com"} {
		rules[target] = "/forwarding/" + other.Forwarding(target, nil)
		confirm(t, h, i)
	}
	for _, name := range []string{"example.com", "unpaid.com"} {
		batch := h.Purchase(h.DefaultWorkspace(), name).Want(200).Str("purchase_batch_id")
		if name == "example.com" {
			_, err := h.Service.SettlePayment(t.Context(), batch)
			assert.NilError(t, err)
		}
		h.Delete("/domains/" + name).Want(204)
	}
	other.Get(rules["x@example.com"]).Is("verification_state", "pending", "active", false)
	other.Get(rules["x@sub.example.com"]).Is("verification_state", "verified", "active", true)
	other.Get(rules["x@unpaid.com"]).Is("verification_state", "verified", "active", true)
}

// TestPagesOfABrokenStore checks that the page for an internal error shows no details.
func TestPagesOfABrokenStore(t *testing.T) {
	broken, log := newFaulty(t), apitest.NewLog()
	h := apitest.New(t, func(o *apiserver.Options) { o.Store, o.Logger = broken, slog.New(slog.NewJSONHandler(log, nil)) })
	id := h.Forwarding("x@example.net", nil)
	link := h.Service.Outbox()[0].Link
	shows(t, h, "GET", link, 200, "Forward mail to you?")
	broken.updatesFail(errSecret)
	shows(t, h, "POST", link, 500, "Something went wrong")
	broken.updatesFail(nil)
	h.Get("/forwarding/"+id).Is("verification_state", "pending")
	broken.fail(errSecret)
	for _, page := range []string{link, "http://localhost:8080/pay/" + nobody} {
		shows(t, h, "GET", page, 500, "Something went wrong")
		_, _, text := visit(t, h, "GET", page)
		assert.Check(t, !strings.Contains(text, "SELECT"), text)
	}
	broken.fail(nil)
	lines := log.Entries("page failed")
	if len(lines) == 0 || lines[0]["error"] != errSecret.Error() || lines[0]["request_id"] == "" || strings.Contains(log.String(), link[strings.LastIndex(link, "/")+1:]) {
		t.Errorf("log:\n%s", log)
	}
}

// TestMessagesOfAnAccountAreLimited checks the response to a refused message, and that a replay
// takes no token. The model test checks when messages are refused.
func TestMessagesOfAnAccountAreLimited(t *testing.T) {
	h := apitest.New(t)
	for i := range 20 {
		h.Forwarding(fmt.Sprintf("x%d@example.net", i), obj{})
	}
	h.Clock.Advance(30 * time.Second)
	body := obj{"target_email": "another@example.net"}
	a := h.PostKeyed(key, "/forwarding", body).Refused(429, "body.target_email rate_limited").
		Says("for the account", "one in 60 s after that", "nothing was changed", "try again in 30 s")
	assert.Check(t, is.Equal(a.Header.Get("Retry-After"), "30"), "Retry-After")
	h.Clock.Advance(30 * time.Second)
	for range 2 {
		h.PostKeyed(key, "/forwarding", body).Want(201)
	}
	h.Post("/forwarding", obj{"target_email": "third@example.net"}).Refused(429, "body.target_email rate_limited").Says("try again in 60 s")
	h.Clock.Advance(-100 * time.Hour) // a clock that was ahead does not extend the wait
	h.Post("/forwarding", obj{"target_email": "third@example.net"}).Want(201)
}
