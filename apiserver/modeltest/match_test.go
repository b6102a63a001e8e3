package modeltest

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"time"
)

type obj = map[string]any

// learn is a placeholder in an expected body for a value that the model can't
// predict. It gets the received value and returns an error if that is wrong.
type learn func(got any) error

// differences compares an expected body with the received one: both must have the same
// members everywhere.
func differences(place string, want, got any) []string {
	differ := func(format string, args ...any) []string {
		return []string{place + " " + fmt.Sprintf(format, args...)}
	}
	switch want := want.(type) {
	case learn:
		if err := want(got); err != nil {
			return differ("%s", err)
		}
		return nil
	case int:
		if got != json.Number(strconv.Itoa(want)) {
			return differ("is %v; want %d", show(got), want)
		}
		return nil
	case obj:
		return memberDifferences(place, want, got)
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return differ("is %s; want %d items", show(got), len(want))
		}
		var all []string
		for i := range want {
			all = append(all, differences(fmt.Sprintf("%s[%d]", place, i), want[i], list[i])...)
		}
		return all
	}
	if !reflect.DeepEqual(want, got) {
		return differ("is %s; want %s", show(got), show(want))
	}
	return nil
}

func memberDifferences(place string, want obj, got any) (all []string) {
	object, ok := got.(obj)
	if !ok {
		return []string{fmt.Sprintf("%s is %s; want an object", place, show(got))}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if value, ok := object[name]; ok {
			all = append(all, differences(place+"."+name, want[name], value)...)
		} else {
			all = append(all, place+"."+name+" is missing")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if _, ok := want[name]; !ok {
			all = append(all, fmt.Sprintf("%s.%s is there: %s", place, name, show(object[name])))
		}
	}
	return all
}

func show(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%v", v)
	}
	return string(b)
}

var uuidForm = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

// learnID accepts a new id that no other object has had.
func (m *machine) learnID(id *string) learn {
	return func(got any) error {
		s, _ := got.(string)
		switch {
		case *id != "":
			return unless(s == *id, "is %s; it was %s before", show(got), *id)
		case !uuidForm.MatchString(s):
			return fmt.Errorf("is not a UUID in lower case: %s", show(got))
		case m.ids[s]:
			return fmt.Errorf("is the id of another object: %s", s)
		}
		*id, m.ids[s] = s, true
		return nil
	}
}

// learnText accepts a text. The model knows at most its form.
func learnText(text *string, form *regexp.Regexp) learn {
	return func(got any) error {
		s, ok := got.(string)
		switch {
		case *text != "":
			return unless(s == *text, "is %s; it was %q before", show(got), *text)
		case !ok || !form.MatchString(s):
			return fmt.Errorf("is %s; want the form %s", show(got), form)
		}
		*text = s
		return nil
	}
}

// learnAny accepts any value, which must then stay the same.
func learnAny(v *any) learn {
	return func(got any) error {
		if *v == nil {
			*v = got
		}
		return unless(reflect.DeepEqual(*v, got), "is %s; it was %s before", show(got), show(*v))
	}
}

const stampForm = "2006-01-02T15:04:05.000000Z"

func stamp(t time.Time) string { return t.Format(stampForm) }

// maybe returns null for an empty value.
func maybe[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	if t, ok := any(v).(time.Time); ok {
		return stamp(t)
	}
	return v
}

// clocksDiffer is how much clocks may differ: a later time comes from a wrong clock.
const clocksDiffer = 30 * time.Second

// creation accepts a creation time: now, or some microseconds after an earlier creation, because no two
// objects of a kind share a creation time. A creation by a clock that was ahead counts up to clocksDiffer.
func (m *machine) creation(at *time.Time) learn {
	now := m.now()
	return func(got any) error {
		s, _ := got.(string)
		t, err := time.Parse(stampForm, s)
		switch {
		case err != nil:
			return fmt.Errorf("is not a timestamp in UTC with microseconds: %s", show(got))
		case !at.IsZero():
			return unless(t.Equal(*at), "is %s; it was %s before", s, stamp(*at))
		case t.Before(now) || t.After(now.Add(clocksDiffer+time.Millisecond)):
			return fmt.Errorf("is %s; it is %s now", s, stamp(now))
		}
		*at = t
		return nil
	}
}

func unless(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}
