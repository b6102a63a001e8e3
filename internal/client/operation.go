package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/transport"
)

// operation stores whether this API supports an operation.
type operation struct {
	// finding is held while a call finds out whether the API supports the operation. It is a
	// semaphore because a wait for it must end with the context.
	finding  *semaphore.Weighted
	failed   bool         // a read by Supports failed; guarded by finding
	present  atomic.Bool  // the operation succeeded once
	missing  atomic.Bool  // a response showed that the API lacks the operation
	pageSize atomic.Int64 // the largest page of a list that the API accepts; 0: unknown
}

func (c *Client) operation(s api.Spec) *operation {
	o, _ := c.operations.LoadOrStore(s.ID, &operation{finding: semaphore.NewWeighted(1)})
	return o.(*operation)
}

func (o *operation) isKnown() bool  { return o.present.Load() || o.missing.Load() }
func (o *operation) isAbsent() bool { return o.missing.Load() && !o.present.Load() }

// call sends a request to a path that names no object but the account, so that a 404 means
// that this API lacks the operation. about names the subject in messages.
func call[Req, Resp any](ctx context.Context, c *Client, op api.Operation[Req, Resp], req *Req, about string) (*Resp, error) {
	o := c.operation(op.Spec)
	if o.isAbsent() {
		return nil, unsupported(ErrReadUnsupported, op.Spec, about)
	}
	v, _, err := send(ctx, c, op, req, about)
	return v, c.orAbsent(ctx, op.Spec, err, ErrReadUnsupported, about)
}

// orAbsent returns missing, one of the Err…Unsupported, if a failure shows that this API lacks an operation,
// and otherwise the failure. The path of the operation must name no object but the account.
func (c *Client) orAbsent(ctx context.Context, s api.Spec, failure, missing error, about string) error {
	if !s.Lifecycle() || c.operation(s).present.Load() || !IsUnsupported(failure) && !isMissing(failure) {
		return failure
	}
	if err := c.confirmAbsent(ctx, s, failure); err != nil {
		return err
	}
	return unsupported(missing, s, about)
}

// send sends a request. A success shows that this API supports the operation.
func send[Req, Resp any](ctx context.Context, c *Client, op api.Operation[Req, Resp], req *Req, about string) (*Resp, *transport.Call, error) {
	call, err := c.transport.NewCall(op.Spec, req)
	if err != nil {
		return nil, nil, err
	}
	call.Object = about
	v, err := transport.Send[Resp](ctx, call)
	if err == nil {
		c.operation(op.Spec).present.Store(true)
	}
	return v, call, err
}

// confirmAbsent records that this API lacks an operation, as the failure shows. At a wrong
// base URL every operation is missing, and a destroy would drop every object from the
// state. Therefore it requires an earlier response of the contract, or a list of domains.
func (c *Client) confirmAbsent(ctx context.Context, s api.Spec, failure error) error {
	if !c.transport.Confirmed.Load() {
		err := c.ping(ctx)
		if e, ok := errors.AsType[*Error](err); ok && (e.Unsupported() || e.IsMissing()) {
			return fmt.Errorf("%w, not even the list of domains, which every API has: %w", ErrNoAPI, undecided{err})
		}
		if err != nil && !isAPIRefusal(err) {
			return fmt.Errorf("%w; nor could the list of domains be had, which every API has: %w", undecided{failure}, undecided{err})
		}
	}
	c.operation(s).missing.Store(true)
	return nil
}

// ping requests the list of domains, which every API supports.
func (c *Client) ping(ctx context.Context) error {
	_, err := transport.Do(ctx, c.transport, api.ListDomains, &api.ListDomainsRequest{Paged: api.Paged{Page: 1, PageSize: 1}})
	return err
}

// isAPIRefusal reports whether the API itself, not a proxy, refuses the credential.
func isAPIRefusal(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && len(e.Problems) > 0 && (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden)
}

// Supports reports whether this API supports a lifecycle operation: true unless the API turned
// out to lack it, or the operation that reads the same kind of object. If neither is known yet,
// Supports reads the object with the id.
func (c *Client) Supports(ctx context.Context, op api.Spec, id string) bool {
	return c.supports[op.Kind.Tag](ctx, op, id)
}

func (k *Objects[T]) supports(ctx context.Context, op api.Spec, id string) bool {
	o, get := k.client.operation(op), k.client.operation(k.getOp)
	if o.finding.Acquire(ctx, 1) == nil {
		defer o.finding.Release(1)
		// After a failed read, a read of any other object would also fail, after all attempts.
		// A missing object is no failure, because the next object may exist.
		if !o.failed && !o.isKnown() && !get.isKnown() {
			_, err := k.Get(ctx, id)
			o.failed = !IsNotFound(err) && ctx.Err() == nil // after a success, the operation of the read is known
		}
	}
	return !o.isAbsent() && !get.isAbsent()
}
