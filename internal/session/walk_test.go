package session_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// calls are the calls of a walk for one object.
var calls = map[string]func(*session.Walk, session.Object) session.Conflict{
	"read":    (*session.Walk).Refreshed,
	"release": silent((*session.Walk).PlanRelease),
	"keep":    (*session.Walk).PlanKeep,
	"destroy": (*session.Walk).PlanDestroy,
	"replace": (*session.Walk).PlanReplace,
	"begin":   (*session.Walk).PlanCreate,
	"create":  create,
	"adopt":   func(w *session.Walk, o session.Object) session.Conflict { return w.PlanExisting(o, true) },
	"exists":  func(w *session.Walk, o session.Object) session.Conflict { return w.PlanExisting(o, false) },
	"acquire": (*session.Walk).Acquire,
	"gone":    silent((*session.Walk).Gone),
}

// create is a plan that looks for the object and does not find it.
func create(w *session.Walk, o session.Object) session.Conflict {
	if conflict := w.PlanCreate(o); conflict != session.NoConflict {
		return conflict
	}
	return w.PlanNew(o)
}

// silent returns a call without a conflict.
func silent(call func(*session.Walk, session.Object)) func(*session.Walk, session.Object) session.Conflict {
	return func(w *session.Walk, o session.Object) session.Conflict {
		call(w, o)
		return session.NoConflict
	}
}

// replay makes calls for an object. Every call but the last must have no conflict, unless its name
// ends with an exclamation mark.
func replay(t *testing.T, w *session.Walk, names string, o session.Object) (last session.Conflict) {
	t.Helper()
	all := strings.Fields(names)
	for n, name := range all {
		name, isRefused := strings.CutSuffix(name, "!")
		last = calls[name](w, o)
		if n < len(all)-1 {
			assert.Check(t, isRefused == (last != session.NoConflict), "%s: conflict %q of %s", names, last, name)
		}
	}
	return last
}

// object returns an object with two keys.
func object(isValuable bool) session.Object {
	return session.Object{Type: "mailbox", ID: "1A", Keys: []string{"jane@example.com", "jane@id"}, IsValuable: isValuable}
}

// TestWalk goes through the calls for one object, in every order that core may choose.
func TestWalk(t *testing.T) {
	t.Parallel()
	const (
		none, exists, inState, taken, destroyed = session.NoConflict, session.Exists, session.InState, session.Taken, session.Destroyed
		created, twice                          = session.Created, session.Twice
	)
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
		{"destroy create", destroyed, destroyed},
		{"create read", none, none},
		{"create read keep", taken, none},
		{"create read create", created, created},
		{"create read release", none, none},
		{"release create", none, none},
		{"release adopt", none, none},
		{"adopt release", none, none},
		{"release read keep", none, none},
		{"create keep", taken, none},
		{"create destroy", taken, taken},
		{"replace create", inState, none},
		{"create replace", taken, none},
		{"keep keep", twice, twice},
		{"keep replace", twice, twice},
		{"replace keep", twice, twice},
		{"keep destroy", twice, twice},
		{"destroy keep", twice, twice},
		{"replace adopt", destroyed, destroyed},
		{"read gone create", none, none},
		{"destroy gone create", none, none},
		{"adopt", none, none},
		{"adopt adopt", taken, taken},
		{"adopt read", taken, taken},
		{"adopt read! keep", taken, taken},
		{"adopt keep", taken, taken},
		{"adopt replace", taken, taken},
		{"adopt destroy", taken, taken},
		{"read adopt", inState, inState},
		{"keep adopt", inState, inState},
		{"destroy adopt", destroyed, destroyed},
		{"acquire adopt", taken, taken},
		{"acquire acquire", taken, taken},
		{"read acquire", inState, inState},
		{"keep acquire", inState, inState},
		{"replace acquire", destroyed, destroyed},
		{"destroy acquire", destroyed, destroyed},
		{"adopt acquire", none, none},
		{"adopt acquire read", none, none},
		{"create acquire read", none, none},
		{"create acquire keep", none, none},
		{"destroy replace create", destroyed, destroyed},
		{"create acquire create", created, created},
		{"acquire gone acquire", none, none},
		// A create that is refused because the object exists is the only error.
		{"exists", exists, exists},
		{"read exists", inState, inState},
		{"keep exists", inState, inState},
		{"destroy exists", destroyed, destroyed},
		{"adopt exists", taken, taken},
		{"begin exists! create", none, none},
		{"begin exists! keep", none, none},
		{"begin exists! destroy", none, none},
		{"begin read exists! destroy", none, none},
		{"begin destroy exists", destroyed, destroyed},
		{"begin destroy", none, none},
		{"begin keep exists", inState, inState},
		{"begin begin", created, created},
		{"begin adopt create", created, created},
		{"begin destroy adopt", destroyed, destroyed},
		{"keep adopt! keep", twice, twice},
	} {
		for isValuable, want := range map[bool]session.Conflict{true: c.valuable, false: c.other} {
			assert.Check(t, is.Equal(replay(t, new(session.Walk), c.calls, object(isValuable)), want), "%s, valuable %t", c.calls, isValuable)
			disabled := new(session.Walk)
			disabled.Disable()
			if !strings.Contains(c.calls, "exists") {
				assert.Check(t, is.Equal(replay(t, disabled, strings.ReplaceAll(c.calls, "!", ""), object(isValuable)), none), "%s in a disabled walk", c.calls)
			}
		}
	}
}

// TestHandOver goes through the calls for an object that its resource may release, such as a mailbox of
// a set, while a create adopts it. The order of the calls does not decide whether the create is refused.
func TestHandOver(t *testing.T) {
	t.Parallel()
	o := object(true)
	o.MayBeReleased = true
	for call, isRefused := range map[string]bool{"release": false, "keep": true, "replace": true, "destroy": true} {
		for _, order := range []string{
			"read " + call + " begin adopt", "read begin " + call + " adopt", "read begin adopt " + call,
			"begin read " + call + " adopt", "begin read adopt " + call, "begin adopt read " + call,
			call + " begin adopt", "begin " + call + " adopt", "begin adopt " + call, // without a refresh
		} {
			w, conflicts := new(session.Walk), 0
			for name := range strings.FieldsSeq(order) {
				if calls[name](w, o) != session.NoConflict {
					conflicts++
				}
			}
			assert.Check(t, conflicts <= 1 && isRefused == (conflicts > 0), "%s: %d conflicts", order, conflicts)
		}
	}
	// A resource that only gets the object by an import can't release it, whoever was refreshed last.
	single := object(true)
	for _, refreshed := range [][]session.Object{{o, single}, {single, o}} {
		w := new(session.Walk)
		for _, o := range refreshed {
			replay(t, w, "read", o)
		}
		replay(t, w, "release", o)
		assert.Check(t, is.Equal(w.PlanExisting(o, true), session.InState))
	}
}

// TestWalkKnowsObjects checks by which ids and keys the walk recognizes an object.
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
		replay(t, w, "read", session.Object{Type: "mailbox"}) // an unknown object does not count as another one
		got := calls[c.call](w, c.o) != session.NoConflict
		assert.Check(t, got == c.isOne, "%s: conflict %t", name, got)
	}
	// A create that is refused leaves its other keys free.
	w := new(session.Walk)
	replay(t, w, "read", state)
	if create(w, session.Object{Type: "mailbox", Keys: []string{"free", "jane@id"}, IsValuable: true}) != session.InState ||
		create(w, session.Object{Type: "mailbox", Keys: []string{"free"}, IsValuable: true}) != session.NoConflict {
		t.Error("a refused create has a key")
	}
	// An adoption that is refused creates nothing.
	replay(t, w, "gone", state)
	replay(t, w, "begin", session.Named("mailbox", "jane@id"))
	replay(t, w, "read", session.Object{Type: "mailbox", ID: "1A"})
	assert.Check(t, replay(t, w, "adopt", state) == session.InState && !w.IsExpected(session.Named("mailbox", "jane@id")), "a refused adoption counts")
}

// TestWalkReports checks the facts that resources read from the walk.
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

	for calls, want := range map[string][2]bool{ // valuable, other
		"": {false, false}, "read": {false, true}, "keep": {false, true}, "replace": {false, true}, "destroy": {false, false}, "release": {false, false}, "gone": {true, true},
	} {
		for n, isValuable := range []bool{true, false} {
			w := new(session.Walk)
			replay(t, w, calls, object(isValuable))
			same(fmt.Sprintf("may be gone after %q, valuable %t", calls, isValuable), w.MayBeGone(object(isValuable)), want[n])
		}
	}

	reading := new(session.Walk)
	reading.Reading(o)
	same("in the state while it is read", reading.IsInState(o), true)
	replay(t, reading, "gone", o)
	same("in the state after the read", reading.IsInState(o), false)

	reported := 0
	for range 30 {
		if w.MayReport() {
			reported++
		}
	}
	assert.Check(t, reported == 20, "%d conflicts are reported", reported)
}

// TestZones plans a zone that lists www A and removes all other records except ftp, and a record of
// another resource, in both orders.
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

// TestTargets records many rules and the mailboxes of their targets at once: exactly one of the two calls returns
// each rule.
func TestTargets(t *testing.T) {
	t.Parallel()
	const n = 500
	w := new(session.Walk)
	var rechecked [n]atomic.Int32
	var wg sync.WaitGroup
	for i := range n {
		address := fmt.Sprintf("joe%d@example.com", i)
		wg.Go(func() {
			if w.AwaitAddress(fmt.Sprint(i), address) {
				rechecked[i].Add(1)
			}
		})
		wg.Go(func() {
			for _, rule := range w.CreateAddress(address) {
				assert.Check(t, is.Equal(rule, fmt.Sprint(i)))
				rechecked[i].Add(1)
			}
		})
	}
	wg.Wait()
	for i := range n {
		assert.Check(t, rechecked[i].Load() == 1, "the rule %d is returned %d times", i, rechecked[i].Load())
	}
	w = new(session.Walk)
	w.Disable()
	assert.Check(t, w.CreateAddress("joe@example.com") == nil && !w.AwaitAddress("1", "joe@example.com") && w.CreateAddress("joe@example.com") == nil, "a disabled walk records")
}
