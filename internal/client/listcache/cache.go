// Package listcache reads lists of the API: [Pages] iterates over all pages of one, and
// [Cache] has a copy of a whole list, for an API that can't read single objects and for
// plans that read many. It sends no requests itself.
package listcache

import (
	"context"
	"iter"
	"sync"
)

// Keys identify the objects of a list.
type Keys[T any] struct {
	// ID returns an object's id.
	ID func(*T) string
	// Name returns an object's natural key, by which the API's paths name it too;
	// nil if it has none.
	Name func(*T) string
	// Normalize returns the form in which ids and natural keys are compared.
	Normalize func(string) string
}

// Cache is a shared copy of one list, for reads that have no operation of their
// own: any number of them cost one read of the list. It is safe for concurrent
// use. Errors are not cached.
//
// One caller at a time reads the list. The others wait for it, and share its result and
// its error, unless it has only given up. Returned values are the cache's own: callers must not
// change them.
type Cache[T any] struct {
	Keys[T]
	list    func(context.Context) iter.Seq2[T, error]
	reading chan struct{} // holds an element while a caller reads the list

	// mu guards all fields below. It is not held during a read.
	mu       sync.Mutex
	current  map[string]*T // by normalized id and natural key; nil: nothing is cached
	isStale  bool          // Invalidate was called during the read
	failures int           // of reads
	failure  error
}

// New returns a cache of what list returns.
func New[T any](k Keys[T], list func(context.Context) iter.Seq2[T, error]) *Cache[T] {
	return &Cache[T]{Keys: k, list: list, reading: make(chan struct{}, 1)}
}

// Get returns the object with an id or natural key, or nil if there is none.
func (c *Cache[T]) Get(ctx context.Context, key string) (*T, error) {
	key = c.Normalize(key)
	_, _, failures, _ := c.cached(key)
	select {
	case c.reading <- struct{}{}:
		defer func() { <-c.reading }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	v, ok, now, failure := c.cached(key)
	switch {
	case ok:
		return v, nil
	case now != failures: // another caller's read has failed meanwhile
		return nil, failure
	}
	return c.read(ctx, key)
}

// cached returns the object with a key if there is a copy, how many reads have failed so far,
// and the error of the latest.
func (c *Cache[T]) cached(key string) (v *T, ok bool, failures int, failure error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current[key], c.current != nil, c.failures, c.failure
}

// read reads the list and returns the object with a key.
func (c *Cache[T]) read(ctx context.Context, key string) (*T, error) {
	objects := map[string]*T{}
	c.mu.Lock()
	c.isStale = false
	c.mu.Unlock()
	for v, err := range c.list(ctx) {
		if err != nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			if ctx.Err() == nil {
				c.failures++
				c.failure = err
			}
			return nil, err
		}
		objects[c.Normalize(c.ID(&v))] = &v
		if c.Name != nil {
			objects[c.Normalize(c.Name(&v))] = &v
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isStale {
		c.current = objects
	}
	return objects[key], nil
}

// Invalidate says that any object may have changed: a Get after it reads the list again.
func (c *Cache[T]) Invalidate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current, c.isStale = nil, true
}
