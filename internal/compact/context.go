package compact

import (
	"context"
	"sync/atomic"
	"time"
)

// callContext is the context of one call. The framework's server keeps the context of every
// call until the process ends, and the context of a request has its loggers and its stream:
// 50 KB for each resource of a plan. A callContext releases the request's context at the end
// of the call.
type callContext struct {
	done    <-chan struct{}
	request atomic.Pointer[context.Context] // nil after the end
}

func newCallContext(request context.Context) *callContext {
	c := &callContext{done: request.Done()}
	c.request.Store(&request)
	return c
}

func (c *callContext) end() { c.request.Store(nil) }

// Deadline implements context.Context.
func (c *callContext) Deadline() (deadline time.Time, ok bool) {
	if request := c.request.Load(); request != nil {
		return (*request).Deadline()
	}
	return time.Time{}, false
}

// Done implements context.Context.
func (c *callContext) Done() <-chan struct{} { return c.done }

// Err implements context.Context.
func (c *callContext) Err() error {
	if request := c.request.Load(); request != nil {
		return (*request).Err()
	}
	return context.Canceled
}

// Value implements context.Context.
func (c *callContext) Value(key any) any {
	if request := c.request.Load(); request != nil {
		return (*request).Value(key)
	}
	return nil
}
