package fault

import (
	"bytes"
	"maps"
	"net/http"
	"strconv"
)

// discard takes an answer that nobody gets.
type discard struct{ header http.Header }

func (d discard) Header() http.Header       { return d.header }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}

// heldAnswer is an answer that waits before it begins. The operation is done by
// then, and durable.
type heldAnswer struct {
	http.ResponseWriter
	wait  func()
	begun bool
}

func (h *heldAnswer) begin() {
	if !h.begun {
		h.begun = true
		h.wait()
	}
}

// WriteHeader implements http.ResponseWriter.
func (h *heldAnswer) WriteHeader(status int) {
	h.begin()
	h.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (h *heldAnswer) Write(b []byte) (int, error) {
	h.begin()
	return h.ResponseWriter.Write(b)
}

// FlushError is called by http.ResponseController.
func (h *heldAnswer) FlushError() error {
	h.begin()
	return http.NewResponseController(h.ResponseWriter).Flush()
}

// Unwrap lets http.ResponseController reach the connection for everything else.
func (h *heldAnswer) Unwrap() http.ResponseWriter { return h.ResponseWriter }

// cutAnswer keeps the beginning of an answer, and counts the rest.
type cutAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
	limit  int // for the body
	total  int
}

// Header implements http.ResponseWriter.
func (c *cutAnswer) Header() http.Header { return c.header }

// WriteHeader implements http.ResponseWriter.
func (c *cutAnswer) WriteHeader(status int) {
	if c.status == 0 {
		c.status = status
	}
}

// Write implements http.ResponseWriter.
func (c *cutAnswer) Write(b []byte) (int, error) {
	c.WriteHeader(http.StatusOK)
	c.total += len(b)
	c.body.Write(b[:min(c.limit-c.body.Len(), len(b))])
	return len(b), nil
}

// send sends what was kept, promises more, and closes the connection.
func (c *cutAnswer) send(w http.ResponseWriter) {
	if c.total > 0 {
		maps.Copy(w.Header(), c.header)
		w.Header().Set("Content-Length", strconv.Itoa(max(c.total, c.body.Len()+1)))
		w.WriteHeader(c.status)
		_, _ = w.Write(c.body.Bytes())
		_ = http.NewResponseController(w).Flush()
	}
	panic(http.ErrAbortHandler)
}
