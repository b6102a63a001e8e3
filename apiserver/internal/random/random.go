// Package random provides the ids and secrets of the service from one source of
// randomness, so that a test can make them predictable.
package random

import (
	"bytes"
	"crypto/rand"
	"io"
	"sync"

	"github.com/google/uuid"
)

// Source reads from a source of randomness. It is safe for concurrent use and panics
// if the source fails: without randomness no id and no secret can be trusted.
type Source struct {
	mu     sync.Mutex
	reader io.Reader
}

// New returns a Source that reads from r; nil: crypto/rand.
func New(r io.Reader) *Source {
	if r == nil {
		r = rand.Reader
	}
	return &Source{reader: r}
}

// Bytes returns n random bytes.
func (s *Source) Bytes(n int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := make([]byte, n)
	if _, err := io.ReadFull(s.reader, b); err != nil {
		panic("apiserver: no randomness: " + err.Error())
	}
	return b
}

// ID returns a random UUID (RFC 9562, version 4).
func (s *Source) ID() string {
	return uuid.Must(uuid.NewRandomFromReader(bytes.NewReader(s.Bytes(len(uuid.Nil))))).String()
}
