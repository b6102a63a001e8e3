package transport

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// Origin identifies the configuration that the requests belong to, and its run. The zero
// value is none.
type Origin struct {
	// ID stands for the configuration with its state, Run for this process.
	ID, Run string
}

// unconfirmed is what is known of the unconfirmed creates of the origin, see
// [api.ReviewCreates].
type unconfirmed struct {
	exist   atomic.Int32
	created atomic.Bool // a create of this run other than a bulk request was sent
}

// The values of unconfirmed.exist.
const (
	notKnown int32 = iota
	some
	none
)

type fromRunKey struct{}

// FromRun returns a context for the creates of objects that go into the state. They carry
// the origin, so that a later run can continue with them.
func FromRun(ctx context.Context) context.Context { return context.WithValue(ctx, fromRunKey{}, true) }

// setOrigin sets the Idempotency-Origin of a request: of a create, and of GET requests until
// a response has said whether the origin has unconfirmed creates.
func (c *Call) setOrigin(req *http.Request) {
	t := c.t
	isFromRun, _ := req.Context().Value(fromRunKey{}).(bool)
	switch {
	case t.Origin.ID == "":
	case c.spec.Keyed() && isFromRun:
		req.Header.Set(api.IdempotencyOriginHeader, t.Origin.ID+" "+t.Origin.Run)
		if c.spec.ID != api.CreateMailboxes.ID {
			t.unconfirmed.created.Store(true)
		}
	case req.Method == http.MethodGet && t.unconfirmed.exist.Load() == notKnown:
		req.Header.Set(api.IdempotencyOriginHeader, t.Origin.ID)
	}
}

// noteOrigin reads what the response to a request of setOrigin says.
func (c *Call) noteOrigin(req *http.Request, resp *http.Response) {
	if c.spec.Method != http.MethodGet || !isSuccess(resp) || req.Header.Get(api.IdempotencyOriginHeader) == "" {
		return
	}
	found := none // also for an API that does not know the header
	if resp.Header.Get(api.IdempotencyUnconfirmedHeader) == "true" {
		found = some
	}
	c.t.unconfirmed.exist.CompareAndSwap(notKnown, found)
}

// HasUnconfirmed reports whether the origin had unconfirmed creates at the first response,
// if one has said so.
func (t *Transport) HasUnconfirmed() (exist, known bool) {
	found := t.unconfirmed.exist.Load()
	return found == some, found != notKnown || t.Origin.ID == ""
}

// HasCreated reports whether this run has sent creates other than bulk requests.
func (t *Transport) HasCreated() bool { return t.unconfirmed.created.Load() }
