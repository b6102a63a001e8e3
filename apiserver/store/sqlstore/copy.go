package sqlstore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
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

// Copy copies every row of a store to an empty one, in one transaction of each. Before it
// commits, it compares the number of rows and a checksum of each table. No other process can
// change the source meanwhile. progress is called with the number of steps that are done and
// that there are.
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

// copiedTable is a table of a database.
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

// tables returns the tables of a database, each after those to which it refers.
func (s *Store) tables(ctx context.Context, q Querier) (tables []copiedTable, err error) {
	r := &reader{ctx: ctx, q: q}
	for _, name := range slices.Backward(Tables()) {
		t := copiedTable{name: name}
		t.columns, err = scan(r, fmt.Sprintf(s.dialect.Columns, name), nil, func(c *copiedColumn) []any {
			return []any{&c.name, &c.bool, &c.notNull, &c.key}
		})
		if err == nil && len(t.columns) == 0 {
			err = fmt.Errorf("there is no table %s", name)
		}
		if err == nil {
			t.rows, err = only(column[int64](r, `SELECT COUNT(*) FROM `+name))
		}
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	return tables, nil
}

// open keeps other processes from changing the source, and reads what there is to copy.
func (c *copier) open(ctx context.Context, q Querier) (err error) {
	if err := c.source.freeze(ctx, q); err != nil {
		return fmt.Errorf("lock the source: %w", err)
	}
	if c.tables, err = c.source.tables(ctx, q); err != nil {
		return fmt.Errorf("read the source: %w", err)
	}
	c.total = 0
	for _, t := range c.tables {
		c.total += 2 * t.rows // each is copied and read again
	}
	if c.total == 0 {
		return errors.New("the source has no data")
	}
	return nil
}

// copy copies all tables, and compares them.
func (c *copier) copy(ctx context.Context, from, to Querier) error {
	c.done, c.copied = 0, Copied{Tables: len(c.tables)}
	if err := c.target.freeze(ctx, to); err != nil {
		return fmt.Errorf("lock the target: %w", err)
	}
	targets, err := c.target.tables(ctx, to)
	if err != nil {
		return fmt.Errorf("read the target: %w", err)
	}
	for _, t := range targets {
		if t.rows > 0 {
			return fmt.Errorf("the target has data already: %d rows in %s; use an empty database", t.rows, t.name)
		}
	}
	sums := make([]string, len(c.tables))
	for i, t := range c.tables {
		if !slices.Equal(t.names(), targets[i].names()) {
			return fmt.Errorf("copy %s: the tables have different columns; copy with the version of the program that runs on both", t.name)
		}
		sums[i], err = t.each(ctx, from, func(rows [][]any) error {
			c.advance(len(rows))
			return targets[i].insert(ctx, to, rows)
		})
		if err != nil {
			return fmt.Errorf("copy %s: %w", t.name, err)
		}
	}
	if err := c.target.continueIDs(ctx, to); err != nil {
		return err
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

// each calls fn with the rows of a table in the order of its key, and returns their number with
// a checksum.
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
			for i, v := range row {
				row[i] = normal(v)
				_, _ = fmt.Fprintf(sum, "%T %q\n", row[i], fmt.Sprint(row[i])) // never fails
			}
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

// insert inserts rows that each has read.
func (t copiedTable) insert(ctx context.Context, q Querier, rows [][]any) error {
	var args []any
	for _, row := range rows {
		for i, v := range row {
			n, isNumber := v.(int64)
			switch c := t.columns[i]; {
			case c.bool && isNumber:
				v = n != 0
			case v == nil && c.notNull:
				v = []byte{}
			}
			args = append(args, v)
		}
	}
	_, err := q.ExecContext(ctx, insertionOf(t.name, t.names(), len(rows)), args...)
	return err
}

// normal returns the value as both engines return it: SQLite reads a boolean as a number.
func normal(v any) any {
	switch value := v.(type) {
	case bool:
		if value {
			return int64(1)
		}
		return int64(0)
	case []byte:
		if len(value) == 0 {
			return nil
		}
	}
	return v
}

// continueIDs lets the database assign ids of audit entries after those that are there.
func (s *Store) continueIDs(ctx context.Context, q Querier) (err error) {
	if s.dialect.ContinueIDs != "" {
		_, err = column[int64](&reader{ctx: ctx, q: q}, s.dialect.ContinueIDs)
	}
	return err
}

// freeze keeps other updates of the tables out until the transaction ends.
func (s *Store) freeze(ctx context.Context, q Querier) (err error) {
	if s.dialect.Freeze != "" {
		_, err = q.ExecContext(ctx, fmt.Sprintf(s.dialect.Freeze, strings.Join(Tables(), ", ")))
	}
	return err
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
