package sqlstore

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// kind contains the Get, Create, Update and Delete of the objects of a table. Some kinds, such as
// mailboxes, need more. o is a pointer to an object.
type kind struct {
	object       reflect.Type // of the pointer
	name, parent string       // tables
	scoped       bool         // whether the objects have a Scope
	refersTo     []string
	parts        []string
	restrict     bool

	get    func(r *reader, o any, accountID string, id any) error
	create func(t *tx, o any) error
	update func(t *tx, o any, accountID string, id any, change func() error) error
	remove func(t *tx, o any, accountID string, id any) error
	// removeIn deletes the objects in a domain.
	removeIn func(t *tx, d store.Domain) error
}

// kinds lists each kind after the kinds that it refers to: Go initializes a variable after the
// variables in its declaration.
var kinds []kind

// newKind is newTable for the objects of accounts. They belong to an object in the table parent, which
// is accounts or, for objects with a DomainID, domains. Objects with a Scope also belong to its domain.
func newKind[T store.Object](parent string, definition table[T]) *table[T] {
	tbl := newTable(definition)
	object := reflect.TypeFor[T]()
	for field, column := range map[string]int{"an ID": tbl.id, "an AccountID": tbl.account, "a CreatedAt": tbl.createdAt} {
		if column < 0 {
			panic(fmt.Sprintf("%s: %s lacks %s, which each kind needs", tbl.name, object, field))
		}
	}
	scoped := slices.Contains(tbl.names, "scope_id")
	kinds = append(kinds, kind{
		object: reflect.PointerTo(object), name: tbl.name, parent: parent, scoped: scoped,
		refersTo: tbl.refersTo, parts: tbl.parts, restrict: tbl.restrict,
		get: func(r *reader, o any, accountID string, id any) (err error) {
			*o.(*T), err = get(r, tbl, accountID, id)
			return err
		},
		create: func(t *tx, o any) error { return create(t, tbl, o.(*T)) },
		update: func(t *tx, o any, accountID string, id any, change func() error) error {
			return update(t, tbl, o.(*T), accountID, id, change)
		},
		remove: func(t *tx, o any, accountID string, id any) (err error) {
			*o.(*T), err = removeOne(t, tbl, accountID, id)
			return err
		},
		removeIn: func(t *tx, d store.Domain) error {
			w := t.inAccount(d.AccountID)
			if scoped {
				w.scope(store.Scope{Type: vocab.ScopeDomain, ID: d.ID})
			} else {
				w.and(`t.domain_id = ?`, d.ID)
			}
			_, err := remove(t, tbl, w)
			return err
		},
	})
	return tbl
}

func kindOf(o any) kind {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.object == reflect.TypeOf(o) })
	if i < 0 {
		panic(fmt.Sprintf("no table stores a %T: declare one with newKind in apiserver/store/sqlstore", o))
	}
	return kinds[i]
}

func (r *reader) Get(o any, accountID string, id any) error {
	return kindOf(o).get(r, o, accountID, id)
}

func (t *tx) Create(o store.Object) error {
	switch o := o.(type) {
	case *store.Mailbox:
		return t.createMailbox(o)
	case *store.DedicatedIP:
		return t.createDedicatedIP(o)
	}
	return kindOf(o).create(t, o)
}

func (t *tx) Update(o any, accountID string, id any, change func() error) error {
	return kindOf(o).update(t, o, accountID, id, change)
}

func (t *tx) Delete(o any, accountID string, id any, at time.Time) error {
	switch o.(type) {
	case *store.Mailbox:
		return t.deleteMailbox(accountID, id, at)
	case *store.Domain:
		return t.deleteDomain(accountID, id, at)
	}
	return kindOf(o).remove(t, o, accountID, id)
}
