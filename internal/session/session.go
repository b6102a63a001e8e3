package session

import (
	"context"
	"sync"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// Session is what a provider configuration gives to its resources. It is safe
// for concurrent use.
type Session struct {
	open func(context.Context) (*client.Client, error)

	mu     sync.Mutex
	client *client.Client

	left leftovers
}

// New returns a session that opens its client with open, once.
func New(open func(context.Context) (*client.Client, error)) *Session {
	return &Session{open: open}
}

// Client returns the session's client. A failure to open it is told to each
// caller, and tried again for the next one.
func (s *Session) Client(ctx context.Context) (*client.Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == nil {
		// What is opened outlives the call that needed it first.
		c, err := s.open(context.WithoutCancel(ctx))
		if err != nil {
			return nil, err
		}
		s.client = c
	}
	return s.client, nil
}
