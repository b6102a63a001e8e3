package replay

import (
	"cmp"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/conformance"
)

// response is a response to a client.
type response struct {
	status int
	header http.Header
	body   []byte
}

// Middleware responds to the operations of the API in place of the service.
func (rec *Recording) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, ok := conformance.OperationOf(r)
		if !ok || s.Method != r.Method {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, api.MaxBodyBytes))
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		response := rec.respond(newRequest(s, r.URL, body), r.Header.Get(api.IdempotencyKeyHeader))
		maps.Copy(w.Header(), response.header)
		w.WriteHeader(response.status)
		_, _ = w.Write(response.body)
	})
}

func (rec *Recording) respond(r request, key string) *response {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	s := r.operation
	switch x := rec.absent[s.ID]; {
	case r.account != rec.AccountID():
		return notRecorded([]string{"path", "account_id"}, "the recording is of the account %s, and this request is for %s", rec.AccountID(), r.account)
	case x != nil:
		return x.response()
	case s.Changes():
		return rec.change(r, key)
	case isList(s):
		if response := rec.page(r); response != nil {
			return response
		}
	case nameParameter(s) != "":
		if response := rec.read(r); response != nil {
			return response
		}
	}
	if response := rec.document(r); response != nil {
		return response
	}
	return rec.unrecorded(r)
}

func respondWith(status int, v any) *response {
	body, _ := api.EncodeJSON(v) // decoded JSON, so there is no error
	return &response{status, http.Header{"Content-Type": {"application/json"}}, body}
}

// replayedHeaders are the headers of a recorded response that a client may need.
var replayedHeaders = []string{"Allow", "Content-Disposition", "Content-Type", "Retry-After", "WWW-Authenticate", api.IdempotencyReplayedHeader}

// response returns the recorded response.
func (x *exchange) response() *response {
	header := http.Header{}
	for _, name := range replayedHeaders {
		for _, value := range x.header.Values(name) {
			header.Add(name, value)
		}
	}
	return &response{x.status, header, x.body}
}

// read responds with the current value of an object, or returns nil if the recording does not show it.
func (rec *Recording) read(r request) *response {
	e := rec.find(r.operation, r.url)
	if e == nil {
		if x := rec.refused[nameKey(r)]; x != nil {
			return x.response()
		}
		return nil
	}
	if v := rec.now(e); v.object != nil {
		return respondWith(http.StatusOK, e.shown(v.object))
	}
	return rec.isMissing(r)
}

// isMissing returns the response to a request for an object that does not exist.
func (rec *Recording) isMissing(r request) *response {
	if x := rec.refused[nameKey(r)]; x != nil {
		return x.response()
	}
	e := api.NewError(http.StatusNotFound, api.TypeNotFound, "no such %s in this account", r.operation.Kind.Noun)
	return respondWith(http.StatusNotFound, e.At("path", nameParameter(r.operation)))
}

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
				items = append(items, e.shown(v.object))
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
			if name, _, _ := strings.Cut(filter, "="); name == f.Name && !known && !e.filters[filter] && !e.steps[e.position].searches[filter] {
				return false
			}
		}
	}
	return true
}

// document returns the recorded response to a read of no single object, or nil: the last one before any
// change that is still to come.
func (rec *Recording) document(r request) (found *response) {
	isSuccess := func(x *exchange) bool { return x.status/100 == 2 }
	all := rec.documents[rec.key(r)]
	hasSucceeded := slices.ContainsFunc(all, isSuccess)
	for _, x := range all {
		if isSuccess(x) == hasSucceeded && (found == nil || x.at <= rec.reached()) {
			found = x.response()
		}
	}
	return found
}

// change responds to a change.
func (rec *Recording) change(r request, idempotencyKey string) *response {
	key := rec.key(r)
	kept := idempotencyKey + " " + key
	if before := rec.keys[kept]; before != nil && idempotencyKey != "" {
		again := *before
		again.header = before.header.Clone()
		again.header.Set(api.IdempotencyReplayedHeader, "true")
		return &again
	}
	items := []request{r}
	isNew := func(o *outcome) bool { return !o.replayed }
	byItem := r.operation.ID == api.CreateMailboxes.ID && !slices.ContainsFunc(rec.outcomes[key], isNew) // unless it is refused as a whole
	if byItem {
		items = itemsOf(r)
	}
	var outcomes []*outcome
	for _, item := range items {
		itemKey := rec.key(item)
		o := rec.next(itemKey, outcomes)
		switch e := rec.find(r.operation, r.url); {
		case o != nil && (!byItem || o.failed != nil || o.creates):
			outcomes = append(outcomes, o)
		case rec.isDone(r.operation, e):
			return rec.isMissing(r)
		case len(rec.outcomes[itemKey]) > 0:
			return notRecorded([]string{"path"}, "the recording contains this %s %s only while the object does not exist. %s", r.operation.Method, r.target(), advice)
		default:
			return rec.unrecorded(item)
		}
	}
	if len(outcomes) == 0 {
		return rec.unrecorded(r)
	}
	for _, o := range outcomes {
		o.apply(r)
	}
	result := rec.result(r, outcomes, byItem)
	if idempotencyKey != "" && result.status/100 == 2 {
		rec.keys[kept] = result
	}
	return result
}

// result returns the response to a change with its outcomes.
func (rec *Recording) result(r request, outcomes []*outcome, byItem bool) *response {
	single := outcomes[0]
	wasBulk := single.request.operation.ID == api.CreateMailboxes.ID
	switch {
	case byItem:
		created, failed := []object{}, []object{}
		for i, o := range outcomes {
			if o.failed != nil {
				report := maps.Clone(o.failed)
				report["index"] = i
				failed = append(failed, report)
			} else {
				created = append(created, object{"index": i, "mailbox": o.created()})
			}
		}
		return respondWith(http.StatusOK, object{"created": created, "failed": failed})
	case wasBulk && single.failed != nil:
		return notRecorded([]string{"body"}, "the recording contains this %s %s only as a part of a bulk create, which failed. %s", r.operation.Method, r.target(), advice)
	case wasBulk && single.creates && r.operation.ID != api.CreateMailboxes.ID:
		return respondWith(http.StatusCreated, single.created())
	}
	recorded := single.response()
	body, isObject := single.value.(object)
	for _, effect := range single.effects {
		if isObject && effect.entity.later != 0 {
			return respondWith(recorded.status, effect.entity.shown(body))
		}
	}
	return recorded
}

// created returns the object in the response to a create.
func (o *outcome) created() object {
	return o.effects[0].entity.steps[o.effects[0].step].values[0].object
}
