package replay

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/conformance"
)

// page responds with a page of the current objects, or returns nil if the recording shows no such list, and
// no object that would be in it.
func (rec *Recording) page(r request) *response {
	filters := rec.filters(r)
	isShown := false
	unknown := 0 // objects in the list
	for _, l := range rec.lists {
		if l.request.operation.ID == r.operation.ID && containsAll(filters, l.filters) {
			isShown = true
			if len(filters) == len(l.filters) {
				unknown = l.total
			}
		}
	}
	items := []object{}
	if c := rec.collections[collectionOf(r.operation)]; c != nil {
		for _, e := range c.entities {
			if matches(r, filters, e, e.latest()) {
				isShown = true
				unknown--
			}
			if v := rec.now(e); v.object != nil && matches(r, filters, e, v.object) {
				items = append(items, v.object)
			}
		}
	}
	if !isShown {
		return nil
	}
	if _, paged := r.operation.Request.FieldByName("PageSize"); !paged {
		return respondWith(http.StatusOK, items)
	}
	if unknown > 0 { // only the recorded pages are known
		if response := rec.document(r); response != nil {
			return response
		}
		return notRecorded([]string{"query", "page"}, "the recording contains only other pages of GET %s. %s", r.target(), advice)
	}
	page, size := number(r, "page", 1), number(r, "page_size", 25)
	start := min((page-1)*size, len(items))
	end := min(start+size, len(items))
	return respondWith(http.StatusOK, object{"items": items[start:end], "page": page, "page_size": size, "total": len(items)})
}

// matches reports whether an object matches the filters of a list.
func matches(r request, filters map[string]bool, e *entity, o object) bool {
	if o == nil {
		return false
	}
	for _, f := range api.FieldsOf(r.operation.Request) {
		want := r.query.Get(f.Name)
		if f.In != "query" || f.Name == "page" || f.Name == "page_size" || want == "" && f.Default == "" {
			continue
		}
		matches, known := conformance.Matches(o, f, cmp.Or(want, f.Default))
		if f.Name == "search" && !matches { // of an anonymous recording, in which the text is another one
			known = false
		}
		if known && !matches {
			return false
		}
		for filter := range filters {
			if name, _, _ := strings.Cut(filter, "="); name == f.Name && !known && !e.filters[filter] && !e.track.steps[e.position].searches[filter] {
				return false
			}
		}
	}
	return true
}

func containsAll(all, some map[string]bool) bool {
	for name := range some {
		if !all[name] {
			return false
		}
	}
	return true
}

// number returns a parameter of a page.
func number(r request, name string, byDefault int) int {
	n, err := strconv.Atoi(r.query.Get(name))
	if err != nil || n < 1 || n > 1<<30 {
		return byDefault
	}
	return n
}
