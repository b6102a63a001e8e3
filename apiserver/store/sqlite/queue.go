package sqlite

import "sync"

// queue holds the updates that wait for the writer. The accounts take turns. It is safe for
// concurrent use.
type queue struct {
	mu      sync.Mutex
	arrived *sync.Cond
	closed  bool
	// waiting holds the updates by account, and accounts the accounts with updates, the next one first.
	waiting  map[string][]*update
	accounts []string
}

func newQueue() *queue {
	q := &queue{waiting: map[string][]*update{}}
	q.arrived = sync.NewCond(&q.mu)
	return q
}

func (q *queue) push(account string, u *update) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting[account]) == 0 {
		q.accounts = append(q.accounts, account)
	}
	q.waiting[account] = append(q.waiting[account], u)
	q.arrived.Signal()
}

// take removes and returns the next update. From an empty queue it returns nil, or with wait
// waits for an update until the queue is closed.
func (q *queue) take(wait bool) *update {
	q.mu.Lock()
	defer q.mu.Unlock()
	for wait && len(q.accounts) == 0 && !q.closed {
		q.arrived.Wait()
	}
	if len(q.accounts) == 0 {
		return nil
	}
	account := q.accounts[0]
	q.accounts = q.accounts[1:]
	updates := q.waiting[account]
	if len(updates) > 1 {
		q.waiting[account] = updates[1:]
		q.accounts = append(q.accounts, account)
	} else {
		delete(q.waiting, account)
	}
	return updates[0]
}

// close lets take return nil once the queue is empty.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.arrived.Signal()
}
