package client

import (
	"context"
	"fmt"
	"time"
)

// Bounds of the time between two reads of WaitFor.
const (
	pollMin = 500 * time.Millisecond
	pollMax = 15 * time.Second
)

// WaitFor reads an object until done holds for it, at growing intervals, and
// until ctx ends. Its reads never come from what the client has stored. An error
// of get or done ends the wait; with an error, the object as it was last read is
// returned too, or nil.
func WaitFor[T any](ctx context.Context, c *Client, get func(context.Context) (*T, error), done func(*T) (bool, error)) (*T, error) {
	ctx = context.WithValue(ctx, freshKey{}, true)
	var last *T
	for interval := pollMin; ; interval = min(interval*3/2, pollMax) {
		v, err := get(ctx)
		if err != nil {
			return last, err
		}
		last = v
		if ok, err := done(v); ok || err != nil {
			return last, err
		}
		// Half of it is random, so that many waits do not poll in step.
		if err := c.hooks.Sleep(ctx, interval/2+c.hooks.Jitter(interval/2)); err != nil {
			return last, fmt.Errorf("waiting ended before it was ready: %w", err)
		}
	}
}
