package service

import (
	"iter"
	"sync"
)

// Once calls fn for the first caller with a key in this walk, and returns its result to all callers.
func Once[T any](notes *sync.Map, key any, fn func() T) T {
	once, _ := notes.LoadOrStore(key, sync.OnceValue(fn))
	return once.(func() T)()
}

// OnceResult is [Once] for a function that may fail.
func OnceResult[T any](notes *sync.Map, key any, fn func() (T, error)) (T, error) {
	return Once(notes, key, func() func() (T, error) {
		result, err := fn()
		return func() (T, error) { return result, err }
	})()
}

// FindListed returns the first object of a list that matches, or nil. name identifies the list among the lists
// of T. The list is read once in a walk, for all creates, and indexed by bucket; key selects a bucket. match
// compares once more, because an API may ignore a filter. A list that can't be read counts as empty: the
// create then detects an existing object.
func FindListed[T any](notes *sync.Map, name string, list iter.Seq2[T, error], bucket func(*T) string, key string, match func(*T) bool) *T {
	type listKey struct{ name string }
	buckets := Once(notes, listKey{name}, func() map[string][]T {
		all := map[string][]T{}
		for v, err := range list {
			if err != nil {
				return nil
			}
			all[bucket(&v)] = append(all[bucket(&v)], v)
		}
		return all
	})
	for _, v := range buckets[key] {
		if match(&v) {
			return &v
		}
	}
	return nil
}
