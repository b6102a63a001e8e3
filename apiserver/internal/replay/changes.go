package replay

import (
	"maps"
	"net/http"
	"slices"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// change responds to a change.
func (rec *Recording) change(r request, idempotencyKey string) *response {
	key := rec.key(r)
	kept := idempotencyKey + " " + key
	if before := rec.keys[kept]; before != nil && idempotencyKey != "" {
		again := *before
		again.header = before.header.Clone()
		again.header.Set(api.IdempotencyReplayedHeader, "true")
		return &again
	}
	items := []request{r}
	isNew := func(o *outcome) bool { return !o.replayed }
	byItem := r.operation.ID == api.CreateMailboxes.ID && !slices.ContainsFunc(rec.outcomes[rec.withoutTwins(key)], isNew) // unless it is refused as a whole
	if byItem {
		items = itemsOf(r)
	}
	var outcomes []*outcome
	for _, item := range items {
		o := rec.next(item, outcomes)
		switch e := rec.find(r.operation, r.url); {
		case o != nil && (!byItem || o.failed != nil || o.creates):
			outcomes = append(outcomes, o)
		case rec.isDone(r.operation, e):
			return rec.isMissing(r)
		case len(rec.outcomes[rec.withoutTwins(rec.key(item))]) > 0:
			return notRecorded([]string{"path"}, "the recording contains this %s %s only while the object does not exist. %s", r.operation.Method, r.target(), advice)
		default:
			return rec.unrecorded(item)
		}
	}
	if len(outcomes) == 0 {
		return rec.unrecorded(r)
	}
	for _, o := range outcomes {
		rec.apply(o, r)
	}
	result := rec.result(r, outcomes, byItem)
	if idempotencyKey != "" && result.status/100 == 2 {
		rec.keys[kept] = result
	}
	return result
}

// result returns the response to a change with its outcomes.
func (rec *Recording) result(r request, outcomes []*outcome, byItem bool) *response {
	single := outcomes[0]
	wasBulk := single.request.operation.ID == api.CreateMailboxes.ID
	switch {
	case byItem:
		created, failed := []object{}, []object{}
		for i, o := range outcomes {
			if o.failed != nil {
				report := maps.Clone(o.failed)
				report["index"] = i
				failed = append(failed, report)
			} else {
				created = append(created, object{"index": i, "mailbox": o.created()})
			}
		}
		return respondWith(http.StatusOK, object{"created": created, "failed": failed})
	case wasBulk && single.failed != nil:
		return notRecorded([]string{"body"}, "the recording contains this %s %s only as a part of a bulk create, which failed. %s", r.operation.Method, r.target(), advice)
	case wasBulk && single.creates && r.operation.ID != api.CreateMailboxes.ID:
		return respondWith(http.StatusCreated, single.created())
	}
	recorded := single.response()
	body, isObject := single.value.(object)
	for _, effect := range single.effects {
		e := effect.entity
		if named := rec.find(r.operation, r.url); named != nil {
			e = named
		}
		if isObject && !e.isRecorded() {
			return respondWith(recorded.status, e.shown(body))
		}
	}
	return recorded
}

// created returns the object in the response to a create.
func (o *outcome) created() object {
	return o.effects[0].entity.shown(o.after(o.effects[0]))
}
