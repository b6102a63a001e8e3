package modeltest

import (
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// which draws one of n values, with about equal probability. The drawn number does not depend on n, so
// that a sequence keeps its meaning when an earlier step is removed.
func (m *machine) which(label string, n int) int {
	return int(rapid.Uint64().Draw(m.t, label) % uint64(n))
}

// many is more than the number of objects of any kind.
const many = 1 << 20

// draw draws a value. The first ones are preferred, and failing sequences shrink to
// them.
func draw[T any](m *machine, label string, values ...T) T {
	return rapid.SampledFrom(values).Draw(m.t, label)
}

// rarely is true once in n times.
func (m *machine) rarely(n int, label string) bool {
	return m.which(label, n) == n-1
}

// spoil sometimes omits a required member of a body, or gives it another type, and returns the problem. at is the
// location of the object in the body. TestValidation of package apiserver checks every limit of every member.
func (m *machine) spoil(at string, body obj, names ...string) []problem {
	if m.rarely(10, "unknown field") { // the service ignores it, and a known field in another case
		body[strings.ToUpper(names[0])] = []string{"ignored"}
	}
	if !m.rarely(12, "spoil") {
		return nil
	}
	name := names[m.which("field", len(names))]
	p := problem{loc: at + "." + name, typ: "string_type"}
	if _, isBool := body[name].(bool); isBool {
		p.typ = "bool_type"
	}
	if body[name] = []string{"a list"}; draw(m, "break "+name, "type", "absent") == "absent" {
		delete(body, name)
		p.typ = "missing"
	}
	return []problem{p}
}

// badNames are invalid names.
var badNames = []string{"nul\x00", "two\nlines", "\ttab", "del\x7f", "next\u0085", "\u202eright to left", "\u200b", "\u00ad\ufeff"}

// misnamed returns the problems of invalid names in a body.
func misnamed(at string, body obj, names ...string) (found []problem) {
	for _, name := range names {
		if s, ok := body[name].(string); ok && slices.Contains(badNames, s) {
			found = append(found, problem{loc: at + "." + name, typ: "string_pattern_mismatch"})
		}
	}
	return found
}

// unknownID is a valid id of no object.
const unknownID = "99999999-9999-4999-8999-999999999999"

// anID draws the id of one of the objects, or sometimes another text. wrong reports
// that it is not a UUID.
func (m *machine) anID(label string, ids []string) (id string, wrong bool) {
	other, n, spelling := m.rarely(12, "other "+label), m.which(label, 64), m.rarely(4, "upper case")
	switch {
	case len(ids) == 0 || other:
		id = []string{unknownID, "nonsense", "99999999-9999-4999-8999-99999999999"}[n%3]
		return id, id != unknownID
	case spelling: // RFC 9562 allows it
		return strings.ToUpper(ids[n%len(ids)]), false
	}
	return ids[n%len(ids)], false
}

// named draws a path parameter that must be a UUID.
func (m *machine) named(param string, ids []string) (string, []problem) {
	id, wrong := m.anID(param, ids)
	if wrong {
		return id, []problem{{loc: "path." + param, typ: "uuid_parsing"}}
	}
	return id, nil
}

// find returns the first matching element, or nil.
func find[T any](all []*T, is func(*T) bool) *T {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i]
	}
	return nil
}

// idsOf returns the ids of objects.
func idsOf[T any](all []*T, id func(*T) string) []string {
	ids := make([]string, len(all))
	for i, v := range all {
		ids[i] = id(v)
	}
	return ids
}

func without[T any](all []*T, gone func(*T) bool) []*T { return slices.DeleteFunc(all, gone) }
