// Package listcache reads lists of the API: [Pages] iterates over all pages of one,
// [Cache] has a copy of a whole list for an API that can't read single objects, and
// [Shared] lets many reads of single objects share a list. It sends no requests itself.
package listcache

import (
	"context"
	"iter"
	"maps"
	"slices"
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
// applied instead to the cached copy and to the result of each pending read.
//
// A read runs in its own goroutine, without the deadline of the first caller, and
// is cancelled when no caller waits for it. Returned values share their slices
// with the cache, so callers must not change them.
type Cache[T any] struct {
	Keys[T]
	list func(context.Context) iter.Seq2[T, error]

	// mu guards all fields below and all copies. It is not held during a read.
	mu          sync.Mutex
	version     uint64
	validFrom   uint64            // of the latest InvalidateAll
	invalidated map[string]uint64 // the version of the latest Invalidate, by key
	current     *snapshot[T]
	pending     []*pendingRead[T]
}

// snapshot is the result of one read and of the writes since.
type snapshot[T any] struct {
	version uint64
	byID    map[string]T
	ids     map[string]string // by natural key
}

// pendingRead is a read of the list that has not ended.
type pendingRead[T any] struct {
	version uint64
	cancel  context.CancelFunc
	done    chan struct{}
	waiting int                  // callers
	writes  []func(*snapshot[T]) // since it began

	// Set before done is closed.
	result *snapshot[T]
	err    error
}

// New returns a cache of what list returns.
func New[T any](k Keys[T], list func(context.Context) iter.Seq2[T, error]) *Cache[T] {
	return &Cache[T]{Keys: k, list: list, invalidated: map[string]uint64{}}
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
	c.mu.Lock()
	after = max(after, c.validFrom, c.invalidated[key])
	if c.current != nil && c.current.version > after {
		defer c.mu.Unlock()
		return c.current.get(key), nil
	}
	r := c.join(ctx, after)
	c.mu.Unlock()
	select {
	case <-r.done:
	case <-ctx.Done():
		c.leave(r)
		return nil, ctx.Err()
	}
	if r.err != nil {
		return nil, r.err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return r.result.get(key), nil
}

// join returns a pending read that began after a version, and begins one if there
// is none.
func (c *Cache[T]) join(ctx context.Context, after uint64) *pendingRead[T] {
	for _, r := range c.pending {
		if r.version > after && r.waiting > 0 {
			r.waiting++
			return r
		}
	}
	c.version++
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r := &pendingRead[T]{version: c.version, cancel: cancel, done: make(chan struct{}), waiting: 1}
	c.pending = append(c.pending, r)
	go c.read(ctx, r)
	return r
}

// leave cancels a read that the last caller no longer waits for.
func (c *Cache[T]) leave(r *pendingRead[T]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.waiting--; r.waiting == 0 {
		r.cancel()
	}
}

func (c *Cache[T]) read(ctx context.Context, r *pendingRead[T]) {
	defer r.cancel()
	s := newSnapshot[T]()
	s.version = r.version
	for v, err := range c.list(ctx) {
		if err != nil {
			r.err = err
			break
		}
		s.put(&c.Keys, v)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending = slices.DeleteFunc(c.pending, func(other *pendingRead[T]) bool { return other == r })
	for _, write := range r.writes {
		write(s)
	}
	r.result = s
	if r.err == nil && r.version > c.validFrom && (c.current == nil || c.current.version < r.version) {
		c.current = s
		maps.DeleteFunc(c.invalidated, func(_ string, version uint64) bool { return version < r.version })
	}
	close(r.done)
}

// write applies a write with a known result to every copy.
func (c *Cache[T]) write(change func(*snapshot[T])) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.pending {
		r.writes = append(r.writes, change)
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

func newSnapshot[T any]() *snapshot[T] {
	return &snapshot[T]{byID: map[string]T{}, ids: map[string]string{}}
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
