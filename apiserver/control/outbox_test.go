package control_test

import (
	"net/http"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestOutboxPage checks who gets the outbox as a page, and that a message in it can neither run scripts nor load anything.
func TestOutboxPage(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.network.must(http.MethodPost, "/forwarding", `{"target_email":"b@example.org"}`)
	h.network.must(http.MethodPost, "/forwarding", `{"target_email":"c@example.org"}`)
	for accept, want := range map[string]string{
		"":                                  "application/json",
		"*/*":                               "application/json",
		"application/json":                  "application/json",
		"application/json, text/plain, */*": "application/json",
		"application/json, text/html;q=0.9": "application/json",
		"text/html":                         "text/html; charset=utf-8",
		"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8": "text/html; charset=utf-8",
	} {
		w := h.raw(http.MethodGet, "/outbox", "", "Accept", accept)
		assert.Check(t, w.Code == http.StatusOK && w.Header().Get("Content-Type") == want, "Accept %q: %d, %s; want %s", accept, w.Code, w.Header().Get("Content-Type"), want)
	}
	message := h.want(http.StatusOK, "GET", "/outbox?to=b@example.org", "")["items"].([]any)[0].(map[string]any)
	page := h.raw(http.MethodGet, "/outbox", "", "Accept", "text/html")
	text := page.Body.String()
	assert.Check(t, strings.Index(text, "c@example.org") < strings.Index(text, "b@example.org"), "the newest message is not the first: %s", text)
	for _, part := range []string{message["link"].(string), `src="outbox/` + message["id"].(string) + `" sandbox`, "ignore this message: nothing will be forwarded"} {
		assert.Check(t, is.Contains(text, part))
	}
	assert.Check(t, is.Contains(page.Header().Get("Content-Security-Policy"), "default-src 'none'"))
	filtered := h.raw(http.MethodGet, "/outbox?to=b@example.org", "", "Accept", "text/html").Body.String()
	assert.Check(t, !strings.Contains(filtered, "c@example.org"), "the page ignores its filter")
	none := h.raw(http.MethodGet, "/outbox?to=d@example.org", "", "Accept", "text/html").Body.String()
	assert.Check(t, strings.Contains(none, "No message matches") && !strings.Contains(none, "There is no message"), none)

	part := h.raw(http.MethodGet, "/outbox/"+message["id"].(string), "")
	policy := part.Header().Get("Content-Security-Policy")
	assert.Check(t, part.Code == http.StatusOK && strings.HasPrefix(policy, "sandbox ") && strings.Contains(policy, "default-src 'none'") && !strings.Contains(policy, "script"), "%d, %s", part.Code, policy)
	assert.Check(t, is.Contains(part.Body.String(), `<a href="`+message["link"].(string)))
	assert.Check(t, is.Contains(message["html"], `<a href="`+message["link"].(string)))
	h.want(http.StatusNotFound, "GET", "/outbox/none", "")
}
