package apiserver_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

// The model test has the property that no request gives a right or takes one that its caller does
// not have. These are examples of it, with their messages.

// revoking is a response whose first write ends the credential of its request.
type revoking struct {
	*httptest.ResponseRecorder
	revoke func()
}

func (w *revoking) Write(p []byte) (int, error) {
	if w.revoke != nil {
		w.revoke()
		w.revoke = nil
	}
	return w.ResponseRecorder.Write(p)
}

// TestExportEndsWithItsCredential revokes a token, or its grant, during an export.
func TestExportEndsWithItsCredential(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	items := make([]obj, 900)
	for i := range items {
		items[i] = obj{"local_part": "u" + time.Duration(i).String(), "first_name": "f", "last_name": "l"}
	}
	h.Post("/mailboxes/bulk", obj{"domain": "example.com", "items": items}).Want(200)
	export := func(revoke func(id, grant string)) (rows int) {
		id, c := h.ServiceAccount(h.Client, obj{"name": "exporter"})
		grant := h.Get("/auth/authorizations?subject_id=" + id).Want(200).Str("0.id")
		w := &revoking{httptest.NewRecorder(), func() { revoke(id, grant) }}
		body, _ := json.Marshal(obj{})
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, c.Path("/mailboxes/export"), bytes.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+c.Token)
		r.Header.Set("Content-Type", "application/json")
		func() {
			defer func() { _ = recover() }() // http.ErrAbortHandler, which cuts the response off
			h.Service.Handler().ServeHTTP(w, r)
		}()
		return strings.Count(w.Body.String(), "@example.com")
	}
	for name, c := range map[string]struct {
		revoke func(id, grant string)
		all    bool
	}{
		"nothing":         {func(string, string) {}, true},
		"service account": {func(id, _ string) { h.Delete("/auth/service-accounts/" + id).Want(204) }, false},
		"grant":           {func(_, grant string) { h.Delete("/auth/authorizations/" + grant).Want(204) }, false},
	} {
		got := export(c.revoke)
		assert.Check(t, (got == len(items)) == c.all, "%s revoked: %d of %d rows", name, got, len(items))
	}
}

// TestRequestIDIsNotTheKey checks that a request id which is the Idempotency-Key, with which the
// stored response can be decrypted, is replaced: it is logged and stored.
func TestRequestIDIsNotTheKey(t *testing.T) {
	h := apitest.New(t)
	const key = "3f0c9d7e-1111-4222-8333-444444444444"
	for _, id := range []string{key, strings.ToUpper(key)} {
		got := h.Do(http.MethodPost, "/workspaces", obj{"name": "w"}, "X-Request-Id", id, "Idempotency-Key", key).Header.Get("X-Request-Id")
		assert.Check(t, !strings.EqualFold(got, key), "%s is kept as the request id", id)
	}
}
