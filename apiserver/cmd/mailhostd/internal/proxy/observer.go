package proxy

import (
	"cmp"
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
//   - A repeated create under an Idempotency-Key gets the stored response, which contains the same object.
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
	removing epoch             // changes other than creates
	shown    map[uint64]bool   // objects, since the last removal
	hidden   map[uint64]hiding // objects that were not found before they were shown
	lists    map[uint64]map[uint64]shownOn
	creates  map[uint64]create // by a hash of the request with its Idempotency-Key
}

// numbers count requests of no operation, without a response, those whose response was not compared, and those
// that were not passed on.
type numbers struct{ outside, unreachable, unfinished, blocked int }

// observed contains the facts about an operation.
type observed struct {
	requests, blocked int
	succeeded, exists bool
	missing           map[int]int // responses by status code that an absent operation has
	notFound          bool        // an object that the host shows elsewhere
}

// epoch counts the changes that have ended and may have changed something, and those in flight.
type epoch struct{ count, inFlight int }

// quiet reports whether nothing may have changed since the count was since. own is a change in flight that does
// not matter, or 0.
func (e epoch) quiet(since, own int) bool { return e.count == since && e.inFlight == own }

// end counts the end of a change.
func (e *epoch) end(changed bool) {
	e.inFlight--
	if changed {
		e.count++
	}
}

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

// create is a keyed create that succeeded. date is the host's time, and id a hash of the object's id.
type create struct {
	at   int
	date time.Time
	id   uint64
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
	change, removal            int // 1 if the request is one
	answered, compared, ended  bool
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
	o.numbers.blocked++
	if known := o.operations[operation]; known != nil {
		known.blocked++
	}
}

// begin is called before a request is passed on, and end after its response.
func (o *observer) begin(s api.Spec, r *http.Request) *exchange {
	x := &exchange{Exchange: conformance.Exchange{Request: r}, operation: s, arrival: time.Now(), account: strings.ToLower(s.PathValues(r.URL)["account_id"])}
	x.credential = maphash.String(o.seed, r.Header.Get("Authorization"))
	if s.Changes() {
		x.change = 1
	}
	if s.Method != http.MethodPost {
		x.removal = x.change
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.operations[s.ID].requests++
	o.clock++
	o.changing.inFlight += x.change
	o.removing.inFlight += x.removal
	x.started, x.changes, x.removals = o.clock, o.changing.count, o.removing.count
	return x
}

func (o *observer) end(x *exchange) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended(x)
	if x.answered && !x.compared {
		o.numbers.unfinished++
	}
}

// ended forgets what a change may have made untrue. A change that the host refuses changes nothing.
func (o *observer) ended(x *exchange) {
	if x.ended {
		return
	}
	x.ended = true
	o.clock++
	changed := !x.answered || x.Status/100 != 4
	if x.change > 0 {
		o.changing.end(changed)
	}
	if x.removal > 0 {
		o.removing.end(changed)
	}
	if x.change > 0 && changed {
		clear(o.lists)
	}
	if x.removal > 0 && changed {
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
	isMissing := x.Status == http.StatusMethodNotAllowed || x.Status == http.StatusNotImplemented || x.Status == http.StatusNotFound && !conformance.Documents(s, x.Status)
	isSuccess := x.Status/100 == 2
	var differences []conformance.Difference
	var value any
	if !isMissing {
		differences = slices.DeleteFunc(conformance.Check(s, x.Exchange), func(d conformance.Difference) bool { return isOptional(s, d) })
	}
	if isSuccess && !x.Compressed {
		value, _ = conformance.Decode(x.Body) // Check reports a body that is no JSON
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	defer o.ended(x)
	x.compared = true
	known := o.operations[s.ID]
	switch {
	case isMissing:
		known.missing[x.Status]++
		return
	case isSuccess:
		known.succeeded, known.exists = true, true
		o.show(x, value)
		differences = append(differences, o.page(x, value)...)
	case x.Status == http.StatusNotFound:
		o.hide(x)
	case x.Status == http.StatusConflict, x.Status == http.StatusUnprocessableEntity:
		known.exists = true
	}
	if x.Compressed {
		o.numbers.unfinished++
	}
	differences = append(differences, o.replay(x, value)...)
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

// show remembers the objects of a response, by each identifier that a path may contain. If an object of a list was
// not found before, with nothing changed since, the operation is absent.
func (o *observer) show(x *exchange, value any) {
	s := x.operation
	objects := conformance.Items(value)
	if object, ok := value.(map[string]any); ok && s.Method == http.MethodPost && s.Status == http.StatusCreated {
		objects = append(objects, object)
	}
	if !o.removing.quiet(x.removals, 0) || len(o.shown) > maxRemembered {
		return
	}
	path := strings.TrimSuffix(s.Path, "/claim")
	for _, object := range objects {
		if object["revoked_at"] != nil || object["is_system_managed"] == true { // a create may replace such a record
			continue
		}
		for _, name := range []string{"id", "name", "primary_email"} {
			if name == "name" && s.ID != api.ListDomains.ID || object[name] == nil {
				continue
			}
			key := o.hash(x, path, strings.ToLower(fmt.Sprint(object[name])))
			o.shown[key] = true
			if h, ok := o.hidden[key]; ok && h.at < x.started && x.change == 0 && h.changes == x.changes && o.changing.quiet(x.changes, 0) {
				o.operations[h.operation].notFound = true
			}
		}
	}
}

// hide records a 404 for an object.
func (o *observer) hide(x *exchange) {
	s := x.operation
	parameters := s.PathParameters()
	if len(parameters) < 2 || !o.removing.quiet(x.removals, x.removal) || len(o.hidden) > maxRemembered {
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
	if !ok || !o.changing.quiet(x.changes, 0) || len(o.lists) > maxRemembered {
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
		switch object["id"].(type) {
		case string, json.Number:
		default:
			continue // the schema reports it
		}
		id := o.hash(x, fmt.Sprint(object["id"]))
		before, seen := o.lists[list][id]
		if seen && before.page < number && before.at < x.started && differences == nil {
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
func (o *observer) replay(x *exchange, value any) (differences []conformance.Difference) {
	key := x.Request.Header.Get(api.IdempotencyKeyHeader)
	if key == "" || x.operation.Status != http.StatusCreated || !x.operation.Keyed() || x.RequestBody == nil {
		return nil
	}
	request := o.hash(x, key, x.operation.ID, x.Request.URL.EscapedPath(), string(x.RequestBody))
	date, err := http.ParseTime(x.Header.Get("Date"))
	if err != nil {
		date = time.Now()
	}
	object, _ := value.(map[string]any)
	id := o.hash(x, fmt.Sprint(object["id"]))
	isSuccess := x.Status/100 == 2
	before, repeated := o.creates[request]
	if isSuccess && !repeated && len(o.creates) < maxRemembered {
		o.creates[request] = create{o.clock, date, id}
	}
	differ := func(place, expected, received string) {
		differences = append(differences, conformance.Difference{Place: place, Expected: expected, Received: received})
	}
	replayed := x.Header.Get(api.IdempotencyReplayedHeader)
	switch {
	case !repeated || before.at >= x.started || date.Sub(before.date) > keptFor:
	case isSuccess && (replayed == "" || replayed == "false"):
		differ("header "+api.IdempotencyReplayedHeader, "true, because the same request has succeeded before", cmp.Or(replayed, "no header"))
	case isSuccess && id != before.id && object["id"] != nil:
		differ("response body /id", "the object of the same request before", "another object")
	case x.Status == http.StatusConflict || x.Status == http.StatusUnprocessableEntity:
		differ("status", "that of the same request before, which has succeeded", strconv.Itoa(x.Status))
	}
	return differences
}

// isOptional reports whether a difference is a missing member that the published specification lets a host omit.
// Our own server returns each of them, and so does the document.
func isOptional(s api.Spec, d conformance.Difference) bool {
	member := d.Place[strings.LastIndexByte(d.Place, '/')+1:]
	return strings.Contains(s.ID, "mailbox") && d.Expected == conformance.Required && slices.Contains([]string{"aliases", "workspace_id", "workspace_name"}, member)
}
