package replay

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/emailaddr"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/conformance"
)

// Recording is the model of a recorded account. It is safe for concurrent use.
type Recording struct {
	exchanges   []*exchange
	collections map[string]*collection // by path
	byID        map[string]*entity
	succeeded   map[string]bool        // operations, by id
	absent      map[string]*exchange   // operations that the host lacks, by id
	domainNames map[string]string      // by id
	documents   map[string][]*exchange // reads without an object in the path
	refused     map[string]*exchange   // 403 and 404, by nameKey
	lists       map[string]*list       // by operation and filters
	outcomes    map[string][]*outcome
	changes     []*outcome // that succeeded, in the recorded order

	mu   sync.Mutex
	keys map[string]*response // by Idempotency-Key and request
}

// collection contains the objects of a kind, in the order of the lists.
type collection struct {
	entities []*entity
	pages    [][]*entity
}

// entity is an object over time.
type entity struct {
	id       string
	names    map[string]bool // that a path may contain, and the id
	filters  map[string]bool // of lists that contained the object
	domain   *entity         // of a DNS record
	steps    []*step         // the first one is the time before any change
	position int             // the current step
	later    time.Duration   // of its times after the recorded ones
	isListed bool
	// isRevocable reports that the object still exists after a delete.
	isRevocable bool
	isOption    bool // of dedicated IPs, which no operation changes
}

// step is an object after a change.
type step struct {
	outcome  *outcome
	values   []*value
	searches map[string]bool // that found the object
}

// value is an object in a response. Its object is nil if the object does not exist.
type value struct {
	at      int
	object  object
	partial bool // of a purchase
}

// list contains the facts about all pages of a list. total is the one of the last page.
type list struct {
	request request
	filters map[string]bool
	total   int
}

// outcome is the recorded response to a change. A bulk create has one for each of its items.
type outcome struct {
	*exchange
	replayed bool
	failed   object // an item of a bulk create that failed
	effects  []effect
	creates  bool
}

// effect is the step of an object after a change.
type effect struct {
	entity *entity
	step   int
}

func newRecording() *Recording {
	return &Recording{
		collections: map[string]*collection{}, byID: map[string]*entity{}, succeeded: map[string]bool{}, absent: map[string]*exchange{},
		domainNames: map[string]string{}, documents: map[string][]*exchange{}, refused: map[string]*exchange{}, lists: map[string]*list{}, outcomes: map[string][]*outcome{}, keys: map[string]*response{},
	}
}

// AccountID returns the account of the first request.
func (rec *Recording) AccountID() string { return rec.exchanges[0].request.account }

// collectionOf returns the path of the collection that an operation reads or changes.
func collectionOf(s api.Spec) string {
	path, _, _ := strings.Cut(s.Path[len(api.Prefix):], "/{")
	for _, verb := range []string{"/claim", "/purchase", "/bulk", "/export"} {
		path = strings.TrimSuffix(path, verb)
	}
	return path
}

// isList reports whether an operation lists objects that have an id.
func isList(s api.Spec) bool {
	if _, paged := s.Request.FieldByName("PageSize"); paged {
		return true
	}
	return s.ID == api.ListAuthorizations.ID
}

// nameParameter returns the last parameter of a path, which names the object, or "".
func nameParameter(s api.Spec) string {
	if parameters := s.PathParameters(); len(parameters) > 1 {
		return parameters[len(parameters)-1]
	}
	return ""
}

// nameKey identifies an operation with the name in its path.
func nameKey(r request) string {
	return r.operation.ID + " " + canonical(r.operation.PathValues(r.url)[nameParameter(r.operation)])
}

// canonical returns the spelling of a name that the API stores: of an id, a domain, an address or a part of one.
func canonical(name string) string {
	if api.IsID(name) {
		return api.CanonicalID(name)
	}
	for _, normalize := range []func(string) (string, error){emailaddr.Normalize, domainname.Normalize} {
		if normal, err := normalize(name); err == nil {
			return normal
		}
	}
	return strings.ToLower(name)
}

// entity returns the object with an id, which it adds to its collection.
func (rec *Recording) entity(path string, o object) *entity {
	id := fmt.Sprint(o["id"])
	key := path + " " + id
	e := rec.byID[key]
	if e == nil {
		e = &entity{id: id, names: map[string]bool{id: true}, filters: map[string]bool{}, steps: []*step{{searches: map[string]bool{}}}}
		e.isRevocable = path == collectionOf(api.ListServiceAccounts.Spec)
		rec.byID[key] = e
		c := rec.collections[path]
		if c == nil {
			c = &collection{}
			rec.collections[path] = c
		}
		c.entities = append(c.entities, e)
	}
	for _, member := range namesOf[path] {
		if name, ok := o[member].(string); ok {
			e.names[canonical(name)] = true
		}
	}
	return e
}

// namesOf lists the members that a path may contain in place of the id.
var namesOf = map[string][]string{"/domains": {"name", "domain_name"}, "/mailboxes": {"primary_email"}}

// find returns the object that a path names: one that exists, or else the last with the name.
func (rec *Recording) find(s api.Spec, u *url.URL) (found *entity) {
	name := canonical(s.PathValues(u)[nameParameter(s)])
	c := rec.collections[collectionOf(s)]
	if c == nil {
		return nil
	}
	for _, e := range c.entities {
		if e.names[name] && (found == nil || rec.now(e).object != nil || rec.now(found).object == nil) {
			found = e
		}
	}
	return found
}

// add adds an exchange to the model.
func (rec *Recording) add(x *exchange) {
	s := x.request.operation
	success := x.status/100 == 2
	if nameParameter(s) != "" && (x.status == http.StatusNotFound || x.status == http.StatusForbidden) {
		rec.refused[nameKey(x.request)] = x
	}
	if success {
		rec.succeeded[s.ID] = true
	}
	switch {
	case s.Changes():
		rec.addChange(x, success)
	case nameParameter(s) == "":
		key := rec.key(x.request)
		rec.documents[key] = append(rec.documents[key], x)
		if success && isList(s) {
			rec.addList(x)
		}
	case success:
		if o, ok := x.value.(object); ok {
			rec.entity(collectionOf(s), o).observe(&value{at: x.at, object: o})
		}
	case x.status == http.StatusNotFound:
		if e := rec.find(s, x.request.url); e != nil {
			e.observe(&value{at: x.at})
		}
	}
}

// observe adds a value to the current step. While a recording is read, this is the last one.
func (e *entity) observe(v *value) {
	last := e.steps[len(e.steps)-1]
	last.values = append(last.values, v)
}

// addList adds the objects of a page.
func (rec *Recording) addList(x *exchange) {
	s := x.request.operation
	filters := rec.filters(x.request)
	key := fmt.Sprint(s.ID, slices.Sorted(maps.Keys(filters)))
	l := &list{request: x.request, filters: filters}
	rec.lists[key] = l
	var shown []*entity
	for _, o := range conformance.Items(x.value) {
		if o["id"] == nil {
			continue
		}
		e := rec.entity(collectionOf(s), o)
		e.observe(&value{at: x.at, object: o})
		e.isOption = s.ID == api.ListDedicatedIPOptions.ID
		for filter := range filters {
			if strings.HasPrefix(filter, "search=") {
				e.steps[len(e.steps)-1].searches[filter] = true
			} else {
				e.filters[filter] = true
			}
		}
		e.isListed = true
		shown = append(shown, e)
	}
	page, isPage := x.value.(object)
	total, _ := page["total"].(json.Number)
	n, _ := total.Int64()
	l.total = int(n)
	if !isPage || l.total == len(shown) {
		rec.addMissing(l, x, shown)
	}
	if c := rec.collections[collectionOf(s)]; c != nil {
		c.pages = append(c.pages, shown)
	}
}

// addMissing notes which objects a complete list no longer contains, because of their deletion or a change
// of their owner. In a list by state, an object may only no longer match.
func (rec *Recording) addMissing(l *list, x *exchange, shown []*entity) {
	c := rec.collections[collectionOf(l.request.operation)]
	if l.request.query.Has("status") || l.request.query.Has("verification_state") || l.request.query.Has("search") || c == nil {
		return
	}
	for _, e := range c.entities {
		last := e.last()
		if !e.isListed || last.object == nil || slices.Contains(shown, e) || !matches(l.request, l.filters, e, last.object) {
			continue
		}
		isEnded := func(e *entity) bool {
			s := e.steps[len(e.steps)-1]
			return s.outcome != nil && s.values[0].object == nil
		}
		if isEnded(e) && reflect.DeepEqual(last.object, e.before().object) {
			continue // a response from before the deletion, see settle
		}
		if isEnded(e) || slices.ContainsFunc(rec.owners(e, last.object), isEnded) {
			e.observe(&value{at: x.at})
		}
	}
}

// arrange puts the objects in the order of their creation, and then those of each recorded page in its
// order: at the places that they have already.
func (c *collection) arrange() {
	slices.SortStableFunc(c.entities, func(a, b *entity) int { return cmp.Compare(a.since(), b.since()) })
	place := map[*entity]int{}
	for i, e := range c.entities {
		place[e] = i
	}
	for _, page := range c.pages {
		var places []int
		for _, e := range page {
			places = append(places, place[e])
		}
		slices.Sort(places)
		for i, e := range page {
			place[e] = places[i]
			c.entities[places[i]] = e
		}
	}
}

// since returns the time of the creation of an object, or of the domain that it was created with.
func (e *entity) since() int {
	if e.domain != nil {
		return max(e.createdAt(), e.domain.createdAt())
	}
	return e.createdAt()
}

// filters returns the filters of a list, each with its value in the canonical form.
func (rec *Recording) filters(r request) map[string]bool {
	filters := map[string]bool{}
	for name, values := range r.query {
		if name != "page" && name != "page_size" && values[0] != "" {
			filters[name+"="+rec.reference(values[0])] = true
		}
	}
	return filters
}

// reference returns the canonical form of a value: the name of a domain in place of its id.
func (rec *Recording) reference(text string) string {
	text = canonical(text)
	return cmp.Or(rec.domainNames[text], text)
}

// learnDomains finds the names of domains in a response, also of domains that are never read.
func (rec *Recording) learnDomains(x *exchange) {
	items := conformance.Items(x.value)
	if body, ok := x.value.(object); ok {
		items = slices.Concat(items, []object{body}, objectsIn(body["results"]))
	}
	for _, o := range items {
		for id, name := range map[string]string{"id": "name", "domain_id": "domain_name"} {
			if id == "id" && collectionOf(x.request.operation) != "/domains" {
				continue
			} else if o["domain_name"] != nil {
				name = "domain_name"
			}
			domain, _ := o[id].(string)
			if text, ok := o[name].(string); ok && domain != "" {
				rec.domainNames[canonical(domain)] = canonical(text)
			}
		}
	}
}

// addChange adds the outcome of a change.
func (rec *Recording) addChange(x *exchange, success bool) {
	s, path := x.request.operation, collectionOf(x.request.operation)
	switch body, _ := x.value.(object); {
	case success && s.ID == api.CreateMailboxes.ID:
		items := itemsOf(x.request)
		for _, report := range slices.Concat(objectsIn(body["created"]), objectsIn(body["failed"])) {
			var i int
			if _, err := fmt.Sscan(fmt.Sprint(report["index"]), &i); err != nil || i < 0 || i >= len(items) {
				continue
			}
			o := &outcome{exchange: x}
			if mailbox, ok := report["mailbox"].(object); ok {
				rec.create(o, path, mailbox, items[i])
			} else {
				o.failed = report
			}
			rec.addOutcome(items[i], o)
		}
	case success && s.ID == api.PurchaseDomains.ID:
		o := &outcome{exchange: x}
		for _, result := range objectsIn(body["results"]) {
			if result["id"] != nil && result["status"] != api.PurchaseFailed {
				rec.create(o, path, object{"id": result["id"], "name": result["domain_name"]}, x.request)
				o.effects[len(o.effects)-1].entity.last().partial = true
			}
		}
		rec.addOutcome(x.request, o)
	case success && s.Status == http.StatusCreated && body["id"] != nil:
		o := &outcome{exchange: x}
		rec.create(o, path, body, x.request)
		rec.addOutcome(x.request, o)
	default:
		o := &outcome{exchange: x}
		if e := rec.find(s, x.request.url); e != nil && success {
			var after object
			if s.Method != http.MethodDelete {
				after = maps.Clone(e.last().object)
				if after == nil {
					after = object{}
				}
				maps.Copy(after, body)
			}
			rec.step(o, e, &value{at: x.at, object: after})
		}
		rec.addOutcome(x.request, o)
	}
}

// create adds the first step of a new object.
func (rec *Recording) create(o *outcome, path string, body object, r request) {
	body = maps.Clone(body)
	for _, secret := range []string{"token", "generated_secret"} {
		delete(body, secret)
	}
	e := rec.entity(path, body)
	if sent, ok := r.body.(object); ok {
		for _, name := range []string{"domain", "workspace_id"} {
			if text, ok := sent[name].(string); ok {
				e.filters[name+"="+rec.reference(text)] = true
			}
		}
	}
	e.steps[0].values = nil // before, it does not exist
	rec.step(o, e, &value{at: o.at, object: body})
	o.creates = true
}

func (rec *Recording) step(o *outcome, e *entity, after *value) {
	e.position = len(e.steps)
	o.effects = append(o.effects, effect{e, e.position})
	e.steps = append(e.steps, &step{o, []*value{after}, map[string]bool{}})
}

// last returns the newest value.
func (e *entity) last() *value {
	for _, s := range slices.Backward(e.steps) {
		if len(s.values) > 0 {
			return s.values[len(s.values)-1]
		}
	}
	return &value{}
}

// before returns the newest value before the last step.
func (e *entity) before() *value {
	earlier := *e
	earlier.steps = e.steps[:len(e.steps)-1]
	return earlier.last()
}

// latest returns the newest object.
func (e *entity) latest() (o object) {
	for _, s := range e.steps {
		for _, v := range s.values {
			if v.object != nil {
				o = v.object
			}
		}
	}
	return o
}

func (rec *Recording) addOutcome(r request, o *outcome) {
	key := rec.key(r)
	rec.outcomes[key] = append(rec.outcomes[key], o)
	if o.status/100 == 2 && o.failed == nil {
		rec.changes = append(rec.changes, o)
	}
}

// itemsOf returns the creates of single mailboxes that have the same effect as a bulk create.
func itemsOf(r request) (items []request) {
	if r.operation.ID != api.CreateMailboxes.ID {
		return nil
	}
	body, _ := r.body.(object)
	for _, item := range objectsIn(body["items"]) {
		single := object{"domain": body["domain"]}
		maps.Copy(single, item)
		items = append(items, request{operation: api.CreateMailbox.Spec, account: r.account, url: r.url, body: single})
	}
	return items
}

func objectsIn(list any) (objects []object) {
	elements, _ := list.([]any)
	for _, element := range elements {
		if o, ok := element.(object); ok {
			objects = append(objects, o)
		}
	}
	return objects
}

// key identifies a request in all spellings: its operation, object, filters and body.
func (rec *Recording) key(r request) string {
	parts := []string{r.operation.ID}
	if name := nameParameter(r.operation); name != "" {
		if e := rec.find(r.operation, r.url); e != nil {
			parts = append(parts, e.id)
		} else {
			parts = append(parts, canonical(r.operation.PathValues(r.url)[name]))
		}
	}
	parts = append(parts, r.query.Encode())
	body := r.body
	if o, ok := body.(object); ok {
		o = maps.Clone(o)
		for name := range timesOf(r) { // such as an end in 30 days
			o[name] = "a time"
		}
		for name, member := range o {
			text, isText := member.(string)
			switch {
			case !isText:
			case name == "domain":
				o[name] = rec.reference(text)
			case name == "local_part" || strings.HasSuffix(name, "email") || strings.HasSuffix(name, "_id"):
				o[name] = canonical(text)
			}
		}
		body = o
	}
	text, _ := json.Marshal(body)
	return strings.Join(append(parts, string(text)), " ")
}

// timesOf returns the times in a body.
func timesOf(r request) map[string]time.Time {
	times := map[string]time.Time{}
	body, _ := r.body.(object)
	if r.operation.Body() == nil {
		return nil
	}
	for _, f := range r.operation.Body().Members {
		text, _ := body[f.Name].(string)
		if t, err := time.Parse(time.RFC3339, text); err == nil && f.Format == "date-time" {
			times[f.Name] = t
		}
	}
	return times
}

// build adds all exchanges to the model, and returns it to the time before the first one.
func (rec *Recording) build() {
	for _, x := range rec.exchanges {
		rec.learnDomains(x)
	}
	for _, x := range rec.exchanges {
		rec.add(x)
	}
	for path, c := range rec.collections {
		for _, e := range c.entities {
			e.settle()
			if path == collectionOf(api.ListDNSRecords.Spec) {
				e.domain = rec.domainOf(e)
			}
		}
		c.arrange()
	}
	for _, x := range rec.exchanges {
		s := x.request.operation
		if rec.succeeded[s.ID] || rec.absent[s.ID] != nil || s.Changes() && x.status != http.StatusMethodNotAllowed && x.status != http.StatusNotImplemented {
			continue
		}
		switch x.status {
		case http.StatusMethodNotAllowed, http.StatusNotImplemented:
			rec.absent[s.ID] = x
		case http.StatusNotFound:
			e := rec.find(s, x.request.url)
			if nameParameter(s) == "" || e != nil && e.existedAt(x.at) {
				rec.absent[s.ID] = x
			}
		}
	}
	for _, e := range rec.byID {
		e.position = 0
	}
}

// domainOf returns the domain of a DNS record, of several with its name the last one before the record.
func (rec *Recording) domainOf(e *entity) (found *entity) {
	c := rec.collections["/domains"]
	if c == nil {
		return nil
	}
	for _, d := range c.entities {
		for name := range d.names {
			if e.filters["domain="+name] && (found == nil || d.createdAt() <= e.seenAt()) {
				found = d
			}
		}
	}
	return found
}

// createdAt returns the time of the object's creation, or -1 if it existed before.
func (e *entity) createdAt() int {
	if len(e.steps) > 1 && e.steps[1].outcome.creates {
		return e.steps[1].outcome.at
	}
	return -1
}

// seenAt returns the time of the first response with the object.
func (e *entity) seenAt() int {
	for _, s := range e.steps {
		for _, v := range s.values {
			return v.at
		}
	}
	return -1
}

// settle removes the values of requests that were in flight together with a change, whose responses may be
// from before or after it.
func (e *entity) settle() {
	for n, s := range e.steps[1:] {
		before, after := e.steps[n], s.values[0].object
		isAfter := func(o object) bool {
			return reflect.DeepEqual(o, after) || after == nil && o["revoked_at"] != nil
		}
		for k := len(before.values); k > 1 && isAfter(before.values[k-1].object) && !isAfter(before.values[0].object); k-- {
			before.values = before.values[:k-1]
		}
		if len(before.values) == 0 {
			continue
		}
		then := before.values[len(before.values)-1].object
		for k := len(s.values) - 1; k > 0 && !reflect.DeepEqual(then, after); k-- {
			if reflect.DeepEqual(s.values[k].object, then) {
				s.values = slices.Delete(s.values, k, k+1)
			}
		}
	}
}

// existedAt reports whether a response before a time shows the object, and no later one its absence.
func (e *entity) existedAt(at int) bool {
	exists := false
	for _, s := range e.steps {
		for _, v := range s.values {
			if v.at < at {
				exists = v.object != nil
			}
		}
	}
	return exists
}
