package session

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Walk records facts about the objects and the natural keys of one walk of Terraform's core (a plan
// or an apply), so that no mail is deleted and no money spent because two resources have one object.
//
// Core sends neither resource addresses nor lifecycle settings. A walk sees these calls:
//
//	plan walk   Read for each object of the state (none with -refresh=false), then
//	            Plan(prior, config)  the object is kept, or the first plan of a replacement, which
//	                                 looks the same if -replace or replace_triggered_by is the cause
//	            Plan(null, config)   a create, the second plan of a replacement, or a tainted object
//	            Plan(prior, null)    the object is destroyed: an orphan or a deposed object
//	apply walk  Plan(null, config), Create; Plan(prior, config), Update; Delete
//
// Calls for different resources come in any order, and no call waits for another one. Each method
// records one fact, and returns the conflict with the facts before it, so that the later of two
// calls fails. These pairs are conflicts; objects are compared by id, and keys with the keys of objects:
//
//	fact              | Refreshed | PlanKeep | PlanDestroy | PlanNew    | PlanExisting | Acquire
//	                  |           |          | PlanReplace |            | (adopts)     |
//	Refreshed         |           |          |             | InState 12 | InState 1    | InState 1
//	PlanKeep          |           | Twice    | Twice       | InState 2  | InState      | InState
//	PlanReplace       |           | Twice    |             | InState 2  | Destroyed    | Destroyed
//	PlanDestroy       |           | Twice    |             | Destroyed  | Destroyed    | Destroyed
//	PlanRelease, Gone |           |          |             |            |              |
//	PlanNew           |           | Taken 2  | Taken 23    |            |              |
//	PlanExisting      | Taken 1   | Taken    | Taken       |            | Taken        |
//	Acquire           |           |          |             |            | Taken        | Taken
//
//	1  not if the resource may release the object: the plan of that resource decides
//	2  only if the object holds mail or money
//	3  PlanDestroy for every object, because core deletes it at the same time as it creates the other
//
// Two creates of one key are a conflict too, Created.
// A process deletes no object that it has itself acquired, see [Walk.IsAcquired].
//
// The zero value is ready to use. All methods are safe for concurrent use.
type Walk struct {
	mu       sync.Mutex
	disabled bool
	objects  map[key]*objectFacts // by id
	keys     map[key]*keyFacts
	zones    []PlannedZone
	records  map[PlannedRecord]bool
	// conflicts counts the calls of MayReport.
	conflicts int
}

// Object identifies an object by its resource type and its id, by its natural keys in the
// API's spelling, or by both. It has several keys if its domain may be named by name or id.
type Object struct {
	Type string
	ID   string
	Keys []string
	// IsValuable means that the object holds mail or money.
	IsValuable bool
	// MayBeReleased means that its resource may drop it from the state and leave it as it is.
	MayBeReleased bool
}

// Named returns an object of which only a natural key is known.
func Named(resourceType, key string) Object { return Object{Type: resourceType, Keys: []string{key}} }

// key is a natural key or an id of a type of object.
type key struct{ resourceType, name string }

type objectFacts struct {
	isInState   bool
	isHeld      bool // by the state of a resource that can't release it
	isKept      bool // by its plan
	isReplaced  bool // by its plan
	isDestroyed bool // by its plan, for good
	isAdopted   bool // by the plan of a create
	isAcquired  bool // created or adopted by this process
	isGone      bool // dropped by a refresh, or deleted by this process
}

type keyFacts struct {
	isCreated bool   // by a plan that creates an object with it, or adopts one
	isNew     bool   // that plan has found no object
	id        string // of the object of the state, or of the adopted one
}

// Conflict is why a resource can't have an object, in words for a message.
type Conflict string

// The conflicts. Those before Created concern an object that exists, and a create.
const (
	NoConflict Conflict = ""
	Exists     Conflict = "no resource of this run is known to have it"
	InState    Conflict = "Terraform's state has it, in this resource or in another one"
	Taken      Conflict = "another resource of the configuration creates or adopts it"
	Destroyed  Conflict = "the same plan destroys it at another address, or as a deposed object"
	Created    Conflict = "another resource of the configuration creates or adopts it too"
	Twice      Conflict = "another resource has it too: the same plan keeps it at one address, and keeps or destroys it at another one, or as a deposed object"
)

// mostConflicts is how many conflicts of a walk are worth an error: they often have one cause.
const mostConflicts = 20

// MayReport reports whether another conflict of the walk is worth an error. The walk fails in
// any case.
func (w *Walk) MayReport() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conflicts++
	return w.conflicts <= mostConflicts
}

// Disable makes the walk record nothing and find no conflicts, for a session that serves
// several walks, whose calls can't be distinguished. Call it before any other method.
func (w *Walk) Disable() { w.disabled = true }

// lock returns the facts about an object and about its keys. Changes of the facts about an object
// without an id, and in a disabled walk, have no effect.
func (w *Walk) lock(o Object) (object *objectFacts, keys []*keyFacts) {
	w.mu.Lock()
	if w.disabled {
		return &objectFacts{}, nil
	}
	for _, name := range o.Keys {
		keys = append(keys, at(&w.keys, key{o.Type, name}))
	}
	return w.byID(o.Type, o.ID), keys
}

// byID returns the facts about an object; w.mu must be held.
func (w *Walk) byID(resourceType, id string) *objectFacts {
	if id == "" {
		return &objectFacts{}
	}
	return at(&w.objects, key{resourceType, strings.ToLower(id)})
}

func at[T any](m *map[key]*T, k key) *T {
	if *m == nil {
		*m = map[key]*T{}
	}
	if (*m)[k] == nil {
		(*m)[k] = new(T)
	}
	return (*m)[k]
}

// identify records which object has the keys.
func identify(o Object, keys []*keyFacts) {
	for _, k := range keys {
		k.id = o.ID
	}
}

// Refreshed records that the state has an object.
func (w *Walk) Refreshed(o Object) Conflict {
	object, keys := w.lock(o)
	defer w.mu.Unlock()
	identify(o, keys)
	object.isInState = true
	if o.MayBeReleased {
		return NoConflict
	}
	object.isHeld = true
	if object.isAdopted && !object.isAcquired {
		return Taken
	}
	return NoConflict
}

// Gone records that a refresh dropped an object from the state, or that it was deleted.
func (w *Walk) Gone(o Object) {
	object, keys := w.lock(o)
	defer w.mu.Unlock()
	identify(o, keys)
	*object = objectFacts{isGone: true}
}

// Dropped returns the id of the object with one of the keys if a refresh has dropped it from the
// state, or if this process has deleted it; "" otherwise.
func (w *Walk) Dropped(o Object) (id string) {
	_, keys := w.lock(o)
	defer w.mu.Unlock()
	for _, k := range keys {
		if w.byID(o.Type, k.id).isGone {
			id = cmp.Or(id, k.id)
		}
	}
	return id
}

// PlanKeep records a plan that keeps or updates an object of the state.
func (w *Walk) PlanKeep(o Object) Conflict {
	return w.plan(o, func(f *objectFacts) *bool { return &f.isKept })
}

// PlanDestroy records a plan that destroys an object of the state for good.
func (w *Walk) PlanDestroy(o Object) Conflict {
	return w.plan(o, func(f *objectFacts) *bool { return &f.isDestroyed })
}

// PlanReplace records the first plan of a replacement. What depends on the resource may then
// create an object with the key of the replaced one, unless that holds mail or money.
func (w *Walk) PlanReplace(o Object) Conflict {
	return w.plan(o, func(f *objectFacts) *bool { return &f.isReplaced })
}

// plan records a fact about an object of the state.
func (w *Walk) plan(o Object, fact func(*objectFacts) *bool) (conflict Conflict) {
	object, keys := w.lock(o)
	defer w.mu.Unlock()
	before := *object
	*fact(object) = true
	switch {
	case before.isKept || object.isKept && (before.isReplaced || before.isDestroyed):
		return Twice
	case before.isAcquired: // the plan's create or adoption is its own
		return NoConflict
	case before.isAdopted:
		conflict = Taken
	}
	identify(o, keys)
	object.isInState = true
	for _, k := range keys {
		if k.isNew && (o.IsValuable || object.isDestroyed) {
			conflict = Taken
		}
	}
	return conflict
}

// PlanRelease records a plan that drops an object from the state and leaves it as it is.
func (w *Walk) PlanRelease(o Object) {
	object, _ := w.lock(o)
	defer w.mu.Unlock()
	object.isInState = false
}

// PlanCreate records the keys of a planned create, before it looks for its object. Then call
// [Walk.PlanExisting] if there is one, and otherwise [Walk.PlanNew].
func (w *Walk) PlanCreate(o Object) Conflict {
	_, keys := w.lock(o)
	defer w.mu.Unlock()
	if slices.ContainsFunc(keys, func(k *keyFacts) bool { return k.isCreated }) {
		return Created
	}
	for _, k := range keys {
		k.isCreated = true
	}
	return NoConflict
}

// PlanNew records that the object of a planned create does not exist, as far as could be looked up. It has
// no effect if the create adopts one.
func (w *Walk) PlanNew(o Object) (conflict Conflict) {
	_, keys := w.lock(o)
	defer w.mu.Unlock()
	for _, k := range keys {
		switch object := w.byID(o.Type, k.id); {
		case object.isAdopted:
			return NoConflict
		case object.isDestroyed:
			conflict = Destroyed
		case o.IsValuable && (object.isHeld || object.isKept || object.isReplaced):
			conflict = InState
		}
	}
	for _, k := range keys {
		k.isCreated, k.isNew = conflict == NoConflict, conflict == NoConflict
	}
	return conflict
}

// PlanExisting records that the object exists which a plan would create. Without a conflict, the create
// adopts it. With one, or if it does not adopt, the create is refused, and has no keys.
func (w *Walk) PlanExisting(o Object, adopts bool) (conflict Conflict) {
	object, keys := w.lock(o)
	defer w.mu.Unlock()
	switch conflict = object.owner(); {
	case object.isAdopted || object.isAcquired:
		conflict = Taken
	case adopts || conflict != NoConflict:
	case object.isInState:
		conflict = InState
	default:
		conflict = Exists
	}
	if conflict != NoConflict {
		for _, k := range keys {
			k.isCreated = false
		}
		return conflict
	}
	identify(o, keys)
	object.isAdopted = true
	return NoConflict
}

// Acquire records that this process has created or adopted an object. After a conflict, the
// object belongs to another resource.
func (w *Walk) Acquire(o Object) Conflict {
	object, _ := w.lock(o)
	defer w.mu.Unlock()
	if object.isAcquired {
		return Taken
	}
	conflict := object.owner()
	object.isAcquired = conflict == NoConflict
	return conflict
}

// owner returns why a create can't have an object of the state.
func (o *objectFacts) owner() Conflict {
	switch {
	case o.isDestroyed || o.isReplaced:
		return Destroyed
	case o.isHeld || o.isKept:
		return InState
	}
	return NoConflict
}

// Adopted returns the id of the object with one of the keys that a plan adopts, or "".
func (w *Walk) Adopted(o Object) (id string) {
	_, keys := w.lock(o)
	defer w.mu.Unlock()
	for _, k := range keys {
		if w.byID(o.Type, k.id).isAdopted {
			id = k.id
		}
	}
	return id
}

// MayBeGone reports whether an object that a lookup has found may be gone when the create runs: the list
// may be older than its delete, and a replacement deletes what is not valuable first.
func (w *Walk) MayBeGone(o Object) bool {
	f := w.factsOf(o)
	return f.isGone || !o.IsValuable && f.isInState && !f.isDestroyed
}

// IsAcquired reports whether this process has created or adopted an object.
func (w *Walk) IsAcquired(o Object) bool { return w.factsOf(o).isAcquired }

// IsGone reports whether a refresh has dropped the object with an id from the state, or this process
// has deleted it. A list that was read before may still have it.
func (w *Walk) IsGone(o Object) bool { return w.factsOf(o).isGone }

// IsDestroyed reports whether the plan destroys or replaces the object with an id.
func (w *Walk) IsDestroyed(o Object) bool { f := w.factsOf(o); return f.isDestroyed || f.isReplaced }

// IsInState reports whether the state has the object with an id.
func (w *Walk) IsInState(o Object) bool { return w.factsOf(o).isInState }

func (w *Walk) factsOf(o Object) objectFacts {
	object, _ := w.lock(o)
	defer w.mu.Unlock()
	return *object
}

// MayBeInState reports whether the state has the object with an id, as far as the walk knows.
func (w *Walk) MayBeInState(o Object) bool { return w.disabled || w.IsInState(o) }

// IsExpected reports whether the object with one of the keys does not exist yet, because the
// walk creates it, or may do so.
func (w *Walk) IsExpected(o Object) bool {
	_, keys := w.lock(o)
	defer w.mu.Unlock()
	return w.disabled || slices.ContainsFunc(keys, func(k *keyFacts) bool { return k.isCreated && !w.byID(o.Type, k.id).isAdopted })
}

// Expected returns the natural keys of the objects of a type that the walk creates.
func (w *Walk) Expected(resourceType string) (names []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for k, facts := range w.keys {
		if k.resourceType == resourceType && facts.isCreated {
			names = append(names, k.name)
		}
	}
	slices.Sort(names)
	return names
}

// Domain identifies a domain by its id, its canonical name, or both; "" is unknown.
type Domain struct{ ID, Name string }

// is reports whether both are the same domain, as far as they are known.
func (d Domain) is(other Domain) bool {
	return d.ID != "" && strings.EqualFold(d.ID, other.ID) || d.Name != "" && d.Name == other.Name
}

// PlannedRecord is a DNS record that a plan for a resource of its own concerns.
type PlannedRecord struct {
	Domain
	// Name may be relative to the domain or in full.
	Name, Type string
	// IsDestroyed means that the plan destroys it.
	IsDestroyed bool
}

// PlannedZone is a plan for all DNS records of a domain.
type PlannedZone struct {
	Domain
	// Keeps reports whether the zone keeps the records of a name and type, and Removes
	// whether it removes the ones that it does not have.
	Keeps, Removes func(name, recordType string) bool
}

// contradicts reports whether the plans for a zone and for a record of its own can't both be
// applied: one of them keeps what the other one changes or deletes.
func (z PlannedZone) contradicts(r PlannedRecord) bool {
	return z.is(r.Domain) && (z.Keeps(r.Name, r.Type) || !r.IsDestroyed && z.Removes(r.Name, r.Type))
}

// PlanRecord records the plan for a DNS record, and reports whether the plan for a zone
// contradicts it.
func (w *Walk) PlanRecord(r PlannedRecord) (isContradicted bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.disabled {
		return false
	}
	if w.records == nil {
		w.records = map[PlannedRecord]bool{}
	}
	w.records[r] = true
	return slices.ContainsFunc(w.zones, func(z PlannedZone) bool { return z.contradicts(r) })
}

// PlanZone records the plan for a zone, and returns the records whose plans contradict it.
func (w *Walk) PlanZone(z PlannedZone) (contradicting []PlannedRecord) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.zones = append(w.zones, z)
	for r := range w.records {
		if z.contradicts(r) {
			contradicting = append(contradicting, r)
		}
	}
	return contradicting
}
