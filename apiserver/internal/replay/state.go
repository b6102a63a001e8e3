package replay

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// This file computes the state of the model.

// now returns the current value of an object: the last one of its step that the recording shows before any
// change that is still to come.
func (rec *Recording) now(e *entity) *value {
	s := e.steps[e.position]
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
	if current.object != nil {
		for _, owner := range rec.owners(e, current.object) {
			if rec.now(owner).object == nil && (owner.position == 0 || !owner.isRevocable) { // a revoked service account stays
				return &value{}
			}
		}
	}
	return current
}

// isReached reports whether all changes have arrived that a value may depend on.
func (rec *Recording) isReached(e *entity, v *value) bool {
	if e.isOption {
		return v.at <= rec.reached()
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

// reached returns the time of the first change that has not arrived.
func (rec *Recording) reached() int {
	for _, o := range rec.changes {
		if !o.replayed {
			return o.at
		}
	}
	return len(rec.exchanges) + rec.exchanges[len(rec.exchanges)-1].at
}

// next returns the outcome of a change in the current state: the first that was not replayed, or else the
// last one. others are further outcomes of the same request.
func (rec *Recording) next(key string, others []*outcome) (found *outcome) {
	for _, o := range rec.outcomes[key] {
		isPossible := len(o.effects) == 0 || (rec.now(o.effects[0].entity).object == nil) == o.creates
		switch {
		case !isPossible || slices.Contains(others, o):
		case !o.replayed:
			return o
		default:
			found = o
		}
	}
	return found
}

// apply takes an object to the step after a change. If a create sends another time than the recorded one,
// such as the end of a service account, all times of the object are later by the difference.
func (o *outcome) apply(r request) {
	o.replayed = true
	recorded := timesOf(o.request)
	for _, effect := range o.effects {
		effect.entity.position = effect.step
		for name, t := range timesOf(r) {
			if o.creates {
				effect.entity.later = t.Sub(recorded[name])
			}
		}
	}
}

// shown returns an object as responses show it.
func (e *entity) shown(o object) object {
	if e.later == 0 {
		return o
	}
	o = maps.Clone(o)
	for name, member := range o {
		text, _ := member.(string)
		if t, err := time.Parse(time.RFC3339, text); err == nil {
			o[name] = t.Add(e.later).UTC().Format(api.TimestampLayout)
		}
	}
	return o
}

// isDone reports whether a change of an object has had its effect: a delete that is repeated.
func (rec *Recording) isDone(s api.Spec, e *entity) bool {
	return e != nil && s.Method != http.MethodPost && rec.now(e).object == nil
}
