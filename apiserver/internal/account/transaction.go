package account

import (
	"errors"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/idempotency"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// Run runs an operation, unless the response to an earlier request under the same
// Idempotency-Key is replayed.
func Run[Req, Resp any](c *Call, in *Req, operation func(*Call, *Req) (*Resp, error)) (*Resp, error) {
	if !c.idempotency.HasKey() {
		return operation(c, in)
	}
	out, err := view(c, func(r store.Reader) (*Resp, error) { return idempotency.Replay[Resp](c.idempotency, r, c.at) })
	if err != nil || out != nil {
		return out, err
	}
	if err := c.caller.MayChange(c.spec); err != nil {
		return nil, err
	}
	return operation(c, in)
}

// view reads one snapshot, in which the caller is authorized.
func view[T any](c *Call, fn func(store.Reader) (T, error)) (T, error) {
	var out T
	err := c.rules.store.View(c.ctx, func(r store.Reader) (err error) {
		if err := c.authorize(r); err != nil {
			return err
		}
		r.HideUnpaid(LastUnpaid(c.at))
		out, err = fn(r)
		return err
	})
	return out, err
}

// transact makes the changes of a request and stores its idempotency record, in
// one transaction: either both are durable or none. An error, and a response that
// changed nothing, leave no record: the same request is evaluated again. Package
// audit has logged the changes by then.
//
// The caller is authorized in the transaction, so that nothing changes after a
// revocation that was committed before. fn may run more than once, and finds in
// c.caller the grants that hold in its transaction.
func transact[Resp any](c *Call, fn func(store.Tx) (*Resp, error)) (*Resp, error) {
	var out *Resp
	uses := c.rules.lastUses.Pending()
	err := c.updatePaid(func(tx store.Tx) (err error) {
		out, c.unchanged = nil, false
		c.idempotency.Restart()
		if err := c.authorize(tx); err != nil {
			return err
		}
		// Another process may have stored the key's record since it was looked up.
		if out, err = idempotency.Replay[Resp](c.idempotency, tx, c.at); err != nil || out != nil {
			return err
		}
		if err := c.caller.MayChange(c.spec); err != nil {
			return err
		}
		if err := c.checkOverdue(tx, c.caller.AccountID, ""); err != nil {
			return err
		}
		if out, err = fn(tx); err != nil {
			return err
		}
		// Last uses cost no transaction of their own.
		if err := uses.Write(tx); err != nil || c.unchanged {
			return err
		}
		return c.idempotency.Save(c.ctx, tx, c.at, out)
	})
	if err != nil {
		return nil, err
	}
	c.idempotency.Committed()
	if !c.idempotency.Replayed {
		c.rules.lastUses.Written(uses)
	}
	return out, nil
}

// statusOf returns a 404 for an object that the store does not have, and any other error
// unchanged.
func statusOf(err error, param, kind string) error {
	if errors.Is(err, store.ErrNotFound) {
		return api.NotFound(param, kind)
	}
	return err
}
