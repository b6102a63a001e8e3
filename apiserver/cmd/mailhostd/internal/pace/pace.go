package pace

import (
	"io"
	"net/http"
	"time"
)

// Bounds say how slowly an answer may be read.
type Bounds struct {
	// Grace is the time that a reader has before its pace counts.
	Grace time.Duration
	// Rate is the least pace, in bytes per second.
	Rate int
	// Pause bounds the time that a quick reader has saved up. It must leave a
	// reader at the least pace the time to take what the kernel holds for it: that
	// is several MiB, and the next write waits until a good part of them is gone.
	Pause time.Duration
}

// Handler moves the deadlines of each request's connection, or of its stream in
// HTTP/2: a write fails once the reader has fallen behind the pace. The server's
// ReadTimeout bounds the request's body, and is taken off when that has arrived;
// its WriteTimeout bounds what net/http answers by itself.
//
// The handlers inside can't move the deadlines: huma, for one, takes them off
// before it reads a body.
func Handler(next http.Handler, b Bounds) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &writer{ResponseWriter: w, control: http.NewResponseController(w), bounds: b, left: b.Grace}
		_ = out.control.SetWriteDeadline(time.Time{}) // nothing is written yet, however long it takes
		// What is left in buffers is written after the handler, one that panics too.
		defer out.expect(0)
		if r.Body == nil || r.Body == http.NoBody {
			out.arrived()
			next.ServeHTTP(out, r)
			return
		}
		in := new(http.Request)
		*in = *r // net/http looks at the body of its own request
		in.Body = &body{ReadCloser: r.Body, arrived: out.arrived}
		next.ServeHTTP(out, in)
	})
}

// writer is used by the handler's goroutine alone.
type writer struct {
	http.ResponseWriter
	control *http.ResponseController
	bounds  Bounds
	// left is how long the reader may keep the next write waiting.
	left time.Duration
}

// expect sets the deadline for writing n bytes.
func (w *writer) expect(n int) {
	w.left = min(w.left, w.bounds.Pause) + time.Duration(n)*time.Second/time.Duration(w.bounds.Rate)
	_ = w.control.SetWriteDeadline(time.Now().Add(w.left)) // where there is no connection there is no deadline
}

// Write implements http.ResponseWriter.
func (w *writer) Write(b []byte) (int, error) {
	w.expect(len(b))
	begun := time.Now()
	n, err := w.ResponseWriter.Write(b)
	w.left -= time.Since(begun)
	return n, err
}

// FlushError is called by http.ResponseController.
func (w *writer) FlushError() error {
	w.expect(0)
	begun := time.Now()
	err := w.control.Flush()
	w.left -= time.Since(begun)
	return err
}

// arrived is called when the whole request has been read. net/http goes on
// reading, to see whether the client is still there; a deadline would end the
// request then.
func (w *writer) arrived() { _ = w.control.SetReadDeadline(time.Time{}) }

// SetReadDeadline and SetWriteDeadline are found by http.ResponseController, and
// by huma, before those of the connection.
func (*writer) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing; see SetReadDeadline.
func (*writer) SetWriteDeadline(time.Time) error { return nil }

// Unwrap lets http.ResponseController reach the connection for everything else.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// body notices its end.
type body struct {
	io.ReadCloser
	arrived func()
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF { // it comes bare
		b.arrived()
	}
	return n, err
}
