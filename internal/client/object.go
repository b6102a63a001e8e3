package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// freshKey marks a context whose reads must not come from what is stored.
type freshKey struct{}

// read returns one object, by id or natural key. It asks the operation that
// reads one, unless this API is known not to have it, and then the list.
func read[Req, T any](ctx context.Context, c *Client, op api.Operation[Req, T], req *Req, ix *index[T], key string) (*T, error) {
	if key == "" {
		return nil, fmt.Errorf("%s: the %s has no id", op.ID, ix.noun)
	}
	var after uint64
	if ctx.Value(freshKey{}) != nil {
		after = ix.now()
	}
	if !c.caps.absent(op.Spec) {
		began := ix.now()
		v, err := call(ctx, c, op, req)
		if err == nil {
			c.caps.found(op.Spec)
			if err := named(op.Spec, key, ix.id(v)); err != nil {
				return nil, err
			}
			return v, nil
		}
		shown, err := absence(ctx, c, op.Spec, err, ix, key, began)
		if shown != nil || err != nil {
			return shown, err
		}
	}
	v, err := ix.get(ctx, key, after)
	switch {
	case errors.Is(err, ErrReadUnsupported):
		return nil, unsupported(ErrReadUnsupported, op.Spec, key)
	case err == nil && v == nil:
		return nil, notFound(ix.noun + " " + key)
	}
	return v, err
}

// named refuses an answer that names no object, for instance an empty one.
func named(s api.Spec, key, id string) error {
	if id == "" || id == "0" {
		return fmt.Errorf("the response to %s holds no object", subject(s.ID, key))
	}
	return nil
}

// absence decides what the failure of a lifecycle operation on an object means.
// It returns nil, nil when this API has no such operation; the object as a list
// shows it, when that is how it was found out; or an error, which is failure
// itself when the operation exists.
//
// A 404 is ambiguous until the operation has answered for some object: only a
// list tells whether the object or the operation is missing. An object that an
// older sweep does not show is gone; one that it shows is looked up again in a
// sweep that began after the call.
func absence[T any](ctx context.Context, c *Client, s api.Spec, failure error, ix *index[T], key string, began uint64) (*T, error) {
	e, ok := errors.AsType[*Error](failure)
	switch {
	case !ok:
		return nil, failure
	case e.unsupported():
		return nil, c.conclude(ctx, s, failure)
	case !IsNotFound(failure), c.caps.present(s) && len(e.Problems) > 0:
		// A 404 without the API's own words may come from a proxy.
		return nil, failure
	}
	release, err := c.caps.decide(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", hideNotFound{failure}, err)
	}
	defer release()
	if c.caps.absent(s) {
		return nil, nil
	}
	shown, err := ix.get(ctx, key, 0)
	if err == nil && shown != nil {
		shown, err = ix.get(ctx, key, began)
	}
	switch {
	case errors.Is(err, ErrReadUnsupported): // no lifecycle list: no lifecycle operation
		return nil, c.conclude(ctx, s, failure)
	case err != nil:
		return nil, fmt.Errorf("%w; the list that tells whether it is gone failed too: %w", hideNotFound{failure}, err)
	case shown == nil:
		return nil, failure
	}
	c.caps.missing(s)
	return shown, nil
}

// hideNotFound is a failure that must not pass for an object's absence.
type hideNotFound struct{ error }

// update sends a change of one object. reread reads it back from an API that
// answers without content.
func update[Req, T any](ctx context.Context, c *Client, op api.Operation[Req, T], req *Req, ix *index[T], key string, reread func(context.Context, string) (*T, error)) (*T, error) {
	v, err := change(ctx, c, op, req, ix, key)
	if err != nil {
		return nil, err
	}
	if named(op.Spec, key, ix.id(v)) != nil {
		ix.touch(key)
		return reread(ctx, key)
	}
	ix.upsert(*v)
	return v, nil
}

// change sends a change of one object, and learns from its failure whether this
// API has the operation.
func change[Req, T, Resp any](ctx context.Context, c *Client, op api.Operation[Req, Resp], req *Req, ix *index[T], key string) (*Resp, error) {
	if c.caps.absent(op.Spec) {
		return nil, unsupported(ErrUpdateUnsupported, op.Spec, key)
	}
	began := ix.now()
	x, err := c.begin(op.Spec, req)
	if err != nil {
		return nil, err
	}
	v, err := send[Resp](ctx, x)
	if err == nil {
		c.caps.found(op.Spec)
		return v, nil
	}
	if x.lost || x.accepted {
		ix.touch(key) // it may have been done all the same
	}
	if !op.Lifecycle() {
		return nil, err
	}
	if _, missing := absence(ctx, c, op.Spec, err, ix, key, began); missing != nil {
		return nil, missing
	}
	return nil, c.lacks(ErrUpdateUnsupported, op.Spec, key, err)
}

// remove deletes one object. That it is gone already when a lost attempt is
// repeated is a success.
func remove[Req, T any](ctx context.Context, c *Client, op api.Operation[Req, api.NoContent], req *Req, ix *index[T], key string) error {
	if c.caps.absent(op.Spec) {
		return unsupported(ErrDeleteUnsupported, op.Spec, key)
	}
	began := ix.now()
	x, err := c.begin(op.Spec, req)
	if err != nil {
		return err
	}
	_, err = send[api.NoContent](ctx, x)
	if err == nil {
		c.caps.found(op.Spec)
		ix.remove(key)
		return nil
	}
	if x.lost {
		ix.touch(key)
	}
	_, missing := absence(ctx, c, op.Spec, err, ix, key, began)
	switch {
	case missing == nil:
		return c.lacks(ErrDeleteUnsupported, op.Spec, key, err)
	case IsNotFound(missing) && x.lost:
		ix.remove(key)
		return nil
	}
	return missing
}

// lacks is the error of an operation that absence has found missing. One that
// has answered before is not: somebody else answered this time.
func (c *Client) lacks(kind error, s api.Spec, key string, failure error) error {
	if c.caps.present(s) {
		return fmt.Errorf("%w; but the object is still there", hideNotFound{failure})
	}
	return unsupported(kind, s, key)
}

// whole turns a list that takes a request into one of all objects.
func whole[Req, T any](list func(context.Context, Req) iter.Seq2[T, error]) func(context.Context) iter.Seq2[T, error] {
	return func(ctx context.Context) iter.Seq2[T, error] {
		var all Req
		return list(ctx, all)
	}
}

// matching returns the objects of a list that match.
func matching[T any](list iter.Seq2[T, error], match func(*T) bool) ([]T, error) {
	var found []T
	for v, err := range list {
		if err != nil {
			return nil, err
		}
		if match(&v) {
			found = append(found, v)
		}
	}
	return found, nil
}

// only returns the one object that was found.
func only[T any](k kind[T], object string, found []T, err error) (*T, error) {
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, notFound(k.noun + " " + object)
	case len(found) == 1:
		return &found[0], nil
	}
	ids := make([]string, len(found))
	for i := range found {
		ids[i] = k.id(&found[i])
	}
	return nil, &AmbiguousError{Object: k.noun + " " + object, IDs: ids}
}

// foldID is the fold of a kind that is named by its id alone.
func foldID(id string) string { return strings.ToLower(id) }
