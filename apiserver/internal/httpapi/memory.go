package httpapi

import "sync"

// bodyMemory is the memory for the bodies of all requests and large responses. An account can reserve
// at most as much as it leaves free, so that others always find some. Nothing waits for memory, because
// a body that is not read stops the others of its HTTP/2 connection. It is safe for concurrent use.
type bodyMemory struct {
	mu       sync.Mutex
	free     int64
	reserved map[string]int64 // by account
}

func newBodyMemory(size int64) *bodyMemory {
	return &bodyMemory{free: size, reserved: map[string]int64{}}
}

// reserve reports whether it has reserved n bytes.
func (m *bodyMemory) reserve(account string, n int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.reserved[account]+n > m.free-n {
		return false
	}
	m.free -= n
	m.reserved[account] += n
	return true
}

func (m *bodyMemory) release(account string, n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.free += n
	if m.reserved[account] -= n; m.reserved[account] == 0 {
		delete(m.reserved, account)
	}
}
