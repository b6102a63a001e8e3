package proxy

import (
	"encoding/json"
	"fmt"
	"hash/maphash"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/conformance"
)

// observer compares each response of a host with the contract, and responses with each other:
//
//   - An operation is absent if it never succeeded, and the status is 405 or 501, or a 404 for a path
//     without an object, or a 404 for an object that the host shows elsewhere.
//   - A page shows no object that an earlier page of the same list shows, if nothing changed in between.
//   - A repeated create under an Idempotency-Key gets the stored response.
//
// Other clients may change the host at any time, so that no other rule of this kind is certain. The
// observer also checks that a request without a credential is refused, which the server's tests can't:
// in process, some need none.
type observer struct {
	seed maphash.Seed

	mu         sync.Mutex
	operations map[string]*observed
	findings   map[Finding]*finding // by a Finding without Received and Count
	numbers    numbers

	clock    int // grows with each beginning and end of a request
	changing epoch
	removing epoch // changes other than creates
	shown    map[uint64]bool
	hidden   map[uint64]hiding // objects that were not found before they were shown
	lists    map[uint64]map[uint64]shownOn
	creates  map[uint64]create // by a hash of the request with its Idempotency-Key
}

// numbers count requests of no operation, without a response, and those whose response was not compared.
type numbers struct{ outside, unreachable, unfinished int }

// observed contains the facts about an operation.
type observed struct {
	requests, blocked int
	succeeded, exists bool
	missing           map[int]int // responses by status code that an absent operation has
	notFound          bool        // an object that the host shows elsewhere
}

// epoch counts the beginnings and ends of changes.
type epoch struct{ count, inFlight int }

// hiding is a 404 for an object.
type hiding struct {
	operation string
	at        int
	changes   int
}

// shownOn is the page on which a list shows an object.
type shownOn struct {
	page int64
	at   int
}

// create is a keyed create that succeeded. date is the host's time.
type create struct {
	at   int
	date time.Time
}

// keptFor is how long a host surely keeps a response under its Idempotency-Key: a day, less an hour.
const keptFor = 23 * time.Hour

// maxRemembered limits each of the observer's maps.
const maxRemembered = 1 << 20

// exchange is a request that is being observed.
type exchange struct {
	conformance.Exchange
	operation  api.Spec
	account    string
	credential uint64
	arrival    time.Time
	// sent is the request's body, once it has been read.
	sent atomic.Pointer[[]byte]
	// started is the observer's time; changes and removals are its counts then.
	started, changes, removals int
	isChange, isRemoval        bool
	answered, compared         bool
}

func newObserver() *observer {
	o := &observer{
		seed: maphash.MakeSeed(), operations: map[string]*observed{}, findings: map[Finding]*finding{},
		shown: map[uint64]bool{}, hidden: map[uint64]hiding{}, lists: map[uint64]map[uint64]shownOn{}, creates: map[uint64]create{},
	}
	for _, s := range api.Specs() {
		o.operations[s.ID] = &observed{missing: map[int]int{}}
	}
	return o
}

func (o *observer) outside() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.numbers.outside++
}

func (o *observer) unreachable() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.numbers.unreachable++
}

// blocked counts a request that is not passed on, by its operation if it is for one.
func (o *observer) blocked(operation string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if known := o.operations[operation]; known != nil {
		known.blocked++
		return
	}
	o.numbers.outside++
}

// begin is called before a request is passed on, and end after its response.
func (o *observer) begin(s api.Spec, r *http.Request) *exchange {
	x := &exchange{Exchange: conformance.Exchange{Request: r}, operation: s, arrival: time.Now(), account: strings.ToLower(s.PathValues(r.URL)["account_id"])}
	x.credential = maphash.String(o.seed, r.Header.Get("Authorization"))
	x.isChange = s.Changes()
	x.isRemoval = x.isChange && s.Method != http.MethodPost
	o.mu.Lock()
	defer o.mu.Unlock()
	o.operations[s.ID].requests++
	o.tick(x, 1)
	x.started, x.changes, x.removals = o.clock, o.changing.count, o.removing.count
	return x
}

func (o *observer) end(x *exchange) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tick(x, -1)
	if x.answered && !x.compared {
		o.numbers.unfinished++
	}
}

// tick forgets at the beginning and at the end of a change what the change may make untrue.
func (o *observer) tick(x *exchange, inFlight int) {
	o.clock++
	if x.isChange {
		o.changing.count++
		o.changing.inFlight += inFlight
		clear(o.lists)
	}
	if x.isRemoval {
		o.removing.count++
		o.removing.inFlight += inFlight
		clear(o.shown)
		clear(o.hidden)
	}
}

// hash returns a key for the parts within the account, as the credential sees them.
func (o *observer) hash(x *exchange, parts ...string) uint64 {
	var h maphash.Hash
	h.SetSeed(o.seed)
	for _, part := range append([]string{x.account, strconv.FormatUint(x.credential, 16)}, parts...) {
		_, _ = h.WriteString(part)
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}

// observe compares a complete response.
func (o *observer) observe(x *exchange) {
	s := x.operation
	if sent := x.sent.Load(); sent != nil {
		x.RequestBody = *sent
	}
	if x.Status == http.StatusMethodNotAllowed || x.Status == http.StatusNotImplemented || x.Status == http.StatusNotFound && !conformance.Documents(s, x.Status) {
		o.mu.Lock()
		defer o.mu.Unlock()
		x.compared = true
		o.operations[s.ID].missing[x.Status]++
		return
	}
	differences := slices.DeleteFunc(conformance.Check(s, x.Exchange), func(d conformance.Difference) bool { return isOptional(s, d) })
	var value any
	isSuccess := x.Status/100 == 2
	if isSuccess {
		dec := json.NewDecoder(strings.NewReader(string(x.Body)))
		dec.UseNumber()
		_ = dec.Decode(&value) // Check reports a body that is no JSON
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	x.compared = true
	known := o.operations[s.ID]
	switch {
	case isSuccess:
		known.succeeded, known.exists = true, true
		o.show(x, value)
		differences = append(differences, o.page(x, value)...)
	case x.Status == http.StatusNotFound:
		o.hide(x)
	case x.Status == http.StatusConflict, x.Status == http.StatusUnprocessableEntity:
		known.exists = true
	}
	differences = append(differences, o.replay(x, isSuccess)...)
	if x.Request.Header.Get("Authorization") == "" && (isSuccess || x.Status == http.StatusForbidden || x.Status == http.StatusUnprocessableEntity) {
		differences = append(differences, conformance.Difference{
			Place: "status", Expected: "401, because the request has no credential", Received: strconv.Itoa(x.Status),
		})
	}
	for _, d := range differences {
		o.find(s.ID, d)
	}
}

// collection returns the path of the collection of the object that an operation's path names.
func collection(s api.Spec) string {
	parameters := s.PathParameters()
	if len(parameters) < 2 {
		return ""
	}
	path, _, _ := strings.Cut(s.Path, "/{"+parameters[len(parameters)-1]+"}")
	return path
}

// show remembers the objects of a response, by each identifier that a path may contain. An object that
// was not found before, with nothing changed since, means that the operation is absent.
func (o *observer) show(x *exchange, value any) {
	s := x.operation
	objects := conformance.Items(value)
	if object, ok := value.(map[string]any); ok && s.Method == http.MethodPost && s.Status == http.StatusCreated {
		objects = append(objects, object)
	}
	if o.removing.inFlight > 0 || x.removals != o.removing.count || len(o.shown) > maxRemembered {
		return
	}
	path := strings.TrimSuffix(s.Path, "/claim")
	for _, object := range objects {
		if object["revoked_at"] != nil {
			continue
		}
		for _, name := range []string{"id", "name", "primary_email"} {
			if name == "name" && s.ID != api.ListDomains.ID || object[name] == nil {
				continue
			}
			key := o.hash(x, path, strings.ToLower(fmt.Sprint(object[name])))
			o.shown[key] = true
			if h, ok := o.hidden[key]; ok && h.at < x.started && h.changes == o.changing.count {
				o.operations[h.operation].notFound = true
			}
		}
	}
}

// hide records a 404 for an object.
func (o *observer) hide(x *exchange) {
	s := x.operation
	parameters := s.PathParameters()
	if len(parameters) < 2 || o.removing.inFlight > 0 || x.removals != o.removing.count || len(o.hidden) > maxRemembered {
		return
	}
	name := s.PathValues(x.Request.URL)[parameters[len(parameters)-1]]
	key := o.hash(x, collection(s), strings.ToLower(name))
	if o.shown[key] {
		o.operations[s.ID].notFound = true
	}
	o.hidden[key] = hiding{s.ID, o.clock, o.changing.count}
}

// page compares a page with the earlier pages of the same list.
func (o *observer) page(x *exchange, value any) (differences []conformance.Difference) {
	body, ok := value.(map[string]any)
	if !ok || o.changing.inFlight > 0 || x.changes != o.changing.count || len(o.lists) > maxRemembered {
		return nil
	}
	page, pageOK := body["page"].(json.Number)
	size, sizeOK := body["page_size"].(json.Number)
	query := x.Request.URL.Query()
	number, err := page.Int64()
	if asked := query.Get("page"); !pageOK || !sizeOK || err != nil || asked != "" && asked != page.String() {
		return nil
	}
	query.Del("page")
	query.Del("page_size")
	list := o.hash(x, x.operation.ID, query.Encode(), size.String())
	if o.lists[list] == nil {
		o.lists[list] = map[uint64]shownOn{}
	}
	for _, object := range conformance.Items(value) {
		id := o.hash(x, fmt.Sprint(object["id"]))
		before, seen := o.lists[list][id]
		if seen && before.page < number && before.at < x.started && object["id"] != nil && differences == nil {
			differences = []conformance.Difference{{
				Place: "response body /items/*/id", Expected: "each object once", Received: "an object of an earlier page",
			}}
		}
		if len(o.lists[list]) < maxRemembered {
			o.lists[list][id] = shownOn{number, o.clock}
		}
	}
	return differences
}

// replay compares the response to a create under an Idempotency-Key with an earlier one to the same request.
func (o *observer) replay(x *exchange, isSuccess bool) []conformance.Difference {
	id := x.Request.Header.Get(api.IdempotencyKeyHeader)
	if id == "" || x.operation.Status != http.StatusCreated || !x.operation.Keyed() || x.RequestBody == nil {
		return nil
	}
	key := o.hash(x, id, x.operation.ID, x.Request.URL.EscapedPath(), string(x.RequestBody))
	date, err := http.ParseTime(x.Header.Get("Date"))
	if err != nil {
		date = time.Now()
	}
	before, repeated := o.creates[key]
	if isSuccess && !repeated && len(o.creates) < maxRemembered {
		o.creates[key] = create{o.clock, date}
	}
	replayed := x.Header.Get(api.IdempotencyReplayedHeader)
	switch {
	case !repeated || before.at >= x.started || date.Sub(before.date) > keptFor:
	case isSuccess && replayed == "":
		return []conformance.Difference{{
			Place: "header " + api.IdempotencyReplayedHeader, Expected: "true, because the same request has succeeded before", Received: "no header",
		}}
	case x.Status == http.StatusConflict || x.Status == http.StatusUnprocessableEntity:
		return []conformance.Difference{{
			Place: "status", Expected: "that of the same request before, which has succeeded", Received: strconv.Itoa(x.Status),
		}}
	}
	return nil
}

// isOptional reports whether a difference is a missing member that the published specification lets a host omit.
// Our own server returns each of them, and so does the document.
func isOptional(s api.Spec, d conformance.Difference) bool {
	member := d.Place[strings.LastIndexByte(d.Place, '/')+1:]
	return strings.Contains(s.ID, "mailbox") && d.Expected == conformance.Required && slices.Contains([]string{"aliases", "workspace_id", "workspace_name"}, member)
}
