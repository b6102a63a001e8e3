package sqlite

import (
	"context"
	"slices"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// cascades are the foreign keys whose rows go with what they refer to. The audit
// log does not see them go, and so each is here on purpose: an object of its own
// must also be among what package apiserver/audit tells of a deleted domain, in its
// auditedTx.belongings; a part of an object need not.
var cascades = []string{
	"dedicated_ip_claims of dedicated_ips", // a part of the dedicated IP
	"dns_records of domains",               // belongings tells of them
	"domain_tags of domains",               // a part of the domain
	"mail_queue of forwarding_rules",       // a message of the rule, which nobody sees
}

func TestCascadesAreMeant(t *testing.T) {
	var found []string
	for _, key := range foreignKeys(t, openStore(t, newPath(t), Options{})) {
		switch key.onDelete {
		case "CASCADE":
			found = append(found, key.table+" of "+key.refersTo)
		case "NO ACTION":
		default:
			t.Errorf("deleting from %s changes %s (%s), which the audit log does not see; do it in Go", key.refersTo, key.table, key.onDelete)
		}
	}
	slices.Sort(found)
	if !slices.Equal(found, cascades) {
		t.Errorf("the schema cascades %q, and what is meant is %q; if the new ones are objects, tell of them in belongings, and add them here", found, cascades)
	}
}

// foreignKey is one of the schema.
type foreignKey struct{ table, refersTo, onDelete string }

func foreignKeys(t *testing.T, s *Store) (keys []foreignKey) {
	t.Helper()
	err := s.engine.View(t.Context(), func(ctx context.Context, q sqlstore.Querier) error {
		// A key of several columns has a row for each.
		rows, err := q.QueryContext(ctx, `SELECT m.name, k."table", k.on_delete FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) k
			WHERE m.type = 'table' AND k.seq = 0 ORDER BY m.name, k.id`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var k foreignKey
			if err := rows.Scan(&k.table, &k.refersTo, &k.onDelete); err != nil {
				return err
			}
			keys = append(keys, k)
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(keys) < 10 {
		t.Fatalf("only %d foreign keys are found: %v", len(keys), keys)
	}
	return keys
}
