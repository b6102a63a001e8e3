package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/emailaddr"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/listcache"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/transport"
)

// collection is one kind of object of the account, with the cache of its list.
type collection[T any] struct {
	*listcache.Cache[T]
	noun string // names an object in messages
}

// pagedRequest is a pointer to a request for a page of a list.
type pagedRequest[Req any] interface {
	*Req
	SetPaging(page, pageSize int)
}

func newCollection[Req, T any, P pagedRequest[Req]](c *core, noun string, op api.Operation[Req, api.Page[T]], keys listcache.Keys[T]) collection[T] {
	return collection[T]{noun: noun, Cache: listcache.New(keys, func(ctx context.Context) iter.Seq2[T, error] {
		var all Req
		return list[Req, T, P](ctx, c, op, all, keys.ID)
	})}
}

// How the objects of each collection are identified.
var (
	dedicatedIPKeys    = byID(func(d *api.DedicatedIP) string { return d.ID })
	dnsRecordKeys      = byID(func(r *api.DNSRecord) string { return strconv.FormatInt(r.ID, 10) })
	forwardingKeys     = byID(func(f *api.Forwarding) string { return f.ID })
	masterPasswordKeys = byID(func(p *api.MasterPassword) string { return p.ID })
	serviceAccountKeys = byID(func(a *api.ServiceAccount) string { return a.ID })

	domainKeys = listcache.Keys[api.Domain]{
		ID:        func(d *api.Domain) string { return d.ID },
		Name:      func(d *api.Domain) string { return d.Name },
		Normalize: normalizeDomain,
	}
	mailboxKeys = listcache.Keys[api.Mailbox]{
		ID:        func(m *api.Mailbox) string { return m.ID },
		Name:      func(m *api.Mailbox) string { return m.PrimaryEmail },
		Normalize: normalizeAddress,
	}
)

func byID[T any](id func(*T) string) listcache.Keys[T] {
	return listcache.Keys[T]{ID: id, Normalize: normalizeID}
}

func normalizeID(id string) string { return strings.ToLower(id) }

// normalizeDomain returns the canonical form of a domain's name, or of its id.
func normalizeDomain(s string) string {
	if canonical, err := domainname.Normalize(s); err == nil {
		return canonical
	}
	return normalizeID(s)
}

// normalizeAddress returns the canonical form of an address, or of an id.
func normalizeAddress(s string) string {
	if canonical, err := emailaddr.Normalize(s); err == nil {
		return canonical
	}
	return normalizeID(s)
}

type pageSizeKey struct{}

// WithPageSize returns a context in which a list requests pages of at most n
// objects, for a caller that needs no more in all. If n is 0 or less, it changes
// nothing.
func WithPageSize(ctx context.Context, n int64) context.Context {
	if n <= 0 || n >= listcache.MaxPageSize {
		return ctx
	}
	return context.WithValue(ctx, pageSizeKey{}, int(n))
}

// pageSize returns the page size to begin with.
func (c *core) pageSize(ctx context.Context, s api.Spec) int {
	size := listcache.MaxPageSize
	if accepted, ok := c.pageSizes.Load(s.ID); ok {
		size = accepted.(int)
	}
	if n, ok := ctx.Value(pageSizeKey{}).(int); ok {
		size = min(n, size)
	}
	return size
}

// list returns every object of a list, page by page. After an error nothing
// follows.
func list[Req, T any, P pagedRequest[Req]](ctx context.Context, c *core, op api.Operation[Req, api.Page[T]], req Req, id func(*T) string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		if c.operations.isAbsent(op.Spec) {
			yield(none, unsupported(ErrReadUnsupported, op.Spec, ""))
			return
		}
		pages := listcache.Pages[T]{
			ID:            id,
			Size:          c.pageSize(ctx, op.Spec),
			IsSizeRefused: isPageSizeRefused,
			Accept:        func(size int) { c.pageSizes.Store(op.ID, size) },
			Fetch: func(page, size int) (*api.Page[T], error) {
				r := req
				P(&r).SetPaging(page, size)
				p, err := transport.Do(ctx, c.transport, op, &r)
				if err == nil {
					c.operations.setPresent(op.Spec)
				}
				return p, err
			},
		}
		for v, err := range pages.All() {
			if err != nil {
				err = c.listFailed(ctx, op.Spec, err)
			}
			if !yield(v, err) {
				return
			}
		}
	}
}

func isPageSizeRefused(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && (e.Status == http.StatusUnprocessableEntity || e.Status == http.StatusBadRequest) &&
		slices.ContainsFunc(e.Problems, func(p Problem) bool { return slices.Contains(p.Loc, "page_size") })
}

// listFailed returns the error of a list. A list beyond the published ones may be
// absent. Its path names no object, so a 404 says so too.
func (c *core) listFailed(ctx context.Context, s api.Spec, err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return fmt.Errorf("%s: %w", s.ID, err)
	}
	if !s.Lifecycle() || !e.Unsupported() && e.Status != http.StatusNotFound || c.operations.isPresent(s) {
		return err
	}
	if err := c.confirmAbsent(ctx, s, err); err != nil {
		return err
	}
	return unsupported(ErrReadUnsupported, s, "")
}

// filter returns the objects of a list that match.
func filter[T any](list iter.Seq2[T, error], match func(*T) bool) ([]T, error) {
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

// one returns the only object that was found for a description.
func (c collection[T]) one(description string, found []T, err error) (*T, error) {
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, notFound(c.noun + " " + description)
	case len(found) == 1:
		return &found[0], nil
	}
	return nil, &AmbiguousError{Object: c.noun + " " + description, IDs: idsOf(found, c.ID)}
}

func idsOf[T any](objects []T, id func(*T) string) []string {
	ids := make([]string, len(objects))
	for i := range objects {
		ids[i] = id(&objects[i])
	}
	return ids
}

// value returns *p, or the zero value if p is nil.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
