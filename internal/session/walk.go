package session

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Walk records facts about the objects and the natural keys of one walk of Terraform's core (a plan
// or an apply), so that no mail is deleted and no money spent because two resources manage one object.
//
// Core sends neither resource addresses nor lifecycle settings. A walk sees these calls:
//
//	plan walk   Read for each object of the state (none with -refresh=false), then
//	            Plan(prior, config)  the object is kept, or the first plan of a replacement: both look
//	                                 the same if -replace or replace_triggered_by is the cause
//	            Plan(null, config)   a create, the second plan of a replacement, or a tainted object
//	            Plan(prior, null)    the object is destroyed: an orphan or a deposed object
//	apply walk  Plan(null, config), Create; Plan(prior, config), Update; Delete
//
// Calls for different resources come in any order, and no call waits for another one. Each method
// records one fact, and returns the conflict with an earlier fact, so that the later of two calls
// fails. These pairs are conflicts; objects are compared by id, and keys with the keys of objects:
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
//	1  not if the resource may release the object: the resource's plan decides
//	2  only if the object holds mail or money
//	3  PlanDestroy for every object, because core deletes it while it creates the other one
//
// Two creates of one key are a conflict too, Created.
// A process does not delete an object that it acquired, see [Walk.IsAcquired].
//
// The zero value is ready to use. All methods are safe for concurrent use.
type Walk struct {
	mu       sync.Mutex
	disabled bool
	objects  map[key]*objectFacts // by id
	keys     map[key]*keyFacts
	zones    []PlannedZone
	records  map[PlannedRecord]bool
	// isApply means that the process has acquired an object.
	isApply bool
	targets map[string]*targetFacts // by canonical address
	// conflicts counts the calls of MayReport.
	conflicts int
}

// Object identifies an object by its resource type and its id, by its natural keys in the
// API's spelling, or by both. An object in a domain may have one key with the domain's name and
// one with its id.
type Object struct {
	Type string
	ID   string
	Keys []string
	// IsValuable means that the object holds mail or money.
	IsValuable bool
	// MayBeReleased means that the resource may drop the object from the state without a change.
	MayBeReleased bool
}

// Named returns an object with a natural key and an unknown id.
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
	isCreated bool   // a plan creates or adopts an object with the key
	isNew     bool   // that plan found no object
	id        string // of the object in the state, or of the adopted object
}

type targetFacts struct {
	isCreated bool     // by this process, as the address of a mailbox
	pending   []string // ids of the rules that this process created or changed, and that wait for the address
}

// Conflict is the reason why a resource can't manage an object, in words for a message.
type Conflict string

// The conflicts. Exists to Destroyed are between a create and an existing object.
const (
	NoConflict Conflict = ""
	Exists     Conflict = "no resource of this run is known to have it"
	InState    Conflict = "Terraform's state has it, in this resource or in another one"
	Taken      Conflict = "another resource of the configuration creates or adopts it"
	Destroyed  Conflict = "the same plan destroys it at another address, or as a deposed object"
	Created    Conflict = "another resource of the configuration creates or adopts it too"
	Twice      Conflict = "another resource has it too: the same plan keeps it at one address, and keeps or destroys it at another one, or as a deposed object"
)

// mostConflicts limits the conflicts of a walk that are worth an error: they often share a cause.
const mostConflicts = 20

// MayReport reports whether another conflict of the walk is worth an error. After mostConflicts
// errors the walk fails anyway.
func (w *Walk) MayReport() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conflicts++
	return w.conflicts <= mostConflicts
}

// Disable makes the walk record nothing and find no conflicts, for a session that serves several
// walks and can't tell their calls apart. Call it before any other method.
func (w *Walk) Disable() { w.disabled = true }

// lock locks the walk, and returns the facts about an object and its keys. In a disabled walk, and
// for an object without an id, changes of the object's facts have no effect.
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

// identify records the id of the object with the keys.
func identify(o Object, keys []*keyFacts) {
	for _, k := range keys {
		k.id = o.ID
	}
}

// Reading records that a refresh of an object of the state has begun. Refreshed or Gone follows, or an error.
func (w *Walk) Reading(o Object) {
	object, _ := w.lock(o)
	defer w.mu.Unlock()
	object.isInState = true
}

// Refreshed records that the state contains an object.
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

// Dropped returns the id of the object with one of the keys if a refresh dropped it from the
// state, or if this process deleted it; "" otherwise.
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

// PlanReplace records the first plan of a replacement. Another resource that depends on this one may
// then create an object with the same key, unless the replaced object holds mail or money.
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
	case before.isAcquired: // the create or adoption was this resource's
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

// PlanRelease records a plan that drops an object from the state without a change of the object.
func (w *Walk) PlanRelease(o Object) {
	object, _ := w.lock(o)
	defer w.mu.Unlock()
	object.isInState = false
}

// PlanCreate records the keys of a planned create. Call it before looking for an existing object, and
// then [Walk.PlanExisting] if an object exists, or [Walk.PlanNew].
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

// PlanNew records that no object was found for a planned create. It has no effect if a plan adopts
// the object with the key.
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

// PlanExisting records that the object of a planned create exists. Without a conflict, the create
// adopts the object. After a conflict, or if it does not adopt, its keys are free again.
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

// Acquire records that this process created or adopted an object. After a conflict, the
// object belongs to another resource.
func (w *Walk) Acquire(o Object) Conflict {
	object, _ := w.lock(o)
	defer w.mu.Unlock()
	if object.isAcquired {
		return Taken
	}
	conflict := object.owner()
	object.isAcquired = conflict == NoConflict
	w.isApply = w.isApply || object.isAcquired && !w.disabled
	return conflict
}

// IsApply reports whether this process has created or adopted an object. A plan never does.
func (w *Walk) IsApply() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.isApply
}

// owner returns the conflict of a create with an object of the state.
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

// MayBeGone reports whether an object that a lookup found may be gone when the create runs: the list
// may be older than the delete, and a replacement first deletes an object without mail or money.
func (w *Walk) MayBeGone(o Object) bool {
	f := w.factsOf(o)
	return f.isGone || !o.IsValuable && f.isInState && !f.isDestroyed
}

// IsAcquired reports whether this process created or adopted an object.
func (w *Walk) IsAcquired(o Object) bool { return w.factsOf(o).isAcquired }

// IsGone reports whether a refresh dropped the object with an id from the state, or this process
// deleted it. An earlier list may still contain it.
func (w *Walk) IsGone(o Object) bool { return w.factsOf(o).isGone }

// IsDestroyed reports whether the plan destroys or replaces the object with an id.
func (w *Walk) IsDestroyed(o Object) bool { f := w.factsOf(o); return f.isDestroyed || f.isReplaced }

// IsInState reports whether the state contains the object with an id.
func (w *Walk) IsInState(o Object) bool { return w.factsOf(o).isInState }

func (w *Walk) factsOf(o Object) objectFacts {
	object, _ := w.lock(o)
	defer w.mu.Unlock()
	return *object
}

// MayBeInState is IsInState, but true in a disabled walk.
func (w *Walk) MayBeInState(o Object) bool { return w.disabled || w.IsInState(o) }

// IsExpected reports whether the object with one of the keys does not exist yet, because the
// walk creates or may create it.
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

// AwaitAddress records a forwarding rule to an address, which is pending after this process created or changed
// it, and reports whether this process has created a mailbox with the address. The API decides on a target when
// it gets it, so that a rule stays pending if the mailbox is younger. The later call, AwaitAddress or
// [Walk.CreateAddress], returns the rule, and its caller sends the target again.
func (w *Walk) AwaitAddress(rule, address string) (isCreated bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.disabled {
		return false
	}
	target := w.target(address)
	if !target.isCreated {
		target.pending = append(target.pending, rule)
	}
	return target.isCreated
}

// CreateAddress records that this process created a mailbox, and returns the ids of the pending rules to its
// address. See [Walk.AwaitAddress].
func (w *Walk) CreateAddress(address string) (rules []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.disabled {
		return nil
	}
	target := w.target(address)
	rules, target.pending, target.isCreated = target.pending, nil, true
	return rules
}

// target returns the facts about an address in its canonical form; w.mu must be held.
func (w *Walk) target(address string) *targetFacts {
	if w.targets == nil {
		w.targets = map[string]*targetFacts{}
	}
	if w.targets[address] == nil {
		w.targets[address] = &targetFacts{}
	}
	return w.targets[address]
}

// Domain identifies a domain by its id, its canonical name, or both; "" is unknown.
type Domain struct{ ID, Name string }

// is reports whether both domains have the same known id or name.
func (d Domain) is(other Domain) bool {
	return d.ID != "" && strings.EqualFold(d.ID, other.ID) || d.Name != "" && d.Name == other.Name
}

// PlannedRecord is a DNS record in the plan of a resource for one record.
type PlannedRecord struct {
	Domain
	// Name may be relative to the domain or in full.
	Name, Type string
	// IsDestroyed means that the plan destroys the record.
	IsDestroyed bool
}

// PlannedZone is a plan for all DNS records of a domain.
type PlannedZone struct {
	Domain
	// Keeps reports whether the zone keeps the records of a name and type, and Removes
	// whether it removes records of a name and type that it does not list.
	Keeps, Removes func(name, recordType string) bool
}

// contradicts reports whether the plans for a zone and for a single record can't both be applied,
// because one of them keeps records that the other one changes or deletes.
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

// PlanZone records the plan for a zone, and returns the planned records that it contradicts.
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
