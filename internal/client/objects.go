package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/listcache"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/transport"
)

// Objects reads and deletes the objects of one kind by id or natural key, and caches their list.
type Objects[T any] struct {
	// Get reads an object. If the API can neither read nor list objects of the kind, the error is
	// ErrReadUnsupported.
	Get func(ctx context.Context, key string) (*T, error)
	// Delete deletes, revokes or releases an object.
	Delete func(ctx context.Context, key string) error

	client *Client
	getOp  api.Spec
	noun   string // names an object in messages
	cache  *listcache.Cache[T]
	// count returns a page that contains the length of the list.
	count func(context.Context) (*api.Page[T], error)

	reads atomic.Int64 // the number of Shared reads
	// total is the length of the list, or 0 if it is unknown or the list can't be read.
	total atomic.Int64
}

// newKind returns a kind of object. request returns the request for an object.
func newKind[T, List any, P pagedRequest[List], Req any](
	c *Client, keys listcache.Keys[T], listOp api.Operation[List, api.Page[T]],
	getOp api.Operation[Req, T], deleteOp api.Operation[Req, api.NoContent], request func(key string) *Req,
) *Objects[T] {
	k := &Objects[T]{client: c, getOp: getOp.Spec, noun: getOp.Kind.Noun}
	k.cache = listcache.New(keys, func(ctx context.Context) iter.Seq2[T, error] {
		var all List
		return list[List, T, P](ctx, c, listOp, all, keys.ID)
	})
	k.count = func(ctx context.Context) (*api.Page[T], error) {
		var all List
		return count[List, T, P](ctx, c, listOp, all)
	}
	k.Get = func(ctx context.Context, key string) (*T, error) {
		return k.share(ctx, key, func(ctx context.Context) (*T, error) { return read(ctx, k, getOp, request(key), key) })
	}
	c.supports[getOp.Kind.Tag] = k.supports
	k.Delete = func(ctx context.Context, key string) error { return remove(ctx, k, deleteOp, request(key), key) }
	return k
}

// one returns the only found object, or an error that contains the description.
func (k *Objects[T]) one(description string, found []T, err error) (*T, error) {
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, notFound(k.noun + " " + description)
	case len(found) == 1:
		return &found[0], nil
	}
	return nil, &AmbiguousError{Object: k.noun + " " + description, IDs: idsOf(found, k.cache.ID)}
}

// cached calls [listcache.Cache.Get]. If ctx ends, it returns the error of an interrupted call.
func (k *Objects[T]) cached(ctx context.Context, key string) (*T, error) {
	v, err := k.cache.Get(ctx, key)
	if err != nil && errors.Is(err, ctx.Err()) {
		err = transport.Interrupted(err)
	}
	return v, err
}

// After enoughReads reads of a kind, a plan continues with the list if the list contains at
// most objectsPerRead objects for each read so far: a page of 1,000 costs an API about as
// much as 10 reads.
const (
	enoughReads    = 50
	objectsPerRead = 100
)

// Reads selects when a read of an object comes from a cached list. By default, it does only if the
// API can't read a single object.
type Reads int

const (
	// Shared is for a plan, where many reads share one list of the account, see [Objects.share].
	Shared Reads = iota + 1
	// Uncached is for reads that must not come from an earlier list.
	Uncached
)

type readsKey struct{}

// WithReads returns a context for reads that are Shared or Uncached.
func WithReads(ctx context.Context, r Reads) context.Context {
	return context.WithValue(ctx, readsKey{}, r)
}

// share reads an object with get or, if the context allows it and it is cheaper, from a list
// shared with other reads. If the list lacks the object, share calls get, so that an incomplete
// list makes no object look deleted. Sharing ends with the first change by this client.
func (k *Objects[T]) share(ctx context.Context, key string, get func(context.Context) (*T, error)) (*T, error) {
	if ctx.Value(readsKey{}) != Shared || key == "" || !k.isListCheaper(ctx) {
		return get(ctx)
	}
	v, err := k.cached(ctx, key)
	if err != nil {
		k.total.Store(0)
	}
	if v == nil {
		return get(ctx)
	}
	return v, nil
}

func (k *Objects[T]) isListCheaper(ctx context.Context) bool {
	reads := k.reads.Add(1)
	if k.client.transport.Changed.Load() {
		return false
	}
	if reads == enoughReads {
		if page, err := k.count(ctx); err == nil {
			k.total.Store(int64(page.Total))
		}
	}
	total := k.total.Load()
	return total > 0 && total <= objectsPerRead*reads
}

// read returns one object, from the list if this API lacks the operation.
func read[Req, T any](ctx context.Context, k *Objects[T], op api.Operation[Req, T], req *Req, key string) (*T, error) {
	if key == "" {
		return nil, fmt.Errorf("%s: the %s has no id", op.ID, k.noun)
	}
	if ctx.Value(readsKey{}) == Uncached {
		k.cache.Invalidate()
	}
	if !k.client.operation(op.Spec).isAbsent() {
		v, _, err := send(ctx, k.client, op, req, key)
		if err == nil {
			if err := k.client.requireID(op.Spec, key, k.cache.ID(v)); err != nil {
				return nil, err
			}
			if !k.isNamed(v, key) {
				return nil, fmt.Errorf("the response to %s holds another object, with the id %s; look for a cache between here and the API, and run Terraform again", transport.Subject(op.ID, key), k.cache.ID(v))
			}
			if name := lacks(v); name != "" {
				return nil, k.client.differs(op.Spec, "the response to %s lacks the member %s", transport.Subject(op.ID, key), name)
			}
			return v, nil
		}
		if err := k.diagnose(ctx, op.Spec, err, key); err != nil {
			return nil, err
		}
	}
	v, err := k.cached(ctx, key)
	switch {
	case errors.Is(err, ErrReadUnsupported):
		return nil, unsupported(ErrReadUnsupported, op.Spec, key)
	case err == nil && v == nil:
		return nil, notFound(k.noun + " " + key)
	}
	return v, err
}

// isNamed reports whether key may name an object: its id, or any natural key, because an
// address may be an alias.
func (k *Objects[T]) isNamed(v *T, key string) bool {
	if k.cache.Name != nil && uuid.Validate(key) != nil {
		return true
	}
	return k.cache.Normalize(k.cache.ID(v)) == k.cache.Normalize(key)
}

// requireID refuses a response without an object, for example an empty response.
func (c *Client) requireID(s api.Spec, key, id string) error {
	if id == "" || id == "0" {
		return c.differs(s, "the response to %s holds no object", transport.Subject(s.ID, key))
	}
	return nil
}

// lacks returns a member without which a response is of no use: by it the provider finds the object, or compares
// it with the configuration. An object without it would look absent, and be bought or created again, or would be
// changed or replaced by each plan.
func lacks(object any) string {
	type member struct {
		name      string
		isMissing bool
	}
	var members []member
	switch v := object.(type) {
	case *api.Domain:
		members = []member{{"name", v.Name == ""}}
	case *api.DNSRecord:
		members = []member{{"name", v.Name == ""}, {"type", v.Type == ""}, {"value", v.Value == ""}, {"ttl", v.TTL == 0}}
	case *api.Forwarding:
		members = []member{{"target_email", v.TargetEmail == ""}}
	case *api.Mailbox:
		members = []member{{"local_part", v.LocalPart == ""}, {"domain_name", v.DomainName == ""}, {"primary_email", v.PrimaryEmail == ""}}
	case *api.MasterPassword:
		members = []member{{"name", v.Name == ""}}
	case *api.ServiceAccount:
		members = []member{{"name", v.Name == ""}}
	}
	for _, m := range members {
		if m.isMissing {
			return m.name
		}
	}
	return ""
}

// diagnose interprets the failure of a lifecycle operation on an object. It returns nil if this
// API lacks the operation, and otherwise an error, usually the failure.
//
// A 404 is ambiguous until the operation has succeeded for some object: only the
// list proves whether the object or the operation is missing. An object missing from
// the cached list is gone. Otherwise, a new list decides.
func (k *Objects[T]) diagnose(ctx context.Context, s api.Spec, failure error, key string) error {
	o := k.client.operation(s)
	e, ok := errors.AsType[*Error](failure)
	switch {
	case !ok:
		return failure
	case e.Unsupported():
		return k.client.confirmAbsent(ctx, s, failure)
	case !e.IsMissing(), o.present.Load() && len(e.Problems) > 0:
		// A 404 without a problem may come from a proxy.
		return failure
	}
	if err := o.finding.Acquire(ctx, 1); err != nil {
		return fmt.Errorf("%w: %w", undecided{failure}, err)
	}
	defer o.finding.Release(1)
	if o.isAbsent() {
		return nil
	}
	listed, err := k.cached(ctx, key)
	if listed != nil {
		k.cache.Invalidate()
		listed, err = k.cached(ctx, key)
	}
	switch {
	case errors.Is(err, ErrReadUnsupported): // an API without that list has no lifecycle operations
		return k.client.confirmAbsent(ctx, s, failure)
	case err != nil:
		return fmt.Errorf("%w; the list that tells whether it is gone failed too: %w", undecided{failure}, err)
	case listed == nil && !IsNotFound(failure):
		return fmt.Errorf("%w: %w", failure, ErrNotFound)
	case listed == nil:
		return failure
	}
	o.missing.Store(true)
	return nil
}

// update changes one object and returns it.
func update[Req, T any](ctx context.Context, k *Objects[T], op api.Operation[Req, T], req *Req, key string) (*T, error) {
	v, _, err := write(ctx, k, op, req, key, ErrUpdateUnsupported)
	if err != nil {
		return nil, err
	}
	if k.client.requireID(op.Spec, key, k.cache.ID(v)) != nil || lacks(v) != "" || !k.isNamed(v, key) { // the response contains no whole object, or another one
		return k.Get(ctx, key)
	}
	return v, nil
}

// remove deletes one object. After an attempt with unknown outcome, a 404 counts as success.
func remove[Req, T any](ctx context.Context, k *Objects[T], op api.Operation[Req, api.NoContent], req *Req, key string) error {
	_, maybe, err := write(ctx, k, op, req, key, ErrDeleteUnsupported)
	if maybe && IsNotFound(err) {
		return nil
	}
	return err
}

// write sends a change of one object. If the API lacks the operation, the error wraps
// missing. maybe reports that the API may have processed the failed request.
func write[Req, T, Resp any](ctx context.Context, k *Objects[T], op api.Operation[Req, Resp], req *Req, key string, missing error) (resp *Resp, maybe bool, err error) {
	o := k.client.operation(op.Spec)
	if o.isAbsent() {
		return nil, false, unsupported(missing, op.Spec, key)
	}
	resp, call, err := send(ctx, k.client, op, req, key)
	if call != nil && (err == nil || call.MayBeProcessed()) {
		k.cache.Invalidate()
	}
	if err == nil || call == nil {
		return resp, false, err
	}
	maybe = call.MayBeProcessed()
	if !op.Lifecycle() {
		return nil, maybe, err
	}
	if err := k.diagnose(ctx, op.Spec, err, key); err != nil {
		return nil, maybe, err
	}
	if o.present.Load() { // a proxy may have sent this response
		return nil, maybe, fmt.Errorf("%w; but the object is still there", undecided{err})
	}
	return nil, maybe, unsupported(missing, op.Spec, key)
}
