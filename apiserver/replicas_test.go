package apiserver_test

import (
	"slices"
	"sync"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
)

// replicated starts three services on one new database in PostgreSQL.
func replicated(t *testing.T, configure func(*apiserver.Options)) []*apiserver.Service {
	t.Helper()
	url := postgrestest.URL(t)
	services := make([]*apiserver.Service, 3)
	for i := range services {
		s, err := postgres.Open(t.Context(), url, postgres.Options{Connections: 8})
		assert.NilError(t, err)
		o := apiserver.Options{Store: s, PasswordCost: apitest.Cheap}
		configure(&o)
		services[i] = apitest.NewService(t, o)
	}
	return services
}

// together calls fn for each of n numbers at the same time.
func together(n int, fn func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { fn(i) })
	}
	all.Wait()
}

// TestReplicasStartTogether checks that replicas can be started at the same time with a fixture,
// and create its account once.
func TestReplicasStartTogether(t *testing.T) {
	t.Parallel()
	f := exampleFixture(t)
	for range 5 {
		services := replicated(t, func(*apiserver.Options) {})
		together(len(services), func(i int) {
			err := services[i].LoadFixture(t.Context(), f)
			assert.Check(t, err == nil, "load the fixture: %v", err)
			_, err = services[i].EnsureAccount(t.Context(), accountID)
			assert.Check(t, err == nil, "ensure an account: %v", err)
		})
		if ids, err := services[0].Accounts(t.Context()); err != nil || len(ids) != len(f.Accounts)+1 && !slices.Contains(ids, accountID) {
			t.Errorf("accounts %v, error %v", ids, err)
		}
	}
}
