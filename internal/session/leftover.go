package session

import (
	"context"
	"errors"
	"sync"
)

// leftovers are what must be cleared away when the provider ends, by the ids of
// the objects.
type leftovers struct {
	mu    sync.Mutex
	clear map[string]func(context.Context) error
}

// Leave has clear called when the provider ends, unless the object with the id is
// taken back before.
func (s *Session) Leave(id string, clear func(context.Context) error) {
	s.left.mu.Lock()
	defer s.left.mu.Unlock()
	if s.left.clear == nil {
		s.left.clear = map[string]func(context.Context) error{}
	}
	s.left.clear[id] = clear
}

// TakeBack lets what was left be the caller's again.
func (s *Session) TakeBack(id string) {
	s.left.mu.Lock()
	defer s.left.mu.Unlock()
	delete(s.left.clear, id)
}

// End clears away what was left and not taken back, all at once.
func (s *Session) End(ctx context.Context) error {
	s.left.mu.Lock()
	left := s.left.clear
	s.left.clear = nil
	s.left.mu.Unlock()
	failures := make(chan error, len(left))
	for _, clear := range left {
		go func() { failures <- clear(ctx) }()
	}
	var errs []error
	for range left {
		errs = append(errs, <-failures)
	}
	return errors.Join(errs...)
}
