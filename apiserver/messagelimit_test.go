package apiserver_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

// limited checks that a request is refused because of the limits of messages.
func (a *answer) limited(seconds int, words ...string) {
	a.t.Helper()
	a.refused(429, "body.target_email rate_limited").says(append(words, "nothing was changed", fmt.Sprintf("try again in %d s", seconds))...)
	if got := a.header.Get("Retry-After"); got != itoa(seconds) {
		a.t.Errorf("Retry-After is %q, want %d", got, seconds)
	}
}

// Nobody can flood a recipient, whatever operations they combine, from however many
// accounts, and over a restart.
func TestMessagesToARecipientAreLimited(t *testing.T) {
	c := &clock{now: start}
	path := t.TempDir() + "/mailhost.db"
	open := func() *harness {
		db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return newHarness(t, func(o *apiserver.Options) { o.Store, o.Clock = db, c.Now })
	}
	h := open()
	loop := func(c *client) string { // creates a rule, deletes it
		id := c.forwarding("X@example.net", obj{})
		c.delete("/forwarding/" + id).want(204)
		return id
	}
	for range 5 {
		loop(h.client)
	}
	for range 5 {
		loop(h.owner(t, nobody))
	}
	id := h.forwarding("x@example.net", obj{})
	set := func(target string) *answer { return h.patch("/forwarding/"+id, obj{"target_email": target}) }
	for range 9 {
		set("x@EXAMPLE.net").want(200)
	}
	before := h.get("/forwarding/" + id)
	set("x@example.net").limited(60, "x@example.net", "20 at once")
	if after := h.get("/forwarding/" + id); string(after.raw) != string(before.raw) || len(h.svc.Outbox()) != 20 {
		t.Errorf("%s; before %s; %d messages", after, before, len(h.svc.Outbox()))
	}
	h.post("/forwarding", obj{"target_email": "x@example.net", "workspace_id": h.defaultWorkspace()}).limited(60, "x@example.net")
	h.get("/forwarding").is("total", 1)
	other := h.owner(t, nobody)
	other.post("/forwarding", obj{"target_email": "x@example.net"}).limited(60, "x@example.net")

	// Whoever is refused for one recipient can write to another.
	moved := other.forwarding("y@example.net", obj{})
	if err := h.svc.Close(); err != nil {
		t.Fatal(err)
	}
	h = open()
	other = h.owner(t, nobody)
	c.Advance(time.Minute - time.Millisecond)
	other.patch("/forwarding/"+moved, obj{"target_email": "x@example.net"}).limited(1, "x@example.net")
	other.get("/forwarding/"+moved).is("target_email", "y@example.net")
	c.Advance(time.Millisecond)
	other.patch("/forwarding/"+moved, obj{"target_email": "x@example.net"}).want(200)
	h.patch("/forwarding/"+id, obj{"target_email": "x@example.net"}).limited(60, "x@example.net")
	c.Advance(time.Hour)
	for range 20 {
		h.patch("/forwarding/"+id, obj{"target_email": "x@example.net"}).want(200)
	}
	h.patch("/forwarding/"+id, obj{"target_email": "x@example.net"}).limited(60)
}

// An account sends so many messages, whoever they are for.
func TestMessagesOfAnAccountAreLimited(t *testing.T) {
	h := newHarness(t)
	h.domain("example.com")
	h.mailbox("example.com", "jane")
	for i := range 20 {
		h.forwarding(fmt.Sprintf("x%d@example.net", i), obj{})
	}
	h.post("/forwarding", obj{"target_email": "another@example.net"}).limited(60, "for the account", "one in 60 s after that")
	// A request that needs no message is not limited, a refused one takes no token.
	h.forwarding("jane@example.com", obj{})
	h.post("/forwarding", obj{"target_email": "x1@example.net"}).refused(409, "body conflict")
	h.owner(t, nobody).forwarding("another@example.net", obj{})
	h.clock.Advance(90 * time.Second)
	h.forwarding("another@example.net", obj{})
	h.post("/forwarding", obj{"target_email": "third@example.net"}).limited(30)

	// The same request under its key is evaluated again, and its replay takes no token.
	body := obj{"target_email": "keyed@example.net"}
	h.keyed(key, "/forwarding", body).limited(30)
	h.clock.Advance(30 * time.Second)
	h.keyed(key, "/forwarding", body).want(201)
	h.keyed(key, "/forwarding", body).want(201)
	h.clock.Advance(-100 * time.Hour) // even if the clock goes back, nobody waits for long
	h.post("/forwarding", obj{"target_email": "third@example.net"}).limited(60)
}

// The limits of the past are forgotten.
func TestOldMessageLimitsAreForgotten(t *testing.T) {
	db, err := sqlite.Open(t.Context(), sqlite.Memory, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := newHarness(t, func(o *apiserver.Options) { o.Store = db })
	for i := range 5 {
		h.forwarding(fmt.Sprintf("x%d@example.net", i), obj{})
	}
	limit := func(bucket string) (fullAt time.Time) {
		if err := db.View(t.Context(), func(r store.Reader) (err error) {
			fullAt, err = r.MessageLimit(bucket)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return fullAt
	}
	if got := limit("recipient x1@example.net"); !got.Equal(start.Add(time.Minute)) {
		t.Errorf("a recipient's bucket is full at %s", got)
	}
	h.clock.Advance(time.Minute)
	h.forwarding("y@example.net", obj{})
	if got := limit("recipient x1@example.net"); !got.IsZero() {
		t.Errorf("a full bucket is still there: %s", got)
	}
	if got := limit("account " + accountID); !got.Equal(start.Add(6 * time.Minute)) {
		t.Errorf("the account's bucket is full at %s", got)
	}
}
