package simulate

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
)

// exchange is a request at the server's end of the connection.
type exchange struct {
	w      http.ResponseWriter
	r      *http.Request
	body   []byte
	random *rand.Rand
	keys   bool // the service honours Idempotency-Keys
	// serve passes the request on to the service. With lost, the service's client
	// disconnects before the response, and serve returns nil.
	serve func(lost bool) *httptest.ResponseRecorder
}

// process passes the request on to the service, whose client does not disconnect.
func (x *exchange) process() *httptest.ResponseRecorder { return x.serve(false) }

// processUnnoticed passes the request on to the service, whose client has disconnected
// when the response is written.
func (x *exchange) processUnnoticed() { x.serve(true) }

// respond calls fn and returns what it has sent to the client, which is in this process.
func (x *exchange) respond(fn func()) (resp *http.Response, err error) {
	w := httptest.NewRecorder()
	x.w = w
	defer func() {
		switch cause := recover(); cause {
		case nil:
			resp = w.Result()
			resp.Request = x.r
		case http.ErrAbortHandler:
			err = errConnection
		default:
			panic(cause)
		}
	}()
	fn()
	return nil, nil
}

// send sends a response of the service to the client.
func (x *exchange) send(resp *httptest.ResponseRecorder) {
	maps.Copy(x.w.Header(), resp.Header())
	x.w.WriteHeader(resp.Code)
	_, _ = x.w.Write(resp.Body.Bytes())
}

// page sends a response that is not the API's.
func (x *exchange) page(status int, contentType, text string) {
	x.w.Header().Set("Content-Type", contentType)
	x.w.WriteHeader(status)
	_, _ = io.WriteString(x.w, text)
}

// reset closes the connection.
func (x *exchange) reset() {
	if conn, _, err := http.NewResponseController(x.w).Hijack(); err == nil {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // with a reset
		}
		_ = conn.Close()
	}
	panic(http.ErrAbortHandler)
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
	return 0, errors.New("connection reset by peer")
}
