package apiserver_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

func (a *answer) delivered() string { return a.header.Get("Idempotency-Delivered") }

// cutOff is the connection of a caller that is gone when the answer comes.
type cutOff struct{ http.ResponseWriter }

func (cutOff) WriteHeader(int) { panic(http.ErrAbortHandler) }

// An answer that was kept says whether it had reached its caller, over a restart
// too: only one that had not may belong to a run that was cut off.
func TestDelivered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mailhost.db")
	open := func(t *testing.T) *harness {
		s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return newHarness(t, func(o *apiserver.Options) { o.Store = s })
	}
	reached, lost := obj{"name": "reached"}, obj{"name": "lost"}
	t.Run("before", func(t *testing.T) {
		h := open(t)
		if a := h.keyed(key, "/workspaces", reached).want(http.StatusCreated); a.replayed() || a.delivered() != "" {
			t.Errorf("the first answer is %v", a.header)
		}
		if a := h.keyed(key, "/workspaces", reached).want(http.StatusCreated); a.delivered() != "true" {
			t.Errorf("the replay is %v", a.header)
		}
		token, err := h.svc.IssueOwnerToken(t.Context(), h.account, "test")
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/public/accounts/"+h.account+"/workspaces", strings.NewReader(`{"name":"lost"}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Idempotency-Key", otherKey)
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the caller was not cut off")
				}
			}()
			h.svc.Handler().ServeHTTP(cutOff{httptest.NewRecorder()}, r)
		}()
		if a := h.as(token).keyed(otherKey, "/workspaces", lost).want(http.StatusCreated); a.delivered() != "false" {
			t.Errorf("the replay of the lost answer is %v", a.header)
		}
		if a := h.as(token).keyed(otherKey, "/workspaces", lost).want(http.StatusCreated); a.delivered() != "true" {
			t.Errorf("the second replay of the lost answer is %v", a.header)
		}
	})
	t.Run("after a restart", func(t *testing.T) {
		if a := open(t).keyed(key, "/workspaces", reached).want(http.StatusCreated); a.delivered() != "true" {
			t.Errorf("the replay is %v", a.header)
		}
	})
}
