package modeltest

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// which draws one of n things, with about equal probability. The drawn value does not
// depend on n, so that a sequence keeps its meaning when an earlier step is removed.
func (m *machine) which(label string, n int) int {
	return int(rapid.Uint64().Draw(m.t, label) % uint64(n))
}

// many is more than the number of any objects.
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

// The types of a field.
const (
	text = iota
	boolean
)

// field is the specification of a field in a body.
type field struct {
	name     string
	kind     int
	required bool
	min, max int // characters; max 0: the specification has no maximum
}

func required(name string, bounds ...int) field {
	return bounded(field{name: name, required: true}, bounds)
}
func optional(name string, bounds ...int) field { return bounded(field{name: name}, bounds) }

func bounded(f field, bounds []int) field {
	if len(bounds) == 2 {
		f.min, f.max = bounds[0], bounds[1]
	}
	return f
}

// spoil sometimes makes one or two fields of a body invalid, and returns the expected
// problems. at is the location of the object in the body.
func (m *machine) spoil(at string, body obj, fields ...field) (found []problem) {
	if m.rarely(10, "unknown field") { // the service ignores it, and a known field in another case
		body[strings.ToUpper(fields[0].name)] = []string{"ignored"}
	}
	if !m.rarely(12, "spoil") {
		return nil
	}
	broken := map[string]bool{}
	for range draw(m, "broken fields", 1, 1, 2) {
		f := fields[m.which("field", len(fields))]
		if broken[f.name] {
			continue
		}
		broken[f.name] = true
		if p, ok := m.spoilField(body, f); ok {
			p.loc = at + "." + f.name
			found = append(found, p)
		}
	}
	return found
}

func (m *machine) spoilField(body obj, f field) (problem, bool) {
	wrongType := []string{"string_type", "bool_type"}[f.kind]
	ways := []string{"type"}
	if f.required {
		ways = append(ways, "absent", "null")
	}
	if f.min > 0 {
		ways = append(ways, "empty")
	}
	if f.max > 0 {
		ways = append(ways, "long", "longest")
	}
	switch draw(m, "break "+f.name, ways...) {
	case "absent":
		delete(body, f.name)
		return problem{typ: "missing", contains: []string{"Field required"}}, true
	case "null":
		body[f.name] = nil
	case "type":
		body[f.name] = []string{"a list"}
	case "empty":
		body[f.name] = ""
		return problem{typ: "string_too_short", contains: []string{fmt.Sprintf("String should have at least %s", characters(f.min))}}, true
	case "long":
		body[f.name] = strings.Repeat("ü", f.max+1)
		return problem{typ: "string_too_long", contains: []string{fmt.Sprintf("String should have at most %s", characters(f.max))}}, true
	case "longest": // characters are counted, not bytes
		if s, _ := body[f.name].(string); f.name == "local_part" || f.name == "target_email" || len(s) > f.max {
			return problem{}, false
		}
		body[f.name] = strings.Repeat("ü", f.max)
		return problem{}, false
	}
	return problem{typ: wrongType}, true
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

func characters(n int) string {
	if n == 1 {
		return "1 character"
	}
	return fmt.Sprintf("%d characters", n)
}

// unknownID is a valid id that no object has.
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
