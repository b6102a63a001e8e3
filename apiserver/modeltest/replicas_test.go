package modeltest

import (
	"testing"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
)

// replicas is how many servers share a database.
const replicas = 3

// keptStore is a store that its service does not close.
type keptStore struct{ store.Store }

func (keptStore) Close() error { return nil }

// openReplicas opens a new database as often as there are replicas, and closes it at the end of
// the test.
func openReplicas(t *testing.T) []store.Store {
	t.Helper()
	url := postgrestest.URL(t)
	stores := make([]store.Store, replicas)
	for i := range stores {
		s, err := postgres.Open(t.Context(), url, postgres.Options{Connections: 8})
		assert.NilError(t, err)
		t.Cleanup(func() {
			assert.Check(t, s.Close())
		})
		stores[i] = keptStore{s}
	}
	return stores
}

// TestModelOfReplicas is TestModel with requests that any of several replicas handles: nothing
// that one of them knows may be missing in the next response of another.
func TestModelOfReplicas(t *testing.T) {
	t.Parallel()
	stores := openReplicas(t)
	checks := 0
	rapid.Check(t, func(r *rapid.T) {
		if checks++; isDefaultRun && checks > 15 {
			return // a transaction of PostgreSQL takes longer
		}
		assert.NilError(r, stores[0].Update(t.Context(), store.Tx.Clear))
		m := newMachine(r, stores...)
		r.Repeat(map[string]func(*rapid.T){"step": m.step})
		m.compareAll()
	})
}
