package listcache

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/transport"
)

// MaxPageSize is the page size to begin with. If the API refuses it, the smallerPageSizes follow one
// after the other.
const MaxPageSize = api.MaxPageSize

var smallerPageSizes = []int{500, 100, 25}

// maxPasses limits how often a list that changes while it is read is read again.
const maxPasses = 5

// Pages iterates over all objects of a paged list.
//
// The list is in order of creation, so objects created during the iteration appear at its end. A
// deletion moves the later objects forward, past the page to be read next: if the total shrinks, Pages
// therefore reads the list again from its first page.
type Pages[T any] struct {
	// Name is the name of the list in errors, except the errors of Fetch.
	Name string
	// BaseURL is the host's, for errors about its differences from the contract.
	BaseURL string
	// Fetch reads one page.
	Fetch func(ctx context.Context, page, size int) (*api.Page[T], error)
	// ID returns an object's id.
	ID func(*T) string
	// Size is the page size to begin with.
	Size int
	// IsSizeRefused reports whether an error of Fetch refuses the page size. Accept is then called with
	// the smaller size to try next.
	IsSizeRefused func(error) bool
	Accept        func(size int)
}

// All returns every object once. After an error nothing follows.
func (p Pages[T]) All(ctx context.Context) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		r := &reader[T]{Pages: p, passOf: map[string]int{}, yield: yield}
		for r.pass = 1; r.pass <= maxPasses; r.pass++ {
			done, err := r.read(ctx)
			if err != nil {
				var none T
				yield(none, err)
			}
			if done || err != nil {
				return
			}
		}
		var none T
		yield(none, fmt.Errorf("%s: the list changed under each of %d attempts to read it to its end; try again when less is deleted", r.Name, maxPasses))
	}
}

// reader is one iteration over a list.
type reader[T any] struct {
	Pages[T]
	yield  func(T, error) bool
	pass   int            // over the list, from 1
	passOf map[string]int // the pass in which an id was last met
	met    int            // ids met in this pass
	shrank bool           // objects were deleted during this pass
	ended  bool           // the consumer wants no more
}

// read reads the list from its first page and reports whether it reached the end. If not, the list or
// its page size changed, and another pass is needed.
func (r *reader[T]) read(ctx context.Context) (done bool, err error) {
	r.met, r.shrank = 0, false
	total := 0
	for page := 1; ; page++ {
		p, err := r.Fetch(ctx, page, r.Size)
		switch {
		case r.shrink(err):
			return false, nil
		case err == nil:
			err = r.check(p, page)
		}
		if err != nil {
			return false, err
		}
		if p.PageSize > 0 && p.PageSize != r.Size {
			r.Size = p.PageSize
			if page > 1 {
				return false, nil
			}
		}
		// A deletion moves the later objects to pages that were read already. The pass still continues
		// to its end, so that the next one begins when less is left to delete.
		r.shrank = r.shrank || p.Total < total
		total = p.Total
		if done, err := r.take(p, page); done || err != nil {
			return r.ended || !r.shrank, err
		}
	}
}

// shrink sets a smaller page size if err refuses the current one.
func (r *reader[T]) shrink(err error) bool {
	i := slices.IndexFunc(smallerPageSizes, func(size int) bool { return size < r.Size })
	if i < 0 || !r.IsSizeRefused(err) {
		return false
	}
	r.Size = smallerPageSizes[i]
	r.Accept(r.Size)
	return true
}

// check refuses a response that is not a page, or not the requested page: in a list cut short,
// objects would look deleted.
func (r *reader[T]) check(p *api.Page[T], page int) error {
	if p.Items == nil && p.Page == 0 && p.PageSize == 0 {
		return r.differs("the response to the list is no page: it has no items")
	}
	if p.Page != 0 && p.Page != page {
		return r.differs("page %d of the list was requested and page %d returned; it can't be read to its end", page, p.Page)
	}
	return nil
}

// take yields the objects of a page and reports whether the iteration ends with it.
func (r *reader[T]) take(p *api.Page[T], page int) (done bool, err error) {
	before := r.met
	for i := range p.Items {
		id := r.ID(&p.Items[i])
		if id == "" {
			return false, r.differs("the list holds an object without an id")
		}
		lastPass, seen := r.passOf[id]
		if lastPass == r.pass {
			continue
		}
		r.passOf[id] = r.pass
		r.met++
		if !seen && !r.yield(p.Items[i], nil) {
			r.ended = true
			return true, nil
		}
	}
	switch {
	case r.shrank && r.met == before:
		return true, nil
	case len(p.Items) == 0 && r.met < p.Total:
		return false, r.differs("the list ends after %d of %d objects; it can't be read to its end", r.met, p.Total)
	case len(p.Items) == 0:
		return true, nil
	case r.met == before:
		return false, r.differs("page %d of the list repeats what came before: this API ignores the parameter page, and the list can't be read to its end", page)
	case p.Total > 0:
		return r.met >= p.Total, nil
	}
	// Without a total, a partly filled page is the last one, if the API returns
	// the page size.
	return len(p.Items) < p.PageSize, nil
}

func (r *reader[T]) differs(format string, args ...any) error {
	return &transport.ContractError{Difference: r.Name + ": " + fmt.Sprintf(format, args...), BaseURL: r.BaseURL}
}
