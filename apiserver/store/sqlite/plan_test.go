package sqlite

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	zombiezen "zombiezen.com/go/sqlite"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/storetest"
)

// exceptions are parts of the statements that may read a whole table or sort rows.
var exceptions = []string{
	`DELETE FROM accounts`, `DELETE FROM authorizations`, `DELETE FROM service_accounts`, // by Clear
	`FROM authorization_version`, `FROM server`, `UPDATE server`, `FROM mailhost_migrations`, `UPDATE mailhost_migrations`, `FROM sqlite_schema`, `FROM pragma_`, // few rows
	`FROM (SELECT * FROM`,                                                // the rows of a page
	`t.purchase_batch_id = $`,                                            // sorts the domains of one purchase
	`FROM accounts t ORDER BY`,                                           // all of them, or the newest
	`FROM mail_queue ORDER BY due_at`, `SELECT COUNT(*) FROM mail_queue`, // in the order of an index, the first; a metric
	`FROM audit_entries t`, // in the order of an index, to print them
}

// TestConformance runs the conformance tests with many checkpoints. It then checks that no other
// statement of package sqlstore that they have run does so, and that SQLite keeps the plan of each.
func TestConformance(t *testing.T) {
	var mu sync.Mutex
	statements := map[string]bool{}
	t.Run("store", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T) store.Store {
			s := openStore(t, Memory, Options{checkpointFrames: 10})
			t.Cleanup(func() { // before the store is closed
				mu.Lock()
				defer mu.Unlock()
				collectStatements(t, s, statements)
			})
			return s
		})
	})
	assert.Check(t, len(statements) >= 120, "only %d statements were found", len(statements))
	s := openStore(t, Memory, Options{})
	reported := map[string]bool{}
	for _, statement := range slices.Sorted(maps.Keys(statements)) {
		for _, step := range plan(t, s, statement) {
			excepted := slices.ContainsFunc(exceptions, func(part string) bool { return strings.Contains(statement, part) })
			// Few mailboxes of many are those of one domain.
			wholeList := strings.Contains(statement, `t.domain_id = $`) && strings.Contains(step, "mailboxes_in_order") && !strings.Contains(statement, "AND t.created_at")
			if (isSlow(step) || wholeList) && !excepted && !reported[step] {
				reported[step] = true
				t.Errorf("%s: %s", step, statement)
			}
		}
		if !strings.Contains(statement, `FROM pragma_`) && preparedAnew(t, s, statement) { // a pragma is prepared whenever it is read
			t.Errorf("prepared anew for each execution: %s", statement)
		}
	}
}

func isSlow(step string) bool {
	table, scan := strings.CutPrefix(step, "SCAN ")
	table, _, _ = strings.Cut(table, " ")
	return strings.Contains(step, "TEMP B-TREE") || strings.Contains(step, "AUTOMATIC") ||
		scan && !strings.HasSuffix(step, "-ROW VALUES CLAUSE") && !slices.Contains([]string{"CONSTANT", "json_each", "e"}, table)
}

// collectStatements adds the statements that a store has run.
func collectStatements(t *testing.T, s *Store, statements map[string]bool) {
	t.Helper()
	add := func(session *session) {
		for statement := range session.statements {
			statements[statement] = true
		}
	}
	if err := s.Update(context.Background(), func(store.Tx) error { return nil }); err != nil {
		return // the test has closed it
	}
	add(s.engine.writer.session)
	for _, session := range s.engine.readers.idle {
		add(session)
	}
}

// preparedAnew reports whether SQLite prepares a statement anew when it has other arguments,
// which might lead to another plan.
func preparedAnew(t *testing.T, s *Store, statement string) bool {
	t.Helper()
	prepared := 0
	if err := s.engine.View(t.Context(), func(_ context.Context, q sqlstore.Querier) error {
		session := q.(*transaction).session
		// It is asked about each table and column whenever a statement is prepared.
		authorizer := zombiezen.AuthorizeFunc(func(zombiezen.Action) zombiezen.AuthResult { prepared++; return 0 })
		if err := session.conn.SetAuthorizer(authorizer); err != nil {
			return err
		}
		stmt, rest, err := session.conn.PrepareTransient(statement)
		if err != nil || rest > 0 || prepared == 0 {
			return errors.Join(err, session.conn.SetAuthorizer(nil))
		}
		prepared = 0
		for i := range stmt.BindParamCount() {
			stmt.BindNull(i + 1)
		}
		_, _ = stmt.Step() // fails where it writes, or where an argument can't be null
		return errors.Join(stmt.Reset(), stmt.Finalize(), session.conn.SetAuthorizer(nil))
	}); err != nil {
		t.Errorf("%v: %s", err, statement)
	}
	return prepared > 0
}

// plan returns the steps of a statement's query plan.
func plan(t *testing.T, s *Store, statement string) (steps []string) {
	t.Helper()
	var args []any
	for strings.Contains(statement, "$"+strconv.Itoa(len(args)+1)) {
		args = append(args, nil)
	}
	for _, row := range query(t, s, `EXPLAIN QUERY PLAN `+statement, args...) {
		steps = append(steps, row[3])
	}
	return steps
}
