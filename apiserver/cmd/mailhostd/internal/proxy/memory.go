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
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/conformance"
)

// This file compares responses with each other. Its methods need the observer's lock.

// epoch counts the changes that have ended and may have changed something, and those in flight.
type epoch struct{ count, inFlight int }

// quiet reports whether nothing may have changed since the count was since.
func (e epoch) quiet(since int) bool { return e.count == since && e.inFlight == 0 }

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
	byName    bool
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
	if x.change > 0 && changed {
		clear(o.lists)
	}
	if x.removal == 0 {
		return
	}
	o.removing.end(changed)
	if changed {
		clear(o.shown)
		clear(o.hidden)
		o.suspects = nil
	}
	if o.removing.inFlight == 0 {
		for _, h := range o.suspects {
			o.missed(h)
		}
		o.suspects = nil
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
	if o.removing.count != x.removals || len(o.shown) > maxRemembered {
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
			if h, ok := o.hidden[key]; ok && h.at < x.started && x.change == 0 && h.changes == x.changes && o.changing.quiet(x.changes) {
				o.missed(h)
			}
		}
	}
}

// hide records a 404 for an object.
func (o *observer) hide(x *exchange) {
	s := x.operation
	parameters := s.PathParameters()
	if len(parameters) < 2 || o.removing.count != x.removals || len(o.hidden) > maxRemembered {
		return
	}
	h := hiding{s.ID, isNamed(x), o.clock, o.changing.count}
	key := o.hash(x, collection(s), strings.ToLower(lastOf(x)))
	switch isAlone := o.removing.inFlight == x.removal; {
	case o.shown[key] && isAlone:
		o.missed(h)
	case o.shown[key] && len(o.suspects) < maxRemembered:
		o.suspects = append(o.suspects, h)
	}
	o.hidden[key] = h
}

// missed records a 404 for an object that the host shows.
func (o *observer) missed(h hiding) {
	known := o.operations[h.operation]
	known.notFound = true
	known.byName.notFound = known.byName.notFound || h.byName
}

// lastOf returns the last parameter of a request's path, the id or the name of an object.
func lastOf(x *exchange) string {
	parameters := x.operation.PathParameters()
	return x.operation.PathValues(x.Request.URL)[parameters[len(parameters)-1]]
}

// isNamed reports whether a request names a mailbox or a domain by its address or name.
func isNamed(x *exchange) bool {
	path := x.operation.Path
	return (strings.HasSuffix(path, "/{mailbox}") || strings.HasSuffix(path, "/{domain}")) && !api.IsID(lastOf(x))
}

// page compares a page with the earlier pages of the same list. Lists with a filter that a change may affect are not
// compared, because another client may put an object into one.
func (o *observer) page(x *exchange, value any) (differences []conformance.Difference) {
	body, ok := value.(map[string]any)
	query := x.Request.URL.Query()
	asked, domain := query.Get("page"), query.Get("domain")
	for _, name := range []string{"page", "page_size", "domain"} {
		query.Del(name)
	}
	if !ok || len(query) > 0 || !o.changing.quiet(x.changes) || len(o.lists) > maxRemembered {
		return nil
	}
	page, pageOK := body["page"].(json.Number)
	size, sizeOK := body["page_size"].(json.Number)
	number, err := page.Int64()
	if !pageOK || !sizeOK || err != nil || asked != "" && asked != page.String() {
		return nil
	}
	list := o.hash(x, x.operation.ID, domain, size.String())
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

// isStored reports whether a host stores a successful response under the Idempotency-Key: it has created something.
func isStored(s api.Spec, response map[string]any) bool {
	created, _ := response["created"].([]any)
	results, _ := response["results"].([]any)
	return s.Status == http.StatusCreated || len(created) > 0 || slices.ContainsFunc(results, func(result any) bool {
		o, _ := result.(map[string]any)
		return o["status"] == api.PurchasePurchased || o["status"] == api.PurchasePendingPayment
	})
}

// replay compares the response to a create under an Idempotency-Key with an earlier one to the same request.
func (o *observer) replay(x *exchange, value any) (differences []conformance.Difference) {
	key := x.Request.Header.Get(api.IdempotencyKeyHeader)
	if key == "" || !x.operation.Keyed() || x.RequestBody == nil {
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
	if isSuccess && !repeated && isStored(x.operation, object) && len(o.creates) < maxRemembered {
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
