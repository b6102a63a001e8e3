package replay

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
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
	twinIDs     map[string]string // the first one's, by id
	changes     []*outcome        // that succeeded, in the recorded order

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
	path     string // of its collection
	id       string
	names    map[string]bool // that a path may contain, and the id
	filters  map[string]bool // of lists that contained the object
	domain   *entity         // of a DNS record
	steps    []*step         // the first one is the time before any change
	position int             // the current step
	later    time.Duration   // of its times after the recorded ones
	isListed bool
	// twins are the objects that equal requests have created, with this one.
	twins *[]*entity
	// track is the object whose steps this one follows: itself, or a twin.
	track *entity
	// before is the twin before the last change, and then is this object at that time. See follow.
	before, then object
	// inPlace contains the ids of the objects that take the place of others, by the recorded id. See adopt.
	inPlace map[string]string
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
	key      string // of the recorded request
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
		domainNames: map[string]string{}, documents: map[string][]*exchange{}, refused: map[string]*exchange{}, lists: map[string]*list{}, outcomes: map[string][]*outcome{}, twinIDs: map[string]string{}, keys: map[string]*response{},
	}
}

// AccountID returns the account of the first request.
func (rec *Recording) AccountID() string { return rec.exchanges[0].request.account }

// entity returns the object with an id, which it adds to its collection.
func (rec *Recording) entity(path string, o object) *entity {
	id := fmt.Sprint(o["id"])
	key := path + " " + id
	e := rec.byID[key]
	if e == nil {
		e = &entity{path: path, id: id, names: map[string]bool{id: true}, inPlace: map[string]string{}, filters: map[string]bool{}, steps: []*step{{searches: map[string]bool{}}}}
		e.track = e
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
func (rec *Recording) find(s api.Spec, u *url.URL) *entity {
	return rec.named(collectionOf(s), canonical(s.PathValues(u)[nameParameter(s)]))
}

// named returns the object with a name or id: one that exists, or else the last one.
func (rec *Recording) named(path, name string) (found *entity) {
	c := rec.collections[path]
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

// owningPaths lists the collections of objects without which others can't exist.
var owningPaths = []string{"/domains", "/workspaces", "/auth/service-accounts"}

// owners returns the objects without which an object can't exist.
func (rec *Recording) owners(e *entity, o object) (owners []*entity) {
	if e.domain != nil {
		owners = append(owners, cmp.Or(rec.byID["/domains "+e.inPlace[e.domain.id]], e.domain))
	}
	for _, member := range []string{"domain_id", "workspace_id", "scope_id", "resource_id", "subject_id"} {
		id, _ := o[member].(string)
		for _, path := range owningPaths {
			if owner := rec.byID[path+" "+id]; id != "" && owner != nil && owner != e {
				owners = append(owners, owner)
			}
		}
	}
	return owners
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

// last returns the newest value.
func (e *entity) last() *value {
	for _, s := range slices.Backward(e.steps) {
		if len(s.values) > 0 {
			return s.values[len(s.values)-1]
		}
	}
	return &value{}
}

// beforeLast returns the newest value before the last step.
func (e *entity) beforeLast() *value {
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

// earliest returns the first object.
func (e *entity) earliest() object {
	for _, s := range e.steps {
		for _, v := range s.values {
			if v.object != nil {
				return v.object
			}
		}
	}
	return nil
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

func (e *entity) sharesName(other *entity) bool {
	for name := range e.names {
		if other.names[name] {
			return true
		}
	}
	return false
}

// existedAt reports whether a response before a time shows the object and its owners, and no later one their absence.
func (rec *Recording) existedAt(e *entity, at int) bool {
	exists := false
	for _, s := range e.steps {
		for _, v := range s.values {
			if v.at < at {
				exists = v.object != nil
			}
		}
	}
	return exists && !slices.ContainsFunc(rec.owners(e, e.latest()), func(owner *entity) bool { return !rec.existedAt(owner, at) })
}
