package apiserver_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
)

// visit opens a page as a recipient does, without a credential.
func (h *harness) visit(t *testing.T, method, link string) (status int, header http.Header, page string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, link, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := h.svc.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(body)
}

// confirm opens the link of a sent message and confirms.
func (h *harness) confirm(t *testing.T, message int) {
	t.Helper()
	if status, _, page := h.visit(t, "POST", h.svc.Outbox()[message].Link); status != 200 || !strings.Contains(page, "Confirmed") {
		t.Fatalf("confirming answers %d %s", status, page)
	}
}

func TestVerification(t *testing.T) {
	h := newHarness(t, func(o *apiserver.Options) { o.PublicURL = "https://mail.example" })
	id := h.forwarding("x@example.net", nil)
	link := h.svc.Outbox()[0].Link
	if !strings.HasPrefix(link, "https://mail.example/verify-forwarding/") {
		t.Errorf("the link is %s", link)
	}

	// Mail scanners open links: that alone confirms nothing.
	status, header, page := h.visit(t, "GET", link)
	if status != 200 || !strings.Contains(page, "x@example.net") || !strings.Contains(page, `<form method="post">`) {
		t.Errorf("the page is %d %s", status, page)
	}
	for name, want := range map[string]string{"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"} {
		if got := header.Get(name); got != want {
			t.Errorf("%s is %q; want %q", name, got, want)
		}
	}
	h.get("/forwarding/"+id).is("verification_state", "pending")

	h.clock.Advance(time.Hour)
	h.confirm(t, 0)
	h.get("/forwarding/"+id).is("verification_state", "verified", "active", true, "verification_verified_at", "2026-03-14T16:09:26.535897Z", "verification_required", true)

	// Again, and later, it says so and changes nothing.
	h.clock.Advance(100 * time.Hour)
	for _, method := range []string{"GET", "POST"} {
		if status, _, page := h.visit(t, method, link); status != 200 || !strings.Contains(page, "Confirmed") || strings.Contains(page, "<form") {
			t.Errorf("%s of a used link: %d %s", method, status, page)
		}
	}
	h.get("/forwarding/"+id).is("verification_state", "verified", "verification_verified_at", "2026-03-14T16:09:26.535897Z")
}

func TestVerificationLinkStates(t *testing.T) {
	h := newHarness(t)
	id := h.forwarding("x@example.net", nil)
	check := func(link string, want int, words string) {
		t.Helper()
		for _, method := range []string{"GET", "POST"} {
			if status, _, page := h.visit(t, method, link); status != want || !strings.Contains(page, words) || strings.Contains(page, "<form") {
				t.Errorf("%s answers %d %s; want %d %q", method, status, page, want, words)
			}
		}
	}
	link := h.svc.Outbox()[0].Link
	h.clock.Advance(72 * time.Hour)
	check(link, 410, "expired")
	h.get("/forwarding/"+id).is("verification_state", "expired")

	h.patch("/forwarding/"+id, obj{"target_email": "x@example.net"}).want(200)
	check(link, 404, "not valid") // a newer one has replaced it
	check(link+"x", 404, "not valid")
	check("http://localhost:8080/verify-forwarding/x", 404, "not valid")
	h.confirm(t, 1)

	h.patch("/forwarding/"+id, obj{"target_email": "y@example.net"}).want(200)
	check(h.svc.Outbox()[1].Link, 404, "not valid")
	h.delete("/forwarding/" + id).want(204)
	check(h.svc.Outbox()[2].Link, 404, "not valid")
}

// courier is one that fails.
type courier struct {
	mu   sync.Mutex
	sent []apiserver.Message
	err  error
}

func (c *courier) Send(_ context.Context, m apiserver.Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = append(c.sent, m)
	return c.err
}

func TestCourier(t *testing.T) {
	c := &courier{}
	h := newHarness(t, func(o *apiserver.Options) { o.Courier = c })
	id := h.forwarding("x@example.net", nil)
	h.post("/forwarding", obj{"target_email": "x@example.net"}).want(409)
	c.err = errors.New("the mail server is away")
	h.patch("/forwarding/"+id, obj{"target_email": "x@example.net"}).want(200) // the rule is changed all the same
	for range 2 {                                                              // the replay of an answer sends nothing
		h.keyed(key, "/forwarding", obj{"target_email": "y@example.net"}).want(201)
	}
	if len(c.sent) != 3 || c.sent[0].To != "x@example.net" || c.sent[2].To != "y@example.net" {
		t.Errorf("sent %+v", c.sent)
	}
}
