package client

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// capabilities is what has been learnt of the API's lifecycle operations, by
// operation id: true, it has answered for some object; false, this API has no
// such operation. The zero value is ready.
type capabilities struct {
	learnt   sync.Map
	deciding sync.Map // by operation id: a channel of one place
	failed   sync.Map // by id of an operation that deletes: whether a look has failed
}

// decide waits until nobody else is finding out about an operation, so that
// what one caller has learnt is not looked up by all that ask meanwhile.
func (c *capabilities) decide(ctx context.Context, s api.Spec) (release func(), err error) {
	place, _ := c.deciding.LoadOrStore(s.ID, make(chan struct{}, 1))
	busy := place.(chan struct{})
	select {
	case busy <- struct{}{}:
		return func() { <-busy }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *capabilities) present(s api.Spec) bool {
	has, ok := c.learnt.Load(s.ID)
	return ok && has.(bool)
}

func (c *capabilities) absent(s api.Spec) bool {
	has, ok := c.learnt.Load(s.ID)
	return ok && !has.(bool)
}

func (c *capabilities) known(s api.Spec) bool {
	_, ok := c.learnt.Load(s.ID)
	return ok
}

func (c *capabilities) found(s api.Spec) { c.learnt.Store(s.ID, true) }

// missing records an operation as absent, unless it has answered before.
func (c *capabilities) missing(s api.Spec) { c.learnt.LoadOrStore(s.ID, false) }

// keySupport is whether the API has proved that it honours Idempotency-Keys.
type keySupport struct {
	seen atomic.Bool
}

func (k *keySupport) prove()       { k.seen.Store(true) }
func (k *keySupport) proven() bool { return k.seen.Load() }

// pageSizes is the size of page that each list has agreed to, by operation id.
type pageSizes struct {
	agreed sync.Map
}

func (p *pageSizes) of(s api.Spec) int {
	if size, ok := p.agreed.Load(s.ID); ok {
		return size.(int)
	}
	return pageSizeSteps[0]
}

func (p *pageSizes) agree(s api.Spec, size int) { p.agreed.Store(s.ID, size) }

// offers reports whether this API is taken to have a lifecycle operation on an
// object: it is, unless it has turned out to lack that operation or the one that
// reads the object, since an API has both or none. look reads the object; it is
// called where nothing is known yet.
func (c *Client) offers(ctx context.Context, op, reads api.Spec, look func() error) bool {
	if !c.caps.known(op) && !c.caps.known(reads) {
		c.lookOnce(ctx, op, reads, look)
	}
	return !c.caps.absent(op) && !c.caps.absent(reads)
}

// lookOnce looks, unless somebody else has learnt meanwhile what there is to learn,
// or a look has failed. That would be the same for every other object, after the
// same time of trying again; but one that is gone tells nothing of the next.
func (c *Client) lookOnce(ctx context.Context, op, reads api.Spec, look func() error) {
	release, err := c.caps.decide(ctx, op)
	if err != nil {
		return
	}
	defer release()
	if _, failed := c.caps.failed.Load(op.ID); failed || c.caps.known(op) || c.caps.known(reads) {
		return
	}
	if err := look(); err != nil && !IsNotFound(err) && ctx.Err() == nil {
		c.caps.failed.Store(op.ID, true)
	}
}
