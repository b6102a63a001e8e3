package session_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// calls are what a walk sees of one object.
var calls = map[string]func(*session.Walk, session.Object) session.Conflict{
	"read":    silent((*session.Walk).Refreshed),
	"release": silent((*session.Walk).PlanRelease),
	"keep":    (*session.Walk).PlanKeep,
	"destroy": (*session.Walk).PlanDestroy,
	"replace": (*session.Walk).PlanReplace,
	"create":  (*session.Walk).PlanCreate,
	"adopt":   (*session.Walk).PlanAdoption,
	"acquire": (*session.Walk).Acquire,
	"gone":    silent((*session.Walk).Gone),
}

// silent returns a call that never has a conflict.
func silent(call func(*session.Walk, session.Object)) func(*session.Walk, session.Object) session.Conflict {
	return func(w *session.Walk, o session.Object) session.Conflict {
		call(w, o)
		return session.NoConflict
	}
}

// replay makes calls for an object. Every call but the last must have no conflict.
func replay(t *testing.T, w *session.Walk, names string, o session.Object) (last session.Conflict) {
	t.Helper()
	for name := range strings.FieldsSeq(names) {
		assert.Check(t, last == session.NoConflict, "%s: conflict %q before %s", names, last, name)
		last = calls[name](w, o)
	}
	return last
}

// object returns an object with two keys. A create knows one key, and no id.
func object(isValuable bool) session.Object {
	return session.Object{Type: "mailbox", ID: "1A", Keys: []string{"jane@example.com", "jane@id"}, IsValuable: isValuable}
}

// TestWalk goes through the calls for one object, in every order that core may choose.
func TestWalk(t *testing.T) {
	t.Parallel()
	const none, created, inState, kept, destroyed = session.NoConflict, session.Created, session.InState, session.Kept, session.Destroyed
	for _, c := range []struct {
		calls string
		// valuable is the conflict of the last call for an object with mail or money, other
		// that for any other one.
		valuable, other session.Conflict
	}{
		{"create", none, none},
		{"read keep", none, none},
		{"read destroy", none, none},
		{"destroy destroy", none, none},
		{"create create", created, created},
		{"read create", inState, none},
		{"keep create", inState, none},
		{"destroy create", inState, destroyed},
		{"create read", none, none},
		{"create read keep", created, none},
		{"create read create", created, created},
		{"create read release", none, none},
		{"read release create", none, none},
		{"read release adopt", none, none},
		{"adopt read release", none, none},
		{"release read keep", none, none},
		{"create keep", created, none},
		{"create destroy", created, created},
		{"replace create", inState, none},
		{"create replace", created, none},
		{"keep replace", kept, kept},
		{"replace keep", destroyed, destroyed},
		{"replace adopt", destroyed, destroyed},
		{"keep destroy", kept, kept},
		{"destroy keep", destroyed, destroyed},
		{"read gone create", none, none},
		{"destroy gone create", none, none},
		{"adopt", none, none},
		{"adopt adopt", created, created},
		{"adopt read keep", created, created},
		{"adopt keep", created, created},
		{"adopt destroy", created, created},
		{"read adopt", inState, inState},
		{"keep adopt", inState, inState},
		{"destroy adopt", destroyed, destroyed},
		{"acquire adopt", created, created},
		{"acquire acquire", created, created},
		{"read acquire", inState, inState},
		{"destroy acquire", destroyed, destroyed},
		{"adopt acquire", none, none},
		{"create acquire read", none, none},
		{"create acquire keep", none, none},
		{"destroy replace create", inState, destroyed},
		{"create acquire create", created, created},
		{"acquire gone acquire", none, none},
	} {
		for isValuable, want := range map[bool]session.Conflict{true: c.valuable, false: c.other} {
			assert.Check(t, is.Equal(replay(t, new(session.Walk), c.calls, object(isValuable)), want), "%s, valuable %t", c.calls, isValuable)
			disabled := new(session.Walk)
			disabled.Disable()
			assert.Check(t, is.Equal(replay(t, disabled, c.calls, object(isValuable)), none), "%s in a disabled walk", c.calls)
		}
	}
}

// TestWalkKnowsObjects checks what makes two objects the same.
func TestWalkKnowsObjects(t *testing.T) {
	t.Parallel()
	state := object(true)
	for name, c := range map[string]struct {
		call  string
		o     session.Object
		isOne bool
	}{
		"one of its keys":        {"create", session.Object{Type: "mailbox", Keys: []string{"new", "jane@id"}, IsValuable: true}, true},
		"its id in another case": {"adopt", session.Object{Type: "mailbox", ID: "1a"}, true},
		"another key":            {"create", session.Object{Type: "mailbox", Keys: []string{"joan@id"}, IsValuable: true}, false},
		"another id":             {"adopt", session.Object{Type: "mailbox", ID: "2"}, false},
		"another type, key":      {"create", session.Object{Type: "zone", Keys: []string{"jane@id"}, IsValuable: true}, false},
		"another type, id":       {"adopt", session.Object{Type: "zone", ID: "1A"}, false},
		"no id and no key":       {"create", session.Object{Type: "mailbox", IsValuable: true}, false},
		"no id":                  {"adopt", session.Object{Type: "mailbox"}, false},
	} {
		w := new(session.Walk)
		replay(t, w, "read", state)
		replay(t, w, "read", session.Object{Type: "mailbox"}) // an object that is not known yet is no other one
		got := calls[c.call](w, c.o) != session.NoConflict
		assert.Check(t, got == c.isOne, "%s: conflict %t", name, got)
	}
	// A create that is refused leaves its other keys free.
	w := new(session.Walk)
	replay(t, w, "read", state)
	if w.PlanCreate(session.Object{Type: "mailbox", Keys: []string{"free", "jane@id"}, IsValuable: true}) != session.InState ||
		w.PlanCreate(session.Object{Type: "mailbox", Keys: []string{"free"}, IsValuable: true}) != session.NoConflict {
		t.Error("a refused create has a key")
	}
	// So does an adoption that is refused.
	replay(t, w, "gone", state)
	replay(t, w, "create", session.Named("mailbox", "jane@id"))
	replay(t, w, "read", session.Object{Type: "mailbox", ID: "1A"})
	assert.Check(t, replay(t, w, "adopt", state) == session.InState && w.IsExpected(session.Named("mailbox", "jane@id")), "a refused adoption counts")
}

// TestWalkReports checks what resources read from the walk.
func TestWalkReports(t *testing.T) {
	t.Parallel()
	w, o := new(session.Walk), object(true)
	same := func(what string, got, want bool) {
		t.Helper()
		assert.Check(t, got == want, "%s: %t", what, got)
	}
	same("acquired at first", w.IsAcquired(o), false)
	same("in the state at first", w.IsInState(o), false)
	same("expected at first", w.IsExpected(o), false)
	for _, name := range []string{"d", "b", "e", "a", "c"} {
		replay(t, w, "create", session.Named("mailbox", name))
	}
	replay(t, w, "create", session.Named("zone", "c"))
	replay(t, w, "read", object(false))
	same("in the state", w.IsInState(o) && w.MayBeInState(o), true)
	same("expected because it is in the state", w.IsExpected(o), false)
	same("expected", w.IsExpected(session.Object{Type: "mailbox", Keys: []string{"x", "a"}}), true)
	assert.Check(t, is.DeepEqual(w.Expected("mailbox"), []string{"a", "b", "c", "d", "e"}))
	replay(t, w, "adopt", session.Object{Type: "mailbox", ID: "3", Keys: []string{"a"}})
	same("expected although it exists", w.IsExpected(session.Named("mailbox", "a")), false)
	assert.Check(t, is.Equal(w.Dropped(o), ""), "dropped")
	replay(t, w, "gone", o)
	assert.Check(t, is.Equal(w.Dropped(session.Object{Type: "mailbox", Keys: []string{"x", "jane@id"}}), "1A"), "dropped")
	same("in the state after it is gone", w.IsInState(o) || w.MayBeInState(o), false)
	replay(t, w, "acquire", o)
	same("acquired", w.IsAcquired(o), true)
	disabled := new(session.Walk)
	disabled.Disable()
	same("expected or in the state in a disabled walk", disabled.IsExpected(o) && disabled.MayBeInState(o), true)

	reported := 0
	for range 30 {
		if w.MayReport() {
			reported++
		}
	}
	assert.Check(t, reported == 20, "%d conflicts are reported", reported)
}

// TestZones plans a zone that has www A and removes what it does not have, but for ftp, and a
// record with a resource of its own, in both orders.
func TestZones(t *testing.T) {
	t.Parallel()
	domain := session.Domain{ID: "D1", Name: "example.com"}
	zone := session.PlannedZone{
		Domain:  domain,
		Keeps:   func(name, recordType string) bool { return name == "www" && recordType == "A" },
		Removes: func(name, _ string) bool { return name != "ftp" },
	}
	for _, c := range []struct {
		record         session.PlannedRecord
		isContradicted bool
	}{
		{session.PlannedRecord{Domain: domain, Name: "www", Type: "A"}, true},
		{session.PlannedRecord{Domain: domain, Name: "www", Type: "A", IsDestroyed: true}, true},
		{session.PlannedRecord{Domain: domain, Name: "mail", Type: "A"}, true},
		{session.PlannedRecord{Domain: domain, Name: "mail", Type: "A", IsDestroyed: true}, false},
		{session.PlannedRecord{Domain: domain, Name: "ftp", Type: "A"}, false},
		{session.PlannedRecord{Domain: session.Domain{ID: "d1"}, Name: "www", Type: "A"}, true},
		{session.PlannedRecord{Domain: session.Domain{Name: "example.com"}, Name: "www", Type: "A"}, true},
		{session.PlannedRecord{Domain: session.Domain{ID: "d2", Name: "example.org"}, Name: "www", Type: "A"}, false},
	} {
		name := fmt.Sprintf("%+v", c.record)
		w := new(session.Walk)
		assert.Check(t, !w.PlanRecord(c.record), "%s: contradicted by nothing", name)
		w.PlanRecord(session.PlannedRecord{Name: "www", Type: "A"}) // of an unknown domain
		got := w.PlanZone(zone)
		assert.Check(t, slices.Equal(got, []session.PlannedRecord{c.record}) == c.isContradicted && len(got) <= 1, "%s, the zone last: %v", name, got)
		w = new(session.Walk)
		got = w.PlanZone(zone)
		assert.Check(t, len(got) == 0, "%s: %v is contradicted", name, got)
		if got := w.PlanRecord(c.record); got != c.isContradicted {
			t.Errorf("%s, the zone first: %t", name, got)
		}
		disabled := new(session.Walk)
		disabled.Disable()
		assert.Check(t, !disabled.PlanRecord(c.record) && disabled.PlanZone(zone) == nil && !disabled.PlanRecord(c.record), "%s: contradicted in a disabled walk", name)
	}
	for _, zone.Domain = range []session.Domain{{ID: "D1"}, {Name: "example.com"}} {
		w := new(session.Walk)
		w.PlanZone(zone)
		for _, other := range []session.Domain{{ID: "D2"}, {Name: "example.org"}} {
			assert.Check(t, !w.PlanRecord(session.PlannedRecord{Domain: other, Name: "www", Type: "A"}), "%v is %v", zone.Domain, other)
		}
	}
}

// TestAwaitOwners checks that an adoption waits for the plan of the object that the state has, and
// not for ever.
func TestAwaitOwners(t *testing.T) {
	t.Parallel()
	o := object(true)
	o.MayBeReleased = true
	for call, want := range map[string]session.Conflict{"release": session.NoConflict, "keep": session.InState} {
		synctest.Test(t, func(t *testing.T) {
			w, begun := new(session.Walk), time.Now()
			w.AwaitOwners(t.Context(), o) // nobody has it
			replay(t, w, "read", o)
			ended := make(chan bool, 2)
			for range 2 {
				go func() { w.AwaitOwners(t.Context(), session.Named("mailbox", "jane@id")); ended <- true }()
				synctest.Wait()
			}
			assert.Check(t, len(ended) == 0, "they do not wait")
			replay(t, w, call, o)
			_, _ = <-ended, <-ended
			assert.Check(t, time.Since(begun) == 0, "they still wait after a %s", call)
			assert.Check(t, is.Equal(replay(t, w, "create", o), want), "%s of an object: conflict", call)
		})
	}
	for call, want := range map[string]session.Conflict{"release": session.NoConflict, "keep": session.Created} {
		w := new(session.Walk) // the create comes before the read, and its lookup after it
		assert.Check(t, is.Equal(replay(t, w, "create read adopt "+call, o), want), "%s after an adoption: conflict", call)
	}
	tainted := &session.Walk{Patience: 1}
	replay(t, tainted, "read", o)
	tainted.AwaitOwners(t.Context(), o)
	assert.Check(t, is.Equal(replay(t, tainted, "create", o), session.InState), "a tainted object: conflict")
}
