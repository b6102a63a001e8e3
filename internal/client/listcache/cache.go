// Package listcache reads lists of the API: [Pages] iterates over all pages of one, and
// [Cache] has a copy of a whole list, for an API that can't read single objects and for
// plans that read many. It sends no requests itself.
package listcache

import (
	"context"
	"iter"
	"maps"
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
// The cache orders events by a counter, its version. A read of the list has the
// version at which it began. Invalidate sets the version that the next Get of a
// key needs, InvalidateAll that of every key. A write with a known result is
// applied to the cached copy instead, and to the result of a read that has not ended.
//
// One caller at a time reads the list. The others wait for it, and share its result and
// its error, unless it has only given up. Returned values share their slices with the
// cache, so callers must not change them.
type Cache[T any] struct {
	Keys[T]
	list    func(context.Context) iter.Seq2[T, error]
	reading chan struct{} // holds an element while a caller reads the list

	// mu guards all fields below and all copies. It is not held during a read.
	mu          sync.Mutex
	version     uint64
	validFrom   uint64            // of the latest InvalidateAll
	invalidated map[string]uint64 // the version of the latest Invalidate, by key
	current     *snapshot[T]      // nil: nothing is cached
	writes      []func(*snapshot[T])
	failures    int // of reads
	failure     error
}

// snapshot is the result of one read and of the writes since.
type snapshot[T any] struct {
	version uint64
	byID    map[string]T
	ids     map[string]string // by natural key
}

// New returns a cache of what list returns.
func New[T any](k Keys[T], list func(context.Context) iter.Seq2[T, error]) *Cache[T] {
	return &Cache[T]{Keys: k, list: list, reading: make(chan struct{}, 1), invalidated: map[string]uint64{}}
}

// Version returns the current version. A Get after it reads what the list has now.
func (c *Cache[T]) Version() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version
}

// Get returns the object with an id or natural key, from a read of the list that
// began after a version (0: any), or nil if there is none.
func (c *Cache[T]) Get(ctx context.Context, key string, after uint64) (*T, error) {
	key = c.Normalize(key)
	v, ok, failures, _ := c.cached(key, after)
	if ok {
		return v, nil
	}
	select {
	case c.reading <- struct{}{}:
		defer func() { <-c.reading }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	v, ok, now, failure := c.cached(key, after) // another caller may have read it meanwhile
	switch {
	case ok:
		return v, nil
	case now != failures:
		return nil, failure
	}
	return c.read(ctx, key)
}

// cached returns the object with a key if the copy is newer than a version; otherwise how
// many reads have failed so far, and the error of the latest.
func (c *Cache[T]) cached(key string, after uint64) (v *T, ok bool, failures int, failure error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current != nil && c.current.version > max(after, c.validFrom, c.invalidated[key]) {
		return c.current.get(key), true, 0, nil
	}
	return nil, false, c.failures, c.failure
}

// read reads the list and returns the object with a key.
func (c *Cache[T]) read(ctx context.Context, key string) (*T, error) {
	c.mu.Lock()
	c.version++
	s := &snapshot[T]{version: c.version, byID: map[string]T{}, ids: map[string]string{}}
	c.writes = nil
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
		s.put(&c.Keys, v)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, write := range c.writes {
		write(s)
	}
	if s.version > c.validFrom {
		c.current = s
		maps.DeleteFunc(c.invalidated, func(_ string, version uint64) bool { return version < s.version })
	}
	return s.get(key), nil
}

// write applies a write with a known result to every copy.
func (c *Cache[T]) write(change func(*snapshot[T])) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.reading) > 0 {
		c.writes = append(c.writes, change)
	}
	if c.current != nil {
		change(c.current)
	}
}

// Put stores an object that a create or an update has returned.
func (c *Cache[T]) Put(v T) { c.write(func(s *snapshot[T]) { s.put(&c.Keys, v) }) }

// Delete removes an object, by id or natural key, that was deleted.
func (c *Cache[T]) Delete(key string) {
	key = c.Normalize(key)
	c.write(func(s *snapshot[T]) {
		if v := s.get(key); v != nil {
			s.drop(&c.Keys, c.Normalize(c.ID(v)))
		}
	})
}

// Invalidate says that the object with a key may have changed.
func (c *Cache[T]) Invalidate(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version++
	c.invalidated[c.Normalize(key)] = c.version
}

// InvalidateAll says that any object may have changed.
func (c *Cache[T]) InvalidateAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version++
	c.validFrom, c.current = c.version, nil
	clear(c.invalidated)
}

// get returns a copy of an object, by normalized id or natural key.
func (s *snapshot[T]) get(key string) *T {
	if id, ok := s.ids[key]; ok {
		key = id
	}
	if v, ok := s.byID[key]; ok {
		return &v
	}
	return nil
}

func (s *snapshot[T]) put(k *Keys[T], v T) {
	id := k.Normalize(k.ID(&v))
	s.drop(k, id)
	s.byID[id] = v
	if k.Name != nil {
		s.ids[k.Normalize(k.Name(&v))] = id
	}
}

// drop removes an object and its natural key.
func (s *snapshot[T]) drop(k *Keys[T], id string) {
	old, ok := s.byID[id]
	if !ok {
		return
	}
	delete(s.byID, id)
	if k.Name != nil {
		if name := k.Normalize(k.Name(&old)); s.ids[name] == id {
			delete(s.ids, name)
		}
	}
}
