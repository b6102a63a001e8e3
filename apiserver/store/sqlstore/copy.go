package sqlstore

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// copyChunk is how many rows Copy holds in memory, and how many one statement inserts.
const copyChunk = 100

// Copied is what Copy did.
type Copied struct {
	Tables int
	Rows   int64
}

// Copy copies every row of a store to an empty one, in one transaction of each. It reads the
// copy before it commits, and compares the number of rows and a checksum of each table. No
// other process can change the source meanwhile. An error leaves the target as it was.
//
// progress is called with the number of steps that are done and that there are.
func Copy(ctx context.Context, source, target store.Store, progress func(done, total int64)) (Copied, error) {
	from, ok := source.(interface{ base() *Store })
	to, okToo := target.(interface{ base() *Store })
	if !ok || !okToo {
		return Copied{}, errors.New("only an SQL database can be copied")
	}
	c := &copier{source: from.base(), target: to.base(), progress: progress}
	// The statements run with the caller's context: an update itself is not cancelled.
	err := c.source.engine.Update(ctx, func(_ context.Context, from Querier) error {
		if err := c.open(ctx, from); err != nil {
			return err
		}
		return c.target.engine.Update(ctx, func(_ context.Context, to Querier) error { return c.copy(ctx, from, to) })
	})
	return c.copied, err
}

// base is promoted to the stores of the engines.
func (s *Store) base() *Store { return s }

// copier copies one store.
type copier struct {
	source, target *Store
	progress       func(done, total int64)
	tables         []copiedTable
	done, total    int64
	copied         Copied
}

// copiedTable is a table of the source.
type copiedTable struct {
	name    string
	columns []copiedColumn
	rows    int64
}

// copiedColumn is a column, as Dialect.Columns returns it.
type copiedColumn struct {
	name          string
	bool, notNull bool
	key           int
}

// open keeps other processes from changing the source, and reads what there is to copy.
func (c *copier) open(ctx context.Context, q Querier) error {
	tables := slices.Clone(Tables())
	slices.Reverse(tables) // each after those to which it refers
	if freeze := c.source.dialect.Freeze(tables); freeze != "" {
		if _, err := q.ExecContext(ctx, freeze); err != nil {
			return fmt.Errorf("lock the source: %w", err)
		}
	}
	c.tables, c.total = nil, 0
	for _, name := range tables {
		columns, err := columnsIn(ctx, q, c.source.dialect, name)
		if err != nil {
			return fmt.Errorf("read the source: %w", err)
		}
		rows, err := countIn(ctx, q, name)
		if err != nil {
			return fmt.Errorf("read the source: %w", err)
		}
		c.tables = append(c.tables, copiedTable{name, columns, rows})
		c.total += 2 * rows // each is copied and read again
	}
	if c.total == 0 {
		return errors.New("the source has no data")
	}
	return nil
}

// copy copies all tables, and compares them.
func (c *copier) copy(ctx context.Context, from, to Querier) error {
	c.done, c.copied = 0, Copied{Tables: len(c.tables)}
	if freeze := c.target.dialect.Freeze(Tables()); freeze != "" {
		if _, err := to.ExecContext(ctx, freeze); err != nil {
			return fmt.Errorf("lock the target: %w", err)
		}
	}
	for _, t := range c.tables {
		if rows, err := countIn(ctx, to, t.name); err != nil || rows > 0 {
			return cmp.Or(err, fmt.Errorf("the target has data already: %d rows in %s; use an empty database", rows, t.name))
		}
	}
	sums := make([][]byte, len(c.tables))
	for i, t := range c.tables {
		var err error
		if sums[i], err = c.copyTable(ctx, from, to, t); err != nil {
			return fmt.Errorf("copy %s: %w", t.name, err)
		}
	}
	for i, t := range c.tables {
		if err := c.check(ctx, to, t, sums[i]); err != nil {
			return fmt.Errorf("check the copy of %s: %w", t.name, err)
		}
		c.copied.Rows += t.rows
	}
	return nil
}

// copyTable copies a table and returns the checksum of what it read.
func (c *copier) copyTable(ctx context.Context, from, to Querier, t copiedTable) ([]byte, error) {
	columns, err := columnsIn(ctx, to, c.target.dialect, t.name)
	if err != nil {
		return nil, err
	}
	if !slices.EqualFunc(t.columns, columns, func(a, b copiedColumn) bool { return a.name == b.name }) {
		return nil, errors.New("the tables have different columns; copy with the version of the program that runs on both")
	}
	sum, err := t.each(ctx, from, func(rows [][]any) error {
		args := make([]any, 0, len(rows)*len(columns))
		for _, row := range rows {
			for i, v := range row {
				args = append(args, columns[i].argument(v))
			}
		}
		c.advance(len(rows))
		n, err := to.ExecContext(ctx, t.insertion(len(rows)), args...)
		if err == nil && n != int64(len(rows)) {
			err = fmt.Errorf("%d of %d rows were inserted", n, len(rows))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if query := c.target.dialect.ContinueIDs(t.name); query != "" {
		if _, err := scanAll(ctx, to, query, nil, 1); err != nil {
			return nil, err
		}
	}
	return sum, nil
}

// check compares the copy of a table with the source.
func (c *copier) check(ctx context.Context, to Querier, t copiedTable, sum []byte) error {
	rows := int64(0)
	got, err := t.each(ctx, to, func(chunk [][]any) error {
		rows += int64(len(chunk))
		c.advance(len(chunk))
		return nil
	})
	switch {
	case err != nil:
		return err
	case rows != t.rows:
		return fmt.Errorf("it has %d rows, and the source %d", rows, t.rows)
	case !bytes.Equal(got, sum):
		return fmt.Errorf("its checksum is %x, and that of the source %x", got, sum)
	}
	return nil
}

func (c *copier) advance(rows int) {
	c.done += int64(rows)
	c.progress(c.done, c.total)
}

// each calls fn with the rows of a table in the order of its key, which is the same in all
// engines, and returns their checksum.
func (t copiedTable) each(ctx context.Context, q Querier, fn func(rows [][]any) error) ([]byte, error) {
	names, keys, places := make([]string, len(t.columns)), []string(nil), []int(nil)
	for i, column := range t.columns {
		names[i] = column.name
	}
	for n := 1; ; n++ {
		i := slices.IndexFunc(t.columns, func(c copiedColumn) bool { return c.key == n })
		if i < 0 {
			break
		}
		keys, places = append(keys, names[i]), append(places, i)
	}
	if len(keys) == 0 {
		return nil, errors.New("the table has no primary key")
	}
	selection, key := `SELECT `+strings.Join(names, ", ")+` FROM `+t.name, strings.Join(keys, ", ")
	end := ` ORDER BY ` + key + ` LIMIT ` + strconv.Itoa(copyChunk)
	sum := sha256.New()
	var after []any
	for {
		query := selection + end
		if after != nil {
			query = selection + ` WHERE (` + key + `) > (` + placeholders(len(keys), 1) + `)` + end
		}
		rows, err := scanAll(ctx, q, query, after, len(names))
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if err := addRow(sum, row); err != nil {
				return nil, err
			}
		}
		if len(rows) > 0 {
			if err := fn(rows); err != nil {
				return nil, err
			}
		}
		if len(rows) < copyChunk {
			return sum.Sum(nil), nil
		}
		after = after[:0]
		for _, i := range places {
			after = append(after, rows[copyChunk-1][i])
		}
	}
}

// insertion returns the statement that inserts some rows.
func (t copiedTable) insertion(rows int) string {
	names := make([]string, len(t.columns))
	for i, column := range t.columns {
		names[i] = column.name
	}
	return insertionOf(t.name, names, rows)
}

func placeholders(n, first int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = "$" + strconv.Itoa(first+i)
	}
	return strings.Join(all, ", ")
}

// argument returns a value as the column takes it. Engines read a boolean as a number, and an
// empty text of bytes as NULL.
func (c copiedColumn) argument(v any) any {
	switch n, isNumber := v.(int64); {
	case c.bool && isNumber:
		return n != 0
	case v == nil && c.notNull:
		return []byte{}
	case isBytes(v) && len(v.([]byte)) == 0:
		return []byte{}
	}
	return v
}

func isBytes(v any) bool { _, ok := v.([]byte); return ok }

// addRow adds a row to a checksum.
func addRow(sum io.Writer, row []any) error {
	for _, v := range row {
		var encoded []byte
		switch v := v.(type) {
		case nil:
			encoded = []byte{'n'}
		case int64:
			encoded = binary.BigEndian.AppendUint64([]byte{'i'}, uint64(v))
		case string:
			encoded = append(binary.BigEndian.AppendUint64([]byte{'s'}, uint64(len(v))), v...)
		case []byte:
			if len(v) == 0 {
				encoded = []byte{'n'} // as engines read it
				break
			}
			encoded = append(binary.BigEndian.AppendUint64([]byte{'b'}, uint64(len(v))), v...)
		default:
			return fmt.Errorf("a column has a %T", v)
		}
		_, _ = sum.Write(encoded) // never fails
	}
	return nil
}

// columnsIn returns the columns of a table in a database.
func columnsIn(ctx context.Context, q Querier, d Dialect, table string) ([]copiedColumn, error) {
	rows, err := scanAll(ctx, q, d.Columns(table), nil, 4)
	if err != nil || len(rows) == 0 {
		return nil, cmp.Or(err, fmt.Errorf("there is no table %s", table))
	}
	columns := make([]copiedColumn, len(rows))
	for i, row := range rows {
		name, isText := row[0].(string)
		number := func(i int) int64 { n, _ := row[i].(int64); return n }
		if !isText {
			return nil, fmt.Errorf("the name of a column is a %T", row[0])
		}
		columns[i] = copiedColumn{name, number(1) != 0, number(2) != 0, int(number(3))}
	}
	return columns, nil
}

func countIn(ctx context.Context, q Querier, table string) (int64, error) {
	rows, err := scanAll(ctx, q, `SELECT COUNT(*) FROM `+table, nil, 1)
	if err != nil || len(rows) != 1 {
		return 0, cmp.Or(err, errors.New("a count is one row"))
	}
	n, ok := rows[0][0].(int64)
	if !ok {
		return 0, fmt.Errorf("a count is a %T", rows[0][0])
	}
	return n, nil
}

// scanAll returns the rows of a query with some columns.
func scanAll(ctx context.Context, q Querier, query string, args []any, columns int) (all [][]any, err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		row, dest := make([]any, columns), make([]any, columns)
		for i := range row {
			dest[i] = &row[i]
		}
		if err := rows.Scan(dest...); err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, rows.Err()
}
