package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// table maps the objects of a type to the rows of a table. columnsOf derives the columns.
type table[T any] struct {
	name string
	// refersTo lists the tables of its foreign keys, apart from the parent of newKind.
	refersTo []string
	// parts lists the tables with rows that are part of an object: the schema deletes them with it.
	parts []string
	// restrict keeps a parent with objects of this table from being deleted. Otherwise they are
	// deleted with the parent.
	restrict bool
	// elsewhere contains the fields that no statement writes: each is read from a column of joins, or not
	// at all if that is "". A create reads no joins: its caller sets the fields that Identity needs.
	elsewhere map[string]string
	joins     string
	// optional names a foreign key: the column is NULL if its field is empty.
	optional string
	// derived names a column that derive computes and no statement reads into an object.
	derived string
	derive  func(*T) string
	// planned lists the columns whose times may be in the future, each with the SQL of the time that RepairTimes
	// sets, in the terms of repair, or with "" if a caller chooses it or the program corrects it without RepairTimes.
	planned map[string]string
	// unique selects the row with the same unique values as an object; nil if only ids are
	// unique.
	unique func(*where, *T) *where
	// visible excludes the rows that get, page and each don't return.
	visible func(*where) *where
	// authority means that what callers may do depends on the table.
	authority bool
	// changed is called after an object was created, updated or deleted by its id.
	changed func(*tx, *T) error

	columns []tableColumn // first the table's own, then the joined ones
	names   []string      // of the table's own columns
	stores  []string      // names, and the derived column
	// The parts of the statements.
	selection, insertion, updating string
	// Indexes in columns, or -1.
	id, account, createdAt, updatedAt int
}

// newTable derives a table's columns and statements.
func newTable[T any](t table[T]) *table[T] {
	if t.visible == nil {
		t.visible = func(w *where) *where { return w }
	}
	if t.changed == nil {
		t.changed = func(*tx, *T) error { return nil }
	}
	own, joined := columnsOf(reflect.TypeFor[T](), "", t.elsewhere)
	t.columns = append(own, joined...)
	var read []string
	for _, c := range own {
		t.names = append(t.names, c.name)
		if c.name == t.optional {
			read = append(read, "COALESCE(t."+c.name+", '')")
			continue
		}
		read = append(read, "t."+c.name)
	}
	for _, c := range joined {
		read = append(read, c.name)
	}
	t.selection = `SELECT ` + strings.Join(read, ", ")

	t.stores = slices.Clip(t.names)
	if t.derived != "" {
		t.stores = append(t.stores, t.derived)
	}
	t.insertion = insertion(t.name, t.stores) + ` ON CONFLICT DO NOTHING RETURNING created_at`
	var set []string
	for i, c := range t.stores {
		set = append(set, c+" = "+placeholder(i))
	}
	t.id, t.account = slices.Index(t.names, "id"), slices.Index(t.names, "account_id")
	if t.name == accountsTable {
		t.account = t.id
	}
	t.createdAt, t.updatedAt = slices.Index(t.names, "created_at"), slices.Index(t.names, "updated_at")
	t.updating = `UPDATE ` + t.name + ` SET ` + strings.Join(set, ", ") + ` WHERE id = $` + strconv.Itoa(t.id+1)
	declared = append(declared, declaration{t.name, t.stores, reflect.TypeFor[T](), own, t.planned})
	return &t
}

// declared lists the tables of newTable. checkColumns compares them with the schema.
var declared []declaration

// declaration describes a table. columns includes the derived column, fields does not.
type declaration struct {
	name    string
	columns []string
	object  reflect.Type
	fields  []tableColumn
	planned map[string]string
}

// placeholder returns the placeholder of an argument.
func placeholder(index int) string { return "$" + strconv.Itoa(index+1) }

// tolerance is store.ClockTolerance as it is stored.
var tolerance = strconv.FormatInt(store.ClockTolerance.Microseconds(), 10)

// insertion returns a statement that inserts a row. It sets created_at as store.Tx.Create describes, and
// updated_at, which is not an argument, to the same time.
func insertion(table string, columns []string) string {
	given := slices.DeleteFunc(slices.Clone(columns), func(c string) bool { return c == "updated_at" })
	argument := func(column string) string { return placeholder(slices.Index(given, column)) }
	values := make([]string, len(columns))
	for i, c := range columns {
		if values[i] = argument(c); c == "created_at" || c == "updated_at" {
			given := `CAST(` + argument("created_at") + ` AS BIGINT)`
			in := given + ` + ` + tolerance
			if slices.Contains(columns, "account_id") {
				in += ` AND account_id = ` + argument("account_id")
			}
			values[i] = `(SELECT MAX(c.at) FROM (SELECT ` + given + ` AS at UNION ALL SELECT MAX(created_at) + 1 FROM ` + table + ` WHERE created_at <= ` + in + `) c)`
		}
	}
	return `INSERT INTO ` + table + ` (` + strings.Join(columns, ", ") + `) VALUES (` + strings.Join(values, ", ") + `)`
}

// tableColumn is a column with the index of its field.
type tableColumn struct {
	name  string
	index []int
}

// columnsOf returns the columns of a type's fields, named in snake case: CreatedAt is
// created_at. A time and a struct with JSON tags have one column, any other struct a column for
// each field: the first column of State is state_status.
func columnsOf(t reflect.Type, prefix string, elsewhere map[string]string) (own, joined []tableColumn) {
	for f := range t.Fields() {
		name := prefix + snakeCase(f.Name)
		column, isElsewhere := elsewhere[f.Name]
		switch {
		case column != "":
			joined = append(joined, tableColumn{column, f.Index})
		case isElsewhere:
		case f.Type.Kind() == reflect.Struct && f.Type != reflect.TypeFor[time.Time]() && f.Type.Field(0).Tag == "":
			parts, _ := columnsOf(f.Type, name+"_", nil)
			for _, c := range parts {
				own = append(own, tableColumn{c.name, slices.Concat(f.Index, c.index)})
			}
		default:
			own = append(own, tableColumn{name, f.Index})
		}
	}
	return own, joined
}

// wordStart matches the beginning of each word in a name except the first.
var wordStart = regexp.MustCompile(`([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])`)

func snakeCase(name string) string {
	if owner, ok := strings.CutSuffix(name, "ID"); ok && owner != "" {
		return snakeCase(owner) + "_id" // also after an abbreviation, as in DedicatedIPID
	}
	return strings.ToLower(wordStart.ReplaceAllString(name, "${1}${3}_${2}${4}"))
}

// fields returns pointers to an object's values, wrapped for their stored form.
func (tbl *table[T]) fields(v *T) []any {
	object := reflect.ValueOf(v).Elem()
	fields := make([]any, len(tbl.columns))
	for i, c := range tbl.columns {
		fields[i] = stored(object.FieldByIndex(c.index).Addr().Interface())
	}
	return fields
}

// timeOf returns a pointer to an object's time in a column.
func (tbl *table[T]) timeOf(v *T, column int) *time.Time {
	return tbl.fields(v)[column].(micros).at
}

// written returns the values of the table's own columns and of the derived column.
func (tbl *table[T]) written(v *T) []any {
	values := tbl.fields(v)[:len(tbl.names)]
	if i := slices.Index(tbl.names, tbl.optional); i >= 0 && *values[i].(*string) == "" {
		values[i] = nil
	}
	if tbl.derived != "" {
		values = append(values, tbl.derive(v))
	}
	return values
}

// byID selects the row of an object in its account.
func (tbl *table[T]) byID(r *reader, accountID string, id any) *where {
	w := r.inAllAccounts()
	if tbl.account != tbl.id {
		w = r.inAccount(accountID)
	} else {
		r.lockAccount(accountID)
	}
	return tbl.visible(w.and(`t.id = ?`, id))
}

// inOrder is the order of every list.
const (
	inOrder   = ` ORDER BY t.created_at, t.id`
	inReverse = ` ORDER BY t.created_at DESC, t.id DESC`
)

func get[T any](r *reader, tbl *table[T], accountID string, id any) (T, error) {
	return one(r, tbl, tbl.byID(r, accountID, id))
}

// one returns the object that w selects.
func one[T any](r *reader, tbl *table[T], w *where) (T, error) {
	return only(collect(r, tbl, w, ""))
}

// only returns the only item of a list, or store.ErrNotFound if it is empty.
func only[T any](items []T, err error) (T, error) {
	switch {
	case err != nil:
		return *new(T), err
	case len(items) == 0:
		return *new(T), store.ErrNotFound
	}
	return items[0], nil
}

// all returns every object that w selects, in order.
func all[T any](r *reader, tbl *table[T], w *where) ([]T, error) {
	return collect(r, tbl, w, inOrder)
}

// page returns a slice of the objects that w selects, and their total number.
func page[T any](r *reader, tbl *table[T], w *where, s store.Slice) ([]T, int, error) {
	hidden, err := r.hasUnpaid(w.accountID)
	if err != nil {
		return nil, 0, err
	}
	w.nothingUnpaid = !hidden
	w = tbl.visible(w)
	if s.Offset == 0 {
		items, err := slice(r, tbl, w, inOrder, s)
		if err != nil || len(items) < s.Limit { // it is the only page
			return items, len(items), err
		}
		total, err := count(r, tbl, w)
		return items, total, err
	}
	total, err := count(r, tbl, w)
	if err != nil || s.Offset >= total {
		return nil, total, err
	}
	if s.Offset < total/2 {
		items, err := slice(r, tbl, w, inOrder, s)
		return items, total, err
	}
	s.Limit = min(s.Limit, total-s.Offset)
	s.Offset = total - s.Offset - s.Limit
	items, err := slice(r, tbl, w, inReverse, s)
	slices.Reverse(items)
	return items, total, err
}

// count returns how many objects w selects.
func count[T any](r *reader, tbl *table[T], w *where) (int, error) {
	if in := w.countedIn; in != nil {
		return only(column[int](r, `SELECT CAST(COALESCE(SUM(c.mailboxes), 0) AS BIGINT) FROM domains t JOIN mailbox_counts c ON c.domain_id = t.id`+in.text, in.args...))
	}
	return only(column[int](r, `SELECT COUNT(*) FROM `+tbl.name+` t`+w.text, w.args...))
}

// slice returns a slice of the objects that w selects in an order. The statement applies LIMIT and
// OFFSET before the joins, so that a skipped row costs one step in the index.
func slice[T any](r *reader, tbl *table[T], w *where, order string, s store.Slice) ([]T, error) {
	w = w.clone()
	end := order + w.limit(s.Limit)
	if s.Offset > 0 {
		end += ` OFFSET ` + w.bind(s.Offset)
	}
	if tbl.joins == "" {
		return collect(r, tbl, w, end)
	}
	return query(r, tbl, `(SELECT * FROM `+tbl.name+` t`+w.text+end+`) t`+tbl.joins+order, w.args)
}

// each calls fn for every object that w selects, in order, until fn returns an error. It reads
// in chunks, so that fn may read too.
func each[T any](r *reader, tbl *table[T], w *where, chunk int, fn func(T) error) error {
	w = tbl.visible(w)
	for rest := w; ; {
		items, err := slice(r, tbl, rest, inOrder, store.Slice{Limit: chunk})
		if err != nil {
			return err
		}
		for _, v := range items {
			if err := fn(v); err != nil {
				return err
			}
		}
		if len(items) < chunk {
			return nil
		}
		last := tbl.fields(&items[chunk-1])
		rest = w.clone().after(last[tbl.createdAt], last[tbl.id])
	}
}

// collect returns the objects that w selects. end may contain an order and a limit.
func collect[T any](r *reader, tbl *table[T], w *where, end string) ([]T, error) {
	for {
		items, err := query(r, tbl, tbl.name+` t`+tbl.joins+w.text+end, w.args)
		if err != nil || w.accountID != "" || !lockOwners(r, tbl, items) {
			return items, err
		}
	}
}

func query[T any](r *reader, tbl *table[T], from string, args []any) ([]T, error) {
	items, err := scan(r, tbl.selection+` FROM `+from, args, tbl.fields)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", tbl.name, err)
	}
	return items, nil
}

func column[T any](r *reader, query string, args ...any) ([]T, error) {
	values, err := scan(r, query, args, func(v *T) []any { return []any{stored(v)} })
	if err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	return values, nil
}

// scan returns the rows of a query, each scanned into the fields of a T.
func scan[T any](r *reader, query string, args []any, fields func(*T) []any) (items []T, err error) {
	var row T // every row overwrites the same fields
	err = eachRow(r.ctx, r.q, query, args, fields(&row), func() { items = append(items, row) })
	return items, err
}

// eachRow scans each row of a query into dest, and then calls fn.
func eachRow(ctx context.Context, q Querier, query string, args, dest []any, fn func()) (err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		fn()
	}
	return rows.Err()
}

// create inserts an object, sets its creation time and reports it, or returns an
// *store.ExistsError.
func create[T store.Object](t *tx, tbl *table[T], v *T) error {
	values := tbl.written(v)
	t.lockAccount(*values[tbl.account].(*string))
	if tbl.updatedAt >= 0 {
		values = slices.Delete(values, tbl.updatedAt, tbl.updatedAt+1)
	}
	var created []time.Time
	err := tbl.versioned(t, func() (changed bool, err error) {
		created, err = column[time.Time](&t.reader, tbl.insertion, values...)
		return len(created) > 0, err
	})
	if err != nil {
		return fmt.Errorf("create in %s: %w", tbl.name, err)
	}
	if len(created) == 1 {
		*tbl.timeOf(v, tbl.createdAt) = created[0]
		if tbl.updatedAt >= 0 {
			*tbl.timeOf(v, tbl.updatedAt) = created[0]
		}
		report(t, nil, v)
		return tbl.changed(t, v)
	}
	if err := tbl.checkUnique(t, v); err != nil {
		return err
	}
	return &store.ExistsError{ID: fmt.Sprint(reflect.ValueOf(tbl.fields(v)[tbl.id]).Elem())}
}

// versioned runs a statement, which reports whether it changed rows. A change of a table with authority must
// change the AuthorizationVersion, or a revoked token would work until its cache entry expires: without the
// schema's trigger versioned returns an error, which undoes the change.
func (tbl *table[T]) versioned(t *tx, statement func() (changed bool, err error)) error {
	if !tbl.authority {
		_, err := statement()
		return err
	}
	before, err := t.AuthorizationVersion()
	if err != nil {
		return err
	}
	changed, err := statement()
	if err != nil || !changed {
		return err
	}
	after, err := t.AuthorizationVersion()
	if err == nil && after == before {
		err = fmt.Errorf("the change was undone, because the database lacks the trigger that makes a change of %s take effect at once; run mailhostd doctor", tbl.name)
	}
	return err
}

// maxRows limits the rows that one statement inserts. Engines limit the number of arguments.
const maxRows = 512

// insertRows inserts rows with few statements. The number of rows in each is a power of two, so that
// few different statements are prepared.
func (t *tx) insertRows(table string, columns []string, rows [][]any) error {
	for n := maxRows; len(rows) > 0; {
		if len(rows) < n {
			n /= 2
			continue
		}
		if err := t.exec(insertionOf(table, columns, n), slices.Concat(rows[:n]...)...); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// insertionOf returns a statement that inserts some rows.
func insertionOf(table string, columns []string, rows int) string {
	values := make([]string, rows)
	for i := range values {
		values[i] = `(` + placeholders(len(columns), 1+i*len(columns)) + `)`
	}
	return `INSERT INTO ` + table + ` (` + strings.Join(columns, ", ") + `) VALUES ` + strings.Join(values, ", ")
}

// checkUnique returns an *store.ExistsError if another object with the same unique values exists.
func (tbl *table[T]) checkUnique(t *tx, v *T) error {
	if tbl.unique == nil {
		return nil
	}
	w := tbl.unique(t.inAllAccounts(), v).and(`t.id <> ?`, tbl.fields(v)[tbl.id])
	return t.taken(`SELECT t.id FROM `+tbl.name+` t`+w.text, w.args...)
}

// update implements store.Tx.Update.
func update[T store.Object](t *tx, tbl *table[T], v *T, accountID string, id any, change func() error) error {
	before, err := get(&t.reader, tbl, accountID, id)
	if *v = before; err == nil {
		err = change()
	}
	if err != nil || reflect.DeepEqual(before, *v) {
		return err
	}
	if err := tbl.checkUnique(t, v); err != nil {
		return err
	}
	if err := write(t, tbl, &before, v); err != nil {
		return err
	}
	return tbl.changed(t, v)
}

// write writes an object, and reports the change. A server whose clock is behind updates an object no earlier
// than it was created.
func write[T store.Object](t *tx, tbl *table[T], before, after *T, fields ...string) error {
	if tbl.updatedAt >= 0 {
		created, updated := tbl.timeOf(after, tbl.createdAt), tbl.timeOf(after, tbl.updatedAt)
		if updated.Before(*created) {
			*updated = *created
		}
	}
	if err := tbl.versioned(t, func() (bool, error) { return true, t.exec(tbl.updating, tbl.written(after)...) }); err != nil {
		return err
	}
	report(t, before, after, fields...)
	return nil
}

// remove deletes the rows that w selects, reports the objects and returns them.
func remove[T store.Object](t *tx, tbl *table[T], w *where) ([]T, error) {
	items, err := all(&t.reader, tbl, w)
	if err != nil || len(items) == 0 {
		return nil, err
	}
	if err := tbl.versioned(t, func() (bool, error) { return true, t.exec(`DELETE FROM `+tbl.name+` AS t`+w.text, w.args...) }); err != nil {
		return nil, err
	}
	for i := range items {
		report(t, &items[i], nil)
	}
	return items, nil
}

// removeOne deletes the object of an account with an id.
func removeOne[T store.Object](t *tx, tbl *table[T], accountID string, id any) (T, error) {
	removed, err := only(remove(t, tbl, tbl.byID(&t.reader, accountID, id)))
	if err != nil {
		return removed, err
	}
	return removed, tbl.changed(t, &removed)
}

// report calls the observer with copies of an object before and after a change.
func report[T store.Object](t *tx, before, after *T, fields ...string) {
	if t.observer == nil {
		return
	}
	c := store.Change{Fields: fields}
	if before != nil {
		c.Before = *before
	}
	if after != nil {
		c.After = *after
	}
	t.observer(c)
}

// exec runs a statement that may change any number of rows.
func (t *tx) exec(query string, args ...any) error {
	_, err := t.affected(query, args...)
	return err
}

// affected runs a statement and returns how many rows it changed.
func (t *tx) affected(query string, args ...any) (int64, error) {
	for i, arg := range args {
		args[i] = stored(arg)
	}
	n, err := t.q.ExecContext(t.ctx, query, args...)
	if err != nil {
		return 0, fmt.Errorf("write: %w", err)
	}
	return n, nil
}

// change runs a statement that changes one row, or returns store.ErrNotFound.
func (t *tx) change(query string, args ...any) error {
	n, err := t.affected(query, args...)
	if n == 0 && err == nil {
		err = store.ErrNotFound
	}
	return err
}

// taken returns an *store.ExistsError with the id that a query returns, if it returns one.
func (t *tx) taken(query string, args ...any) error {
	found, err := column[string](&t.reader, query, args...)
	if len(found) == 0 || err != nil {
		return err
	}
	return &store.ExistsError{ID: found[0]}
}
