package sqlstore

import (
	"reflect"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// kind has what Get, Create, Update and Delete do with the objects of a table, unless a kind needs
// more, as mailboxes do. o is a pointer to an object.
type kind struct {
	get    func(r *reader, o any, accountID string, id any) error
	create func(t *tx, o any) error
	update func(t *tx, o any, accountID string, id any, change func() error) error
	remove func(t *tx, o any, accountID string, id any) error
}

var kinds = map[reflect.Type]kind{} // by the type of a pointer

// newKind is newTable for the objects of accounts.
func newKind[T store.Object](definition table[T]) *table[T] {
	tbl := newTable(definition)
	kinds[reflect.TypeFor[*T]()] = kind{
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
	}
	return tbl
}

func kindOf(o any) kind { return kinds[reflect.TypeOf(o)] }

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
