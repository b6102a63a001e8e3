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

// TestMessagesToARecipientAreLimited checks that the limit for a recipient covers all
// operations and accounts, and survives a restart.
func TestMessagesToARecipientAreLimited(t *testing.T) {
	c := apitest.NewClock()
	path := t.TempDir() + "/mailhost.db"
	open := func() *apitest.Server {
		db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return apitest.New(t, func(o *apiserver.Options) { o.Store, o.Clock = db, c.Now })
	}
	h := open()
	loop := func(c *apitest.Client) string { // creates a rule and deletes it
		id := c.Forwarding("X@example.net", obj{})
		c.Delete("/forwarding/" + id).Want(204)
		return id
	}
	for range 5 {
		loop(h.Client)
	}
	for range 5 {
		loop(h.Owner(t, nobody))
	}
	id := h.Forwarding("x@example.net", obj{})
	set := func(target string) *apitest.Response { return h.Patch("/forwarding/"+id, obj{"target_email": target}) }
	for range 9 {
		set("x@EXAMPLE.net").Want(200)
	}
	before := h.Get("/forwarding/" + id)
	set("x@example.net").RateLimited(60, "x@example.net", "20 at once")
	if after := h.Get("/forwarding/" + id); string(after.Raw) != string(before.Raw) || len(h.Service.Outbox()) != 20 {
		t.Errorf("%s; before %s; %d messages", after, before, len(h.Service.Outbox()))
	}
	h.Post("/forwarding", obj{"target_email": "x@example.net", "workspace_id": h.DefaultWorkspace()}).RateLimited(60, "x@example.net")
	h.Get("/forwarding").Is("total", 1)
	other := h.Owner(t, nobody)
	other.Post("/forwarding", obj{"target_email": "x@example.net"}).RateLimited(60, "x@example.net")

	// The limit for one recipient does not affect others.
	moved := other.Forwarding("y@example.net", obj{})
	if err := h.Service.Close(); err != nil {
		t.Fatal(err)
	}
	h = open()
	other = h.Owner(t, nobody)
	c.Advance(time.Minute - time.Millisecond)
	other.Patch("/forwarding/"+moved, obj{"target_email": "x@example.net"}).RateLimited(1, "x@example.net")
	other.Get("/forwarding/"+moved).Is("target_email", "y@example.net")
	c.Advance(time.Millisecond)
	other.Patch("/forwarding/"+moved, obj{"target_email": "x@example.net"}).Want(200)
	h.Patch("/forwarding/"+id, obj{"target_email": "x@example.net"}).RateLimited(60, "x@example.net")
	c.Advance(time.Hour)
	for range 20 {
		h.Patch("/forwarding/"+id, obj{"target_email": "x@example.net"}).Want(200)
	}
	h.Patch("/forwarding/"+id, obj{"target_email": "x@example.net"}).RateLimited(60)
}

// TestMessagesOfAnAccountAreLimited checks that the messages of an account are limited
// across all recipients.
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
	h.Owner(t, nobody).Forwarding("another@example.net", obj{})
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
	if got := limit("recipient x1@example.net"); !got.Equal(start.Add(time.Minute)) {
		t.Errorf("a recipient's bucket is full at %s", got)
	}
	h.Clock.Advance(time.Minute)
	h.Forwarding("y@example.net", obj{})
	if got := limit("recipient x1@example.net"); !got.IsZero() {
		t.Errorf("a full bucket was not deleted: %s", got)
	}
	if got := limit("account " + accountID); !got.Equal(start.Add(6 * time.Minute)) {
		t.Errorf("the account's bucket is full at %s", got)
	}
}
