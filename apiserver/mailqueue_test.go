package apiserver_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/email"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

// sender is an email.Sender that records each message and then calls send.
type sender struct {
	send func(ctx context.Context, m email.Message, attempt int) error

	mu   sync.Mutex
	sent []email.Message
	at   []time.Time
}

func (c *sender) Send(ctx context.Context, m email.Message) error {
	c.mu.Lock()
	c.sent, c.at = append(c.sent, m), append(c.at, time.Now())
	attempt := 0
	for _, earlier := range c.sent {
		if earlier.To == m.To {
			attempt++
		}
	}
	c.mu.Unlock()
	if c.send == nil {
		return nil
	}
	return c.send(ctx, m, attempt)
}

// calls waits until all goroutines are blocked, and returns the messages and the times of
// all attempts.
func (c *sender) calls() ([]email.Message, []time.Time) {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.sent), slices.Clone(c.at)
}

// count returns the number of attempts in calls.
func (c *sender) count() int {
	sent, _ := c.calls()
	return len(sent)
}

// mailed runs a test in a synctest bubble, with a service that uses the sender.
func mailed(t *testing.T, c *sender, test func(t *testing.T, h *apitest.Server, log *apitest.Log)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		log := apitest.NewLog()
		test(t, apitest.New(t, func(o *apiserver.Options) {
			o.Sender, o.Logger = c, log.Logger()
		}), log)
	})
}

func TestSender(t *testing.T) {
	c := &sender{}
	mailed(t, c, func(t *testing.T, h *apitest.Server, log *apitest.Log) {
		id := h.Forwarding("x@example.net", nil)
		c.calls()
		h.Post("/forwarding", obj{"target_email": "x@example.net"}).Want(409)
		h.Patch("/forwarding/"+id, obj{"target_email": "x@example.net"}).Want(200)
		c.calls()     // messages queued together are sent in any order
		for range 2 { // a replayed response sends nothing
			h.PostKeyed(key, "/forwarding", obj{"target_email": "y@example.net"}).Want(201)
		}
		sent, _ := c.calls()
		assert.Assert(t, len(sent) == 3 && len(log.Entries("verification message sent")) == 3, "sent %+v\n%s", sent, log)
		for i, m := range h.Service.Outbox() {
			if !slices.Contains(sent, m) || m.SentAt != start || m.ForwardingID == "" ||
				!strings.HasPrefix(m.ID, m.ForwardingID+".") || !strings.Contains(m.HTML, `<a href="`+m.Link+`">`) || !strings.Contains(m.Text, "\n"+m.Link+"\n") {
				t.Errorf("message %d is %+v", i, m)
			}
		}
		assert.Check(t, sent[0].ID != sent[1].ID, "two messages of a rule have the same id")
		time.Sleep(time.Hour)
		assert.Check(t, is.Equal(c.count(), 3), "messages after an hour; want 3")
		shows(t, h, "GET", sent[0].Link, 404, "This link is not valid")
		shows(t, h, "POST", sent[1].Link, 200, "Confirmed", "x@example.net")
	})
}

func TestSenderRetries(t *testing.T) {
	temporary := errors.New("451 later")
	c := &sender{send: func(ctx context.Context, m email.Message, attempt int) error {
		switch {
		case strings.HasPrefix(m.To, "hangs@") && attempt == 1:
			<-ctx.Done()
			return ctx.Err()
		case strings.HasPrefix(m.To, "third@") && attempt < 3, strings.HasPrefix(m.To, "never@"):
			return fmt.Errorf("%w: %s", temporary, m.Link)
		case strings.HasPrefix(m.To, "unknown@"):
			return fmt.Errorf("550 no such user: %w: %s", email.ErrUndeliverable, m.Link)
		case strings.HasPrefix(m.To, "panic@"):
			panic("at " + m.Link)
		}
		return nil
	}}
	mailed(t, c, func(t *testing.T, h *apitest.Server, log *apitest.Log) {
		rules := map[string]string{}
		for _, to := range []string{"third", "never", "unknown", "panic", "first", "hangs"} {
			a := h.Do(http.MethodPost, "/forwarding", obj{"target_email": to + "@example.net"}, "X-Request-Id", "request-"+to)
			rules[to] = a.Want(201).Str("id")
		}
		time.Sleep(time.Hour)
		sent, at := c.calls()
		attempts := map[string][]time.Duration{}
		for i, m := range sent {
			to, _, _ := strings.Cut(m.To, "@")
			attempts[to] = append(attempts[to], at[i].Sub(at[0]))
			if slices.ContainsFunc(sent[:i], func(before email.Message) bool { return before.ID == m.ID || before.Link == m.Link }) {
				t.Errorf("to %s: attempt %d has the link of another attempt", to, len(attempts[to]))
			}
		}
		want := "map[first:[0s] hangs:[0s 40s] never:[0s 10s 1m10s 6m10s 21m10s] panic:[0s] third:[0s 10s 1m10s] unknown:[0s]]"
		assert.Check(t, is.Equal(fmt.Sprint(attempts), want), "attempts")
		failed := log.Entries("verification message not sent;")
		assert.Check(t, len(failed) == 3 && h.Service.GivenUpMessages() == 3 && len(log.Entries("verification message sent")) == 3 && len(log.Entries("verification message not sent yet")) == 7, "log:\n%s", log)
		for _, line := range failed {
			to := strings.TrimPrefix(line["request_id"].(string), "request-")
			assert.Check(t, line["forwarding_id"] == rules[to] && line["level"] == "ERROR" && line["error"] != "", "logged %v", line)
		}
		for _, m := range sent {
			assert.Assert(t, !strings.Contains(log.String(), m.Link[strings.LastIndex(m.Link, "/")+1:]), "the log contains a link:\n%s", log)
		}
	})
}

// restarts opens services on one database file, one after another or at the same time,
// each with its own Sender.
type restarts struct {
	t    *testing.T
	path string
}

func newRestarts(t *testing.T) restarts {
	return restarts{t, filepath.Join(t.TempDir(), "mailhost.db")}
}

func (r restarts) start(c *sender, configure ...func(*apiserver.Options)) (*apitest.Server, *apitest.Log) {
	r.t.Helper()
	db, err := sqlite.Open(r.t.Context(), r.path, sqlite.Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	log := apitest.NewLog()
	first := func(o *apiserver.Options) {
		o.Store, o.Logger = db, log.Logger()
		if c != nil {
			o.Sender = c
		}
	}
	return apitest.New(r.t, append([]func(*apiserver.Options){first}, configure...)...), log
}

// TestMessagesSurviveTheProcess checks that the next process sends the messages left by an earlier
// process and a command, and that the database never contains their links.
func TestMessagesSurviveTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRestarts(t)
		down := &sender{send: func(context.Context, email.Message, int) error { return errors.New("451 later") }}
		h, log := r.start(down)
		id := h.Forwarding("x@example.net", nil)
		failed, _ := down.calls()
		assert.NilError(t, h.Service.Close())
		if len(failed) != 1 || len(log.Entries("verification messages are still queued")) != 1 || len(log.Entries("verification message not sent;")) != 0 {
			t.Fatalf("%d attempts\n%s", len(failed), log)
		}
		up := &sender{}
		h, _ = r.start(up)
		time.Sleep(sendPause)
		sent, _ := up.calls()
		assert.Assert(t, len(sent) == 1 && sent[0].To == "x@example.net" && sent[0].ForwardingID == id, "the next process sent %+v", sent)
		shows(t, h, "GET", failed[0].Link, 404, "This link is not valid")
		shows(t, h, "POST", sent[0].Link, 200, "Confirmed")
		command, _ := r.start(nil) // a command on the database
		operator(t, command).Post("/forwarding", obj{"target_email": "y@example.net"}).Want(201)
		time.Sleep(time.Minute)
		sent, _ = up.calls()
		assert.Assert(t, len(sent) == 2 && sent[1].To == "y@example.net", "after a command the process has sent %+v", sent)
		files, err := filepath.Glob(r.path + "*")
		assert.NilError(t, err)
		for _, file := range files {
			data, err := os.ReadFile(file)
			assert.NilError(t, err)
			for _, m := range append(failed, sent...) {
				assert.Check(t, !bytes.Contains(data, []byte(m.Link[strings.LastIndexByte(m.Link, '/')+1:])), "%s contains a link's secret", file)
			}
		}
	})
}

// sendPause is the pause after the first failed attempt.
const sendPause = 10 * time.Second

// TestMessagesOfAKilledProcess checks that another process sends the message of a process killed
// while sending, but only after the lease.
func TestMessagesOfAKilledProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRestarts(t)
		var db *faulty
		interrupted := &sender{send: func(context.Context, email.Message, int) error {
			db.fail(errors.New("the process was killed"))
			return nil
		}}
		killed, _ := r.start(interrupted, func(o *apiserver.Options) {
			db = &faulty{Store: o.Store}
			o.Store = db
		})
		killed.Forwarding("x@example.net", nil)
		first, _ := interrupted.calls()
		begun := time.Now()
		other := &sender{}
		h, _ := r.start(other)
		time.Sleep(time.Minute - time.Second)
		assert.Check(t, is.Equal(other.count(), 0), "messages were sent within the lease")
		time.Sleep(16 * time.Second) // until the next read of the queue
		sent, at := other.calls()
		assert.Assert(t, len(sent) == 1 && at[0].Sub(begun) >= time.Minute, "sent %+v at %v", sent, at)
		shows(t, h, "GET", first[0].Link, 404, "This link is not valid")
		shows(t, h, "GET", sent[0].Link, 200, "Forward mail to you?")
		time.Sleep(time.Hour)
		if n, lost := other.count(), interrupted.count(); n != 1 || lost != 1 {
			t.Errorf("%d and %d messages after an hour; want 1 each", n, lost)
		}
		db.fail(nil) // so that the first service can be closed
	})
}

// TestMessagesAreDropped checks that a queued message is not sent after its link became invalid.
// TestMessagesOfAWrongClock checks that messages are sent although a server whose clock was far ahead claimed them,
// or will retry them, by its clock; and that a message whose claims follow one another is left to that server.
func TestMessagesOfAWrongClock(t *testing.T) {
	for _, ahead := range []time.Duration{-365 * 24 * time.Hour, -time.Hour, time.Minute, time.Hour, 365 * 24 * time.Hour} {
		t.Run(ahead.String(), func(t *testing.T) {
			c := &sender{}
			synctest.Test(t, func(t *testing.T) {
				db := apitest.OpenStore(t)
				h := apitest.New(t, func(o *apiserver.Options) { o.Store, o.Sender = db, c })
				claim := func() {
					err := db.Update(t.Context(), func(tx store.Tx) error {
						_, err := tx.ClaimMessage(time.Time{}, time.Now().Add(2*ahead.Abs()+time.Hour), time.Now().Add(ahead+time.Minute))
						return err
					})
					assert.NilError(t, err)
				}
				c.send = func(context.Context, email.Message, int) error { return errors.New("451 later") }
				for _, to := range []string{"a", "b", "c"} {
					h.Forwarding(to+"@example.net", nil)
				}
				assert.Equal(t, c.count(), 3)
				c.send = nil
				for range 4 {
					claim()
				}
				if ahead > 15*time.Minute {
					for range 10 { // the other server is alive
						time.Sleep(20 * time.Second)
						claim()
						assert.Check(t, c.count() < 7, "%d messages were sent meanwhile", c.count())
					}
				}
				time.Sleep(5 * time.Minute)
				n, err := h.Service.QueuedMessages(t.Context())
				assert.Check(t, err == nil && n == 0 && c.count() >= 6, "%d messages are queued, and %d attempts were made: %v", n, c.count(), err)
			})
		})
	}
}

func TestMessagesAreDropped(t *testing.T) {
	later := errors.New("451 later")
	for name, tt := range map[string]struct {
		do   func(t *testing.T, h *apitest.Server, rule string, first email.Message)
		want string // recipients of further messages
	}{
		"deleted": {do: func(t *testing.T, h *apitest.Server, rule string, _ email.Message) {
			h.Delete("/forwarding/" + rule).Want(204)
		}},
		"verified": {do: func(t *testing.T, h *apitest.Server, rule string, first email.Message) {
			shows(t, h, "POST", first.Link, 200, "Confirmed")
		}},
		"retargeted": {want: "y@example.net", do: func(t *testing.T, h *apitest.Server, rule string, _ email.Message) {
			h.Patch("/forwarding/"+rule, obj{"target_email": "y@example.net"}).Want(200)
		}},
		"internal, then released": {do: func(t *testing.T, h *apitest.Server, rule string, _ email.Message) {
			h.Domain("example.net")
			h.Mailbox("example.net", "jane")
			h.Patch("/forwarding/"+rule, obj{"target_email": "jane@example.net"}).Want(200)
			h.Delete("/mailboxes/jane@example.net").Want(204)
		}},
		"expired": {do: func(t *testing.T, h *apitest.Server, rule string, _ email.Message) {
			h.Clock.Advance(73 * time.Hour)
		}},
		"cancelled": {do: func(t *testing.T, h *apitest.Server, rule string, _ email.Message) {
			h.Post("/billing/cancel-plan", obj{"cancel_immediately": true}).Want(200)
		}},
		"reset": {do: func(t *testing.T, h *apitest.Server, rule string, _ email.Message) {
			assert.NilError(t, h.Service.Reset(t.Context(), nil))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c := &sender{send: func(_ context.Context, m email.Message, _ int) error {
				if m.To == "x@example.net" {
					return later
				}
				return nil
			}}
			mailed(t, c, func(t *testing.T, h *apitest.Server, _ *apitest.Log) {
				h.Domain("example.com")
				rule := h.Forwarding("x@example.net", obj{"domain": "example.com"})
				sent, _ := c.calls()
				tt.do(t, h, rule, sent[0])
				time.Sleep(time.Hour)
				sent, _ = c.calls()
				var to []string
				for _, m := range sent[1:] {
					to = append(to, m.To)
				}
				assert.Check(t, is.Equal(strings.Join(to, " "), tt.want), "further messages were sent to")
			})
		})
	}
}

// TestCloseSendsDueMessages checks that Close sends the due messages.
func TestCloseSendsDueMessages(t *testing.T) {
	release := make(chan struct{})
	c := &sender{}
	c.send = func(context.Context, email.Message, int) error { <-release; return nil }
	mailed(t, c, func(t *testing.T, h *apitest.Server, log *apitest.Log) {
		release = make(chan struct{}) // a channel must belong to the bubble that uses it
		for i := range 10 {
			h.Forwarding(fmt.Sprintf("x%d@example.net", i), nil)
		}
		assert.Assert(t, is.Equal(c.count(), 4), "in flight")
		time.AfterFunc(time.Second, func() { close(release) })
		begun := time.Now()
		assert.Check(t, h.Service.Close())
		assert.Check(t, is.Equal(time.Since(begun), time.Second), "closing takes")
		n := len(log.Entries("verification message sent"))
		assert.Check(t, n == 10 && c.count() == 10 && len(log.Entries("verification messages are still")) == 0, "log:\n%s", log)
	})
}

// TestCloseIsBounded checks that Close limits its wait for attempts.
func TestCloseIsBounded(t *testing.T) {
	c := &sender{send: func(ctx context.Context, _ email.Message, _ int) error {
		<-ctx.Done()
		return ctx.Err()
	}}
	mailed(t, c, func(t *testing.T, h *apitest.Server, log *apitest.Log) {
		for i := range 10 {
			h.Forwarding(fmt.Sprintf("x%d@example.net", i), nil)
		}
		time.Sleep(5 * time.Second)
		begun := time.Now()
		assert.Check(t, h.Service.Close())
		took := time.Since(begun)
		assert.Check(t, took == 10*time.Second, "closing takes %s", took)
		assert.Check(t, len(log.Entries("verification message not sent")) == 0 && len(log.Entries("verification messages are still queued")) == 1, "log:\n%s", log)
		time.Sleep(2 * time.Hour)
		assert.Check(t, is.Equal(c.count(), 4), "attempts")
	})
}
