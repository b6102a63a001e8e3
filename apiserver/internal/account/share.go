package account

import (
	"context"
	"sync"
)

// readersOfAccount is how many requests of one account read at the same time: about half of what
// a store allows, so that the others are for other accounts.
const readersOfAccount = 6

// shares bounds how many requests of an account run at the same time. The others wait.
type shares struct {
	slots int
	byID  sync.Map // of chan struct{}, by account id
}

// enter waits for a slot of an account, which leave gives back.
func (s *shares) enter(ctx context.Context, accountID string) (leave func(), err error) {
	slots, ok := s.byID.Load(accountID)
	if !ok {
		slots, _ = s.byID.LoadOrStore(accountID, make(chan struct{}, s.slots))
	}
	queue := slots.(chan struct{})
	select {
	case queue <- struct{}{}:
		return func() { <-queue }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
