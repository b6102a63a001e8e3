package apiserver

import (
	"context"
	"sync"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// deliveries are the keys of answers that were sent whole and of which the store
// does not know it yet. The next write notes it, so that it costs no write of
// its own; a crash forgets the newest ones, which then count as not delivered.
type deliveries struct {
	mu   sync.Mutex
	keys map[string]bool // each once, however often its answer is replayed
}

func (d *deliveries) add(key []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.keys == nil {
		d.keys = map[string]bool{}
	}
	d.keys[string(key)] = true
}

func (d *deliveries) has(key []byte) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.keys[string(key)]
}

func (d *deliveries) list() [][]byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	keys := make([][]byte, 0, len(d.keys))
	for key := range d.keys {
		keys = append(keys, []byte(key))
	}
	return keys
}

// noted forgets keys that the store knows of by now; until then has tells them,
// so that none is unknown to both.
func (d *deliveries) noted(keys [][]byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, key := range keys {
		delete(d.keys, string(key))
	}
}

// forget drops what the store has no answers for any more.
func (d *deliveries) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.keys = nil
}

// noteDeliveries writes what no later write came to note.
func (s *Service) noteDeliveries(ctx context.Context) error {
	keys := s.delivered.list()
	if len(keys) == 0 {
		return nil
	}
	return s.store.Update(ctx, func(tx store.Tx) error { return tx.MarkDelivered(keys) })
}
