// Package listcache reads lists of the API: [Pages] iterates over all pages of a list, and [Cache] stores a whole
// list, for an API that can't read single objects and for plans that read many. It sends no requests itself.
package listcache

import (
	"context"
	"iter"
	"strconv"
	"sync"

	"golang.org/x/sync/singleflight"
)

// Keys identify the objects of a list.
type Keys[T any] struct {
	// ID returns an object's id.
	ID func(*T) string
	// Name returns an object's natural key, by which the API's paths name it too; nil if the objects
	// have only an id.
	Name func(*T) string
	// Normalize returns the form in which ids and natural keys are compared.
	Normalize func(string) string
}

// Cache is a shared copy of one list, for reads of single objects: any number of them cost one read of
// the list. It is safe for concurrent use. Errors are not cached.
//
// The first caller begins to read the list, and all callers wait for it, each as long as its context
// allows. Callers must not change the returned objects: they belong to the cache.
type Cache[T any] struct {
	Keys[T]
	list  func(context.Context) iter.Seq2[T, error]
	reads singleflight.Group // of the list, by version

	mu      sync.Mutex    // guards the fields below; it is not held during a read
	current map[string]*T // by normalized id and natural key; nil: nothing is cached
	version int           // counts the calls of Invalidate
}

// New returns a cache of the objects that list returns.
func New[T any](k Keys[T], list func(context.Context) iter.Seq2[T, error]) *Cache[T] {
	return &Cache[T]{Keys: k, list: list}
}

// Get returns the object with an id or natural key, or nil if the list does not contain it.
func (c *Cache[T]) Get(ctx context.Context, key string) (*T, error) {
	key = c.Normalize(key)
	c.mu.Lock()
	objects, version := c.current, c.version
	c.mu.Unlock()
	if objects != nil {
		return objects[key], nil
	}
	read := c.reads.DoChan(strconv.Itoa(version), func() (any, error) {
		return c.read(context.WithoutCancel(ctx), version) // others wait for it too
	})
	select {
	case result := <-read:
		if result.Err != nil {
			return nil, result.Err
		}
		return result.Val.(map[string]*T)[key], nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// read reads the list and caches it, unless Invalidate was called since the version. It returns the
// cached list to a caller that comes just after another caller's read ended.
func (c *Cache[T]) read(ctx context.Context, version int) (map[string]*T, error) {
	c.mu.Lock()
	objects := c.current
	c.mu.Unlock()
	if objects != nil {
		return objects, nil
	}
	objects = map[string]*T{}
	for v, err := range c.list(ctx) {
		if err != nil {
			return nil, err
		}
		objects[c.Normalize(c.ID(&v))] = &v
		if c.Name != nil {
			objects[c.Normalize(c.Name(&v))] = &v
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.version == version {
		c.current = objects
	}
	return objects, nil
}

// Invalidate empties the cache after a change of any object: the next Get reads the list again.
func (c *Cache[T]) Invalidate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current = nil
	c.version++
}
