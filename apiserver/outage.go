package apiserver

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// outageLog is a store that logs the begin and the end of an outage instead of each failure.
// Waiting too long for a lock is not an outage.
type outageLog struct {
	store.Store
	log    *slog.Logger
	outage atomic.Bool
	// outdated means that the program can't work with the database's schema any longer.
	outdated atomic.Bool
}

// View implements store.Store.
func (o *outageLog) View(ctx context.Context, fn func(store.Reader) error) error {
	return o.observe(o.Store.View(ctx, fn))
}

// Update implements store.Store. Unlike View it can end an outage: a full disk can still be read.
func (o *outageLog) Update(ctx context.Context, fn func(store.Tx) error) error {
	return o.end(o.observe(o.Store.Update(ctx, fn)))
}

// Ping implements store.Store. After a failed update it tries an update.
func (o *outageLog) Ping(ctx context.Context) error {
	err := o.Store.Ping(ctx)
	_, outdated := errors.AsType[*store.SchemaError](err)
	switch was := o.outdated.Load(); {
	case outdated && !o.outdated.Swap(true):
		o.log.Error("the server is not ready any more: it can't work with the database's schema", "error", err)
	case err == nil && was && o.outdated.Swap(false):
		o.log.Info("the server can work with the database's schema again")
	}
	return o.end(o.observe(err))
}

// end logs the end of an outage unless there is an error.
func (o *outageLog) end(err error) error {
	if err == nil && o.outage.Load() && o.outage.Swap(false) {
		o.log.Info("the database is available again")
	}
	return err
}

func (o *outageLog) observe(err error) error {
	switch {
	case errors.Is(err, store.ErrLocked):
		o.log.Warn("a request waited too long for a lock and gets a 503", "error", err)
	case errors.Is(err, store.ErrUnavailable) && !o.outage.Swap(true):
		o.log.Error("the database is unavailable; requests that need it get a 503 until it can be used again", "error", err)
	}
	return err
}
