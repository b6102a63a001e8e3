package session

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"
)

// Walk records which objects and natural keys the resources of one walk of Terraform's core
// (a plan or an apply) have. It finds what would delete mail or spend money by mistake:
//
//   - Two creates of one key are a conflict.
//   - So is a create of a key that the state has if the object holds mail or money: it would be
//     deleted for the new one by a replacement, a tainted object or a block renamed without moved.
//   - So is a create of a key whose object the plan destroys at another address, for every kind,
//     because core does both at the same time.
//   - An object that the plan keeps at one address is neither kept nor destroyed at another one.
//   - A process deletes no object that it has itself created or adopted.
//
// An object that one resource releases, and does not delete, may be adopted by another one in
// the same plan.
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
// Calls of different resources come in any order, so that each method compares with the calls
// before it. The plan for an object of the state follows its Read, but a tainted object has none,
// nor has one that a removed block drops from the state.
//
// The zero value is ready to use. All methods are safe for concurrent use.
type Walk struct {
	// Patience is how long [Walk.AwaitOwners] waits at most; 0 is 10 seconds. Set it before the
	// walk is used.
	Patience time.Duration

	mu       sync.Mutex
	plans    *sync.Cond // for each plan of an object of the state, once somebody has waited
	disabled bool
	keys     map[key]*keyState
	objects  map[key]*objectState
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

type keyState struct {
	isInState   bool
	isAwaited   bool   // as for its object
	isDestroyed bool   // the plan destroys its object
	isCreated   bool   // the plan creates an object with it, or adopts one
	isAdopted   bool   // the plan adopts one
	gone        string // the id of its object, which a refresh or this process dropped
}

type objectState struct {
	isInState, isKept, isDestroyed bool
	isAwaited                      bool // it is in the state and may be released, and has no plan yet
	isAdopted                      bool // by the plan
	isAcquired                     bool // created or adopted by this process
	isGone                         bool // dropped by a refresh, or deleted by this process
}

// Conflict is why a resource can't have an object, in words for a message.
type Conflict string

// The conflicts.
const (
	NoConflict Conflict = ""
	Created    Conflict = "another resource of the configuration creates or adopts it"
	InState    Conflict = "Terraform's state has it already, so that it would be deleted for the new one, or two resources would manage it"
	Kept       Conflict = "another resource of the configuration has it too, and keeps it"
	Destroyed  Conflict = "the same plan destroys it at another address, or as a deposed object"
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

// lock returns the states of an object and of its keys. Changes of the state of an object
// without an id, and of a disabled walk, have no effect.
func (w *Walk) lock(o Object) (object *objectState, keys []*keyState) {
	w.mu.Lock()
	object = &objectState{}
	if w.disabled {
		return object, nil
	}
	if o.ID != "" {
		object = at(&w.objects, key{o.Type, strings.ToLower(o.ID)})
	}
	for _, name := range o.Keys {
		keys = append(keys, at(&w.keys, key{o.Type, name}))
	}
	return object, keys
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

// set sets whether the state has an object, and whether its plan is awaited.
func set(object *objectState, keys []*keyState, isInState, isAwaited bool) {
	object.isInState, object.isAwaited = isInState, isAwaited
	for _, k := range keys {
		k.isInState, k.isAwaited = isInState, isAwaited
	}
}

// Refreshed records that the state has an object. A conflict is one of its plan, which may
// still release it.
func (w *Walk) Refreshed(o Object) {
	object, keys := w.lock(o)
	defer w.mu.Unlock()
	set(object, keys, true, o.MayBeReleased)
}

// enter records the plan for an object of the state, and whether it destroys it for good.
func (w *Walk) enter(o Object, object *objectState, keys []*keyState, isDestroyed bool) (conflict Conflict) {
	w.announce()
	if object.isAcquired {
		return NoConflict // the plan's create or adoption is its own
	}
	if object.isAdopted {
		conflict = Created
	}
	set(object, keys, true, false)
	for _, k := range keys {
		k.isDestroyed = k.isDestroyed || isDestroyed
		if k.isCreated && (o.IsValuable || isDestroyed) {
			conflict = Created
		}
	}
	return conflict
}

// Gone records that a refresh dropped an object from the state, or that it was deleted.
func (w *Walk) Gone(o Object) {
	object, keys := w.lock(o)
	defer w.mu.Unlock()
	*object = objectState{isGone: true}
	for _, k := range keys {
		k.isInState, k.isDestroyed, k.gone = false, false, o.ID
	}
}

// Dropped returns the id of the object with one of the keys if a refresh has dropped it from the
// state, or if this process has deleted it; "" otherwise.
func (w *Walk) Dropped(o Object) (id string) {
	_, keys := w.lock(o)
	defer w.mu.Unlock()
	for _, k := range keys {
		id = cmp.Or(id, k.gone)
	}
	return id
}

// PlanKeep records a plan that keeps or updates an object.
func (w *Walk) PlanKeep(o Object) Conflict {
	object, keys := w.lock(o)
	defer w.mu.Unlock()
	isKept := object.isKept
	object.isKept = true
	switch {
	case object.isDestroyed:
		return Destroyed
	case isKept:
		return Kept
	}
	return w.enter(o, object, keys, false)
}

// PlanRelease records a plan that drops an object from the state and leaves it as it is.
func (w *Walk) PlanRelease(o Object) {
	object, keys := w.lock(o)
	defer w.mu.Unlock()
	w.announce()
	set(object, keys, false, false)
}

// announce wakes those who wait for a plan; w.mu must be held.
func (w *Walk) announce() {
	if w.plans != nil {
		w.plans.Broadcast()
	}
}

// AwaitOwners waits until it is known whether the objects of the state with these keys are
// released: core makes the plan that adopts an object at the same time as the one that releases
// it. A tainted resource has no such plan, so that the wait is as long as Patience.
func (w *Walk) AwaitOwners(ctx context.Context, objects ...Object) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(w.Patience, 10*time.Second))
	defer cancel()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.plans == nil {
		w.plans = sync.NewCond(&w.mu)
	}
	stop := context.AfterFunc(ctx, w.plans.Broadcast)
	defer stop()
	for ctx.Err() == nil && slices.ContainsFunc(objects, w.isAwaited) {
		w.plans.Wait()
	}
}

func (w *Walk) isAwaited(o Object) bool {
	return slices.ContainsFunc(o.Keys, func(name string) bool {
		k := w.keys[key{o.Type, name}]
		return k != nil && k.isAwaited
	})
}

// PlanDestroy records a plan that destroys an object.
func (w *Walk) PlanDestroy(o Object) Conflict { return w.planDestroy(o, true) }

// PlanReplace records the first plan of a replacement. What depends on the resource may then
// create an object with the key of the replaced one, unless that holds mail or money.
func (w *Walk) PlanReplace(o Object) Conflict { return w.planDestroy(o, false) }

func (w *Walk) planDestroy(o Object, forGood bool) Conflict {
	object, keys := w.lock(o)
	defer w.mu.Unlock()
	object.isDestroyed = true
	if object.isKept {
		return Kept
	}
	return w.enter(o, object, keys, forGood)
}

// PlanCreate records a plan that creates an object.
func (w *Walk) PlanCreate(o Object) (conflict Conflict) {
	_, keys := w.lock(o)
	defer w.mu.Unlock()
	for _, k := range keys {
		switch {
		case k.isCreated:
			return Created
		case k.isInState && o.IsValuable:
			conflict = InState
		case k.isDestroyed:
			conflict = Destroyed
		}
	}
	for _, k := range keys {
		k.isCreated = conflict == NoConflict
	}
	return conflict
}

// PlanAdoption records that a create, which [Walk.PlanCreate] has recorded, adopts an existing
// object. The conflict with a plan that is still awaited is one of that plan.
func (w *Walk) PlanAdoption(o Object) Conflict {
	object, keys := w.lock(o)
	defer w.mu.Unlock()
	if object.isAdopted || object.isAcquired {
		return Created
	}
	conflict := object.conflict()
	object.isAdopted = conflict == NoConflict
	for _, k := range keys {
		k.isAdopted = object.isAdopted
	}
	return conflict
}

// Acquire records that this process has created or adopted an object. After a conflict, the
// object belongs to another resource.
func (w *Walk) Acquire(o Object) Conflict {
	object, _ := w.lock(o)
	defer w.mu.Unlock()
	if object.isAcquired {
		return Created
	}
	conflict := object.conflict()
	object.isAcquired = conflict == NoConflict
	return conflict
}

// conflict returns why an object can't be adopted.
func (o *objectState) conflict() Conflict {
	switch {
	case o.isDestroyed:
		return Destroyed
	case o.isInState && !o.isAwaited:
		return InState
	}
	return NoConflict
}

// IsAcquired reports whether this process has created or adopted an object.
func (w *Walk) IsAcquired(o Object) bool { return w.stateOf(o).isAcquired }

// IsGone reports whether a refresh has dropped the object with an id from the state, or this process
// has deleted it. A list that was read before may still have it.
func (w *Walk) IsGone(o Object) bool { return w.stateOf(o).isGone }

// IsDestroyed reports whether the plan destroys or replaces the object with an id.
func (w *Walk) IsDestroyed(o Object) bool { return w.stateOf(o).isDestroyed }

// IsInState reports whether the state has the object with an id.
func (w *Walk) IsInState(o Object) bool { return w.stateOf(o).isInState }

func (w *Walk) stateOf(o Object) objectState {
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
	return w.disabled || slices.ContainsFunc(keys, func(k *keyState) bool { return k.isCreated && !k.isAdopted })
}

// Expected returns the natural keys of the objects of a type that the walk creates.
func (w *Walk) Expected(resourceType string) (names []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for k, state := range w.keys {
		if k.resourceType == resourceType && state.isCreated {
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
