package simulate

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
)

// exchange is a request on its way to the service, and its response.
type exchange struct {
	*httptest.ResponseRecorder // what the client gets

	r      *http.Request
	body   []byte
	random *rand.Rand
	keys   bool // the service honours Idempotency-Keys
	// serve passes the request on to the service. With lost, the service's client
	// disconnects before the response, and serve returns nil.
	serve func(lost bool) *httptest.ResponseRecorder
	// late, if it is set, lets the request arrive at the service after some others.
	late func()
}

// process passes the request on to the service.
func (x *exchange) process() *httptest.ResponseRecorder { return x.serve(false) }

// errConnection is the error of a connection that breaks off.
var errConnection = errors.New("connection reset by peer")

// reset closes the connection.
func (x *exchange) reset() { panic(http.ErrAbortHandler) }

// respond calls fn and returns what it has sent to the client.
func (x *exchange) respond(fn func()) (resp *http.Response, err error) {
	x.ResponseRecorder = httptest.NewRecorder()
	defer func() {
		cause := recover()
		if cause != nil && cause != http.ErrAbortHandler {
			panic(cause)
		}
		if cause != nil && x.Body.Len() == 0 {
			err = errConnection
			return
		}
		resp = x.Result()
		resp.Request = x.r
		if cause != nil { // the beginning of the body has arrived
			resp.Body = io.NopCloser(io.MultiReader(resp.Body, brokenOff{}))
		}
	}()
	fn()
	return nil, nil
}

// brokenOff is the end of a body that has broken off.
type brokenOff struct{}

// Read implements io.Reader.
func (brokenOff) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// page sends a response that is not the API's.
func (x *exchange) page(status int, contentType, text string) {
	x.Header().Set("Content-Type", contentType)
	x.WriteHeader(status)
	_, _ = x.WriteString(text)
}

// serve passes a request on to a service. With lost, the client disconnects before the
// response is written, and there is no response.
func serve(service http.Handler, r *http.Request, body []byte, lost bool) *httptest.ResponseRecorder {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	r = r.WithContext(ctx)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	if lost {
		service.ServeHTTP(&disconnected{header: http.Header{}, cancel: cancel}, r)
		return nil
	}
	w := httptest.NewRecorder()
	service.ServeHTTP(w, r)
	return w
}

// disconnected is the http.ResponseWriter of a client that has disconnected.
type disconnected struct {
	header http.Header
	cancel context.CancelFunc
}

// Header implements http.ResponseWriter.
func (d *disconnected) Header() http.Header { return d.header }

// WriteHeader implements http.ResponseWriter.
func (d *disconnected) WriteHeader(int) { d.cancel() }

// Write implements http.ResponseWriter.
func (d *disconnected) Write([]byte) (int, error) {
	d.cancel()
	return 0, errConnection
}
