package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// kind describes a type of object to testKind. list, update and delete are nil if the
// store has no such method.
type kind[T any, K comparable] struct {
	// new returns an object with unique values of its own.
	new    func(*harness, tenant) T
	get    func(store.Reader, string, K) (T, error)
	list   func(account string) lister[T]
	update func(store.Tx, string, K, func(*T) error) (T, error)
	delete func(store.Tx, string, K) error
	// unique are the fields that are unique together. elsewhere moves an object to
	// another scope, in which the same values are free.
	unique    []string
	elsewhere func(tenant, *T)
	// folded is one of them that is compared without its case.
	folded string
	// everywhere means that they are unique in the whole store and not in an account.
	everywhere bool
	// fixed are the immutable fields besides ID, AccountID and CreatedAt.
	fixed []string
	// kept are fields that refer to other objects or belong to them; the test does not
	// change them.
	kept []string
}

// testKind checks that an object is created, read, listed, updated and deleted with all
// its fields and only in its account, and that ids and unique values are unique.
func testKind[T any, K comparable](k kind[T, K]) func(*harness) {
	return func(h *harness) {
		t, other := h.tenant("a.example"), h.tenant("b.example")
		get := func(account string, v T) func(store.Reader) (T, error) {
			return func(r store.Reader) (T, error) { return k.get(r, account, k.id(v)) }
		}
		var before []string
		if k.list != nil {
			before = idsOf(listed(h, k.list(t.account)))
		}
		v, second := k.new(h, t), k.new(h, t)
		fill(&v, 1, func(name string, value reflect.Value) bool {
			return value.IsZero() && name != "UpdatedAt" && !slices.Contains(k.kept, name)
		})
		h.create(&v, &second)
		equal(h, "created", read(h, get(t.account, v)), v)
		if updated := field(&v, "UpdatedAt"); updated.IsValid() {
			equal(h, "UpdatedAt", updated.Interface(), field(&v, "CreatedAt").Interface())
		}
		absent(h, get(t.account, k.new(h, t)))
		if field(&v, "AccountID").IsValid() {
			absent(h, get(other.account, v))
		}
		if k.list != nil {
			lists(h, "all", k.list(t.account), append(before, idOf(v), idOf(second))...)
		}

		for _, owner := range []tenant{t, other} { // ids are unique in the whole store
			h.taken(idOf(v), new(with(k.new(h, owner), v, "ID")))
		}
		if k.unique != nil {
			same := with(k.new(h, t), v, k.unique...)
			if k.folded != "" {
				field(&same, k.folded).SetString(strings.ToUpper(field(&v, k.folded).String()))
			}
			h.taken(idOf(v), &same)
		}
		if k.everywhere {
			h.taken(idOf(v), new(with(k.new(h, other), v, k.unique...)))
		}
		if k.elsewhere != nil {
			same := with(k.new(h, t), v, k.unique...)
			k.elsewhere(t, &same)
			h.create(&same)
		}
		if k.update != nil {
			v = k.testUpdate(h, t, other, v, second)
			equal(h, "updated", read(h, get(t.account, v)), v)
		}
		if k.delete != nil {
			remove := func(account string) func(store.Tx) error {
				return func(tx store.Tx) error { return k.delete(tx, account, k.id(v)) }
			}
			h.missing(remove(other.account))
			h.update(remove(t.account))
			absent(h, get(t.account, v))
			h.missing(remove(t.account))
			h.create(new(v)) // its unique values are free again
		}
	}
}

func (kind[T, K]) id(v T) K { return field(&v, "ID").Interface().(K) }

// with returns v with some fields copied from another object.
func with[T any](v, other T, fields ...string) T {
	for _, name := range fields {
		field(&v, name).Set(field(&other, name))
	}
	return v
}

// testUpdate checks updates of an object and returns its last state.
func (k kind[T, K]) testUpdate(h *harness, t, other tenant, v, second T) T {
	update := func(account string, v T) func(store.Tx) error {
		return func(tx store.Tx) error {
			got, err := k.update(tx, account, k.id(v), replaceWith(v))
			if _, exists := errors.AsType[*store.ExistsError](err); err == nil || exists {
				equal(h, "returned", got, v)
			}
			return err
		}
	}
	if field(&v, "UpdatedAt").IsValid() { // its unique values stay the same
		field(&v, "UpdatedAt").Set(reflect.ValueOf(at(1)))
		h.update(update(t.account, v))
	}
	was := v
	k.change(&v, 2)
	after := v
	h.missing(update(t.account, k.new(h, t)))
	if field(&v, "AccountID").IsValid() {
		h.missing(update(other.account, v))
	}
	equal(h, "changes", h.observed(update(t.account, v)), []store.Change{{Before: &was, After: &after}})
	equal(h, "changes of an update without one", h.observed(update(t.account, v)), nil)
	for _, name := range append(k.fixed, "CreatedAt") {
		changed := v
		fill(&changed, 3, func(n string, _ reflect.Value) bool { return n == name })
		h.fixed(update(t.account, changed))
	}
	if slices.ContainsFunc(k.unique, func(name string) bool { return !slices.Contains(k.fixed, name) }) {
		h.exists(idOf(v), update(t.account, with(second, v, k.unique...)))
	}
	k.change(&v, 0)
	h.update(update(t.account, v))
	return v
}

// change changes all fields of an object that an update may change.
func (k kind[T, K]) change(v *T, seed int) {
	kept := slices.Concat(k.kept, k.fixed, []string{"ID", "AccountID", "CreatedAt"})
	fill(v, seed, func(name string, _ reflect.Value) bool { return !slices.Contains(kept, name) })
}

// field returns a field of a struct.
func field[T any](v *T, name string) reflect.Value {
	return reflect.ValueOf(v).Elem().FieldByName(name)
}

// fill sets the fields that which selects to values that differ by seed and by field; a
// seed of 0 sets zero values.
func fill[T any](v *T, seed int, which func(name string, value reflect.Value) bool) {
	s := reflect.ValueOf(v).Elem()
	for i := range s.NumField() {
		if name := s.Type().Field(i).Name; which(name, s.Field(i)) {
			s.Field(i).SetZero()
			if seed != 0 {
				set(s.Field(i), 100*seed+i)
			}
		}
	}
}

func set(v reflect.Value, n int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("ünï %d", n))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(n))
	case reflect.Uint8:
		v.SetUint(uint64(n % 256))
	case reflect.Bool:
		v.SetBool(n < 200)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		set(v.Index(0), n)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(at(n)))
			return
		}
		for i := range v.NumField() {
			set(v.Field(i), n+i)
		}
	default:
		panic("no value of " + v.Type().String())
	}
}
