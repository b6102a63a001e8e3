package processtest

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
)

// operation is a request in a history. Its kind has the name of its list, such as "create
// mailboxes".
type operation struct {
	kind, list string
	// names are the objects that a write is about, and lastName is what it sets.
	names    []string
	lastName string
	// search, page and size are those of a list.
	search     string
	page, size int
}

// outcome is the response to an operation. A request without a response has status 0: it may
// have been executed, or be executed later.
type outcome struct {
	status  int
	entries []entry // that were created or changed, or are listed
	total   int
}

// entry is a mailbox or a domain. An empty id is unknown, because there was no response to its
// create.
type entry struct{ name, id, lastName string }

func (e entry) matches(search string) bool {
	return strings.Contains(e.name, search) || strings.Contains(e.lastName, search)
}

// lists are the state of the model, in the order of creation. A step copies what it
// changes.
type lists struct {
	mailboxes, domains []entry
	// older is how many mailboxes there are before these, which no operation changes.
	older int
}

func (c lists) equal(other lists) bool {
	return slices.Equal(c.mailboxes, other.mailboxes) && slices.Equal(c.domains, other.domains)
}

func (c lists) hash() uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, c.mailboxes, c.domains)
	return h.Sum64()
}

// step returns whether an operation can have an outcome, and the content after it.
func (c lists) step(op operation, out outcome) (bool, lists) {
	entries, older := &c.domains, 1 // example.com
	if op.list == "mailboxes" {
		entries, older = &c.mailboxes, c.older
	}
	var possible bool
	switch op.kind {
	case "list":
		*entries, possible = listed(*entries, older, op, out)
	case "create":
		*entries, possible = created(*entries, op, out)
	default:
		*entries, possible = changed(*entries, op, out)
	}
	return possible, c
}

// created adds the names that do not exist.
func created(entries []entry, op operation, out outcome) ([]entry, bool) {
	var added []entry
	for _, name := range op.names {
		if indexOf(entries, name) < 0 {
			added = append(added, entry{name: name, lastName: op.lastName})
		}
	}
	if out.status == 0 {
		return slices.Concat(entries, added), true
	}
	if len(added) != len(out.entries) {
		return entries, false
	}
	for i, e := range out.entries {
		if e.id == "" || added[i].name != e.name || added[i].lastName != e.lastName {
			return entries, false
		}
	}
	return slices.Concat(entries, out.entries), true
}

// changed renames or deletes one object.
func changed(entries []entry, op operation, out outcome) ([]entry, bool) {
	i := indexOf(entries, op.names[0])
	if i < 0 {
		return entries, out.status == 0 || out.status == 404
	}
	if out.status == 404 {
		return entries, false
	}
	entries = slices.Clone(entries)
	if op.kind == "delete" {
		return slices.Delete(entries, i, i+1), true
	}
	entries[i].lastName = op.lastName
	return entries, out.status == 0 || learn(entries, i, out.entries[0])
}

// listed checks a page of a list and its total.
func listed(entries []entry, older int, op operation, out outcome) ([]entry, bool) {
	var found []int
	for range older {
		if op.search == "" {
			found = append(found, -1)
		}
	}
	for i, e := range entries {
		if e.matches(op.search) {
			found = append(found, i)
		}
	}
	if out.total != len(found) {
		return entries, false
	}
	found = found[min((op.page-1)*op.size, len(found)):]
	found = found[:min(op.size, len(found))]
	if len(found) != len(out.entries) {
		return entries, false
	}
	entries = slices.Clone(entries)
	for n, i := range found {
		isOlder := !out.entries[n].matches("pool")
		if isOlder != (i < 0) || i >= 0 && !learn(entries, i, out.entries[n]) {
			return entries, false
		}
	}
	return entries, true
}

// learn reports whether an entry is as a response has it, from which it takes an unknown id.
func learn(entries []entry, i int, got entry) bool {
	if entries[i].id == "" {
		entries[i].id = got.id
	}
	return entries[i] == got
}

func indexOf(entries []entry, name string) int {
	return slices.IndexFunc(entries, func(e entry) bool { return e.name == name })
}

// linearModel is the model for porcupine, beginning with some content.
func linearModel(begin lists) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return begin },
		Step: func(state, in, out any) (bool, any) {
			return state.(lists).step(in.(operation), out.(outcome))
		},
		Equal:             func(a, b any) bool { return a.(lists).equal(b.(lists)) },
		Hash:              func(state any) uint64 { return state.(lists).hash() },
		DescribeOperation: func(in, out any) string { return fmt.Sprintf("%+v: %+v", in, out) },
		DescribeState:     func(state any) string { return fmt.Sprintf("%+v", state) },
	}
}

// TestLinearModel checks that the model finds responses that no order of the requests explains.
func TestLinearModel(t *testing.T) {
	t.Parallel()
	create := operation{kind: "create", list: "mailboxes", names: []string{"pool1"}, lastName: "a"}
	made := entry{"pool1", "id", "a"}
	all := operation{kind: "list", list: "mailboxes", search: "pool", page: 1, size: 9}
	rename := operation{kind: "rename", list: "mailboxes", names: []string{"pool1"}, lastName: "b"}
	done := func(entries ...entry) outcome { return outcome{200, entries, len(entries)} }
	type response struct {
		op  operation
		out outcome
	}
	for name, test := range map[string]struct {
		history []response // one after the other
		want    porcupine.CheckResult
	}{
		"a list after a create":      {[]response{{create, done(made)}, {all, done(made)}}, porcupine.Ok},
		"a list without its create":  {[]response{{create, done(made)}, {all, done()}}, porcupine.Illegal},
		"a stale total":              {[]response{{create, done(made)}, {all, outcome{200, []entry{made}, 0}}}, porcupine.Illegal},
		"a lost create appears":      {[]response{{create, outcome{}}, {all, done(made)}}, porcupine.Ok},
		"a lost create appears late": {[]response{{create, outcome{}}, {all, done()}, {all, done(made)}}, porcupine.Ok},
		"it disappears again":        {[]response{{create, outcome{}}, {all, done(made)}, {all, done()}}, porcupine.Illegal},
		"a lost rename":              {[]response{{create, done(made)}, {rename, outcome{}}, {all, done(entry{"pool1", "id", "b"})}}, porcupine.Ok},
		"another id":                 {[]response{{create, done(made)}, {all, done(entry{"pool1", "other", "a"})}}, porcupine.Illegal},
		"created twice":              {[]response{{create, done(made)}, {create, done(made)}}, porcupine.Illegal},
		"a conflict with nothing":    {[]response{{create, done()}}, porcupine.Illegal},
	} {
		var history []porcupine.Operation
		for i, r := range test.history {
			ended := int64(2*i + 1)
			if r.out.status == 0 {
				ended = 1 << 62
			}
			history = append(history, porcupine.Operation{Input: r.op, Output: r.out, Call: int64(2 * i), Return: ended})
		}
		if got := porcupine.CheckOperationsTimeout(linearModel(lists{older: 3}), history, 0); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
