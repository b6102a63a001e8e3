package apiserver_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// TestUnavailableStore checks that the response to a client has a Retry-After header, and
// that the log reports when the outage begins and ends.
func TestUnavailableStore(t *testing.T) {
	unwritable := newFaulty(t)
	var log bytes.Buffer
	h := apitest.New(t, func(o *apiserver.Options) {
		o.Store, o.Logger = unwritable, slog.New(slog.NewTextHandler(&log, nil))
	})
	for round := range 2 {
		log.Reset()
		unwritable.updatesFail(fmt.Errorf("%w: the disk at /secret/path is full", store.ErrUnavailable))
		for range 3 {
			a := h.Do("POST", "/workspaces", map[string]any{"name": "A"}, "Idempotency-Key", "7b0f3a52-3f4e-4c55-9d43-0d0f5a0c8a11").Refused(503, "header unavailable")
			assert.Check(t, a.Header.Get("Retry-After") == "1" && !strings.Contains(string(a.Raw), "secret"), "the response is %s, its header %v", a, a.Header)
		}
		unwritable.updatesFail(nil)
		h.Do("POST", "/workspaces", map[string]any{"name": fmt.Sprint("B", round)}).Want(201)
		h.Do("POST", "/workspaces", map[string]any{"name": fmt.Sprint("C", round)}).Want(201)
		assert.Check(t, strings.Count(log.String(), "is full") == 1 && strings.Count(log.String(), "available again") == 1, "the log is\n%s", &log)
	}
	log.Reset()
	unwritable.updatesFail(fmt.Errorf("%w: another process has been writing", store.ErrLocked))
	h.Do("POST", "/workspaces", map[string]any{"name": "D"}).Refused(503, "header unavailable")
	unwritable.updatesFail(nil)
	h.Do("POST", "/workspaces", map[string]any{"name": "E"}).Want(201)
	if !strings.Contains(log.String(), "level=WARN") || strings.Contains(log.String(), "ERROR") || strings.Contains(log.String(), "available again") {
		t.Errorf("the log of a lock is\n%s", &log)
	}
}
