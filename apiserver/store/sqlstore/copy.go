package sqlstore

import (
	"cmp"
	"context"
	"crypto/sha256"
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
	if err := freeze(ctx, q, c.source.dialect, tables); err != nil {
		return fmt.Errorf("lock the source: %w", err)
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
	if err := freeze(ctx, to, c.target.dialect, Tables()); err != nil {
		return fmt.Errorf("lock the target: %w", err)
	}
	for _, t := range c.tables {
		if rows, err := countIn(ctx, to, t.name); err != nil || rows > 0 {
			return cmp.Or(err, fmt.Errorf("the target has data already: %d rows in %s; use an empty database", rows, t.name))
		}
	}
	sums := make([]string, len(c.tables))
	for i, t := range c.tables {
		var err error
		if sums[i], err = c.copyTable(ctx, from, to, t); err != nil {
			return fmt.Errorf("copy %s: %w", t.name, err)
		}
	}
	for i, t := range c.tables {
		got, err := t.each(ctx, to, func(rows [][]any) error {
			c.advance(len(rows))
			return nil
		})
		if err == nil && got != sums[i] {
			err = fmt.Errorf("it has %s, and the source %s", got, sums[i])
		}
		if err != nil {
			return fmt.Errorf("check the copy of %s: %w", t.name, err)
		}
		c.copied.Rows += t.rows
	}
	return nil
}

// copyTable copies a table and returns the checksum of what it read.
func (c *copier) copyTable(ctx context.Context, from, to Querier, t copiedTable) (string, error) {
	columns, err := columnsIn(ctx, to, c.target.dialect, t.name)
	if err != nil {
		return "", err
	}
	if !slices.EqualFunc(t.columns, columns, func(a, b copiedColumn) bool { return a.name == b.name }) {
		return "", errors.New("the tables have different columns; copy with the version of the program that runs on both")
	}
	sum, err := t.each(ctx, from, func(rows [][]any) error {
		var args []any
		for _, row := range rows {
			for i, v := range row {
				args = append(args, columns[i].argument(v))
			}
		}
		c.advance(len(rows))
		_, err := to.ExecContext(ctx, insertionOf(t.name, t.names(), len(rows)), args...)
		return err
	})
	if query := c.target.dialect.ContinueIDs(t.name); err == nil && query != "" {
		_, err = column[int64](&reader{ctx: ctx, q: to}, query)
	}
	return sum, err
}

func (c *copier) advance(rows int) {
	c.done += int64(rows)
	c.progress(c.done, c.total)
}

func (t copiedTable) names() (names []string) {
	for _, c := range t.columns {
		names = append(names, c.name)
	}
	return names
}

// each calls fn with the rows of a table in the order of its key, which is the same in all
// engines, and returns the number of rows with their checksum.
func (t copiedTable) each(ctx context.Context, q Querier, fn func(rows [][]any) error) (string, error) {
	var places []int // of the key's columns
	var keys []string
	for n := 1; ; n++ {
		i := slices.IndexFunc(t.columns, func(c copiedColumn) bool { return c.key == n })
		if i < 0 {
			break
		}
		places, keys = append(places, i), append(keys, t.columns[i].name)
	}
	if len(keys) == 0 {
		return "", errors.New("the table has no primary key")
	}
	selection, key := `SELECT `+strings.Join(t.names(), ", ")+` FROM `+t.name, strings.Join(keys, ", ")
	end := ` ORDER BY ` + key + ` LIMIT ` + strconv.Itoa(copyChunk)
	sum, count := sha256.New(), 0
	var after []any
	for {
		query := selection + end
		if after != nil {
			query = selection + ` WHERE (` + key + `) > (` + placeholders(len(keys), 1) + `)` + end
		}
		rows, err := scanAll(ctx, q, query, after, len(t.columns))
		if err != nil {
			return "", err
		}
		for _, row := range rows {
			addRow(sum, row)
		}
		if len(rows) > 0 {
			if err := fn(rows); err != nil {
				return "", err
			}
		}
		if count += len(rows); len(rows) < copyChunk {
			return fmt.Sprintf("%d rows with the checksum %x", count, sum.Sum(nil)), nil
		}
		after = nil
		for _, i := range places {
			after = append(after, rows[copyChunk-1][i])
		}
	}
}

func placeholders(n, first int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = "$" + strconv.Itoa(first+i)
	}
	return strings.Join(all, ", ")
}

// argument returns a value as the column takes it. Engines read a boolean as a number, and
// empty bytes as NULL.
func (c copiedColumn) argument(v any) any {
	n, isNumber := v.(int64)
	b, isBytes := v.([]byte)
	switch {
	case c.bool && isNumber:
		return n != 0
	case v == nil && c.notNull, isBytes && len(b) == 0:
		return []byte{}
	}
	return v
}

// addRow adds a row to a checksum, in which each value has its type and its length.
func addRow(sum io.Writer, row []any) {
	for _, v := range row {
		switch value := v.(type) {
		case bool:
			v = int64(0)
			if value {
				v = int64(1)
			}
		case []byte:
			if len(value) == 0 {
				v = nil // as engines read it
			}
		}
		text := fmt.Sprintf("%T %v", v, v)
		_, _ = fmt.Fprintf(sum, "%d %s", len(text), text) // never fails
	}
}

// freeze keeps other updates of tables out until the transaction ends.
func freeze(ctx context.Context, q Querier, d Dialect, tables []string) (err error) {
	if statement := d.Freeze(tables); statement != "" {
		_, err = q.ExecContext(ctx, statement)
	}
	return err
}

// columnsIn returns the columns of a table in a database.
func columnsIn(ctx context.Context, q Querier, d Dialect, table string) ([]copiedColumn, error) {
	columns, err := scan(&reader{ctx: ctx, q: q}, d.Columns(table), nil, func(c *copiedColumn) []any {
		return []any{&c.name, &c.bool, &c.notNull, &c.key}
	})
	if err == nil && len(columns) == 0 {
		err = fmt.Errorf("there is no table %s", table)
	}
	return columns, err
}

func countIn(ctx context.Context, q Querier, table string) (int64, error) {
	return only(column[int64](&reader{ctx: ctx, q: q}, `SELECT COUNT(*) FROM `+table))
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
