package client

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"net/http"
	"slices"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/listcache"
)

// pagedRequest is a pointer to a request for a page of a list.
type pagedRequest[Req any] interface {
	*Req
	SetPaging(page, pageSize int)
}

// list returns every object of a list, page by page. An error ends the sequence.
func list[Req, T any, P pagedRequest[Req]](ctx context.Context, c *Client, op api.Operation[Req, api.Page[T]], req Req, id func(*T) string) iter.Seq2[T, error] {
	o := c.operation(op.Spec)
	return listcache.Pages[T]{
		Name:          op.ID,
		BaseURL:       c.transport.BaseURL,
		ID:            id,
		Size:          cmp.Or(int(o.pageSize.Load()), listcache.MaxPageSize),
		IsSizeRefused: isPageSizeRefused,
		Accept:        func(size int) { o.pageSize.Store(int64(size)) },
		Fetch: func(ctx context.Context, page, size int) (*api.Page[T], error) {
			r := req
			P(&r).SetPaging(page, size)
			p, err := call(ctx, c, op, &r, "")
			if err != nil {
				return nil, err
			}
			for i := range p.Items {
				if name := lacks(&p.Items[i]); name != "" {
					return nil, c.differs(op.Spec, "%s: the list holds an object without the member %s", op.ID, name)
				}
			}
			return p, nil
		},
	}.All(ctx)
}

// count requests a page of one object, which also contains the length of the list.
func count[Req, T any, P pagedRequest[Req]](ctx context.Context, c *Client, op api.Operation[Req, api.Page[T]], req Req) (*api.Page[T], error) {
	P(&req).SetPaging(1, 1)
	return call(ctx, c, op, &req, "")
}

// isPageSizeRefused reports whether a list may succeed with a smaller page size: the refusal names it, or nothing.
func isPageSizeRefused(err error) bool {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Status != http.StatusUnprocessableEntity && e.Status != http.StatusBadRequest {
		return false
	}
	return !slices.ContainsFunc(e.Problems, func(p Problem) bool { return len(p.Loc) > 0 && !slices.Contains(p.Loc, "page_size") })
}

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

func idsOf[T any](objects []T, id func(*T) string) []string {
	ids := make([]string, len(objects))
	for i := range objects {
		ids[i] = id(&objects[i])
	}
	return ids
}
