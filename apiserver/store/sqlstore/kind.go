package sqlstore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// kind says how objects of a type lie in their table.
type kind[T any] struct {
	table string
	// columns are read and written, in the order of fields.
	columns []string
	// written are further columns, which are only written.
	written []string
	// joined are further columns, which are only read; they come last in fields.
	joined []string
	joins  string
	// fields returns where the values of columns and joined are.
	fields func(*T) []any

	selection, insertion string
}

// of completes a kind with the texts of its statements.
func of[T any](k kind[T]) *kind[T] {
	read := make([]string, 0, len(k.columns)+len(k.joined))
	for _, c := range k.columns {
		read = append(read, "t."+c)
	}
	k.selection = `SELECT ` + strings.Join(append(read, k.joined...), ", ")

	write := append(slices.Clip(k.columns), k.written...)
	values := make([]string, len(write))
	for i := range values {
		values[i] = "$" + strconv.Itoa(i+1)
	}
	k.insertion = `INSERT INTO ` + k.table + ` (` + strings.Join(write, ", ") + `)` +
		` VALUES (` + strings.Join(values, ", ") + `) ON CONFLICT DO NOTHING`
	return &k
}

// inOrder is the order of every list.
const inOrder = ` ORDER BY t.created_at, t.id`

// one returns the object that w selects.
func one[T any](r *reader, k *kind[T], w *where) (T, error) {
	items, err := collect(r, k, k.selection+` FROM `+k.table+` t`+k.joins+w.text.String(), w.args)
	if err != nil {
		return *new(T), err
	}
	if len(items) == 0 {
		return *new(T), store.ErrNotFound
	}
	return items[0], nil
}

// all returns every object that w selects.
func all[T any](r *reader, k *kind[T], w *where) ([]T, error) {
	return collect(r, k, k.selection+` FROM `+k.table+` t`+k.joins+w.text.String()+inOrder, w.args)
}

// page returns a part of the objects that w selects, and how many it selects.
func page[T any](r *reader, k *kind[T], w *where, s store.Slice) ([]T, int, error) {
	args := slices.Clip(w.args)
	items, err := first(r, k, w, s)
	if err != nil {
		return nil, 0, err
	}
	if n := len(items); n > 0 && n < s.Limit {
		return items, s.Offset + n, nil // the last page tells the total
	}
	total, err := column[int](r, `SELECT COUNT(*) FROM `+k.table+` t`+w.text.String(), args...)
	if err != nil {
		return nil, 0, err
	}
	return items, total[0], nil
}

// first returns a part of the objects that w selects. The part is cut before
// anything is joined, so that what the offset skips costs an index step each.
func first[T any](r *reader, k *kind[T], w *where, s store.Slice) ([]T, error) {
	text := w.text.String() + inOrder + ` LIMIT ` + w.bind(s.Limit) + ` OFFSET ` + w.bind(s.Offset)
	if k.joins == "" {
		return collect(r, k, k.selection+` FROM `+k.table+` t`+text, w.args)
	}
	part := `(SELECT * FROM ` + k.table + ` t` + text + `) t`
	return collect(r, k, k.selection+` FROM `+part+k.joins+inOrder, w.args)
}

func collect[T any](r *reader, k *kind[T], query string, args []any) ([]T, error) {
	rows, err := r.q.QueryContext(r.ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", k.table, err)
	}
	defer rows.Close()
	var items []T
	for rows.Next() {
		items = append(items, *new(T))
		if err := rows.Scan(k.fields(&items[len(items)-1])...); err != nil {
			return nil, fmt.Errorf("read %s: %w", k.table, err)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", k.table, err)
	}
	return items, nil
}

// column returns the values of a query's only column.
func column[T any](r *reader, query string, args ...any) ([]T, error) {
	var values []T
	rows, err := r.q.QueryContext(r.ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		values = append(values, *new(T))
		if err := rows.Scan(&values[len(values)-1]); err != nil {
			return nil, fmt.Errorf("query: %w", err)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	return values, nil
}

// insert adds an object, with the values of the written columns. It reports
// false where something unique exists already.
func insert[T any](t *tx, k *kind[T], v *T, written ...any) (bool, error) {
	own := k.fields(v)[:len(k.columns)]
	n, err := t.exec(k.insertion, append(slices.Clip(own), written...)...)
	if err != nil {
		return false, fmt.Errorf("create in %s: %w", k.table, err)
	}
	return n == 1, nil
}

// exec runs a statement and returns how many rows it changed.
func (t *tx) exec(query string, args ...any) (int64, error) {
	result, err := t.q.ExecContext(t.ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// change runs a statement that changes one object, and returns
// store.ErrNotFound where it changed none.
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

// exists returns the *store.ExistsError for the object of a table that an insert
// ran into: the one with its unique values, or else the one with its id.
func (t *tx) exists(table, id, condition string, args ...any) error {
	if err := t.taken(`SELECT id FROM `+table+` WHERE `+condition, args...); err != nil {
		return err
	}
	return &store.ExistsError{ID: id}
}

// taken returns the *store.ExistsError for the object whose id a query returns,
// and nil where it returns none.
func (t *tx) taken(query string, args ...any) error {
	found, err := column[string](&t.reader, query, args...)
	if len(found) == 0 || err != nil {
		return err
	}
	return &store.ExistsError{ID: found[0]}
}
