package client

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"
)

// kind is what the generic code must know of a kind of object.
type kind[T any] struct {
	// noun names it in messages.
	noun string
	// id returns its id.
	id func(*T) string
	// key returns its natural key, by which the API's paths name it too; nil
	// where it has none.
	key func(*T) string
	// fold brings a key to the form in which keys compare.
	fold func(string) string
}

// index is the shared, in-memory copy of one list, for reads that have no
// operation of their own: N of them cost one sweep.
//
// It counts events with a clock of its own. A sweep has the time at which it
// began, and a key that was written without a known result has the time of that
// write: a read of the key needs a sweep that began later. A write with a known
// result is applied to the stored copy, and to the result of each sweep under
// way, instead. invalidate forgets everything in the same way. Errors are not
// kept.
//
// A sweep runs in a goroutine of its own, without the deadline of whoever asked
// first; it is cancelled when nobody waits for it any more. mu guards all fields
// and all copies; no call is made under it. Values handed out share their slices
// with the index: nobody may write to them.
type index[T any] struct {
	kind[T]
	sweep func(context.Context) iter.Seq2[T, error]

	mu      sync.Mutex
	clock   uint64
	floor   uint64            // of the latest invalidate
	touched map[string]uint64 // of keys written without a known result
	stored  *snapshot[T]
	flights []*flight[T]
}

// snapshot is the result of one sweep and of the writes since.
type snapshot[T any] struct {
	begun uint64
	byID  map[string]T
	ids   map[string]string // by natural key
}

// flight is a sweep under way.
type flight[T any] struct {
	begun   uint64
	cancel  context.CancelFunc
	done    chan struct{}
	waiting int
	writes  []func(*snapshot[T])

	// Set before done is closed.
	result *snapshot[T]
	err    error
}

func newIndex[T any](k kind[T], sweep func(context.Context) iter.Seq2[T, error]) *index[T] {
	return &index[T]{kind: k, sweep: sweep, touched: map[string]uint64{}}
}

// now returns the index's time, to ask for a sweep that begins after it.
func (ix *index[T]) now() uint64 {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	return ix.clock
}

// get returns the object with an id or natural key, as of a sweep that began
// after a time, or nil where there is none.
func (ix *index[T]) get(ctx context.Context, key string, after uint64) (*T, error) {
	key = ix.fold(key)
	ix.mu.Lock()
	after = max(after, ix.floor, ix.touched[key])
	if ix.stored != nil && ix.stored.begun > after {
		defer ix.mu.Unlock()
		return ix.stored.get(key), nil
	}
	f := ix.join(ctx, after)
	ix.mu.Unlock()
	select {
	case <-f.done:
	case <-ctx.Done():
		ix.leave(f)
		return nil, ctx.Err()
	}
	if f.err != nil {
		return nil, f.err
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	return f.result.get(key), nil
}

// join returns a sweep that began after a time, and begins one if need be.
func (ix *index[T]) join(ctx context.Context, after uint64) *flight[T] {
	for _, f := range ix.flights {
		if f.begun > after && f.waiting > 0 {
			f.waiting++
			return f
		}
	}
	ix.clock++
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f := &flight[T]{begun: ix.clock, cancel: cancel, done: make(chan struct{}), waiting: 1}
	ix.flights = append(ix.flights, f)
	go ix.fly(ctx, f)
	return f
}

// leave ends a sweep that the last caller no longer waits for.
func (ix *index[T]) leave(f *flight[T]) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if f.waiting--; f.waiting == 0 {
		f.cancel()
	}
}

func (ix *index[T]) fly(ctx context.Context, f *flight[T]) {
	defer f.cancel()
	s := &snapshot[T]{begun: f.begun, byID: map[string]T{}, ids: map[string]string{}}
	for v, err := range ix.sweep(ctx) {
		if err != nil {
			f.err = err
			break
		}
		s.put(&ix.kind, v)
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.flights = slices.DeleteFunc(ix.flights, func(other *flight[T]) bool { return other == f })
	for _, write := range f.writes {
		write(s)
	}
	f.result = s
	if f.err == nil && f.begun > ix.floor && (ix.stored == nil || ix.stored.begun < f.begun) {
		ix.stored = s
		maps.DeleteFunc(ix.touched, func(_ string, at uint64) bool { return at < f.begun })
	}
	close(f.done)
}

// write applies a write with a known result to every copy.
func (ix *index[T]) write(change func(*snapshot[T])) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	for _, f := range ix.flights {
		f.writes = append(f.writes, change)
	}
	if ix.stored != nil {
		change(ix.stored)
	}
}

// upsert records an object as the API answered to a create or an update.
func (ix *index[T]) upsert(v T) {
	ix.write(func(s *snapshot[T]) { s.put(&ix.kind, v) })
}

// remove records that an object, named by id or natural key, was deleted.
func (ix *index[T]) remove(key string) {
	key = ix.fold(key)
	ix.write(func(s *snapshot[T]) {
		if v := s.get(key); v != nil {
			s.drop(&ix.kind, ix.fold(ix.id(v)))
		}
	})
}

// touch records that what is known of a key may be out of date.
func (ix *index[T]) touch(key string) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.clock++
	ix.touched[ix.fold(key)] = ix.clock
}

// invalidate records that everything known may be out of date.
func (ix *index[T]) invalidate() {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.clock++
	ix.floor, ix.stored = ix.clock, nil
	clear(ix.touched)
}

// get returns a copy of an object, by folded id or natural key.
func (s *snapshot[T]) get(key string) *T {
	if id, ok := s.ids[key]; ok {
		key = id
	}
	if v, ok := s.byID[key]; ok {
		return &v
	}
	return nil
}

func (s *snapshot[T]) put(k *kind[T], v T) {
	id := k.fold(k.id(&v))
	s.drop(k, id)
	s.byID[id] = v
	if k.key != nil {
		s.ids[k.fold(k.key(&v))] = id
	}
}

// drop removes an object and the natural key that it had.
func (s *snapshot[T]) drop(k *kind[T], id string) {
	old, ok := s.byID[id]
	if !ok {
		return
	}
	delete(s.byID, id)
	if k.key != nil {
		if key := k.fold(k.key(&old)); s.ids[key] == id {
			delete(s.ids, key)
		}
	}
}
