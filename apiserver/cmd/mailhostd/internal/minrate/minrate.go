// Package minrate disconnects clients that read a response too slowly.
//
// net/http can only limit the time for a whole response. An export of a large account
// takes as long as its reader needs, but one that nobody reads would keep a read
// transaction of the store open for ever. A minimum rate covers both.
//
// The package imports only the standard library.
package minrate

import (
	"io"
	"net/http"
	"time"
)

// Limits configure how slowly a response may be read.
type Limits struct {
	// Grace is the time that a client has before the rate applies.
	Grace time.Duration
	// Rate is the minimum rate in bytes per second.
	Rate int
	// MaxCredit limits the time that a fast client accumulates. A client at the
	// minimum rate needs enough of it to read the several MiB that the kernel
	// buffers, because a write blocks until a good part of them has been read.
	MaxCredit time.Duration
}

// Handler sets the write deadline of each request's connection, or of its stream in
// HTTP/2, so that a write fails if the client is slower than the limits. It removes
// the read deadline, the server's ReadTimeout, once the whole body has been received.
// The server's WriteTimeout applies to responses that net/http writes by itself.
//
// The handlers inside can't change the deadlines.
func Handler(next http.Handler, l Limits) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &writer{ResponseWriter: w, control: http.NewResponseController(w), limits: l, credit: l.Grace}
		_ = out.control.SetWriteDeadline(time.Time{}) // none before the first write
		// The server flushes its buffers after the handler, also after a panic.
		defer out.extend(0)
		if r.Body == nil || r.Body == http.NoBody {
			out.bodyReceived()
			next.ServeHTTP(out, r)
			return
		}
		in := new(http.Request)
		*in = *r // net/http inspects the body of its own request
		in.Body = &body{ReadCloser: r.Body, onEOF: out.bodyReceived}
		next.ServeHTTP(out, in)
	})
}

// writer is for the handler's goroutine only.
type writer struct {
	http.ResponseWriter
	control *http.ResponseController
	limits  Limits
	// credit is how long the next write may block.
	credit time.Duration
}

// extend sets the deadline for writing n bytes.
func (w *writer) extend(n int) {
	w.credit = min(w.credit, w.limits.MaxCredit) + time.Duration(n)*time.Second/time.Duration(w.limits.Rate)
	_ = w.control.SetWriteDeadline(time.Now().Add(w.credit)) // not supported in process
}

// Write implements http.ResponseWriter.
func (w *writer) Write(b []byte) (int, error) {
	w.extend(len(b))
	start := time.Now()
	n, err := w.ResponseWriter.Write(b)
	w.credit -= time.Since(start)
	return n, err
}

// FlushError is called by http.ResponseController.
func (w *writer) FlushError() error {
	w.extend(0)
	start := time.Now()
	err := w.control.Flush()
	w.credit -= time.Since(start)
	return err
}

// bodyReceived removes the read deadline. net/http continues to read, to detect a
// disconnect, and a deadline would cancel the request.
func (w *writer) bodyReceived() { _ = w.control.SetReadDeadline(time.Time{}) }

// SetReadDeadline does nothing. http.ResponseController finds it before the connection's.
func (*writer) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing, as SetReadDeadline.
func (*writer) SetWriteDeadline(time.Time) error { return nil }

// Unwrap is for http.ResponseController.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// body calls onEOF at its end.
type body struct {
	io.ReadCloser
	onEOF func()
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF { // never wrapped
		b.onEOF()
	}
	return n, err
}
