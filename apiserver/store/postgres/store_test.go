package postgres_test

import (
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/storetest"
)

// open opens a store in a new database, which is closed when the test ends.
func open(t *testing.T, opts postgres.Options) *postgres.Store {
	t.Helper()
	s := postgrestest.Open(t, opts)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestConformance(t *testing.T) {
	t.Run("direct", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T) store.Store { return open(t, postgres.Options{}) })
	})
	t.Run("with blocks of few rows", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T) store.Store { return open(t, postgres.Options{}.WithBlockRows(3)) })
	})
}
