package account

import (
	"sync/atomic"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/registrar"
)

// Limits are the settings that a fixture may change while the service runs.
type Limits struct {
	Registrar registrar.Registrar
	// MaxMailboxes is the most mailboxes of an account; 0: no limit.
	MaxMailboxes int
}

// Settings holds the Limits in force. It is safe for concurrent use; an operation reads
// them once.
type Settings struct {
	initial Limits
	current atomic.Pointer[Limits]
}

// NewSettings returns Settings with the limits that hold until Change.
func NewSettings(initial Limits) *Settings {
	s := &Settings{initial: initial}
	s.Reset()
	return s
}

// Get returns the limits in force.
func (s *Settings) Get() Limits { return *s.current.Load() }

// Reset restores the initial limits.
func (s *Settings) Reset() { s.current.Store(&s.initial) }

// Change replaces the limits that are not nil.
func (s *Settings) Change(r *registrar.Registrar, maxMailboxes *int) {
	for {
		before := s.current.Load()
		after := *before
		if r != nil {
			after.Registrar = *r
		}
		if maxMailboxes != nil {
			after.MaxMailboxes = *maxMailboxes
		}
		if s.current.CompareAndSwap(before, &after) {
			return
		}
	}
}
