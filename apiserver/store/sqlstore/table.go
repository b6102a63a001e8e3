package sqlstore

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// table maps the objects of a type to the rows of a table.
type table[T any] struct {
	name string
	// columns are read and written, in the order of fields. An update must not
	// change those that are named in fixed, nor id, account_id and created_at.
	columns, fixed []string
	// derived are columns that are computed from an object by derive. They are
	// written and never read.
	derived []string
	derive  func(*T) []any
	// joined are columns of other tables. They are read and never written, and
	// come last in fields.
	joined []string
	joins  string
	// fields returns pointers to the values of columns and joined.
	fields func(*T) []any
	// unique selects the row that has the same unique values as an object; nil if
	// only ids are unique, or a table of its own makes sure.
	unique func(*where, *T) *where
	// visible leaves out the rows that HideUnpaid hides; nil if there are none.
	visible func(*where) *where

	selection, insertion, updating string
	// What follows are indexes in fields: of the columns that an update writes, of
	// the others, and of some columns or -1.
	changing, unchanging              []int
	id, account, createdAt, updatedAt int
}

// newTable completes a table with its statements.
func newTable[T any](t table[T]) *table[T] {
	read := make([]string, 0, len(t.columns)+len(t.joined))
	for _, c := range t.columns {
		read = append(read, "t."+c)
	}
	t.selection = `SELECT ` + strings.Join(append(read, t.joined...), ", ")

	written := append(slices.Clip(t.columns), t.derived...)
	placeholders := make([]string, len(written))
	for i := range placeholders {
		placeholders[i] = "$" + strconv.Itoa(i+1)
	}
	t.insertion = `INSERT INTO ` + t.name + ` (` + strings.Join(written, ", ") + `)` +
		` VALUES (` + strings.Join(placeholders, ", ") + `) ON CONFLICT DO NOTHING`

	fixed := append(slices.Clip(t.fixed), "id", "account_id", "created_at")
	var set []string
	for i, c := range written {
		switch {
		case slices.Contains(fixed, c):
			t.unchanging = append(t.unchanging, i)
			continue
		case i < len(t.columns):
			t.changing = append(t.changing, i)
		}
		set = append(set, c+" = "+placeholders[len(set)])
	}
	t.updating = `UPDATE ` + t.name + ` SET ` + strings.Join(set, ", ") + ` WHERE id = $` + strconv.Itoa(len(set)+1)

	t.id, t.account = slices.Index(t.columns, "id"), slices.Index(t.columns, "account_id")
	t.createdAt, t.updatedAt = slices.Index(t.columns, "created_at"), slices.Index(t.columns, "updated_at")
	return &t
}

// derivedOf returns the values of the derived columns.
func (tbl *table[T]) derivedOf(v *T) []any {
	if tbl.derive == nil {
		return nil
	}
	return tbl.derive(v)
}

// byID selects the row of an object in its account.
func (tbl *table[T]) byID(r *reader, accountID string, id any) *where {
	w := r.inAllAccounts()
	if tbl.account >= 0 {
		w = r.inAccount(accountID)
	}
	if w.and(`t.id = ?`, id); tbl.visible != nil {
		tbl.visible(w)
	}
	return w
}

// inOrder is the order of every list.
const inOrder = ` ORDER BY t.created_at, t.id`

// get returns the object of an account with an id.
func get[T any](r *reader, tbl *table[T], accountID string, id any) (T, error) {
	return one(r, tbl, tbl.byID(r, accountID, id))
}

// one returns the object that w selects.
func one[T any](r *reader, tbl *table[T], w *where) (T, error) {
	items, err := collect(r, tbl, tbl.selection+` FROM `+tbl.name+` t`+tbl.joins+w.text.String(), w.args)
	if err != nil {
		return *new(T), err
	}
	if len(items) == 0 {
		return *new(T), store.ErrNotFound
	}
	return items[0], nil
}

// all returns every object that w selects, in order.
func all[T any](r *reader, tbl *table[T], w *where) ([]T, error) {
	return collect(r, tbl, tbl.selection+` FROM `+tbl.name+` t`+tbl.joins+w.text.String()+inOrder, w.args)
}

// page returns a slice of the objects that w selects, and how many it selects.
func page[T any](r *reader, tbl *table[T], w *where, s store.Slice) ([]T, int, error) {
	args := slices.Clip(w.args)
	items, err := first(r, tbl, w, s)
	if err != nil {
		return nil, 0, err
	}
	if n := len(items); n > 0 && n < s.Limit {
		return items, s.Offset + n, nil // the last page: its end is the total
	}
	total, err := column[int](r, `SELECT COUNT(*) FROM `+tbl.name+` t`+w.text.String(), args...)
	if err != nil {
		return nil, 0, err
	}
	return items, total[0], nil
}

// first returns a slice of the objects that w selects. It is cut before the joins,
// so that a row skipped by the offset costs one step in the index.
func first[T any](r *reader, tbl *table[T], w *where, s store.Slice) ([]T, error) {
	text := w.text.String() + inOrder + ` LIMIT ` + w.bind(s.Limit) + ` OFFSET ` + w.bind(s.Offset)
	if tbl.joins == "" {
		return collect(r, tbl, tbl.selection+` FROM `+tbl.name+` t`+text, w.args)
	}
	part := `(SELECT * FROM ` + tbl.name + ` t` + text + `) t`
	return collect(r, tbl, tbl.selection+` FROM `+part+tbl.joins+inOrder, w.args)
}

func collect[T any](r *reader, tbl *table[T], query string, args []any) ([]T, error) {
	items, err := scan(r, query, args, tbl.fields)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", tbl.name, err)
	}
	return items, nil
}

// column returns the values of a query with one column.
func column[T any](r *reader, query string, args ...any) ([]T, error) {
	values, err := scan(r, query, args, func(v *T) []any { return []any{v} })
	if err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	return values, nil
}

// scan returns the rows of a query, each scanned into the fields of a T.
func scan[T any](r *reader, query string, args []any, fields func(*T) []any) (items []T, err error) {
	rows, err := r.q.QueryContext(r.ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		items = append(items, *new(T))
		if err := rows.Scan(fields(&items[len(items)-1])...); err != nil {
			return nil, err
		}
	}
	return items, rows.Err()
}

// create inserts an object and reports it.
func create[T any](t *tx, tbl *table[T], v *T) error {
	if err := insert(t, tbl, v); err != nil {
		return err
	}
	report(t, nil, v)
	return nil
}

// insert inserts an object after it has set its creation time. It returns an
// *store.ExistsError if a row has its id or its unique values.
func insert[T any](t *tx, tbl *table[T], v *T) error {
	fields, accountID := tbl.fields(v)[:len(tbl.columns)], ""
	if tbl.account >= 0 {
		accountID = *fields[tbl.account].(*string)
	}
	created := fields[tbl.createdAt].(micros).at
	at, err := t.creationTime(tbl.name, accountID, *created)
	if err != nil {
		return err
	}
	*created = at
	if tbl.updatedAt >= 0 {
		*fields[tbl.updatedAt].(micros).at = at
	}
	n, err := t.exec(tbl.insertion, append(fields, tbl.derivedOf(v)...)...)
	if err != nil {
		return fmt.Errorf("create in %s: %w", tbl.name, err)
	}
	if n == 1 {
		return nil
	}
	if err := tbl.checkUnique(t, v); err != nil {
		return err
	}
	return &store.ExistsError{ID: fmt.Sprint(reflect.ValueOf(fields[tbl.id]).Elem())}
}

// checkUnique returns an *store.ExistsError for another object with the same
// unique values.
func (tbl *table[T]) checkUnique(t *tx, v *T) error {
	if tbl.unique == nil {
		return nil
	}
	w := tbl.unique(t.inAllAccounts(), v).and(`t.id <> ?`, tbl.fields(v)[tbl.id])
	return t.taken(`SELECT t.id FROM `+tbl.name+` t`+w.text.String(), w.args...)
}

// update implements the Update methods of store.Tx.
func update[T any](t *tx, tbl *table[T], accountID string, id any, change func(*T) error) (T, error) {
	before, err := get(&t.reader, tbl, accountID, id)
	if err != nil {
		return before, err
	}
	after := before
	if err := change(&after); err != nil || reflect.DeepEqual(before, after) {
		return after, err
	}
	old, fields := tbl.fields(&before), tbl.fields(&after)
	for _, i := range tbl.unchanging {
		if !reflect.DeepEqual(old[i], fields[i]) {
			return after, fmt.Errorf("update %s: %s can't be changed", tbl.name, tbl.columns[i])
		}
	}
	if err := tbl.checkUnique(t, &after); err != nil {
		return after, err
	}
	var args []any
	for _, i := range tbl.changing {
		args = append(args, fields[i])
	}
	if err := t.change(tbl.updating, append(append(args, tbl.derivedOf(&after)...), id)...); err != nil {
		return after, err
	}
	report(t, &before, &after)
	return after, nil
}

// remove deletes the rows that w selects, reports the objects and returns them.
func remove[T any](t *tx, tbl *table[T], w *where) ([]T, error) {
	items, err := all(&t.reader, tbl, w)
	if err != nil || len(items) == 0 {
		return nil, err
	}
	if _, err := t.exec(`DELETE FROM `+tbl.name+` AS t`+w.text.String(), w.args...); err != nil {
		return nil, fmt.Errorf("delete in %s: %w", tbl.name, err)
	}
	for i := range items {
		report(t, &items[i], nil)
	}
	return items, nil
}

// removeOne deletes the object of an account with an id.
func removeOne[T any](t *tx, tbl *table[T], accountID string, id any) (T, error) {
	items, err := remove(t, tbl, tbl.byID(&t.reader, accountID, id))
	if err != nil {
		return *new(T), err
	}
	if len(items) == 0 {
		return *new(T), store.ErrNotFound
	}
	return items[0], nil
}

// report calls the observer of a transaction with copies of an object before and
// after a change.
func report[T any](t *tx, before, after *T, fields ...string) {
	if t.observer == nil {
		return
	}
	c := store.Change{Fields: fields}
	if before != nil {
		c.Before = new(*before)
	}
	if after != nil {
		c.After = new(*after)
	}
	t.observer(c)
}

// exec runs a statement and returns how many rows it changed.
func (t *tx) exec(query string, args ...any) (int64, error) {
	result, err := t.q.ExecContext(t.ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// change runs a statement that changes one row, and returns store.ErrNotFound if
// it changed none.
func (t *tx) change(query string, args ...any) error {
	n, err := t.exec(query, args...)
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if n == 0 {
		return store.ErrNotFound
	}
	return nil
}

// taken returns an *store.ExistsError with the id that a query returns, and nil
// if it returns none.
func (t *tx) taken(query string, args ...any) error {
	found, err := column[string](&t.reader, query, args...)
	if len(found) == 0 || err != nil {
		return err
	}
	return &store.ExistsError{ID: found[0]}
}
