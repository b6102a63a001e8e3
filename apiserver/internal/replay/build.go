package replay

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/conformance"
)

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
	rec.findTwins()
	rec.findAbsent()
	for _, e := range rec.byID {
		e.position = 0
	}
}

// findAbsent finds the operations that the host lacks. None of them succeeded, and a read of one got a 404 for an
// object that exists.
func (rec *Recording) findAbsent() {
	for _, x := range rec.exchanges {
		s := x.request.operation
		if rec.succeeded[s.ID] || rec.absent[s.ID] != nil {
			continue
		}
		switch x.status {
		case http.StatusMethodNotAllowed, http.StatusNotImplemented:
			rec.absent[s.ID] = x
		case http.StatusNotFound:
			e := rec.find(s, x.request.url)
			if !s.Changes() && (nameParameter(s) == "" || e != nil && rec.existedAt(e, x.at)) {
				rec.absent[s.ID] = x
			}
		}
	}
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
		if isEnded(e) && reflect.DeepEqual(last.object, e.beforeLast().object) {
			continue // a response from before the deletion, see settle
		}
		if isEnded(e) || slices.ContainsFunc(rec.owners(e, last.object), isEnded) {
			e.observe(&value{at: x.at})
		}
	}
}

// addChange adds the outcome of a change.
func (rec *Recording) addChange(x *exchange, success bool) {
	s := x.request.operation
	body, _ := x.value.(object)
	o := &outcome{exchange: x}
	switch {
	case success && s.ID == api.CreateMailboxes.ID:
		rec.addBulk(x, body)
		return
	case success && s.ID == api.PurchaseDomains.ID:
		for _, result := range objectsIn(body["results"]) {
			if result["id"] != nil && result["status"] != api.PurchaseFailed {
				rec.create(o, object{"id": result["id"], "name": result["domain_name"]}, x.request)
				o.effects[len(o.effects)-1].entity.last().partial = true
			}
		}
	case success && s.Status == http.StatusCreated && body["id"] != nil:
		rec.create(o, body, x.request)
	case success:
		if e := rec.find(s, x.request.url); e != nil {
			var after object
			if s.Method != http.MethodDelete {
				after = object{}
				maps.Copy(after, e.last().object)
				maps.Copy(after, body)
			}
			rec.step(o, e, &value{at: x.at, object: after})
		}
	}
	rec.addOutcome(x.request, o)
}

// addBulk adds an outcome for each mailbox of a bulk create.
func (rec *Recording) addBulk(x *exchange, body object) {
	items := itemsOf(x.request)
	for _, report := range slices.Concat(objectsIn(body["created"]), objectsIn(body["failed"])) {
		var i int
		if _, err := fmt.Sscan(fmt.Sprint(report["index"]), &i); err != nil || i < 0 || i >= len(items) {
			continue
		}
		o := &outcome{exchange: x}
		if mailbox, ok := report["mailbox"].(object); ok {
			rec.create(o, mailbox, items[i])
		} else {
			o.failed = report
		}
		rec.addOutcome(items[i], o)
	}
}

// create adds the first step of a new object.
func (rec *Recording) create(o *outcome, body object, r request) {
	body = maps.Clone(body)
	for _, secret := range []string{"token", "generated_secret"} {
		delete(body, secret)
	}
	e := rec.entity(collectionOf(r.operation), body)
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

func (rec *Recording) addOutcome(r request, o *outcome) {
	o.key = rec.key(r)
	rec.outcomes[o.key] = append(rec.outcomes[o.key], o)
	if o.status/100 == 2 && o.failed == nil {
		rec.changes = append(rec.changes, o)
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
