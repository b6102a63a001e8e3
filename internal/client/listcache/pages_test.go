package listcache_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/listcache"
)

// number is a page of a list of numbers, which are their own ids.
type number = api.Page[string]

func numbers(n int) (list []string) {
	for i := range n {
		list = append(list, strconv.Itoa(1000+i))
	}
	return list
}

// TestPages reads a list of an API that follows the contract more or less.
func TestPages(t *testing.T) {
	t.Parallel()
	errSize := errors.New("page_size")
	for _, tc := range []struct {
		name    string
		objects int
		respond func(page, size int, p *number) error // changes the response
		sizes   string                                // the requested sizes
		err     string
	}{
		{"empty", 0, nil, "1000", ""},
		{"a full page", 1000, nil, "1000", ""},
		{"two pages", 1001, nil, "1000 1000", ""},
		{"smaller pages than requested", 5, func(page, _ int, p *number) error { *p = pageOf(numbers(5), page, 2); return nil }, "1000 2 2", ""},
		{"a size that shrinks in the middle", 4, func(page, size int, p *number) error {
			if *p = pageOf(numbers(4), page, 2); page == 2 || size == 1 {
				*p = pageOf(numbers(4), page, 1)
			}
			return nil
		}, "1000 2 1 1 1 1", ""},
		{"a size that is refused", 250, func(_, size int, _ *number) error {
			if size > 100 {
				return errSize
			}
			return nil
		}, "1000 500 100 100 100", ""},
		{"every size is refused", 1, func(int, int, *number) error { return errSize }, "1000 500 100 25", "page_size"},
		{"page ignored", 4, func(_, _ int, p *number) error { *p = pageOf(numbers(4), 1, 2); p.Page = 0; return nil }, "1000 2", "repeats"},
		{"another page", 3, func(_, _ int, p *number) error { p.Page = 7; return nil }, "1000", "page 7 returned"},
		{"no page", 3, func(_, _ int, p *number) error { *p = number{}; return nil }, "1000", "no page"},
		{"nothing but its number", 0, func(_, _ int, p *number) error { *p = number{Page: 1}; return nil }, "1000", ""},
		{"nothing but its size", 0, func(_, size int, p *number) error { *p = number{PageSize: size}; return nil }, "1000", ""},
		{"no items", 0, func(_, _ int, p *number) error { p.Items = nil; return nil }, "1000", ""},
		{"an object without an id", 1, func(_, _ int, p *number) error { p.Items = []string{""}; return nil }, "1000", "without an id"},
		{"a total that is not reached", 1, func(_, _ int, p *number) error { p.Total = 3; return nil }, "1000 1000", "after 1 of 3"},
		{"no total, a page that is not full", 999, func(_, _ int, p *number) error { p.Total = 0; return nil }, "1000", ""},
		{"no total, a full page", 1000, func(_, _ int, p *number) error { p.Total = 0; return nil }, "1000 1000", ""},
		{"nothing but items", 5, func(_, _ int, p *number) error { *p = number{Items: p.Items}; return nil }, "1000 1000", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var sizes, accepted []string
			pages := listcache.Pages[string]{
				Name: "list", Size: listcache.MaxPageSize, ID: func(id *string) string { return *id },
				IsSizeRefused: func(err error) bool { return errors.Is(err, errSize) },
				Accept:        func(size int) { accepted = append(accepted, strconv.Itoa(size)) },
				Fetch: func(_ context.Context, page, size int) (*number, error) {
					sizes = append(sizes, strconv.Itoa(size))
					p := pageOf(numbers(tc.objects), page, size)
					var err error
					if tc.respond != nil {
						err = tc.respond(page, size, &p)
					}
					return &p, err
				},
			}
			var got []string
			var err error
			for id, failure := range pages.All(t.Context()) {
				if err = failure; err == nil {
					got = append(got, id)
				}
			}
			if (tc.err == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tc.err) || err == nil && !slices.Equal(got, numbers(tc.objects)) {
				t.Errorf("%d objects, error %v", len(got), err)
			}
			s := strings.Join(sizes, " ")
			assert.Check(t, s == tc.sizes && (len(accepted) == 0) == !strings.Contains(tc.name, "refused") && (len(accepted) == 0 || strings.HasPrefix(s, "1000 "+strings.Join(accepted, " "))), "pages of %s, accepted %s; want %s", s, accepted, tc.sizes)
		})
	}
}

func pageOf(list []string, page, size int) number {
	from := min((page-1)*size, len(list))
	return number{Items: list[from:min(from+size, len(list))], Page: page, PageSize: size, Total: len(list)}
}

// TestConsumerEnds checks that no unneeded page is read.
func TestConsumerEnds(t *testing.T) {
	t.Parallel()
	fetched, taken := 0, 0
	pages := listcache.Pages[string]{Size: 2, ID: func(id *string) string { return *id }, Fetch: func(_ context.Context, page, size int) (*number, error) {
		fetched++
		p := pageOf(numbers(10-fetched), page, size) // shrinks
		return &p, nil
	}}
	for _, err := range pages.All(t.Context()) {
		if taken++; err != nil || taken == 3 {
			break
		}
	}
	assert.Check(t, fetched == 2, "%d pages", fetched)
}

// TestListThatShrinks deletes a list's first objects while it is read, one before each page: every
// remaining object must be returned once. Too many deletions are an error.
func TestListThatShrinks(t *testing.T) {
	t.Parallel()
	for _, deleted := range []int{0, 1, 40, 99} {
		list := numbers(100)
		stay := slices.Clone(list[deleted:])
		fetched, passes := 0, 0
		pages := listcache.Pages[string]{
			Name: "list", Size: 2, ID: func(id *string) string { return *id },
			Fetch: func(_ context.Context, page, size int) (*number, error) {
				if fetched++; fetched > 1 && fetched-1 <= deleted {
					list = list[1:]
				}
				if page == 1 {
					passes++
				}
				p := pageOf(list, page, size)
				return &p, nil
			},
		}
		met := map[string]int{}
		var err error
		for id, failure := range pages.All(t.Context()) {
			met[id]++
			err = failure
		}
		isTooMany := err != nil && strings.Contains(err.Error(), "changed under each of 5 attempts")
		assert.Check(t, isTooMany == (deleted == 99) && (passes == 5 || !isTooMany), "%d deleted: %v", deleted, err)
		for _, id := range stay {
			assert.Check(t, met[id] == 1 || err != nil, "%d deleted: %s is returned %d times", deleted, id, met[id])
		}
	}
}
