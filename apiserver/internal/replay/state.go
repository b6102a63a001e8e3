package replay

import (
	"net/http"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// This file computes the state of the model.

// now returns the current value of an object: the last one of its step that the recording shows before any
// change that is still to come.
func (rec *Recording) now(e *entity) *value {
	s := e.track.steps[e.position]
	if e.position == 0 && e.createdAt() >= 0 {
		return &value{}
	}
	var current *value
	for i, v := range s.values {
		if i == 0 || !v.partial && (rec.isReached(e, v) || current.partial) {
			current = v
		}
	}
	if current == nil {
		current = &value{}
	}
	if !e.isRecorded() {
		current = &value{at: current.at, object: e.shown(current.object)}
	}
	if current.object != nil {
		for _, owner := range rec.owners(e, current.object) {
			if rec.now(owner).object == nil && (owner.position == 0 || !owner.isRevocable) { // a revoked service account stays
				return &value{}
			}
		}
	}
	return current
}

// exists reports whether an object and its owners exist, and none is revoked.
func (rec *Recording) exists(e *entity) bool {
	o := rec.now(e).object
	return o != nil && o["revoked_at"] == nil && !slices.ContainsFunc(rec.owners(e, o), func(owner *entity) bool { return !rec.exists(owner) })
}

// isReached reports whether all changes have arrived that a value may depend on.
func (rec *Recording) isReached(e *entity, v *value) bool {
	if e.isOption {
		return v.at <= rec.reached(func(e *entity) bool { return e.path == collectionOf(api.ListDedicatedIPs.Spec) })
	}
	if v.object != nil && (e.track != e || len(e.inPlace) > 0) {
		return true // its time is one of a twin, or of a twin of the owner
	}
	related := rec.owners(e, v.object)
	if v.object == nil {
		for _, s := range e.steps {
			for _, other := range s.values {
				related = append(related, rec.owners(e, other.object)...)
			}
		}
	}
	for _, owner := range related {
		for n, s := range owner.steps[1:] {
			if s.outcome.at < v.at && n+1 > owner.position && (s.outcome.creates || s.values[0].object == nil || isMove(owner.steps[n], s)) {
				return false
			}
		}
	}
	return true
}

// isMove reports whether a step moves a domain to another workspace, which is shown in the objects in it.
func isMove(before, after *step) bool {
	for _, v := range slices.Backward(before.values) {
		return v.object["workspace_id"] != after.values[0].object["workspace_id"]
	}
	return false
}

// next returns the outcome of a change in the current state: the first that was not replayed. After the last one, they
// begin again. An object without one takes the outcome of a twin. others are further outcomes of the same request.
func (rec *Recording) next(r request, others []*outcome) *outcome {
	key := rec.key(r)
	all := rec.outcomes[rec.withoutTwins(key)]
	e := rec.find(r.operation, r.url)
	var objects []*entity // that the request changes or creates
	if e != nil {
		key = strings.ReplaceAll(key, e.id, e.track.id)
		objects = append(objects, e)
	}
	for _, o := range all {
		if o.creates {
			objects = append(objects, o.effects[0].entity)
		}
	}
	exists := slices.ContainsFunc(objects, func(e *entity) bool { return rec.now(e).object != nil })
	isPossible := func(o *outcome) bool {
		switch {
		case o.creates:
			return rec.canExist(o.effects[0].entity)
		case len(o.effects) > 0:
			return exists
		}
		return len(objects) == 0 || exists == slices.ContainsFunc(objects, func(other *entity) bool {
			if other == e {
				other = e.track
			}
			return rec.existedAt(other, o.at)
		})
	}
	isOwn := func(o *outcome) bool { return o.key == key }
	for _, rule := range []func(o *outcome) bool{
		func(o *outcome) bool { return isOwn(o) && isPossible(o) },
		func(o *outcome) bool { return !isOwn(o) && isPossible(o) && (e == nil || len(o.effects) > 0) },
		func(o *outcome) bool { return isOwn(o) && len(o.effects) == 0 },
		func(o *outcome) bool { return len(o.effects) == 0 },
	} {
		var found *outcome
		for _, again := range []bool{false, true} {
			for _, o := range all {
				if rule(o) && !slices.Contains(others, o) {
					o.replayed = o.replayed && !again
					if found == nil && !o.replayed {
						found = o
					}
				}
			}
			if found != nil {
				return found
			}
		}
	}
	return nil
}

// apply takes an object to the step after a change. If a create sends another time than the recorded one,
// such as the end of a service account, all times of the object are later by the difference.
func (rec *Recording) apply(o *outcome, r request) {
	o.replayed = true
	named := rec.find(r.operation, r.url)
	recorded := timesOf(o.request)
	for _, effect := range o.effects {
		e := effect.entity
		switch {
		case o.creates:
			e.position, e.track, e.before, e.then = effect.step, e, nil, nil
			for name, t := range timesOf(r) {
				e.later = t.Sub(recorded[name])
			}
			rec.begin(e)
			rec.adopt(e)
		case named != nil && (named == e || named.isTwinOf(e)) && !(named.isRecorded() && effect.isNextOf(named)):
			rec.follow(named, effect)
			e = named
		default:
			e.position = effect.step
		}
		e.substitute(o.request, r)
	}
}

// isDone reports whether a change of an object has had its effect: a delete that is repeated.
func (rec *Recording) isDone(s api.Spec, e *entity) bool {
	return e != nil && s.Method != http.MethodPost && rec.now(e).object == nil
}
