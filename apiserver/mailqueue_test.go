package apiserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
)

// courier is one that does what a test says.
type courier struct {
	send func(ctx context.Context, m apiserver.Message, attempt int) error

	mu   sync.Mutex
	sent []apiserver.Message
	at   []time.Time
}

func (c *courier) Send(ctx context.Context, m apiserver.Message) error {
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

// calls returns what was sent and when, once nothing happens any more.
func (c *courier) calls() ([]apiserver.Message, []time.Time) {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.sent), slices.Clone(c.at)
}

// count returns how many attempts there were, once nothing happens any more.
func (c *courier) count() int {
	sent, _ := c.calls()
	return len(sent)
}

// logged is a log in JSON.
type logged struct {
	mu sync.Mutex
	bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(p)
}

// lines returns the lines whose message begins like that.
func (l *logged) lines(t *testing.T, begin string) (lines []map[string]any) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.String()) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		if msg, _ := entry["msg"].(string); strings.HasPrefix(msg, begin) {
			lines = append(lines, entry)
		}
	}
	return lines
}

// mailed runs a test in a bubble, with a service that sends by a courier.
func mailed(t *testing.T, c *courier, test func(t *testing.T, h *harness, log *logged)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		log := new(logged)
		test(t, newHarness(t, func(o *apiserver.Options) {
			o.Courier, o.Logger = c, slog.New(slog.NewJSONHandler(log, nil))
		}), log)
	})
}

func TestCourier(t *testing.T) {
	c := &courier{}
	mailed(t, c, func(t *testing.T, h *harness, log *logged) {
		id := h.forwarding("x@example.net", nil)
		h.post("/forwarding", obj{"target_email": "x@example.net"}).want(409)
		h.patch("/forwarding/"+id, obj{"target_email": "x@example.net"}).want(200)
		for range 2 { // the replay of an answer sends nothing
			h.keyed(key, "/forwarding", obj{"target_email": "y@example.net"}).want(201)
		}
		sent, _ := c.calls()
		if len(sent) != 3 || len(log.lines(t, "verification message sent")) != 3 {
			t.Fatalf("sent %+v\n%s", sent, log)
		}
		for i, m := range h.svc.Outbox() {
			if !slices.Contains(sent, m) || m.SentAt != start || m.ForwardingID == "" ||
				!strings.HasPrefix(m.ID, m.ForwardingID+".") || !strings.Contains(m.HTML, `<a href="`+m.Link+`">`) || !strings.Contains(m.Text, "\n"+m.Link+"\n") {
				t.Errorf("message %d is %+v", i, m)
			}
		}
		if h.svc.Outbox()[0].ID == h.svc.Outbox()[1].ID {
			t.Error("two links of a rule are one message")
		}
	})
}

// A slow mail server does not slow the API down.
func TestCourierIsNotAwaited(t *testing.T) {
	c := &courier{send: func(context.Context, apiserver.Message, int) error { time.Sleep(29 * time.Second); return nil }}
	mailed(t, c, func(t *testing.T, h *harness, _ *logged) {
		begun := time.Now()
		for i := range 20 {
			h.forwarding(fmt.Sprintf("x%d@example.net", i), nil)
		}
		if took := time.Since(begun); took != 0 {
			t.Errorf("twenty rules take %s", took)
		}
		if n := c.count(); n != 4 {
			t.Errorf("%d messages are sent at once; want 4", n)
		}
		time.Sleep(5 * 29 * time.Second)
		if n := c.count(); n != 20 {
			t.Errorf("%d messages are sent; want 20", n)
		}
	})
}

func TestCourierTriesAgain(t *testing.T) {
	temporary := errors.New("451 later")
	c := &courier{send: func(_ context.Context, m apiserver.Message, attempt int) error {
		switch {
		case strings.HasPrefix(m.To, "third@") && attempt < 3, strings.HasPrefix(m.To, "never@"):
			return fmt.Errorf("%w: %s", temporary, m.Link)
		case strings.HasPrefix(m.To, "unknown@"):
			return fmt.Errorf("550 no such user: %w: %s", apiserver.ErrUndeliverable, m.Link)
		case strings.HasPrefix(m.To, "panic@"):
			panic("at " + m.Link)
		}
		return nil
	}}
	mailed(t, c, func(t *testing.T, h *harness, log *logged) {
		rules := map[string]string{}
		for _, to := range []string{"third", "never", "unknown", "panic", "first"} {
			a := h.do(http.MethodPost, "/forwarding", obj{"target_email": to + "@example.net"}, "X-Request-Id", "request-"+to)
			rules[to] = a.want(201).str("id")
		}
		time.Sleep(time.Hour)
		sent, at := c.calls()
		attempts := map[string][]time.Duration{}
		for i, m := range sent {
			to, _, _ := strings.Cut(m.To, "@")
			attempts[to] = append(attempts[to], at[i].Sub(at[0]))
			if m.ID != h.svc.Outbox()[map[string]int{"third": 0, "never": 1, "unknown": 2, "panic": 3, "first": 4}[to]].ID {
				t.Errorf("to %s: another message on attempt %d", to, len(attempts[to]))
			}
		}
		want := "map[first:[0s] never:[0s 10s 1m10s 6m10s 21m10s] panic:[0s] third:[0s 10s 1m10s] unknown:[0s]]"
		if got := fmt.Sprint(attempts); got != want {
			t.Errorf("attempts %s; want %s", got, want)
		}
		failed := log.lines(t, "verification message not sent;")
		if len(failed) != 3 || len(log.lines(t, "verification message sent")) != 2 || len(log.lines(t, "verification message not sent yet")) != 6 {
			t.Errorf("log:\n%s", log)
		}
		for _, line := range failed {
			to := strings.TrimPrefix(line["request_id"].(string), "request-")
			if line["forwarding_id"] != rules[to] || line["level"] != "ERROR" || line["error"] == "" {
				t.Errorf("logged %v", line)
			}
		}
		for _, m := range sent {
			if strings.Contains(log.String(), m.Link[strings.LastIndex(m.Link, "/")+1:]) {
				t.Fatalf("the log tells a link:\n%s", log)
			}
		}
	})
}

func TestCourierHangs(t *testing.T) {
	c := &courier{send: func(ctx context.Context, _ apiserver.Message, attempt int) error {
		if attempt > 1 {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	}}
	mailed(t, c, func(t *testing.T, h *harness, _ *logged) {
		h.forwarding("x@example.net", nil)
		time.Sleep(30 * time.Second) // an attempt ends
		if n := c.count(); n != 1 {
			t.Fatalf("%d attempts", n)
		}
		time.Sleep(10 * time.Second)
		if n := c.count(); n != 2 {
			t.Errorf("%d attempts", n)
		}
	})
}

func TestCourierQueueIsFull(t *testing.T) {
	release := make(chan struct{})
	c := &courier{}
	c.send = func(context.Context, apiserver.Message, int) error { <-release; return nil }
	mailed(t, c, func(t *testing.T, h *harness, log *logged) {
		release = make(chan struct{}) // of this bubble
		for i := range 1001 {
			h.forwarding(fmt.Sprintf("x%d@example.net", i), nil)
		}
		failed := log.lines(t, "verification message not sent;")
		if len(failed) != 1 || failed[0]["attempts"] != 0.0 || !strings.Contains(failed[0]["error"].(string), "too many") {
			t.Errorf("logged %v", failed)
		}
		close(release)
		synctest.Wait()
		h.forwarding("y@example.net", nil)
		if n := c.count(); n != 1001 || len(h.svc.Outbox()) != 1000 {
			t.Errorf("%d sent, %d in the outbox", n, len(h.svc.Outbox()))
		}
	})
}

// Close gives what waits one more attempt.
func TestCloseSendsWhatWaits(t *testing.T) {
	c := &courier{send: func(_ context.Context, m apiserver.Message, attempt int) error {
		if attempt == 1 || strings.HasPrefix(m.To, "never@") {
			return errors.New("451 later")
		}
		return nil
	}}
	mailed(t, c, func(t *testing.T, h *harness, log *logged) {
		h.forwarding("second@example.net", nil)
		h.forwarding("never@example.net", nil)
		synctest.Wait()
		begun := time.Now()
		if err := h.svc.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took != 0 {
			t.Errorf("closing takes %s", took)
		}
		if n, failed := len(log.lines(t, "verification message sent")), log.lines(t, "verification message not sent;"); n != 1 || len(failed) != 1 || failed[0]["attempts"] != 2.0 {
			t.Errorf("log:\n%s", log)
		}
	})
}

// Close does not wait for ever, whether or not a courier minds its context.
func TestCloseIsBounded(t *testing.T) {
	for name, tt := range map[string]struct {
		minds bool
		took  time.Duration
	}{"minds its context": {true, 10 * time.Second}, "does not": {false, 11 * time.Second}} {
		t.Run(name, func(t *testing.T) {
			c := &courier{send: func(ctx context.Context, _ apiserver.Message, _ int) error {
				if tt.minds {
					<-ctx.Done()
					return ctx.Err()
				}
				time.Sleep(time.Hour)
				return errors.New("451 later")
			}}
			mailed(t, c, func(t *testing.T, h *harness, log *logged) {
				for i := range 10 {
					h.forwarding(fmt.Sprintf("x%d@example.net", i), nil)
				}
				time.Sleep(5 * time.Second)
				begun := time.Now()
				if err := h.svc.Close(); err != nil {
					t.Error(err)
				}
				if took := time.Since(begun); took != tt.took {
					t.Errorf("closing takes %s; want %s", took, tt.took)
				}
				if failed := log.lines(t, "verification message not sent;"); len(failed) != 10 {
					t.Errorf("%d of 10 are logged", len(failed))
				}
				time.Sleep(2 * time.Hour)
				if failed := log.lines(t, "verification message not sent;"); len(failed) != 10 || c.count() != 4 {
					t.Errorf("in the end %d are logged, %d were sent", len(failed), c.count())
				}
			})
		})
	}
}
