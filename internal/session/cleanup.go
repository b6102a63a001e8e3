package session

import (
	"context"
	"errors"
	"sync"
)

// cleanups are functions to run when the provider ends, by the ids of the objects
// that they remove.
type cleanups struct {
	mu   sync.Mutex
	byID map[string]func(context.Context) error
}

// AddCleanup registers a function that [Session.Close] calls, unless
// [Session.RemoveCleanup] is called with the id before.
func (s *Session) AddCleanup(id string, cleanup func(context.Context) error) {
	s.cleanups.mu.Lock()
	defer s.cleanups.mu.Unlock()
	if s.cleanups.byID == nil {
		s.cleanups.byID = map[string]func(context.Context) error{}
	}
	s.cleanups.byID[id] = cleanup
}

// RemoveCleanup removes what [Session.AddCleanup] registered with the id.
func (s *Session) RemoveCleanup(id string) {
	s.cleanups.mu.Lock()
	defer s.cleanups.mu.Unlock()
	delete(s.cleanups.byID, id)
}

// Close runs the registered cleanups concurrently and returns their errors.
func (s *Session) Close(ctx context.Context) error {
	s.cleanups.mu.Lock()
	pending := s.cleanups.byID
	s.cleanups.byID = nil
	s.cleanups.mu.Unlock()
	failures := make(chan error, len(pending))
	for _, cleanup := range pending {
		go func() { failures <- cleanup(ctx) }()
	}
	var errs []error
	for range pending {
		errs = append(errs, <-failures)
	}
	return errors.Join(errs...)
}
