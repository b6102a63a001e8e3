package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/transport"
)

// uncachedKey marks a context whose reads must not come from a cached list.
type uncachedKey struct{}

// read returns one object, by id or natural key: from the operation that reads
// one or, if this API lacks that, from the list.
func read[Req, T any](ctx context.Context, c *core, op api.Operation[Req, T], req *Req, in collection[T], key string) (*T, error) {
	if key == "" {
		return nil, fmt.Errorf("%s: the %s has no id", op.ID, in.noun)
	}
	var after uint64
	if ctx.Value(uncachedKey{}) != nil {
		after = in.Version()
	}
	if !c.operations.isAbsent(op.Spec) {
		before := in.Version()
		v, err := transport.Do(ctx, c.transport, op, req)
		if err == nil {
			c.operations.setPresent(op.Spec)
			if err := requireID(op.Spec, key, in.ID(v)); err != nil {
				return nil, err
			}
			return v, nil
		}
		listed, err := diagnose(ctx, c, op.Spec, err, in, key, before)
		if listed != nil || err != nil {
			return listed, err
		}
	}
	v, err := in.Get(ctx, key, after)
	switch {
	case errors.Is(err, ErrReadUnsupported):
		return nil, unsupported(ErrReadUnsupported, op.Spec, key)
	case err == nil && v == nil:
		return nil, notFound(in.noun + " " + key)
	}
	return v, err
}

// requireID refuses a response without an object, for instance an empty one.
func requireID(s api.Spec, key, id string) error {
	if id == "" || id == "0" {
		return fmt.Errorf("the response to %s holds no object", transport.Subject(s.ID, key))
	}
	return nil
}

// diagnose decides what the failure of a lifecycle operation on an object means.
// It returns nil, nil if this API lacks the operation; the object, if the list
// that proved this has it; or an error, which is failure if the API has the
// operation.
//
// A 404 is ambiguous until the operation has responded for some object: only the
// list proves whether the object or the operation is missing. An object that is not
// in the cached list is gone. One that is there is looked up again in a list that
// was read after version before.
func diagnose[T any](ctx context.Context, c *core, s api.Spec, failure error, in collection[T], key string, before uint64) (*T, error) {
	e, ok := errors.AsType[*Error](failure)
	switch {
	case !ok:
		return nil, failure
	case e.Unsupported():
		return nil, c.confirmAbsent(ctx, s, failure)
	case !IsNotFound(failure), c.operations.isPresent(s) && len(e.Problems) > 0:
		// A 404 without a problem may come from a proxy.
		return nil, failure
	}
	unlock, err := c.operations.lock(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", undecided{failure}, err)
	}
	defer unlock()
	if c.operations.isAbsent(s) {
		return nil, nil
	}
	listed, err := in.Get(ctx, key, 0)
	if err == nil && listed != nil {
		listed, err = in.Get(ctx, key, before)
	}
	switch {
	case errors.Is(err, ErrReadUnsupported): // an API without that list has no lifecycle operations
		return nil, c.confirmAbsent(ctx, s, failure)
	case err != nil:
		return nil, fmt.Errorf("%w; the list that tells whether it is gone failed too: %w", undecided{failure}, err)
	case listed == nil:
		return nil, failure
	}
	c.operations.setAbsent(s)
	return listed, nil
}

// update changes one object and returns it. get reads it if the API responds
// without content.
func update[Req, T any](ctx context.Context, c *core, op api.Operation[Req, T], req *Req, in collection[T], key string, get func(context.Context, string) (*T, error)) (*T, error) {
	v, err := change(ctx, c, op, req, in, key)
	if err != nil {
		return nil, err
	}
	if requireID(op.Spec, key, in.ID(v)) != nil {
		in.Invalidate(key)
		return get(ctx, key)
	}
	in.Put(*v)
	return v, nil
}

// change sends a change of one object.
func change[Req, T, Resp any](ctx context.Context, c *core, op api.Operation[Req, Resp], req *Req, in collection[T], key string) (*Resp, error) {
	if c.operations.isAbsent(op.Spec) {
		return nil, unsupported(ErrUpdateUnsupported, op.Spec, key)
	}
	before := in.Version()
	call, err := c.transport.NewCall(op.Spec, req)
	if err != nil {
		return nil, err
	}
	v, err := transport.Send[Resp](ctx, call)
	if err == nil {
		c.operations.setPresent(op.Spec)
		return v, nil
	}
	if call.MayBeProcessed() {
		in.Invalidate(key)
	}
	if !op.Lifecycle() {
		return nil, err
	}
	if _, diagnosis := diagnose(ctx, c, op.Spec, err, in, key, before); diagnosis != nil {
		return nil, diagnosis
	}
	return nil, c.absentError(ErrUpdateUnsupported, op.Spec, key, err)
}

// remove deletes one object. If the outcome of an attempt is unknown, it is a
// success that the next one finds no object.
func remove[Req, T any](ctx context.Context, c *core, op api.Operation[Req, api.NoContent], req *Req, in collection[T], key string) error {
	if c.operations.isAbsent(op.Spec) {
		return unsupported(ErrDeleteUnsupported, op.Spec, key)
	}
	before := in.Version()
	call, err := c.transport.NewCall(op.Spec, req)
	if err != nil {
		return err
	}
	if _, err = transport.Send[api.NoContent](ctx, call); err == nil {
		c.operations.setPresent(op.Spec)
		in.Delete(key)
		return nil
	}
	if call.MayBeProcessed() {
		in.Invalidate(key)
	}
	_, diagnosis := diagnose(ctx, c, op.Spec, err, in, key, before)
	switch {
	case diagnosis == nil:
		return c.absentError(ErrDeleteUnsupported, op.Spec, key, err)
	case IsNotFound(diagnosis) && call.MayBeProcessed():
		in.Delete(key)
		return nil
	}
	return diagnosis
}

// absentError is the error of an operation that diagnose has found absent. If the
// operation has responded before, somebody else has sent this response.
func (c *core) absentError(kind error, s api.Spec, key string, failure error) error {
	if c.operations.isPresent(s) {
		return fmt.Errorf("%w; but the object is still there", undecided{failure})
	}
	return unsupported(kind, s, key)
}
