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

// TestMessagesOfAnAccountAreLimited checks that the messages of an account are limited
// across all recipients, and not by those of another account.
func TestMessagesOfAnAccountAreLimited(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	h.Mailbox("example.com", "jane")
	for i := range 20 {
		h.Forwarding(fmt.Sprintf("x%d@example.net", i), obj{})
	}
	h.Post("/forwarding", obj{"target_email": "another@example.net"}).RateLimited(60, "for the account", "one in 60 s after that")
	// Only a request that sends a message takes a token from the bucket.
	h.Forwarding("jane@example.com", obj{})
	h.Post("/forwarding", obj{"target_email": "x1@example.net"}).Refused(409, "body conflict")
	h.Owner(t, nobody).Forwarding("x1@example.net", obj{})
	h.Clock.Advance(90 * time.Second)
	h.Forwarding("another@example.net", obj{})
	h.Post("/forwarding", obj{"target_email": "third@example.net"}).RateLimited(30)

	// A rejected request is evaluated again under its key, and a replay takes no token.
	body := obj{"target_email": "keyed@example.net"}
	h.PostKeyed(key, "/forwarding", body).RateLimited(30)
	h.Clock.Advance(30 * time.Second)
	h.PostKeyed(key, "/forwarding", body).Want(201)
	h.PostKeyed(key, "/forwarding", body).Want(201)
	h.Clock.Advance(-100 * time.Hour) // a clock that is set back does not extend the wait
	h.Post("/forwarding", obj{"target_email": "third@example.net"}).RateLimited(60)
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
