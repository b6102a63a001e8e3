package proxy

import (
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
//     without an object, or a 404 for an object that the host shows elsewhere, or a 404 of a lifecycle operation in
//     another form than the API's. If it succeeds with ids only, the host does not know the names of objects in paths.
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
	cause      string // why the last request without a response has none

	clock    int // grows with each beginning and end of a request
	changing epoch
	removing epoch
	shown    map[uint64]bool   // objects, since the last removal
	hidden   map[uint64]hiding // objects that were not found, since the last removal
	suspects []hiding          // shown objects that were not found, maybe because of a removal in flight
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
	isForeign         bool        // a 404 of a lifecycle operation is not the API's, but a router's
	byName            struct{ succeeded, notFound bool }
}

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

func (o *observer) unreachable(cause error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.numbers.unreachable++
	o.cause = cause.Error()
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
	if s.Method == http.MethodDelete {
		x.removal = 1
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
		known.byName.succeeded = known.byName.succeeded || isNamed(x)
		o.show(x, value)
		differences = append(differences, o.page(x, value)...)
	case x.Status == http.StatusNotFound:
		known.isForeign = known.isForeign || s.Lifecycle() && slices.ContainsFunc(differences, isInBody)
		o.hide(x)
	case x.Status == http.StatusConflict, x.Status == http.StatusUnprocessableEntity:
		known.exists = true
	}
	if x.Compressed {
		o.numbers.unfinished++
	}
	differences = append(differences, o.replay(x, value)...)
	isStatus := func(d conformance.Difference) bool { return d.Place == "status" }
	if x.Request.Header.Get("Authorization") == "" && !slices.ContainsFunc(differences, isStatus) && (isSuccess || x.Status == http.StatusForbidden || x.Status == http.StatusUnprocessableEntity) {
		differences = append(differences, conformance.Difference{
			Place: "status", Expected: "401, because the request has no credential", Received: strconv.Itoa(x.Status),
		})
	}
	for _, d := range differences {
		o.find(s.ID, d)
	}
}

// isInBody reports whether a difference is one of the body, or of its media type.
func isInBody(d conformance.Difference) bool {
	return strings.HasPrefix(d.Place, "response body") || d.Place == "header Content-Type"
}

// isOptional reports whether a difference is a missing member that the published specification lets a host omit.
// Our own server returns each of them, and so does the document.
func isOptional(s api.Spec, d conformance.Difference) bool {
	member := d.Place[strings.LastIndexByte(d.Place, '/')+1:]
	return strings.Contains(s.ID, "mailbox") && d.Expected == conformance.Required && slices.Contains([]string{"aliases", "workspace_id", "workspace_name"}, member)
}
