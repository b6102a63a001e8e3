package apiserver_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

// TestMessagesOfAnAccountAreLimited checks what the response to a refused message says, and that
// a replay takes no token. The model test has when messages are refused.
func TestMessagesOfAnAccountAreLimited(t *testing.T) {
	h := apitest.New(t)
	for i := range 20 {
		h.Forwarding(fmt.Sprintf("x%d@example.net", i), obj{})
	}
	h.Clock.Advance(30 * time.Second)
	body := obj{"target_email": "another@example.net"}
	a := h.PostKeyed(key, "/forwarding", body).Refused(429, "body.target_email rate_limited").
		Says("for the account", "one in 60 s after that", "nothing was changed", "try again in 30 s")
	if got := a.Header.Get("Retry-After"); got != "30" {
		t.Errorf("Retry-After is %q, want 30", got)
	}
	h.Clock.Advance(30 * time.Second)
	for range 2 {
		h.PostKeyed(key, "/forwarding", body).Want(201)
	}
	h.Clock.Advance(-100 * time.Hour) // a clock that is set back does not extend the wait
	h.Post("/forwarding", obj{"target_email": "third@example.net"}).Refused(429, "body.target_email rate_limited").Says("try again in 60 s")
}

// TestOldMessageLimitsAreForgotten checks that a full bucket is deleted from the store.
func TestOldMessageLimitsAreForgotten(t *testing.T) {
	db, err := sqlite.Open(t.Context(), sqlite.Memory, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := apitest.New(t, func(o *apiserver.Options) { o.Store = db })
	for i := range 5 {
		h.Forwarding(fmt.Sprintf("x%d@example.net", i), obj{})
	}
	limit := func(bucket string) (fullAt time.Time) {
		if err := db.View(t.Context(), func(r store.Reader) (err error) {
			fullAt, err = r.TokenBucket(bucket)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return fullAt
	}
	if got := limit("account " + accountID); !got.Equal(start.Add(5 * time.Minute)) {
		t.Errorf("the account's bucket is full at %s", got)
	}
	h.Clock.Advance(5 * time.Minute)
	h.Owner(t, nobody).Forwarding("y@example.net", obj{})
	if got := limit("account " + accountID); !got.IsZero() {
		t.Errorf("a full bucket was not deleted: %s", got)
	}
}
