package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/transport"
)

// core is what the calls of all kinds of objects share.
type core struct {
	transport  *transport.Transport
	operations operations
	pageSizes  sync.Map // int, by id of the operation that lists: the size that the API accepts
}

// operations records, by operation id, which lifecycle operations this API has.
type operations struct {
	present sync.Map // bool: it has responded for some object; or this API lacks it
	locks   sync.Map // chan struct{} of size 1
	failed  sync.Map // operations whose read in Supports has failed
}

// lock waits until no other call is finding out whether this API has an operation.
func (o *operations) lock(ctx context.Context, s api.Spec) (unlock func(), err error) {
	v, _ := o.locks.LoadOrStore(s.ID, make(chan struct{}, 1))
	lock := v.(chan struct{})
	select {
	case lock <- struct{}{}:
		return func() { <-lock }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (o *operations) isKnown(s api.Spec) bool {
	_, known := o.present.Load(s.ID)
	return known
}

func (o *operations) isPresent(s api.Spec) bool {
	present, known := o.present.Load(s.ID)
	return known && present.(bool)
}

func (o *operations) isAbsent(s api.Spec) bool {
	present, known := o.present.Load(s.ID)
	return known && !present.(bool)
}

func (o *operations) setPresent(s api.Spec) { o.present.Store(s.ID, true) }

// setAbsent records that this API lacks an operation, unless that has responded
// before.
func (o *operations) setAbsent(s api.Spec) { o.present.LoadOrStore(s.ID, false) }

// confirmAbsent records that this API lacks an operation, because a call failed
// with failure. At a wrong base URL every operation is missing, and a destroy
// would drop every object from the state: so the API must have sent some response
// of the contract, or it must have the list of domains.
func (c *core) confirmAbsent(ctx context.Context, s api.Spec, failure error) error {
	if !c.transport.Confirmed() {
		err := c.ping(ctx)
		if e, ok := errors.AsType[*Error](err); ok && (e.Unsupported() || e.Status == http.StatusNotFound) {
			return fmt.Errorf("%w, not even the list of domains, which every API has: %w", ErrNoAPI, undecided{err})
		}
		if err != nil && !isAPIRefusal(err) {
			return fmt.Errorf("%w; nor could the list of domains be had, which every API has: %w", undecided{failure}, undecided{err})
		}
	}
	c.operations.setAbsent(s)
	return nil
}

// ping requests a list that every API has.
func (c *core) ping(ctx context.Context) error {
	_, err := transport.Do(ctx, c.transport, api.ListDomains, &api.ListDomainsRequest{Paged: api.Paged{Page: 1, PageSize: 1}})
	return err
}

// isAPIRefusal reports whether the API itself, and no proxy, refuses the
// credential.
func isAPIRefusal(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && len(e.Problems) > 0 && (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden)
}
