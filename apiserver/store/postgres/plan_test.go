package postgres_test

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

	"github.com/jackc/pgx/v5"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/storetest"
)

// exceptions are parts of the statements that may read a whole table or sort many rows.
var exceptions = []string{
	`FROM authorization_version`, `FROM server`, `UPDATE server`, `FROM mailhost_schema`, `FROM mailhost_migrations`, `pg_catalog.`, // few rows
	`FROM accounts t ORDER BY`, `SELECT id FROM accounts LIMIT 1`, // all of them, or any
	`t.purchase_batch_id = $`,            // sorts the domains of one purchase
	`FROM addresses WHERE domain_id = $`, // the aliases in a domain that is deleted
	`FROM audit_entries t`,               // filtered in order, to print them
}

// statements has each statement with arguments that was traced.
type statements struct {
	mu  sync.Mutex
	all map[string]bool
}

func (s *statements) add(text string) {
	if !strings.Contains(text, "$1") {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]bool{}
	}
	s.all[text] = true
}

// testPlans checks that no statement reads a whole table, or sorts more rows than it needs,
// in a database with many rows and stable plans.
func testPlans(t *testing.T, run *statements) {
	url := postgrestest.Start(t).URL("postgres", "postgres")
	assert.Check(t, len(run.all) >= 120, "only %d statements were found", len(run.all))
	for seed := range 3 {
		storetest.FillRandomly(t, openAt(t, url, postgres.Options{}), seed)
	}
	// The planner believes that the tables are ten thousand times as large.
	execute(t, url, `ANALYZE; UPDATE pg_class SET reltuples = reltuples * 10000 WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`)
	conn, err := pgx.Connect(t.Context(), url)
	assert.NilError(t, err)
	defer conn.Close(context.Background())
	script := func(text string) error {
		_, err := conn.Exec(t.Context(), text, pgx.QueryExecModeSimpleProtocol)
		return err
	}
	assert.NilError(t, script(strings.TrimPrefix(strings.ReplaceAll(postgres.PlanSettings, "SET LOCAL", "SET"), ";")))
	for _, statement := range slices.Sorted(maps.Keys(run.all)) {
		if slices.ContainsFunc(exceptions, func(part string) bool { return strings.Contains(statement, part) }) {
			continue
		}
		var args []string
		for strings.Contains(statement, "$"+strconv.Itoa(len(args)+1)) {
			args = append(args, "NULL")
		}
		var encoded []byte
		err := script(`PREPARE p AS ` + statement)
		if err == nil {
			err = conn.QueryRow(t.Context(), `EXPLAIN (FORMAT JSON) EXECUTE p (`+strings.Join(args, ", ")+`)`, pgx.QueryExecModeSimpleProtocol).Scan(&encoded)
		}
		var plans []struct{ Plan planNode }
		if err = cmp.Or(err, json.Unmarshal(encoded, &plans), script(`DEALLOCATE p`)); err != nil {
			t.Fatalf("%v: %s", err, statement)
		}
		for _, slow := range plans[0].Plan.slow(false) {
			t.Errorf("%s: %s", slow, statement)
		}
	}
}

// planNode is a node of a plan as EXPLAIN describes it.
type planNode struct {
	Type      string  `json:"Node Type"`
	Relation  string  `json:"Relation Name"`
	Index     string  `json:"Index Name"`
	Condition string  `json:"Index Cond"`
	Filter    string  `json:"Filter"`
	Rows      float64 `json:"Plan Rows"`
	Plans     []planNode
}

// slow returns the steps that take longer the more rows a table has. limited means that they
// end early.
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
