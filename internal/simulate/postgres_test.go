package simulate

import (
	"context"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// postgresReplicas is how many replicas a history on PostgreSQL has.
const postgresReplicas = 3

// postgresDatabase is a database of one history.
type postgresDatabase struct {
	postgrestest.TB // of the whole test; its cleanups are those of the history
	url             string
	cleanups        []func()
}

// postgresTest is the test that histories on PostgreSQL belong to.
var postgresTest *testing.T

// newPostgresDatabase returns a database with the content of an SQLite file.
func newPostgresDatabase(path string) *postgresDatabase {
	p := &postgresDatabase{TB: postgresTest}
	p.url = postgrestest.URL(p)
	source, err := sqlite.Open(context.Background(), path, sqlite.Options{})
	must(err)
	target, err := p.open()
	must(err)
	_, err = sqlstore.Copy(context.Background(), source, target, func(_, _ int64) {})
	must(err)
	must(source.Close())
	must(target.Close())
	return p
}

func (p *postgresDatabase) open() (store.Store, error) {
	return postgres.Open(context.Background(), p.url, postgres.Options{Connections: 4})
}

// Cleanup implements postgrestest.TB.
func (p *postgresDatabase) Cleanup(fn func()) { p.cleanups = append(p.cleanups, fn) }

// close gives the database back.
func (p *postgresDatabase) close() {
	for _, fn := range p.cleanups {
		fn()
	}
}
