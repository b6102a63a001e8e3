package modeltest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/storetest"
)

// statements stores each statement that the services of a test ran. It is safe for concurrent use.
type statements struct {
	mu  sync.Mutex
	all map[string]bool
}

// of returns a store that adds its statements.
func (s *statements) of(db store.Store) store.Store {
	return db.(*sqlstore.Store).Wrap(func(e sqlstore.Engine) sqlstore.Engine { return recordingEngine{e, s} })
}

func (s *statements) add(statement string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]bool{}
	}
	s.all[statement] = true
}

// checked returns the statements that contain none of the exceptions.
func (s *statements) checked(t *testing.T, exceptions ...string) []string {
	assert.Check(t, len(s.all) >= 120, "only %d statements were found", len(s.all))
	maps.DeleteFunc(s.all, func(statement string, _ bool) bool {
		return slices.ContainsFunc(exceptions, func(part string) bool { return strings.Contains(statement, part) })
	})
	return slices.Sorted(maps.Keys(s.all))
}

type recordingEngine struct {
	sqlstore.Engine
	seen *statements
}

func (e recordingEngine) View(ctx context.Context, fn func(context.Context, sqlstore.Querier) error) error {
	return e.Engine.View(ctx, func(ctx context.Context, q sqlstore.Querier) error { return fn(ctx, e.recording(q)) })
}

func (e recordingEngine) Update(ctx context.Context, fn func(context.Context, sqlstore.Querier) error) error {
	return e.Engine.Update(ctx, func(ctx context.Context, q sqlstore.Querier) error { return fn(ctx, e.recording(q)) })
}

func (e recordingEngine) recording(q sqlstore.Querier) sqlstore.Querier {
	recorder := recordingQuerier{q, e.seen}
	if locker, ok := q.(sqlstore.Locker); ok {
		return struct {
			recordingQuerier
			sqlstore.Locker
		}{recorder, locker}
	}
	return recorder
}

type recordingQuerier struct {
	sqlstore.Querier
	seen *statements
}

func (q recordingQuerier) ExecContext(ctx context.Context, query string, args ...any) (int64, error) {
	q.seen.add(query)
	return q.Querier.ExecContext(ctx, query, args...)
}

func (q recordingQuerier) QueryContext(ctx context.Context, query string, args ...any) (sqlstore.Rows, error) {
	q.seen.add(query)
	return q.Querier.QueryContext(ctx, query, args...)
}

// explain returns the rows of EXPLAIN or a similar command for a statement with NULL arguments. before is a script.
func explain(t *testing.T, e sqlstore.Engine, before, query string, args, columns int) (rows [][]any) {
	t.Helper()
	if err := e.View(t.Context(), func(ctx context.Context, q sqlstore.Querier) error {
		if before != "" {
			if _, err := q.ExecContext(ctx, before); err != nil {
				return err
			}
		}
		found, err := q.QueryContext(ctx, query, make([]any, args)...)
		if err != nil {
			return err
		}
		defer found.Close()
		for found.Next() {
			row, dest := make([]any, columns), make([]any, columns)
			for i := range row {
				dest[i] = &row[i]
			}
			if err := found.Scan(dest...); err != nil {
				return err
			}
			rows = append(rows, row)
		}
		return found.Err()
	}); err != nil {
		t.Fatalf("%v: %s", err, query)
	}
	return rows
}

// parameters returns the number of parameters in a statement.
func parameters(statement string) (n int) {
	for strings.Contains(statement, "$"+strconv.Itoa(n+1)) {
		n++
	}
	return n
}

// engineOf returns the engine of a store.
func engineOf(db *sqlstore.Store) (engine sqlstore.Engine) {
	db.Wrap(func(e sqlstore.Engine) sqlstore.Engine { engine = e; return e })
	return engine
}

// checkOnSQLite checks that no statement reads a whole table or sorts rows, and that each column is used
// by a statement.
func (s *statements) checkOnSQLite(t *testing.T) {
	db, err := sqlite.Open(t.Context(), sqlite.Memory, sqlite.Options{})
	assert.NilError(t, err)
	defer db.Close()
	for _, row := range explain(t, engineOf(db), "", `SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c
		WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'
			AND t.name NOT IN ('mailhost_migrations', 'authorization_version', 'server', 'mail_queue')`, 0, 2) { // not of the model
		table, column := row[0].(string), row[1].(string)
		used := func(statement string) bool {
			return strings.Contains(statement, table) && strings.Contains(statement, column)
		}
		assert.Check(t, slices.ContainsFunc(slices.Collect(maps.Keys(s.all)), used), "no statement uses the column %s of %s", column, table)
	}
	reported := map[string]bool{}
	for _, statement := range s.checked(t,
		`DELETE FROM accounts`, `DELETE FROM authorizations`, `DELETE FROM service_accounts`, // by Clear
		`FROM authorization_version`, `FROM server`, `UPDATE server`, // few rows
		`FROM (SELECT * FROM`,      // the rows of a page
		`t.purchase_batch_id = $`,  // sorts the domains of one purchase
		`FROM accounts t ORDER BY`, // all of them, or the newest
		`FROM mail_queue`,          // in the order of an index, the first; or their number
		`FROM audit_entries t`,     // in the order of an index, to print them
	) {
		for _, row := range explain(t, engineOf(db), "", `EXPLAIN QUERY PLAN `+statement, parameters(statement), 4) {
			step := row[3].(string)
			table, scan := strings.CutPrefix(step, "SCAN ")
			table, _, _ = strings.Cut(table, " ")
			slow := strings.Contains(step, "TEMP B-TREE") || strings.Contains(step, "AUTOMATIC") ||
				scan && !strings.HasSuffix(step, "-ROW VALUES CLAUSE") && !slices.Contains([]string{"CONSTANT", "json_each", "e"}, table)
			// Few of many mailboxes belong to one domain.
			wholeList := strings.Contains(statement, `t.domain_id = $`) && strings.Contains(step, "mailboxes_in_order") && !strings.Contains(statement, "AND t.created_at")
			if (slow || wholeList) && !reported[step] {
				reported[step] = true
				t.Errorf("%s: %s", step, statement)
			}
		}
	}
}

// checkOnPostgres checks that no statement reads a whole table, or sorts more rows than it returns, in a
// database with many rows and with the plans of the store's transactions.
func (s *statements) checkOnPostgres(t *testing.T) {
	db, err := postgres.Open(t.Context(), postgrestest.Start(t).URL("postgres", "postgres"), postgres.Options{})
	assert.NilError(t, err)
	defer db.Close()
	for seed := range 3 {
		storetest.FillRandomly(t, db, seed)
	}
	engine := engineOf(db)
	assert.NilError(t, engine.Update(t.Context(), func(ctx context.Context, q sqlstore.Querier) error {
		// Make the planner assume that the tables are ten thousand times as large.
		_, err := q.ExecContext(ctx, `ANALYZE; UPDATE pg_class SET reltuples = reltuples * 10000 WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`)
		return err
	}))
	for i, statement := range s.checked(t,
		`t.purchase_batch_id = $`,            // sorts the domains of one purchase
		`FROM addresses WHERE domain_id = $`, // the aliases in a domain that is deleted
		`FROM mail_queue`,                    // in the order of an index, the first; or their number
		`FROM audit_entries t`,               // filtered in order, to print them
	) {
		n := parameters(statement)
		if n == 0 {
			continue // it reads a few rows, or is one of Clear
		}
		name := "p" + strconv.Itoa(i)
		args := strings.TrimPrefix(strings.Repeat(`, NULL`, n), ", ")
		rows := explain(t, engine, `PREPARE `+name+` AS `+statement+`;`, `EXPLAIN (FORMAT JSON) EXECUTE `+name+` (`+args+`)`, 0, 1)
		encoded, err := json.Marshal(rows[0][0])
		assert.NilError(t, err)
		var plans []struct{ Plan planNode }
		assert.NilError(t, json.Unmarshal(encoded, &plans))
		for _, slow := range plans[0].Plan.slow(false) {
			t.Errorf("%s: %s", slow, statement)
		}
	}
}

// planNode is a node of a plan in the output of EXPLAIN.
type planNode struct {
	Type      string  `json:"Node Type"`
	Relation  string  `json:"Relation Name"`
	Index     string  `json:"Index Name"`
	Condition string  `json:"Index Cond"`
	Filter    string  `json:"Filter"`
	Rows      float64 `json:"Plan Rows"`
	Plans     []planNode
}

// slow returns the steps that take longer with more rows in a table. limited means that they end early.
func (n planNode) slow(limited bool) (found []string) {
	limited = limited || n.Type == "Limit"
	switch {
	case n.Type == "Seq Scan", n.Index != "" && n.Condition == "" && !limited:
		found = append(found, fmt.Sprintf("%s on %s", n.Type, cmp.Or(n.Relation, n.Index)))
	case n.Index != "" && n.Filter != "" && !limited && !strings.Contains(n.Condition, " = ") && n.Index != "domains_unpaid": // a range of most rows; few domains are unpaid
		found = append(found, fmt.Sprintf("%s on %s for %s", n.Type, n.Index, n.Filter))
	case n.Index == "mailboxes_in_order" && strings.Contains(n.Filter, "domain_id = $"): // few of the account's
		found = append(found, fmt.Sprintf("%s on %s for %s", n.Type, n.Index, n.Filter))
	case n.Index == "addresses_pkey" && !strings.Contains(n.Condition, "local_part"): // all of a domain
		found = append(found, fmt.Sprintf("%s on %s for %s", n.Type, n.Index, n.Condition))
	case strings.Contains(n.Type, "Sort") && n.Rows > 10_000:
		found = append(found, fmt.Sprintf("%s of %.0f rows", n.Type, n.Rows))
	}
	for _, child := range n.Plans {
		found = append(found, child.slow(limited)...)
	}
	return found
}
