package apiserver

import (
	"errors"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/idempotency"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// keyed runs an operation, unless the response to an earlier request under the same
// Idempotency-Key is replayed.
func keyed[Req, Resp any](c *call, in *Req, fn func(*call, *Req) (*Resp, error)) (*Resp, error) {
	p := progressOf(c.ctx)
	p.input = in
	key := ""
	if keyed, ok := any(in).(interface{ Key() string }); ok {
		key = keyed.Key()
	}
	var err error
	if c.idempotency, err = c.Service.idempotency.Begin(c.caller, c.spec.ID, key, p.lookup, in); err != nil {
		return nil, err
	}
	p.idempotency = c.idempotency
	if key == "" {
		return fn(c, in)
	}
	defer c.idempotency.Ran()
	out, err := view(c, func(r store.Reader) (*Resp, error) { return idempotency.Replay[Resp](c.idempotency, r, c.at) })
	if err != nil || out != nil {
		return out, err
	}
	if err := c.caller.MayChange(c.spec); err != nil {
		return nil, err
	}
	return fn(c, in)
}

// transact makes the changes of a request and stores its idempotency record, in
// one transaction: either both are durable or none. An error, and a response that
// changed nothing, leave no record: the same request is evaluated again. Package
// audit has logged the changes by then.
//
// The caller is authorized in the transaction, so that nothing changes after a
// revocation that was committed before. fn may run more than once, and finds in
// c.caller the grants that hold in its transaction.
func transact[Resp any](c *call, fn func(store.Tx) (*Resp, error)) (*Resp, error) {
	var out *Resp
	uses := c.lastUses.Pending()
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
	c.outage.over(c.log)
	c.idempotency.Committed()
	if !c.idempotency.Replayed {
		c.lastUses.Written(uses)
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
