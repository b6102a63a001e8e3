package session

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// Session is the connection that a provider configuration passes to its resources. Terraform
// configures a provider once for each walk (a plan or an apply), so a session lasts
// for one walk. It is safe for concurrent use.
type Session struct {
	// Backend describes the session's account in messages. Set it before the first use.
	Backend Backend
	// Unopened, WrongAccount and NoAccess are failures that concern all objects of the walk.
	Unopened, WrongAccount, NoAccess client.Incident

	open func(context.Context) (*client.Client, error)

	mu     sync.Mutex
	client *client.Client

	cleanups  map[string]func(context.Context) error // by the id of the object to remove
	walk      Walk
	refreshes atomic.Bool // whether a resource was refreshed, which only a plan does
	notes     sync.Map

	createdOnce sync.Once
	createdAt   string
}

// New returns a session that opens its client with open on the first use.
func New(open func(context.Context) (*client.Client, error)) *Session {
	return &Session{open: open}
}

// Client returns the session's client, or the error of opening it. After an error the next
// call tries again.
func (s *Session) Client(ctx context.Context) (*client.Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == nil {
		// The client outlives the call that needed it first.
		c, err := s.open(context.WithoutCancel(ctx))
		if err != nil {
			return nil, err
		}
		s.client = c
	}
	return s.client, nil
}

func (s *Session) Walk() *Walk { return &s.walk }

// Notes returns the notes of resources for later calls in this walk. The type of a key belongs to
// the kind's package. A session that serves several walks keeps no notes, because the account may
// change between two walks.
func (s *Session) Notes() *sync.Map {
	if s.walk.disabled {
		return &sync.Map{}
	}
	return &s.notes
}

// ForRefresh returns a context for the refresh of a resource, which only a plan does.
func (s *Session) ForRefresh(ctx context.Context) context.Context {
	s.refreshes.Store(true)
	return s.ForPlan(ctx)
}

// HasRefreshed reports whether [Session.ForRefresh] was called: then the walk is a plan, which
// fails if the account can't be used.
func (s *Session) HasRefreshed() bool { return s.refreshes.Load() }

// ForPlan returns a context for the reads of a plan. Many reads may share one list, unless the
// session serves several walks.
func (s *Session) ForPlan(ctx context.Context) context.Context {
	if s.walk.disabled {
		return client.WithReads(ctx, client.Uncached)
	}
	return client.WithReads(ctx, client.Shared)
}

// ForDataSource returns a context for the read of a data source. In an apply it shares no list,
// because the data source may depend on a resource that was changed just now.
func (s *Session) ForDataSource(ctx context.Context) context.Context {
	if s.walk.disabled || s.refreshes.Load() {
		return s.ForPlan(ctx)
	}
	return ctx
}

// AccountCreatedAt returns the creation time (RFC 3339) of an embedded account, which distinguishes
// it from a later account with the same id. It returns "" for a remote account or after an error.
func (s *Session) AccountCreatedAt(ctx context.Context) string {
	if !s.Backend.Embedded {
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

// Backend describes where the account of a session is.
type Backend struct {
	// Account is a relative clause about the account, such as "which is the embedded
	// account in .mailhost".
	Account string
	// Other explains how to connect to another account, in sentences.
	Other string
	// Embedded means that the account is in a local file, which may be lost and
	// created again with the same account id.
	Embedded bool
}

// OpenError is an error of opening a client, with its summary and the next step.
type OpenError struct {
	Summary, Reason, Next string
}

func (e *OpenError) Error() string { return e.Reason }

// AddCleanup registers a function that [Session.Close] calls, unless
// [Session.RemoveCleanup] is called with the id before.
func (s *Session) AddCleanup(id string, cleanup func(context.Context) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cleanups == nil {
		s.cleanups = map[string]func(context.Context) error{}
	}
	s.cleanups[id] = cleanup
}

// RemoveCleanup removes the function that [Session.AddCleanup] registered with the id.
func (s *Session) RemoveCleanup(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.cleanups, id)
}

// Close runs the registered cleanups concurrently and returns their errors.
func (s *Session) Close(ctx context.Context) error {
	s.mu.Lock()
	pending := s.cleanups
	s.cleanups = nil
	s.mu.Unlock()
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
