package httpapi

import (
	"errors"
	"io"
	"sync"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

const (
	// freeBody is the part of each body that no budget counts, so that an ordinary
	// request is never refused: as much as net/http buffers of each connection.
	freeBody = 4 << 10
	// decodeFactor is about how many times its size a body takes while it is decoded
	// and validated.
	decodeFactor = 4
)

// receivedBody is a request body as far as it has arrived.
type receivedBody struct {
	budget     *bodyBudget
	credential string
	data       []byte
	taken      int
}

// read reads the body until its end, or until it is larger than any operation
// accepts. It fails as the reader does, or as bodyBudget.take does.
func (b *receivedBody) read(r io.Reader) error {
	const enough = api.MaxBodyBytes + 1 // one byte more shows that a body is too large
	for len(b.data) < enough {
		if len(b.data) == cap(b.data) {
			if err := b.grow(min(max(freeBody, 2*cap(b.data)), enough)); err != nil {
				return err
			}
		}
		n, err := r.Read(b.data[len(b.data):cap(b.data)])
		b.data = b.data[:len(b.data)+n]
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	if len(b.data) <= freeBody {
		return nil
	}
	return b.take(decodeFactor * len(b.data))
}

// grow replaces the buffer by one of n bytes.
func (b *receivedBody) grow(n int) error {
	before := b.taken
	if n > freeBody {
		if err := b.take(n); err != nil {
			return err
		}
	}
	b.data = append(make([]byte, 0, n), b.data...)
	b.budget.release(b.credential, before) // of the buffer that was copied
	b.taken -= before
	return nil
}

func (b *receivedBody) take(n int) error {
	err := b.budget.take(b.credential, n)
	if err == nil {
		b.taken += n
	}
	return err
}

func (b *receivedBody) release() { b.budget.release(b.credential, b.taken) }

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
