package serve

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// clockInterval is the time between two checks of the clocks, clockTimeout the longest time of one.
const (
	clockInterval = time.Minute
	clockTimeout  = 5 * time.Second
)

// clockWatch compares this machine's clock with the database server's, and with the newest change, which another
// server may have made. It logs when they begin and when they cease to differ by more than store.ClockTolerance.
// The server stays ready: if the database's clock is wrong, none would be left.
type clockWatch struct {
	store store.Store
	log   *slog.Logger
	now   func() time.Time // of the service

	offset          atomic.Int64 // in nanoseconds
	differs, future bool         // as logged
}

// Offset returns by how much this machine's clock was behind in the last check: behind the database server's, or behind
// the newest change if that is more.
func (w *clockWatch) Offset() time.Duration { return time.Duration(w.offset.Load()) }

// run checks until ctx is cancelled.
func (w *clockWatch) run(ctx context.Context) {
	ticks := time.NewTicker(clockInterval)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			w.check(ctx)
		}
	}
}

// check leaves errors to the requests that have them too.
func (w *clockWatch) check(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, clockTimeout)
	defer cancel()
	offset, err := w.store.ClockOffset(ctx)
	if err == nil {
		w.offset.Store(int64(offset))
		differs := offset.Abs() > store.ClockTolerance
		switch {
		case differs && !w.differs:
			w.log.Error("the clocks of this machine and of the database server differ; correct the one that is wrong, and then see mailhostd repair-times", "database_ahead", offset.Round(time.Second))
		case !differs && w.differs:
			w.log.Info("the clocks of this machine and of the database server agree again")
		}
		w.differs = differs
	}
	newest, err := newestChange(ctx, w.store)
	if err != nil {
		return
	}
	ahead := newest.Sub(w.now())
	future := ahead > store.ClockTolerance
	if future && ahead > offset.Abs() {
		w.offset.Store(int64(ahead))
	}
	switch {
	case future && !w.future:
		w.log.Error("the newest change is in the future: the clock of the server that made it was ahead, or this machine's is behind; check this machine's with date, correct the wrong one, and only then see mailhostd repair-times", "newest_change", newest)
	case !future && w.future:
		w.log.Info("the newest change is no longer in the future")
	}
	w.future = future
}

// newestChange returns the time of the newest entry of the audit log, the zero time if there is none.
func newestChange(ctx context.Context, db store.Store) (time.Time, error) {
	return store.Read(ctx, db, func(r store.Reader) (at time.Time, err error) {
		err = r.EachAuditEntry(store.AuditFilter{Limit: 1}, func(e store.AuditEntry) error {
			at = e.CreatedAt
			return nil
		})
		return at, err
	})
}

// checkClock asks the kernel, because expiries and replicas depend on the clock, and the database: its server's
// clock, and the times that other servers wrote.
func (c DoctorCommand) checkClock(ctx context.Context) check {
	now := time.Now().UTC()
	synchronized, known := clockSynchronized()
	var offset time.Duration
	var future []store.FutureTimes
	behind := false
	// A database that can't be read is a failed check already.
	if db, err := cli.OpenDatabase(ctx, c.Database, cli.OpenOptions{ReadOnly: true, Memory: true}); err == nil {
		offset, _ = db.ClockOffset(ctx)
		_ = db.View(ctx, func(r store.Reader) error {
			future, err = r.FutureTimes(now)
			if err == nil {
				behind, err = r.MostlyFuture(now)
			}
			return err
		})
		_ = db.Close()
	}
	return describeClock(now, synchronized, known, offset, future, behind, cli.RedactDatabase(c.Database))
}

// describeClock returns the check of the clock. offset is by how much the database server's clock is ahead, and behind
// means that this machine's is probably behind the newest changes.
func describeClock(now time.Time, synchronized, known bool, offset time.Duration, future []store.FutureTimes, behind bool, database string) check {
	state, words := checkOK, []string{"it is " + now.Format(time.RFC3339)}
	switch {
	case !known:
		state, words = checkSkipped, append(words, "this system does not say whether its clock is synchronized")
	case !synchronized:
		state, words = checkWarning, append(words, "the kernel knows of nothing that synchronizes the clock; run an NTP client")
	default:
		words = append(words, "synchronized")
	}
	if offset.Abs() > store.ClockTolerance {
		direction, wrong := "ahead of", "probably this machine's is wrong"
		if offset < 0 {
			direction = "behind"
		}
		if known && synchronized {
			wrong = "probably the database server's is wrong"
		}
		state, words = checkFailed, append(words, fmt.Sprintf("the clock of the database server is %s %s this machine's; %s: compare both with a third one, and correct it",
			offset.Abs().Round(time.Second), direction, wrong))
	}
	if len(future) > 0 {
		rows, latest := 0, time.Time{}
		for _, f := range future {
			if rows += f.Rows; f.Latest.After(latest) {
				latest = f.Latest
			}
		}
		if state != checkFailed {
			state = checkWarning
		}
		cause := "the clock of a server was ahead, or this machine's is behind"
		if behind {
			cause = "most changes are, so this machine's clock is probably behind, unless the clock of a server was ahead"
		}
		words = append(words, fmt.Sprintf("the database contains %s with times in the future, up to %s: %s; check this machine's with date, correct the wrong one, and then run mailhostd repair-times --database %s",
			cli.Counted(rows, "row"), latest.Format(api.TimestampLayout), cause, database))
	}
	return found(state, "%s", strings.Join(words, "; "))
}
