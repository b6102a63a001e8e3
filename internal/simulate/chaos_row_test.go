package simulate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// mode is what the service offers.
type mode struct {
	name string
	keys bool // it honours Idempotency-Keys
	// publishedOnly: nothing can be deleted, and some objects can't be listed.
	publishedOnly bool
}

var modes = []mode{{name: "keys", keys: true}, {name: "nokeys"}, {name: "published", publishedOnly: true}}

// row is a row of the table.
type row struct {
	fault   *fault
	percent int
	mode    mode

	onPostgres bool // the service's store is PostgreSQL, and otherwise SQLite in memory
}

func (r row) String() string {
	name := fmt.Sprintf("%s/%d/%s", r.fault.name, r.percent, r.mode.name)
	if r.onPostgres {
		name += "/postgres"
	} else {
		name += "/sqlite"
	}
	return name
}

// maxApplies is how often a user repeats an apply that fails.
const maxApplies = 10

// ownerName is the name of the service account that the provider uses.
const ownerName = "chaos"

// databaseURL returns the URL of an empty database for a row, or "" for SQLite. It skips the
// row if there is no PostgreSQL.
func databaseURL(t *testing.T, r row) string {
	if !r.onPostgres {
		return ""
	}
	return postgrestest.URL(t)
}

// openStore opens the service's database in the bubble of a row. Waiting for PostgreSQL
// takes none of the bubble's time, because a goroutine that waits for a real connection
// keeps it from passing; the store has no goroutine that always does.
func openStore(ctx context.Context, url string) (store.Store, error) {
	if url == "" {
		return sqlite.Open(ctx, sqlite.Memory, sqlite.Options{})
	}
	return postgres.Open(ctx, url, postgres.Options{})
}

// life is the life of a configuration in a row, and what came of it.
type life struct {
	row
	seed    uint64
	objects int

	network  *connection
	runner   *inProcess
	observer *client.Client // has all operations, and no faults
	store    store.Store

	applies            [3]int // in each stage
	duplicates, losses int
	expected           tally // what was to be created and deleted
	paid, toPay        int
	findings           []string
	log                []string
	took               time.Duration
}

func (l *life) find(format string, args ...any) {
	l.findings = append(l.findings, fmt.Sprintf(format, args...))
}

// live runs a row in a bubble, in which time does not pass while anything runs.
func live(t *testing.T, r row, seed uint64, objects int) *life {
	l := &life{row: r, seed: seed, objects: objects}
	url := databaseURL(t, r)
	begun := time.Now()
	synctest.Test(t, func(t *testing.T) {
		db, err := openStore(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.run(t.Context(), db); err != nil {
			t.Error(err)
		}
	})
	l.took = time.Since(begun)
	return l
}

// run starts a service on a store, and takes the configuration through its stages.
func (l *life) run(ctx context.Context, db store.Store) error {
	service, err := apiserver.New(apiserver.Options{Store: db, PublishedOnly: l.mode.publishedOnly, PasswordCost: apitest.Cheap})
	if err != nil {
		return err
	}
	defer service.Close()
	_, token, err := service.InitAccount(ctx, apitest.AccountID, ownerName)
	if err != nil {
		return err
	}
	full, err := apiserver.New(apiserver.Options{Store: db, PasswordCost: apitest.Cheap})
	if err != nil {
		return err
	}
	in := client.Options{BaseURL: "http://in-process", AccountID: apitest.AccountID, Transport: full.OwnerClient(apitest.AccountID).Transport}
	if l.observer, err = client.New(in); err != nil {
		return err
	}
	l.network = newConnection(l.seed, l.row, service.Handler())
	l.network.log = func(line string) { l.log = append(l.log, line) }
	defer l.network.stop()
	l.network.listen()
	l.runner = &inProcess{connection: l.network, token: token, seed: l.seed, state: state{}}
	l.store = db
	return l.stages(ctx)
}

func (l *life) stages(ctx context.Context) error {
	before, size := &largeConfiguration{}, sizesOf(l.objects)
	l.expected = newTally()
	for at := created; at <= destroyed; at++ {
		c := configure(size, at, l.mode)
		l.expected.expect(before.want, c.want)
		before = c
		l.network.note("stage %s", at)
		if !l.converge(ctx, c) {
			return nil
		}
		l.network.setQuiet(true)
		time.Sleep(late) // requests may still arrive
		if err := l.check(ctx, c); err != nil {
			return err
		}
		l.network.setQuiet(false)
	}
	was, err := tallyOf(ctx, l.store)
	if err != nil {
		return err
	}
	l.paid, l.toPay = was.paid(), l.expected.paid()
	for _, difference := range was.differences(l.expected) {
		l.find("%s", difference)
	}
	return nil
}

// converge plans and applies as a user does, until a plan is empty, and reports whether
// one was.
func (l *life) converge(ctx context.Context, c *largeConfiguration) bool {
	var failure error
	isDone := false // an apply has ended without an error or a warning
	for range maxApplies {
		changes, err := l.runner.plan(ctx, &c.configuration)
		l.network.note("plan: %v, %v", changes, err)
		switch {
		case isFinding(err):
			l.find("%s: %v", c.stage, err)
			return false
		case err != nil:
			l.applies[c.stage]++
			failure = err
			continue
		case len(changes) == 0:
			return true
		case isDone:
			l.find("%s: the plan after an apply is not empty: %s", c.stage, strings.Join(changes, ", "))
		}
		l.applies[c.stage]++
		warned, err := l.runner.apply(ctx)
		l.network.note("apply: %v", err)
		if isFinding(err) {
			l.find("%s: %v", c.stage, err)
			return false
		}
		failure, isDone = err, err == nil && !warned
	}
	if failure == nil {
		failure = errors.New("each plan had changes")
	}
	l.find("%s: no empty plan after %d applies: %v", c.stage, maxApplies, failure)
	return false
}

// check compares the account with the configuration, and plans once more.
func (l *life) check(ctx context.Context, c *largeConfiguration) error {
	has, err := inventory(ctx, l.observer)
	if err != nil {
		return err
	}
	surplus, missing := compare(has, c.want)
	for _, object := range surplus {
		l.find("%s: should not exist: %s", c.stage, object)
	}
	for _, object := range missing {
		l.find("%s: does not exist: %s", c.stage, object)
	}
	l.duplicates, l.losses = max(l.duplicates, len(surplus)), max(l.losses, len(missing))
	changes, err := l.runner.plan(ctx, &c.configuration)
	switch {
	case err != nil:
		l.find("%s: the plan without faults fails: %v", c.stage, err)
	case len(changes) > 0:
		l.find("%s: the plan without faults is not empty: %s", c.stage, strings.Join(changes, ", "))
	}
	return nil
}
