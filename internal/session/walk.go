package session

import (
	"slices"
	"strings"
	"sync"
)

// Walk records which objects the resources use in one walk of Terraform's core (a
// plan or an apply). It finds two resources that have the same object before one of
// them deletes it for the other.
//
// Core sends neither resource addresses nor lifecycle settings. A walk sees these
// calls only:
//
//	plan walk   Read for each object in the state (none with -refresh=false), then
//	            Plan(prior, config)  the object is kept or replaced
//	            Plan(null, config)   a create, the second plan of a replacement, or a tainted object
//	            Plan(prior, null)    the object is destroyed: an orphan or a deposed object
//	apply walk  Plan(null, config), Create; Plan(prior, config), Update; Delete
//
// The calls of two resources come in any order, so each method compares with the
// calls before it and reports a conflict to the later one. The first plan of a
// replacement stores data in the private state by which the second is recognized.
// With create_before_destroy, the create comes while the old object exists, and the
// delete follows without a plan.
//
// A walk covers one provider configuration in one process. It does not see the
// objects of another alias or process that manages the same account.
//
// The zero value is ready to use. All methods are safe for concurrent use.
type Walk struct {
	mu       sync.Mutex
	objects  map[Object]*objectState
	keys     map[Object]*keyState
	zones    zones
	disabled bool
	// setConflict means that a conflict of a set of mailboxes was reported.
	setConflict bool
}

// Object identifies an object by its resource type and its id, its natural key in
// the API's spelling, or both.
type Object struct{ Type, ID, Key string }

// objectState is what the walk knows of an object with an id.
type objectState struct {
	inState   bool
	inSet     bool             // a set of mailboxes keeps it
	destroyed bool             // planned
	adopted   bool             // planned
	acquired  bool             // created, adopted or resumed in this walk
	refreshes int              // once for each address that has it in the state, or imports it
	uses      map[uint64]usage // by the fingerprint of the configuration
}

// usage counts what plans with one configuration do with an object.
type usage struct{ keeps, replaces int }

// keyState is what the walk knows of a natural key.
type keyState struct {
	planned  bool      // a create of it is planned
	replaces bool      // the second plan of a replacement has it
	claimed  bool      // a create of it is running or done
	gone     bool      // a refresh found that its object no longer exists
	deleted  *Deletion // of its object by the walk
}

// Deletion describes an object that the walk deleted.
type Deletion struct{ ID, Status string }

// Conflict is the use of an object by another resource of the walk.
type Conflict int

// The conflicts.
const (
	NoConflict Conflict = iota
	// Kept means that another resource keeps or updates the object.
	Kept
	// KeptInSet means that a set of mailboxes keeps the object.
	KeptInSet
	// Replaced means that another resource replaces the object, which deletes it.
	Replaced
	// Destroyed means that the plan destroys the object at another address, or as a
	// deposed object.
	Destroyed
	// Adopted means that the plan adopts the object for another resource.
	Adopted
	// Created means that another resource creates an object with this natural key.
	Created
	// Acquired means that another resource created, adopted or resumed the object in
	// this walk.
	Acquired
	// InState means that the object is in the state at another address.
	InState
)

// Disable makes the walk record nothing and find no conflicts, for a session that serves
// several walks, whose calls can't be distinguished. Call it before any other method.
func (w *Walk) Disable() { w.disabled = true }

// object returns the state of the object with o's id; w.mu must be held.
func (w *Walk) object(o Object) *objectState {
	if w.disabled {
		return &objectState{}
	}
	n := byID(o)
	if w.objects == nil {
		w.objects = map[Object]*objectState{}
	}
	if w.objects[n] == nil {
		w.objects[n] = &objectState{}
	}
	return w.objects[n]
}

func byID(o Object) Object { return Object{Type: o.Type, ID: strings.ToLower(o.ID)} }

// key returns the state of o's natural key; w.mu must be held. Without a known key,
// changes of the result have no effect.
func (w *Walk) key(o Object) *keyState {
	n := Object{Type: o.Type, Key: o.Key}
	if o.Key == "" || w.disabled {
		return &keyState{}
	}
	if w.keys == nil {
		w.keys = map[Object]*keyState{}
	}
	if w.keys[n] == nil {
		w.keys[n] = &keyState{}
	}
	return w.keys[n]
}

// Refreshed records that an object of the state exists. It returns [Adopted] if the plan
// adopts the object for another resource: the plan of a tainted object does not name it,
// so that the refresh is the last call to find that.
func (w *Walk) Refreshed(o Object) Conflict {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.object(o)
	s.inState = true
	s.refreshes++
	if s.adopted {
		return Adopted
	}
	return NoConflict
}

// Gone records that a refresh dropped an object from the state.
func (w *Walk) Gone(o Object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.objects, byID(o))
	w.key(o).gone = true
}

// WasGone reports whether a refresh dropped the object with o's natural key.
func (w *Walk) WasGone(o Object) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.key(o).gone
}

// InState reports whether the state has the object.
func (w *Walk) InState(o Object) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.object(o).inState
}

// WasAcquired reports whether the walk created or adopted the object. Only an apply does.
func (w *Walk) WasAcquired(o Object) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.object(o).acquired
}

// PlanUpdate records a plan for an object that has a configuration. The fingerprint
// of the configuration identifies the resource, because core may plan it more than
// once, unless the object was refreshed for several addresses. Kept alone loses
// nothing: two resources agree on keeping the object.
func (w *Walk) PlanUpdate(o Object, config uint64) Conflict {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.object(o)
	s.inState = true
	isKept, isReplaced := s.otherUse(config, false)
	s.use(config, usage{keeps: 1})
	switch {
	case s.destroyed:
		return Destroyed
	case s.adopted:
		return Adopted
	case w.key(o).planned:
		return Created
	case isReplaced:
		return Replaced
	case isKept:
		return Kept
	}
	return NoConflict
}

// KeepInSet records that a set of mailboxes keeps an object.
func (w *Walk) KeepInSet(o Object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.object(o).inSet = true
}

// FirstSetConflict reports whether it is the first call in this walk. A set may have
// thousands of conflicts for one reason, and one error is enough to refuse the plan.
func (w *Walk) FirstSetConflict() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := !w.setConflict
	w.setConflict = true
	return first || w.disabled
}

// PlanReplacement records that the plan of [Walk.PlanUpdate] for the configuration
// is a replacement, which deletes the object.
func (w *Walk) PlanReplacement(o Object, config uint64) Conflict {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.object(o)
	w.key(o).replaces = true
	s.use(config, usage{keeps: -1}) // the first plan
	isKept, _ := s.otherUse(config, true)
	s.use(config, usage{replaces: 1})
	if isKept {
		return Kept
	}
	return NoConflict // nobody else has it, or both delete it
}

// PlanDestroy records a plan that destroys an object.
func (w *Walk) PlanDestroy(o Object) Conflict {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.object(o)
	s.inState, s.destroyed = true, true
	switch {
	case s.inSet && s.anyUse() == Kept:
		return KeptInSet
	case len(s.uses) > 0:
		return s.anyUse()
	case s.adopted:
		return Adopted
	case w.key(o).planned:
		return Created
	}
	return NoConflict
}

// PlanCreate records a plan that creates an object with a natural key, and is not
// the second plan of a replacement.
func (w *Walk) PlanCreate(o Object) Conflict {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.key(o)
	if k.planned || k.claimed {
		return Created
	}
	k.planned = true
	return NoConflict
}

// IsExpected reports whether the walk creates an object with o's natural key, or may do so.
func (w *Walk) IsExpected(o Object) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.disabled || w.key(o).isExpected()
}

// Expected returns the natural keys of the objects of a type that the walk creates.
func (w *Walk) Expected(resourceType string) (keys []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for o, k := range w.keys {
		if o.Type == resourceType && k.isExpected() {
			keys = append(keys, o.Key)
		}
	}
	slices.Sort(keys)
	return keys
}

func (k *keyState) isExpected() bool { return k.planned || k.replaces || k.claimed }

// PlanAdoption records a plan that adopts an existing object.
func (w *Walk) PlanAdoption(o Object) Conflict {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.object(o)
	if conflict := s.owner(); conflict != NoConflict {
		return conflict
	}
	s.adopted = true
	return NoConflict
}

// Create claims a natural key for a create that is about to start. Call
// [Walk.Acquire] or [Walk.Abandon] when it ends.
func (w *Walk) Create(o Object) Conflict {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.key(o)
	if k.claimed {
		return Created
	}
	k.claimed = true
	return NoConflict
}

// Abandon ends a create that got no object.
func (w *Walk) Abandon(o Object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*w.key(o) = keyState{}
}

// Acquire ends a create that got an object: a new, adopted or resumed one. After a
// conflict, the object belongs to another resource.
func (w *Walk) Acquire(o Object) Conflict {
	w.mu.Lock()
	defer w.mu.Unlock()
	*w.key(o) = keyState{claimed: true}
	s := w.object(o)
	if conflict := s.owner(); conflict != NoConflict {
		return conflict
	}
	*s = objectState{acquired: true, inState: true}
	return NoConflict
}

// Updated ends an update.
func (w *Walk) Updated(o Object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.object(o).uses = nil
}

// Delete returns [Acquired] if the walk acquired the object that is to be deleted.
func (w *Walk) Delete(o Object) Conflict {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.object(o).acquired {
		return Acquired
	}
	return NoConflict
}

// Deleted records that an object was deleted, and its status in the state.
func (w *Walk) Deleted(o Object, status string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.objects, byID(o))
	*w.key(o) = keyState{deleted: &Deletion{ID: o.ID, Status: status}}
}

// WasDeleted returns the deletion of the object with o's natural key by this walk, or
// nil. Only an apply deletes.
func (w *Walk) WasDeleted(o Object) *Deletion {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.key(o).deleted
}

func (s *objectState) use(config uint64, change usage) {
	if s.uses == nil {
		s.uses = map[uint64]usage{}
	}
	now := s.uses[config]
	s.uses[config] = usage{now.keeps + change.keeps, now.replaces + change.replaces}
}

// otherUse returns the conflict with the uses by other resources: those with another
// configuration, and those with the same one if several addresses have the object. Two
// that keep it with the same configuration agree, unless one is about to replace it.
func (s *objectState) otherUse(config uint64, isReplacing bool) (isKept, isReplaced bool) {
	for other, u := range s.uses {
		isSame := other == config
		if isSame && s.refreshes < 2 {
			continue
		}
		isReplaced = isReplaced || u.replaces > 0
		isKept = isKept || u.keeps > 0 && (!isSame || isReplacing)
	}
	return isKept, isReplaced
}

// anyUse returns the conflict with the uses by resources.
func (s *objectState) anyUse() Conflict {
	switch isKept, isReplaced := s.otherUse(0, false); {
	case isReplaced:
		return Replaced
	case isKept:
		return Kept
	}
	return NoConflict
}

// owner returns the conflict with the resource that has the object, for a resource
// that does not have it yet.
func (s *objectState) owner() Conflict {
	switch {
	case s.acquired:
		return Acquired
	case s.destroyed:
		return Destroyed
	case s.inSet && s.anyUse() == Kept:
		return KeptInSet
	case len(s.uses) > 0:
		return s.anyUse()
	case s.inState:
		return InState
	}
	return NoConflict
}
