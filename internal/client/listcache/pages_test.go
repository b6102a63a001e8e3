package listcache_test

import (
	"context"
	"slices"
	"strconv"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/listcache"
)

// TestListThatShrinks reads a list of which the first objects are deleted meanwhile, one before
// each page: every object that stays is returned once.
func TestListThatShrinks(t *testing.T) {
	t.Parallel()
	for _, deleted := range []int{0, 1, 40} {
		var list []string
		for n := range 100 {
			list = append(list, strconv.Itoa(n))
		}
		stay := slices.Clone(list[deleted:])
		fetched := 0
		pages := listcache.Pages[string]{
			Name: "list", Size: 7, ID: func(id *string) string { return *id },
			Fetch: func(_ context.Context, page, size int) (*api.Page[string], error) {
				if fetched++; fetched > 1 && fetched-1 <= deleted {
					list = list[1:]
				}
				from := min((page-1)*size, len(list))
				return &api.Page[string]{Items: list[from:min(from+size, len(list))], Page: page, PageSize: size, Total: len(list)}, nil
			},
		}
		met := map[string]int{}
		for id, err := range pages.All(t.Context()) {
			if err != nil {
				t.Fatalf("%d deleted: %v", deleted, err)
			}
			met[id]++
		}
		for _, id := range stay {
			if met[id] != 1 {
				t.Errorf("%d deleted: %s is returned %d times", deleted, id, met[id])
			}
		}
	}
}
