package httpapi

import (
	"bytes"
	"errors"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
)

const (
	// freeBody is the part of each body that no budget counts, so that an ordinary
	// request is never refused: as much as net/http buffers of each connection.
	freeBody = 4 << 10
	// decodeFactor is about how many times its size a body takes while it is decoded
	// and validated.
	decodeFactor = 4
)

// receive reads the request body within the budget of its credential, and passes it
// on in memory. The memory counts from the first byte that has arrived until the
// response is written.
func (h *Handler) receive(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	if _, takesBody := specOf(ctx).Request.FieldByName("Body"); !takesBody {
		next(ctx)
		return
	}
	b := &receivedBody{budget: h.bodies, credential: auth.CallerFrom(ctx.Context()).Credential()}
	defer b.release()
	err := b.read(r.Body)
	switch {
	case errors.Is(err, errShareSpent):
		api.NewError(http.StatusTooManyRequests, api.TypeRateLimited,
			"this credential has too many large requests under way; wait for some of them to end, or try again").At("body").RetryAfter(1).Write(w)
		return
	case errors.Is(err, errBudgetSpent):
		api.Unavailable("too many large requests are under way; try again").At("body").Write(w)
		return
	}
	progressOf(ctx.Context()).body = b.data
	var body io.Reader = bytes.NewReader(b.data)
	if err != nil {
		body = io.MultiReader(body, failedReader{err})
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{body, r.Body}
	next(ctx)
}

// failedReader fails as the reading of the body has failed.
type failedReader struct{ err error }

func (f failedReader) Read([]byte) (int, error) { return 0, f.err }

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
