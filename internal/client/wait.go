package client

import (
	"context"
	"fmt"
	"time"
)

// Limits of the time between two reads of WaitFor.
const (
	pollMin = 500 * time.Millisecond
	pollMax = 15 * time.Second
)

// WaitFor reads an object at growing intervals until done returns true, or ctx
// ends. Its reads never come from a cached list. An error of get or done ends the
// wait. With an error it returns the object as it was last read, or nil.
func WaitFor[T any](ctx context.Context, c *Client, get func(context.Context) (*T, error), done func(*T) (bool, error)) (*T, error) {
	ctx = context.WithValue(ctx, uncachedKey{}, true)
	hooks := c.transport.Hooks()
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
		if err := hooks.Sleep(ctx, interval/2+hooks.Jitter(interval/2)); err != nil {
			return last, fmt.Errorf("waiting ended before it was ready: %w", err)
		}
	}
}
