package session

import (
	"strings"
	"sync"
)

// Walk records which objects the resources of one walk of Terraform's core (a
// plan or an apply) have, so that two resources that have the same object are
// found before one of them deletes it for the other.
//
// Core sends no resource addresses and no lifecycle settings, so the calls are
// all there is to see:
//
//	plan walk   Read for each object in the state (none with -refresh=false), then
//	            Plan(prior, config)  the object is kept, or replaced
//	            Plan(null, config)   a create; second half of a replacement; a tainted object
//	            Plan(prior, null)    the object is destroyed: an orphan, a deposed object
//	apply walk  Plan(null, config), Create; Plan(prior, config), Update; Delete
//
// Nothing orders the calls of two resources, so each method reports a conflict
// with what came before it, and the later call is the one that fails. The second
// half of a replacement is recognized by what the first half stored in its private
// data. With create_before_destroy a create comes while the old object exists; its
// delete comes afterwards, without a plan.
//
// A walk knows the objects of one provider configuration in one process. Two
// aliases, or two processes, that manage one account don't see each other's.
//
// The zero value is ready to use. All methods are safe for concurrent use. An
// object is named by its resource type and its id, or by its natural key in the
// API's spelling.
type Walk struct {
	mu      sync.Mutex
	objects map[name]*object
	keys    map[name]*key
	forgets bool
}

type name struct{ resourceType, id string }

// object is what the walk knows of one object.
type object struct {
	inState   bool
	destroyed bool             // by a plan
	adopted   bool             // by a plan
	acquired  bool             // created, adopted or resumed in this walk
	uses      map[uint64]usage // by the fingerprint of the configuration
}

// usage is what a plan does with an object that has a configuration.
type usage int

const (
	keeps usage = iota + 1
	replaces
)

// key is what the walk knows of a natural key.
type key struct {
	planned bool   // a create of it is planned
	claimed bool   // a create of it is running or done
	gone    bool   // a refresh found that the object of this key no longer exists
	deleted bool   // the walk deleted the object of this key
	status  string // of the deleted object, in the state
}

// Conflict says what another resource of the walk does with the same object.
type Conflict int

// The conflicts.
const (
	NoConflict Conflict = iota
	// Kept: another resource keeps or updates the object.
	Kept
	// Replaced: another resource replaces the object, which deletes it.
	Replaced
	// Destroyed: the plan destroys the object, which is in the state at another
	// address or as a deposed object.
	Destroyed
	// Adopted: the plan adopts the object for another resource.
	Adopted
	// Created: another resource of the plan, or of the apply, creates an object with
	// this natural key.
	Created
	// Acquired: another resource created, adopted or resumed the object in this walk.
	Acquired
	// InState: the object is in the state, at another address.
	InState
)

// Forget makes the walk record nothing, so that it finds no conflicts: for a session that
// serves several walks, whose calls can't be told apart. It is called before all others.
func (w *Walk) Forget() { w.forgets = true }

func (w *Walk) object(resourceType, id string) *object {
	if w.forgets {
		return &object{}
	}
	n := name{resourceType, strings.ToLower(id)}
	if w.objects == nil {
		w.objects = map[name]*object{}
	}
	if w.objects[n] == nil {
		w.objects[n] = &object{}
	}
	return w.objects[n]
}

func (w *Walk) key(resourceType, of string) *key {
	n := name{resourceType, of}
	if of == "" || w.forgets {
		return &key{} // a kind without natural keys, or one that is not known
	}
	if w.keys == nil {
		w.keys = map[name]*key{}
	}
	if w.keys[n] == nil {
		w.keys[n] = &key{}
	}
	return w.keys[n]
}

// Refreshed records that an object of the state exists.
func (w *Walk) Refreshed(resourceType, id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.object(resourceType, id).inState = true
}

// Gone records that a refresh dropped an object from the state.
func (w *Walk) Gone(resourceType, id, naturalKey string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.objects, name{resourceType, strings.ToLower(id)})
	w.key(resourceType, naturalKey).gone = true
}

// WasGone reports whether a refresh dropped the object of a natural key.
func (w *Walk) WasGone(resourceType, naturalKey string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.key(resourceType, naturalKey).gone
}

// InState reports whether the walk has seen the object in the state.
func (w *Walk) InState(resourceType, id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.object(resourceType, id).inState
}

// PlanUpdate records a plan for an object with a configuration, which is known by
// its fingerprint: core may plan one resource more than once. Kept is no danger by
// itself: two resources agree on keeping the object.
func (w *Walk) PlanUpdate(resourceType, id, naturalKey string, config uint64) Conflict {
	w.mu.Lock()
	defer w.mu.Unlock()
	o := w.object(resourceType, id)
	o.inState = true
	conflict := o.otherUse(config)
	switch {
	case o.destroyed:
		conflict = Destroyed
	case o.adopted:
		conflict = Adopted
	case w.key(resourceType, naturalKey).planned:
		conflict = Created
	}
	o.use(config, keeps)
	return conflict
}

// PlanReplacement records that the plan of [Walk.PlanUpdate] for the configuration
// turned out to be a replacement, which deletes the object.
func (w *Walk) PlanReplacement(resourceType, id string, config uint64) Conflict {
	w.mu.Lock()
	defer w.mu.Unlock()
	o := w.object(resourceType, id)
	o.use(config, replaces)
	if conflict := o.otherUse(config); conflict != Replaced {
		return conflict
	}
	return NoConflict // both delete it
}

// PlanDestroy records a plan that destroys an object.
func (w *Walk) PlanDestroy(resourceType, id, naturalKey string) Conflict {
	w.mu.Lock()
	defer w.mu.Unlock()
	o := w.object(resourceType, id)
	o.inState, o.destroyed = true, true
	switch {
	case len(o.uses) > 0:
		return o.otherUse(0)
	case o.adopted:
		return Adopted
	case w.key(resourceType, naturalKey).planned:
		return Created
	}
	return NoConflict
}

// PlanCreate records a plan that creates an object with a natural key and is not
// the second half of a replacement.
func (w *Walk) PlanCreate(resourceType, naturalKey string) Conflict {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.key(resourceType, naturalKey)
	if k.planned || k.claimed {
		return Created
	}
	k.planned = true
	return NoConflict
}

// PlanAdoption records a plan that adopts an existing object.
func (w *Walk) PlanAdoption(resourceType, id string) Conflict {
	w.mu.Lock()
	defer w.mu.Unlock()
	o := w.object(resourceType, id)
	switch {
	case o.acquired:
		return Acquired
	case o.destroyed:
		return Destroyed
	case len(o.uses) > 0:
		return o.otherUse(0)
	case o.inState:
		return InState
	}
	o.adopted = true
	return NoConflict
}

// Create claims a natural key for the create that is about to begin; call
// [Walk.Acquire] or [Walk.Abandon] at its end.
func (w *Walk) Create(resourceType, naturalKey string) Conflict {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.key(resourceType, naturalKey)
	if k.claimed {
		return Created
	}
	k.claimed = true
	return NoConflict
}

// Abandon ends a create that got no object.
func (w *Walk) Abandon(resourceType, naturalKey string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*w.key(resourceType, naturalKey) = key{}
}

// Acquire ends a create that got an object, be it new, adopted or resumed. With a
// conflict, the object belongs to another resource.
func (w *Walk) Acquire(resourceType, id, naturalKey string) Conflict {
	w.mu.Lock()
	defer w.mu.Unlock()
	*w.key(resourceType, naturalKey) = key{claimed: true}
	o := w.object(resourceType, id)
	switch {
	case o.acquired:
		return Acquired
	case len(o.uses) > 0:
		return o.otherUse(0)
	case o.inState:
		return InState
	}
	*o = object{acquired: true, inState: true}
	return NoConflict
}

// Updated ends an update.
func (w *Walk) Updated(resourceType, id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.object(resourceType, id).uses = nil
}

// Delete reports whether the walk acquired an object that is about to be deleted.
func (w *Walk) Delete(resourceType, id string) Conflict {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.object(resourceType, id).acquired {
		return Acquired
	}
	return NoConflict
}

// Deleted records that an object was deleted, and the status that it had in the
// state.
func (w *Walk) Deleted(resourceType, id, naturalKey, status string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.objects, name{resourceType, strings.ToLower(id)})
	*w.key(resourceType, naturalKey) = key{deleted: true, status: status}
}

// WasDeleted reports whether the walk deleted the object of a natural key, and the
// status that it had in the state. Only an apply deletes.
func (w *Walk) WasDeleted(resourceType, naturalKey string) (status string, deleted bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.key(resourceType, naturalKey)
	return k.status, k.deleted
}

func (o *object) use(config uint64, as usage) {
	if o.uses == nil {
		o.uses = map[uint64]usage{}
	}
	o.uses[config] = as
}

// otherUse returns the conflict with the uses under other configurations.
func (o *object) otherUse(config uint64) Conflict {
	conflict := NoConflict
	for other, as := range o.uses {
		switch {
		case other == config:
		case as == replaces:
			return Replaced
		default:
			conflict = Kept
		}
	}
	return conflict
}
