package sqlstore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// copyChunk is the number of rows that Copy holds in memory and inserts with one statement.
const copyChunk = 100

// Copied is the result of Copy.
type Copied struct {
	Tables int
	Rows   int64
}

// Copy copies every row of a store, which may be read-only, to an empty store, in one transaction of each. Before it
// commits, it compares the number of rows and a checksum of each table. No other process can
// change the source meanwhile. It calls progress with the finished and the total steps.
func Copy(ctx context.Context, from, to *Store, progress func(done, total int64)) (copied Copied, err error) {
	// The statements run with the caller's context: an update itself is not cancelled.
	err = from.engine.View(ctx, func(_ context.Context, read Querier) error {
		return to.engine.Update(ctx, func(_ context.Context, write Querier) (err error) {
			copied, err = copyTables(ctx, from, to, read, write, progress)
			return err
		})
	})
	return copied, err
}

type copiedTable struct {
	name    string
	columns []copiedColumn
	rows    int64
}

type copiedColumn struct {
	name                 string
	bool, notNull, inKey bool
}

// tables returns the tables of a database, each after the tables that it refers to.
func (s *Store) tables(ctx context.Context, q Querier) (tables []copiedTable, err error) {
	columns, err := columnsOfAll(ctx, q, s.dialect)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Backward(Tables()) {
		t := copiedTable{name: name, columns: columns[name]}
		t.rows, err = only(column[int64](&reader{ctx: ctx, q: q}, `SELECT COUNT(*) FROM `+name))
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	return tables, nil
}

// columnsOfAll returns the columns of each table of a database, in order.
func columnsOfAll(ctx context.Context, q Querier, d *Dialect) (map[string][]copiedColumn, error) {
	columns := map[string][]copiedColumn{}
	var table string
	var c copiedColumn
	return columns, eachRow(ctx, q, d.Columns, nil, []any{&table, &c.name, &c.bool, &c.notNull, &c.inKey}, func() {
		columns[table] = append(columns[table], c)
	})
}

// copyTables copies all tables, and compares the copies.
func copyTables(ctx context.Context, from, to *Store, read, write Querier, progress func(done, total int64)) (copied Copied, err error) {
	tables, err := from.frozen(ctx, read)
	if err != nil {
		return copied, fmt.Errorf("lock and read the source: %w", err)
	}
	targets, err := to.frozen(ctx, write)
	if err != nil {
		return copied, fmt.Errorf("lock and read the target: %w", err)
	}
	for _, t := range tables {
		copied.Rows += t.rows
	}
	if copied.Tables = len(tables); copied.Rows == 0 {
		return copied, errors.New("the source has no data")
	}
	done := int64(0)
	advance := func(rows [][]any) {
		done += int64(len(rows))
		progress(done, 2*copied.Rows) // each row is copied, and read again from the target
	}
	sums := make([]string, len(tables))
	for i, t := range tables {
		if rows := targets[i].rows; rows > 0 {
			return copied, fmt.Errorf("the target has data already: %d rows in %s; use an empty database", rows, t.name)
		}
		if !slices.Equal(t.names(), targets[i].names()) {
			return copied, fmt.Errorf("copy %s: the tables have different columns; copy with the version of the program that runs on both", t.name)
		}
		sums[i], err = t.each(ctx, read, func(rows [][]any) error {
			advance(rows)
			return targets[i].insert(ctx, write, rows)
		})
		if err != nil {
			return copied, fmt.Errorf("copy %s: %w", t.name, err)
		}
	}
	for i, t := range tables {
		sum, err := t.each(ctx, write, func(rows [][]any) error { advance(rows); return nil })
		if err == nil && sum != sums[i] {
			err = fmt.Errorf("it has %s, and the source %s", sum, sums[i])
		}
		if err != nil {
			return copied, fmt.Errorf("check the copy of %s: %w", t.name, err)
		}
	}
	return copied, to.continueIDs(ctx, write)
}

func (t copiedTable) names() (names []string) {
	for _, c := range t.columns {
		names = append(names, c.name)
	}
	return names
}

// each calls fn with the rows of a table in the order of its key, and returns their number and
// checksum as a text.
func (t copiedTable) each(ctx context.Context, q Querier, fn func(rows [][]any) error) (string, error) {
	var places []int // of the key's columns
	var keys []string
	row, dest := make([]any, len(t.columns)), make([]any, len(t.columns))
	for i, c := range t.columns {
		dest[i] = &row[i]
		if c.inKey {
			places, keys = append(places, i), append(keys, c.name)
		}
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
		var rows [][]any
		if err := eachRow(ctx, q, query, after, dest, func() {
			for i, v := range row {
				row[i] = normal(v)
				_, _ = fmt.Fprintf(sum, "%T %q\n", row[i], fmt.Sprint(row[i])) // never fails
			}
			rows = append(rows, slices.Clone(row))
		}); err != nil {
			return "", err
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

// normal returns a value in a form that does not depend on the engine: SQLite reads a boolean as a number.
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

// continueIDs lets the database assign audit entries higher ids than the existing ones.
func (s *Store) continueIDs(ctx context.Context, q Querier) (err error) {
	if s.dialect.ContinueIDs != "" {
		_, err = column[int64](&reader{ctx: ctx, q: q}, s.dialect.ContinueIDs)
	}
	return err
}

// frozen returns the tables, and makes other updates of them wait until the transaction ends.
func (s *Store) frozen(ctx context.Context, q Querier) ([]copiedTable, error) {
	if s.dialect.Freeze != "" {
		if _, err := q.ExecContext(ctx, fmt.Sprintf(s.dialect.Freeze, strings.Join(Tables(), ", "))); err != nil {
			return nil, err
		}
	}
	return s.tables(ctx, q)
}

// Snapshot implements store.Store.
func (s *Store) Snapshot(ctx context.Context) (restore func(context.Context) error, err error) {
	var tables []copiedTable
	var rows [][][]any // by table
	if err := s.engine.View(ctx, func(ctx context.Context, q Querier) (err error) {
		if tables, err = s.tables(ctx, q); err != nil {
			return err
		}
		rows = make([][][]any, len(tables))
		for i, t := range tables {
			if _, err := t.each(ctx, q, func(chunk [][]any) error {
				rows[i] = append(rows[i], chunk...)
				return nil
			}); err != nil {
				return fmt.Errorf("read %s: %w", t.name, err)
			}
		}
		return nil
	}); err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		return s.engine.Update(ctx, func(ctx context.Context, q Querier) error {
			for _, name := range Tables() {
				if _, err := q.ExecContext(ctx, `DELETE FROM `+name); err != nil {
					return fmt.Errorf("clear %s: %w", name, err)
				}
			}
			for i, t := range tables {
				for chunk := range slices.Chunk(rows[i], copyChunk) {
					if err := t.insert(ctx, q, chunk); err != nil {
						return fmt.Errorf("restore %s: %w", t.name, err)
					}
				}
			}
			return s.continueIDs(ctx, q)
		})
	}, nil
}
