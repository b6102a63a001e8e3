package serve

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

// clockStore is a store whose server has another clock.
type clockStore struct {
	store.Store
	offset time.Duration
}

func (s *clockStore) ClockOffset(context.Context) (time.Duration, error) { return s.offset, nil }

// TestClockWatch checks that a difference of clocks and a newest change in the future are logged when they begin and
// when they end, once each.
func TestClockWatch(t *testing.T) {
	t.Parallel()
	db, err := sqlite.Open(t.Context(), sqlite.Memory, sqlite.Options{})
	assert.NilError(t, err)
	t.Cleanup(func() { assert.Check(t, db.Close()) })
	const year = 365 * 24 * time.Hour
	now := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	log := &strings.Builder{}
	s := &clockStore{Store: db}
	w := &clockWatch{store: s, log: slog.New(slog.NewTextHandler(log, nil)), now: func() time.Time { return now }}
	expect := func(step string, offset time.Duration, want ...string) {
		t.Helper()
		log.Reset()
		w.check(t.Context())
		lines := strings.Count(log.String(), "\n")
		for _, part := range want {
			assert.Check(t, strings.Contains(log.String(), part), "%s: the log lacks %q:\n%s", step, part, log)
		}
		assert.Check(t, lines == len(want) && w.Offset() == offset, "%s: %d lines, want %d, offset %s:\n%s", step, lines, len(want), w.Offset(), log)
	}
	change := func(at time.Time) {
		t.Helper()
		assert.NilError(t, db.Update(t.Context(), func(tx store.Tx) error {
			return tx.AddAuditEntry(&store.AuditEntry{AccountID: "a", Operation: "create", CreatedAt: at})
		}))
	}
	expect("an empty database", 0)
	s.offset = -store.ClockTolerance
	change(now.Add(store.ClockTolerance))
	expect("within the tolerance", -store.ClockTolerance)
	s.offset = -time.Hour
	expect("another clock", -time.Hour, `level=ERROR msg="the clocks of this machine and of the database server differ`)
	change(now.Add(year))
	expect("a change in the future", year, `level=ERROR msg="the newest change is in the future`)
	s.offset = 0
	expect("the same clock again", year, `level=INFO msg="the clocks of this machine and of the database server agree again"`)
	now = now.Add(year)
	expect("the future arrived", 0, `level=INFO msg="the newest change is no longer in the future"`)
	expect("nothing new", 0)
}

func TestDescribeClock(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	future := []store.FutureTimes{{Table: "domains", Rows: 2, Latest: now.AddDate(1, 0, 0)}, {Table: "mailboxes", Rows: 1, Latest: now.Add(time.Hour)}}
	for _, tt := range []struct {
		synchronized, known bool
		offset              time.Duration
		future              []store.FutureTimes
		behind              bool
		state               string
		words               []string
	}{
		{true, true, 20 * time.Second, nil, false, checkOK, []string{"it is 2026-03-14T15:09:26Z; synchronized"}},
		{false, true, 0, nil, false, checkWarning, []string{"run an NTP client"}},
		{false, false, 0, nil, false, checkSkipped, []string{"does not say"}},
		{true, true, time.Hour, nil, false, checkFailed, []string{"1h0m0s ahead of this machine's", "probably the database server's is wrong"}},
		{false, true, -time.Hour, nil, false, checkFailed, []string{"1h0m0s behind this machine's", "probably this machine's is wrong"}},
		{true, true, 0, future, false, checkWarning, []string{"the database contains 3 rows with times in the future, up to 2027-03-14T15:09:26.000000Z", "mailhostd repair-times --database mailhost.db"}},
		{true, true, 0, future, true, checkWarning, []string{"this machine's clock is probably behind", "check this machine's with date"}},
		{false, false, time.Hour, future, false, checkFailed, []string{"1h0m0s ahead", "3 rows"}},
	} {
		got := describeClock(now, tt.synchronized, tt.known, tt.offset, tt.future, tt.behind, "mailhost.db")
		assert.Check(t, got.State == tt.state, "%+v", got)
		for _, part := range tt.words {
			assert.Check(t, strings.Contains(got.Detail, part), "%q lacks %q", got.Detail, part)
		}
	}
}
