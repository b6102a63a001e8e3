package transport

import (
	"context"
	"errors"
	"io"
	"time"
)

// stallTimer cancels an attempt that makes no progress for some time: no response,
// or no further part of its body. It limits neither the size of a body nor the
// time of a whole download.
type stallTimer struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	limit   time.Duration
	timer   *time.Timer
	expired error
}

// newStallTimer returns a timer that is not started. The caller calls end, or
// closes the body.
func newStallTimer(ctx context.Context, limit time.Duration) *stallTimer {
	t := &stallTimer{limit: limit, expired: &timeoutError{limit}}
	t.ctx, t.cancel = context.WithCancelCause(ctx)
	t.timer = time.AfterFunc(limit, func() { t.cancel(t.expired) })
	t.timer.Stop()
	return t
}

func (t *stallTimer) start() { t.timer.Reset(t.limit) }
func (t *stallTimer) stop()  { t.timer.Stop() }

func (t *stallTimer) end() {
	t.stop()
	t.cancel(nil)
}

// body returns a body whose reads are timed.
func (t *stallTimer) body(b io.ReadCloser) io.ReadCloser { return &timedBody{b, t} }

// explain replaces the error of an attempt that the timer has cancelled.
func (t *stallTimer) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(context.Cause(t.ctx), t.expired):
		return t.expired
	}
	return explainFailure(err)
}

type timedBody struct {
	io.ReadCloser

	timer *stallTimer
}

// Read implements io.Reader.
func (b *timedBody) Read(p []byte) (int, error) {
	b.timer.start()
	n, err := b.ReadCloser.Read(p)
	b.timer.stop()
	if err != nil && !errors.Is(err, io.EOF) {
		err = b.timer.explain(err)
	}
	return n, err
}

// Close implements io.Closer.
func (b *timedBody) Close() error {
	err := b.ReadCloser.Close()
	b.timer.end()
	return err
}
