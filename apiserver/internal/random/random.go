// Package random provides ids and secrets from one source of randomness. Tests can replace the
// source.
package random

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"io"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Source reads from a source of randomness, and panics if reading fails. It is safe for concurrent
// use.
type Source struct {
	mu     sync.Mutex
	reader io.Reader
}

// New returns a Source that reads from r, or from crypto/rand if r is nil.
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

// IDAt returns a UUID that begins with a time (RFC 9562, version 7), so that objects created
// together are adjacent in an index and few pages are written.
func (s *Source) IDAt(t time.Time) string {
	id := uuid.UUID(s.Bytes(len(uuid.Nil)))
	milliseconds := uint64(t.UnixMilli())
	binary.BigEndian.PutUint32(id[:], uint32(milliseconds>>16))
	binary.BigEndian.PutUint16(id[4:], uint16(milliseconds))
	id[6] = id[6]&0x0f | 7<<4 // version
	id[8] = id[8]&0x3f | 0x80 // variant
	return id.String()
}
