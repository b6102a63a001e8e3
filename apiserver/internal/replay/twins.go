package replay

import (
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// This file contains the rules about twins, the objects that equal requests have created.

var idPattern = regexp.MustCompile(`[[:alnum:]-]+`)

// findTwins finds the twins, and puts the outcomes of their changes together: those of requests that differ only
// in the twin. The objects that come with a domain or service account are twins too, if their owners are twins and their
// members are equal.
func (rec *Recording) findTwins() {
	first := map[string]*entity{}
	add := func(key string, e *entity) {
		switch twin := first[key]; {
		case twin == nil:
			first[key] = e
			e.twins = &[]*entity{e}
		case e.twins == nil:
			e.twins = twin.twins
			*e.twins = append(*e.twins, e)
			rec.twinIDs[e.id] = twin.id
		}
	}
	for _, o := range rec.changes {
		for _, effect := range o.effects {
			switch {
			case !o.creates:
			case o.request.operation.ID == api.PurchaseDomains.ID:
				name, _ := o.after(effect)["name"].(string)
				add("domain "+canonical(name), effect.entity)
			default:
				add(rec.withoutTwins(o.key), effect.entity)
			}
		}
	}
	if len(rec.twinIDs) == 0 {
		return
	}
	for path, c := range rec.collections {
		for _, e := range c.entities {
			owners := rec.owners(e, e.earliest())
			if e.createdAt() >= 0 || !slices.ContainsFunc(owners, func(owner *entity) bool { return owner.twins != nil }) {
				continue
			}
			o := maps.Clone(e.earliest())
			maps.DeleteFunc(o, func(name string, member any) bool { return name == "id" || isTime(member) })
			key, _ := json.Marshal([]any{path, owners[0].id, o}) // decoded JSON, so there is no error
			add(rec.withoutTwins(string(key)), e)
		}
	}
	rec.outcomes = joined(rec, rec.outcomes, func(o *outcome) int { return o.at })
	rec.documents = joined(rec, rec.documents, func(x *exchange) int { return x.at })
}

// joined puts the values of keys together that differ only in twins.
func joined[T any](rec *Recording, all map[string][]T, at func(T) int) map[string][]T {
	together := map[string][]T{}
	for key, values := range all {
		key = rec.withoutTwins(key)
		together[key] = append(together[key], values...)
	}
	for _, values := range together {
		slices.SortStableFunc(values, func(a, b T) int { return at(a) - at(b) })
	}
	return together
}

// withoutTwins returns a key with the first one of twins in place of another one.
func (rec *Recording) withoutTwins(key string) string {
	if len(rec.twinIDs) == 0 {
		return key
	}
	return idPattern.ReplaceAllStringFunc(key, func(id string) string {
		if first := rec.twinIDs[id]; first != "" {
			return first
		}
		return id
	})
}

func isTime(member any) bool {
	text, _ := member.(string)
	_, err := time.Parse(time.RFC3339, text)
	return err == nil
}

// isTwinOf reports whether two objects are twins.
func (e *entity) isTwinOf(other *entity) bool {
	return e != other && e.twins != nil && e.twins == other.twins
}

// after returns the object after a change.
func (o *outcome) after(f effect) object { return f.entity.steps[f.step].values[0].object }

// canExist reports whether a request can create an object now: unless it exists, or an object with its name, or a twin
// that the recording does not show beside it.
func (rec *Recording) canExist(e *entity) bool {
	isSame := func(other *entity) bool { // created by the same request, at another time
		return other.isTwinOf(e) && other.createdAt() >= 0 && other.steps[1].outcome.key == e.steps[1].outcome.key &&
			!rec.existedAt(e, other.createdAt()) && !rec.existedAt(other, e.createdAt())
	}
	return !slices.ContainsFunc(rec.collections[e.path].entities, func(other *entity) bool {
		return (other == e || other.sharesName(e) || isSame(other)) && rec.exists(other)
	})
}

func (f effect) isNextOf(e *entity) bool { return f.entity == e && f.step == e.position+1 }

// follow takes an object to a step of a twin, or to one that is not its next one. Members that the change did not change
// in the recording stay as they are.
func (rec *Recording) follow(e *entity, f effect) {
	var before object
	for _, v := range f.entity.steps[f.step-1].values {
		if !v.partial || before == nil {
			before = v.object
		}
	}
	e.before, e.then = before, rec.now(e).object
	e.track, e.position = f.entity, f.step
}

// adopt puts the twins that exist in the place of the owners of a new object that do not exist now.
func (rec *Recording) adopt(e *entity) {
	e.inPlace = map[string]string{}
	for _, owner := range rec.owners(e, e.steps[e.position].values[0].object) {
		if owner.twins == nil || rec.exists(owner) {
			continue
		}
		for _, twin := range *owner.twins {
			if rec.exists(twin) {
				e.inPlace[owner.id] = twin.id
			}
		}
	}
}

// begin returns the objects that came with an object, or were created in it, to the time before any change.
func (rec *Recording) begin(owner *entity) {
	if !slices.Contains(owningPaths, owner.path) {
		return
	}
	for _, e := range rec.byID {
		isLater := len(e.inPlace) > 0 || e.seenAt() >= owner.createdAt() // an earlier one was moved to it, such as a mailbox to a workspace
		if e.position > 0 && isLater && slices.Contains(rec.owners(e, e.shown(e.latest())), owner) {
			e.position, e.track, e.before, e.then, e.inPlace = 0, e, nil, nil, map[string]string{}
		}
	}
}

// substitute puts the objects that a request names in the place of those in the recorded one.
func (e *entity) substitute(recorded, sent request) {
	was, _ := recorded.body.(object)
	is, _ := sent.body.(object)
	for name, member := range was {
		before, _ := member.(string)
		after, _ := is[name].(string)
		if strings.HasSuffix(name, "_id") && before != after && after != "" {
			e.inPlace[canonical(before)] = canonical(after)
		}
	}
}

// isRecorded reports whether responses show an object as it was recorded.
func (e *entity) isRecorded() bool {
	return e.later == 0 && e.track == e && e.before == nil && len(e.inPlace) == 0
}

// shown returns an object as responses show it.
func (e *entity) shown(o object) object {
	if o == nil || e.isRecorded() {
		return o
	}
	shown := object{}
	for name, member := range o {
		if e.before != nil && reflect.DeepEqual(member, e.before[name]) {
			shown[name] = e.then[name] // which the twin's change has not changed
			continue
		}
		shown[name] = member
		if text, isText := member.(string); isText && e.inPlace[text] != "" {
			shown[name] = e.inPlace[text]
		} else if e.later != 0 && isTime(member) {
			t, _ := time.Parse(time.RFC3339, text)
			shown[name] = t.Add(e.later).UTC().Format(api.TimestampLayout)
		}
	}
	return shown
}
