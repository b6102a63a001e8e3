package account

import (
	"math"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

func timestamp(t time.Time) string { return t.UTC().Format(api.TimestampLayout) }

// optionalTimestamp returns null for the zero time.
func optionalTimestamp(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return new(timestamp(t))
}

// optional returns null for the zero value.
func optional[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// value returns the zero value for null.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// listPage reads one page of a list.
func listPage[Entity, Object any](c *Call, p api.Paged, list func(store.Reader, store.Slice) ([]Entity, int, error), object func(Entity) Object) (*api.Page[Object], error) {
	return view(c, func(r store.Reader) (*api.Page[Object], error) {
		entities, total, err := list(r, sliceOf(p))
		if err != nil {
			return nil, err
		}
		page := &api.Page[Object]{Items: make([]Object, len(entities)), Page: p.Page, PageSize: p.PageSize, Total: total}
		for i, e := range entities {
			page.Items[i] = object(e)
		}
		return page, nil
	})
}

// sliceOf returns the part of the list that a page is; a page number may be as
// large as an integer can be.
func sliceOf(p api.Paged) store.Slice {
	before := p.Page - 1
	if before > math.MaxInt/p.PageSize {
		return store.Slice{Offset: math.MaxInt, Limit: p.PageSize}
	}
	return store.Slice{Offset: before * p.PageSize, Limit: p.PageSize}
}
