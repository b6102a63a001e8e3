package apiserver

import (
	"context"
	"sync"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// deliveries are the idempotency keys of delivered responses whose mark is not in
// the store yet.
//
// A response counts as delivered if all of it was written and the client was still
// connected when the handler returned: in process, the client has read the whole
// body by then; over a socket, it may still die before the last bytes reach it. A
// resumed create takes over only what was not delivered. In doubt it gets the
// conflict instead, which says how to import: a second resource for an object that
// another one manages would be worse, since destroying either deletes it.
//
// The next transaction writes the marks, so that they need none of their own. A
// crash loses the newest ones, and those responses count as not delivered.
type deliveries struct {
	mu   sync.Mutex
	keys map[string]bool // each once, however often its response is replayed
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

// stored removes keys whose mark is in the store; until then has reports them, so
// that no mark is missing from both.
func (d *deliveries) stored(keys [][]byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, key := range keys {
		delete(d.keys, string(key))
	}
}

// reset drops the marks of records that were deleted.
func (d *deliveries) reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.keys = nil
}

// flushDelivered persists delivery marks that no later transaction has written.
func (s *Service) flushDelivered(ctx context.Context) error {
	keys := s.delivered.list()
	if len(keys) == 0 {
		return nil
	}
	return s.store.Update(ctx, func(tx store.Tx) error { return tx.MarkDelivered(keys) })
}
