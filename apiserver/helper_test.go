package apiserver_test

import (
	"context"
	"encoding/base32"
	"encoding/binary"
	"hash/crc32"
	"os"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest/sample"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
)

const (
	accountID = apitest.AccountID
	nobody    = apitest.UnknownID
)

type obj = apitest.Object

var (
	start   = apitest.Start
	with    = apitest.With
	contact = sample.Contact
	itoa    = strconv.Itoa
)

// onPostgres reports whether the tests run on PostgreSQL.
var onPostgres = os.Getenv("MAILHOSTD_TEST_ENGINE") == "postgres"

func TestMain(m *testing.M) {
	if onPostgres {
		apitest.OpenStore = func(t apitest.TB) store.Store { return postgrestest.Open(t, postgres.Options{}) }
	}
	m.Run()
}

// same compares two lists of strings.
func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	assert.Check(t, is.DeepEqual(want, got, cmpopts.EquateEmpty()), what)
}

// idOf returns the id at a place in the body.
func idOf(a *apitest.Response, place string) string {
	if id, ok := a.At(place).(string); ok {
		return id
	}
	n, ok := a.At(place).(float64)
	if !ok {
		a.T.Fatalf("no number at %s: %s", place, a)
	}
	return itoa(int(n))
}

// tokenEncoding is the encoding of tokens.
var tokenEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// tokenChecksum returns the checksum of a token's body.
func tokenChecksum(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	return tokenEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, sum))
}

func newStore(t *testing.T) store.Store {
	t.Helper()
	return apitest.OpenStore(t)
}

// hook runs before a read or an update of a [faulty] store. It may block, change something, or
// return an error in place of the read or update.
type hook func(context.Context) error

// faulty is a store with faults: it calls each hook that is set.
type faulty struct {
	store.Store
	view, update, ping atomic.Pointer[hook]
	// reader, if set, wraps the reader of each read.
	reader func(store.Reader) store.Reader
}

func newFaulty(t *testing.T) *faulty { return &faulty{Store: newStore(t)} }

func call(ctx context.Context, h *atomic.Pointer[hook]) error {
	if fn := h.Load(); fn != nil {
		return (*fn)(ctx)
	}
	return nil
}

func (s *faulty) View(ctx context.Context, fn func(store.Reader) error) error {
	if err := call(ctx, &s.view); err != nil {
		return err
	}
	return s.Store.View(ctx, func(r store.Reader) error {
		if s.reader != nil {
			r = s.reader(r)
		}
		return fn(r)
	})
}

func (s *faulty) Update(ctx context.Context, fn func(store.Tx) error) error {
	if err := call(ctx, &s.update); err != nil {
		return err
	}
	return s.Store.Update(ctx, fn)
}

func (s *faulty) Ping(ctx context.Context) error {
	if err := call(ctx, &s.ping); err != nil {
		return err
	}
	return s.Store.Ping(ctx)
}

// updatesFail makes updates fail with err, or succeed again if it is nil.
func (s *faulty) updatesFail(err error) { s.update.Store(failing(err)) }

// fail makes everything fail with err, or succeed again if it is nil.
func (s *faulty) fail(err error) {
	s.view.Store(failing(err))
	s.update.Store(failing(err))
	s.ping.Store(failing(err))
}

func failing(err error) *hook {
	if err == nil {
		return nil
	}
	fn := hook(func(context.Context) error { return err })
	return &fn
}

// beforeUpdate calls fn once, before the next update of an operation. The last use of a token is
// written outside of operations.
func (s *faulty) beforeUpdate(fn func()) {
	h := hook(func(ctx context.Context) error {
		if store.AccountOf(ctx) != "" {
			s.update.Store(nil)
			fn()
		}
		return nil
	})
	s.update.Store(&h)
}
