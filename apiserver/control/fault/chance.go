package fault

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// attempt identifies a request in every run with the same seed, whatever the order of arrival and
// the ids of the objects: the n-th request for an operation on an object.
type attempt struct {
	operation, key string
	n              int
}

// draw returns a pseudo-random number in [0, 1) that follows from the rule, its seed and the attempt.
// purpose makes the numbers of one attempt independent of each other.
func (a *activeRule) draw(purpose string, at attempt) float64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %q %q %q %d", a.salt, purpose, at.operation, at.key, at.n))
	return float64(binary.BigEndian.Uint64(sum[:])>>11) / (1 << 53)
}

// attemptOf counts a request and returns its attempt.
func (i *Injector) attemptOf(v values) attempt {
	at := attempt{operation: v.request.Operation.ID, key: v.key()}
	counter := api.CanonicalID(v.path["account_id"]) + " " + at.operation + " " + at.key
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.attempts == nil {
		i.attempts = map[string]int{}
	}
	i.attempts[counter]++
	at.n = i.attempts[counter]
	return at
}

// key returns the natural key of a request: the object in its path, or else the request's parameters
// and the members of its body that identify objects, with names in place of ids. It contains no secret.
func (v values) key() string {
	inPath, others := []string{}, []string{}
	for _, f := range api.FieldsOf(v.request.Operation.Request) {
		switch {
		case f.In == "path" && f.Name != "account_id":
			inPath = append(inPath, f.Name+"="+v.nameOf(v.canonical(f, v.path[f.Name])))
		case f.In == "query" && v.query.Has(f.Name) && f.Format != api.FormatTime:
			others = append(others, f.Name+"="+v.text(f, v.query.Get(f.Name)))
		case f.In == "body":
			for _, m := range f.Members {
				if value := v.body[m.Name]; value != nil && identifies(v.request.Operation, m) {
					others = append(others, m.Name+"="+v.text(m, value))
				}
			}
		}
	}
	if len(inPath) > 0 {
		return strings.Join(inPath, " ")
	}
	return strings.Join(others, " ")
}

// identifies reports whether a member of a body is a part of the natural key. Times and secrets
// differ between runs; numbers, switches, objects and the names of people are settings.
func identifies(operation api.Spec, f *api.Field) bool {
	secret := operation.ID == api.CreateMasterPassword.ID && f.Name == "value"
	person := f.Name == "first_name" || f.Name == "last_name"
	return (f.Kind == reflect.String || f.Kind == reflect.Slice) && f.Format != api.FormatTime && !secret && !person
}

// text returns a value as text, with names in place of ids, and with the elements of a list in order.
func (v values) text(f *api.Field, value any) string {
	var parts []string
	switch value := value.(type) {
	case string:
		if api.IsID(value) {
			return v.nameOf(api.CanonicalID(value))
		}
		return v.canonical(f, value)
	case []any:
		for _, element := range value {
			parts = append(parts, v.text(elementOf(f), element))
		}
		slices.Sort(parts)
		return strings.Join(parts, ",")
	case map[string]any:
		for _, m := range f.Members {
			if identifies(v.request.Operation, m) {
				parts = append(parts, v.text(m, value[m.Name]))
			}
		}
		return strings.Join(parts, " ")
	}
	return fmt.Sprint(value)
}
