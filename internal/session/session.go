package session

import (
	"context"
	"sync"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// Session is what a provider configuration gives to its resources. Terraform
// configures a provider once for each walk over the configuration (a plan, an
// apply), so a session lasts for one walk. It is safe for concurrent use.
type Session struct {
	// Origin describes the session's account in messages. It is set before the
	// session is used.
	Origin Origin
	// Unopened and WrongAccount are failures that concern all objects of the walk.
	Unopened, WrongAccount client.Incident

	open func(context.Context) (*client.Client, error)

	mu     sync.Mutex
	client *client.Client

	left leftovers
	walk Walk

	createdOnce sync.Once
	createdAt   string
}

// AccountCreatedAt returns when an embedded account was created (RFC 3339), which
// distinguishes it from one that was created later under the same id. It is "" for another
// account, and if it can't be read.
func (s *Session) AccountCreatedAt(ctx context.Context) string {
	if !s.Origin.Embedded {
		return ""
	}
	s.createdOnce.Do(func() {
		c, err := s.Client(ctx)
		if err != nil {
			return
		}
		if a, err := c.GetAccount(context.WithoutCancel(ctx)); err == nil {
			s.createdAt = a.CreatedAt
		}
	})
	return s.createdAt
}

// Walk returns what the walk that the session serves has seen: Terraform starts
// and configures a provider for each walk.
func (s *Session) Walk() *Walk { return &s.walk }

// Origin says where the account of a session comes from.
type Origin struct {
	// Account describes it, such as "the embedded account in .mailhost".
	Account string
	// Other says how to connect to another account, in sentences.
	Other string
	// Embedded: the account is in a local file, which may be lost and created again
	// under the same account id.
	Embedded bool
}

// Problem is an error of a session that can't be opened, with a summary of its own
// and with what to do next.
type Problem struct {
	Summary, Reason, Next string
}

// Error implements error.
func (p *Problem) Error() string { return p.Reason }

// New returns a session that opens its client with open, once.
func New(open func(context.Context) (*client.Client, error)) *Session {
	return &Session{open: open}
}

// Client returns the session's client. A failure to open it is returned to each
// caller, and opening is tried again for the next one.
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
