package httpapi

import (
	"errors"
	"sync"
)

// bodyBudget bounds the memory of all request bodies together. A credential may hold
// as much as is left free (a dynamic threshold): alone it gets half of the budget,
// together with n others a share of 1/(n+2), and as much always stays free for the
// next one. It is safe for concurrent use.
type bodyBudget struct {
	mu    sync.Mutex
	limit int
	used  int
	held  map[string]int // by credential, in bytes; none is zero
}

func newBodyBudget(limit int) *bodyBudget {
	return &bodyBudget{limit: limit, held: map[string]int{}}
}

var (
	// errBudgetSpent reports that other credentials hold the memory.
	errBudgetSpent = errors.New("the memory for request bodies is used up")
	// errShareSpent reports that the credential itself holds its share.
	errShareSpent = errors.New("the credential's share of the memory for request bodies is used up")
)

// take reserves n bytes for a credential.
func (b *bodyBudget) take(credential string, n int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	free := b.limit - b.used
	switch {
	case n > free:
		return errBudgetSpent
	case b.held[credential]+n > free:
		return errShareSpent
	}
	b.used += n
	b.held[credential] += n
	return nil
}

// release returns n bytes that a credential has taken.
func (b *bodyBudget) release(credential string, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= n
	if b.held[credential] -= n; b.held[credential] == 0 {
		delete(b.held, credential)
	}
}
