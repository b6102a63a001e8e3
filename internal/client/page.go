package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// pageSizeSteps are the sizes of page that a list is asked for, one after the
// other, until it takes one.
var pageSizeSteps = []int{api.MaxPageSize, 500, 100, 25}

// pageSizeKey marks a context whose lists are wanted in smaller pages.
type pageSizeKey struct{}

// WithPageSize returns a context in which a list asks for no more than n objects
// at once, for a caller that wants no more in all. An n of 0 or less means what a
// list asks for otherwise.
func WithPageSize(ctx context.Context, n int64) context.Context {
	if n <= 0 || n >= api.MaxPageSize {
		return ctx
	}
	return context.WithValue(ctx, pageSizeKey{}, int(n))
}

// pageSize is what a list asks for first.
func (c *Client) pageSize(ctx context.Context, s api.Spec) int {
	size := c.pageSizes.of(s)
	if n, ok := ctx.Value(pageSizeKey{}).(int); ok {
		return min(n, size)
	}
	return size
}

// maxPasses bounds how often a list that changes while it is read is read again.
const maxPasses = 5

// paged is a pointer to a request for a page of a list.
type paged[Req any] interface {
	*Req
	SetPaging(page, pageSize int)
}

// sweep returns every object of a list, page by page. An object is yielded once.
// After an error nothing follows.
//
// The list is in the order of creation, so that what is created meanwhile is met
// later. What is deleted meanwhile moves the rest forward, past the page that is
// read next: a total that shrinks therefore starts another pass.
func sweep[Req, T any, P paged[Req]](ctx context.Context, c *Client, op api.Operation[Req, api.Page[T]], req Req, id func(*T) string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		if c.caps.absent(op.Spec) {
			yield(none, unsupported(ErrReadUnsupported, op.Spec, ""))
			return
		}
		s := &sweeper[T]{
			id:     id,
			size:   c.pageSize(ctx, op.Spec),
			passOf: map[string]int{},
			yield:  func(v T) bool { return yield(v, nil) },
		}
		s.fetch = func(page, size int) (*api.Page[T], error) {
			r := req
			P(&r).SetPaging(page, size)
			p, err := call(ctx, c, op, &r)
			if err == nil {
				c.caps.found(op.Spec)
			}
			return p, err
		}
		s.agree = func(size int) { c.pageSizes.agree(op.Spec, size) }
		if err := s.run(); err != nil {
			yield(none, c.listFailed(ctx, op.Spec, err))
		}
	}
}

// listFailed learns from a failed list. Only a list beyond the published ones
// may be absent, and as its path is fixed, a 404 says so too.
func (c *Client) listFailed(ctx context.Context, s api.Spec, err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return fmt.Errorf("%s: %w", s.ID, err)
	}
	if !s.Lifecycle() || !e.unsupported() && e.Status != http.StatusNotFound || c.caps.present(s) {
		return err
	}
	if err := c.conclude(ctx, s, err); err != nil {
		return err
	}
	return unsupported(ErrReadUnsupported, s, "")
}

type sweeper[T any] struct {
	fetch func(page, size int) (*api.Page[T], error)
	agree func(size int)
	id    func(*T) string
	yield func(T) bool

	size   int
	passOf map[string]int // the pass in which an id was last met
	met    int            // ids met in this pass
}

// errStopped ends a sweep whose consumer wants no more.
var errStopped = errors.New("stopped")

func (s *sweeper[T]) run() error {
	for pass := 1; pass <= maxPasses; pass++ {
		switch done, err := s.pass(pass); {
		case errors.Is(err, errStopped):
			return nil
		case err != nil:
			return err
		case done:
			return nil
		}
	}
	return fmt.Errorf("the list changed under each of %d attempts to read it to its end; try again when less is deleted", maxPasses)
}

// pass reads the list from its first page and reports whether it came to the
// end. If not, the list changed, or its pages did, and another pass is needed.
func (s *sweeper[T]) pass(number int) (done bool, err error) {
	s.met = 0
	total := 0
	for page := 1; ; page++ {
		p, err := s.fetch(page, s.size)
		if smaller := s.smaller(err); smaller > 0 {
			s.size = smaller
			s.agree(smaller)
			if page > 1 {
				return false, nil
			}
			page = 0
			continue
		}
		if err == nil {
			err = check(p, page)
		}
		if err != nil {
			return false, err
		}
		if p.PageSize > 0 && p.PageSize != s.size {
			s.size = p.PageSize
			if page > 1 {
				return false, nil
			}
		}
		if p.Total < total {
			return false, nil
		}
		total = p.Total
		if done, err := s.take(p, number, page); done || err != nil {
			return done, err
		}
	}
}

// smaller returns the size to ask for after an answer that refused the one that
// was asked for, or 0 where err says something else or no smaller one is left.
func (s *sweeper[T]) smaller(err error) int {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Status != http.StatusUnprocessableEntity && e.Status != http.StatusBadRequest ||
		!slices.ContainsFunc(e.Problems, func(p Problem) bool { return slices.Contains(p.Loc, "page_size") }) {
		return 0
	}
	for _, size := range pageSizeSteps {
		if size < s.size {
			return size
		}
	}
	return 0
}

// check refuses an answer that is no page, or not the one that was asked for: a
// list cut short would make objects look deleted.
func check[T any](p *api.Page[T], page int) error {
	if p.Items == nil && p.Page == 0 && p.PageSize == 0 && p.Total == 0 {
		return errors.New("the list's answer is no page: it has no items")
	}
	if p.Page != 0 && p.Page != page {
		return fmt.Errorf("the list was asked for page %d and answered with page %d; it can't be read to its end", page, p.Page)
	}
	return nil
}

// take yields the objects of a page and reports whether the list ends with it.
func (s *sweeper[T]) take(p *api.Page[T], pass, page int) (done bool, err error) {
	before := s.met
	for i := range p.Items {
		id := s.id(&p.Items[i])
		if id == "" {
			return false, errors.New("the list holds an object without an id")
		}
		seenIn, seen := s.passOf[id]
		if seenIn == pass {
			continue
		}
		s.passOf[id] = pass
		s.met++
		if !seen && !s.yield(p.Items[i]) {
			return false, errStopped
		}
	}
	switch {
	case len(p.Items) == 0 && s.met < p.Total:
		return false, fmt.Errorf("the list ends after %d of %d objects; it can't be read to its end", s.met, p.Total)
	case len(p.Items) == 0:
		return true, nil
	case s.met == before:
		return false, fmt.Errorf("page %d of the list repeats what came before: this API ignores the parameter page, and the list can't be read to its end", page)
	case p.Total > 0:
		return s.met >= p.Total, nil
	}
	// Without a total, a page that is not full is the last one, as far as the
	// API says how large a full one is.
	return p.PageSize > 0 && len(p.Items) < p.PageSize, nil
}
