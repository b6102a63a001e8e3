package httpapi

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

const (
	// freeBody is the size up to which a body is read without reserving memory.
	freeBody = 4 << 10
	// decodeFactor is the memory that a body takes, about, as a multiple of its size, and valueMemory
	// the memory for each of its values while it is decoded.
	decodeFactor = 6
	valueMemory  = 128
)

// receive reads a JSON body. It reserves memory for what arrives of a large body, which ServeHTTP
// releases. A declared length reserves nothing.
func (h *Handler) receive(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength != 0 {
		if mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || mediaType != "application/json" {
			return nil, unsupported("Content-Type", "the request body must be sent as Content-Type: application/json")
		}
		if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
			return nil, unsupported("Content-Encoding", "the request body must be sent as it is, without a Content-Encoding").With("Accept-Encoding", "identity")
		}
	}
	in := http.MaxBytesReader(w, r.Body, api.MaxBodyBytes)
	var body bytes.Buffer
	_, err := io.CopyN(&body, in, freeBody)
	for err == nil {
		var n int64
		if n, err = io.CopyN(&body, in, freeBody); n > 0 && !h.reserve(r, decodeFactor*n) {
			h.release(r)
			body = bytes.Buffer{}
			_, _ = io.Copy(io.Discard, in) // a client that is still sending might miss the response
			return nil, tooManyRequests()
		}
	}
	tooLarge, _ := errors.AsType[*http.MaxBytesError](err)
	timeout, _ := errors.AsType[net.Error](err)
	switch {
	case tooLarge != nil:
		err = api.NewError(http.StatusRequestEntityTooLarge, api.TypePayloadTooLarge, "the request body is larger than this operation accepts").At("body")
	case timeout != nil && timeout.Timeout():
		err = api.NewError(http.StatusRequestTimeout, api.TypeRequestTimeout, "the request body did not arrive in time").At("body")
	case !errors.Is(err, io.EOF): // cut off, or with malformed chunks
		err = api.Unprocessable(notJSON())
	default:
		err = nil
		// net/http reads on to notice a disconnect: the deadline of the body would end the request.
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	}
	return body.Bytes(), err
}

func tooManyRequests() *api.Error {
	return api.Unavailable("too many large requests are in flight; try again").At("body")
}

// reserve reports whether it has reserved more memory for a request.
func (h *Handler) reserve(r *http.Request, n int64) bool {
	ok := h.bodies.reserve(accountOf(r), n)
	if ok {
		progressOf(r.Context()).bodyMemory += n
	}
	return ok
}

// release returns the memory of a request.
func (h *Handler) release(r *http.Request) {
	p := progressOf(r.Context())
	h.bodies.release(accountOf(r), p.bodyMemory)
	p.bodyMemory = 0
}

// unsupported returns the 415 for a header of the body (RFC 9110, section 15.5.16).
func unsupported(header, msg string) *api.Error {
	return api.NewError(http.StatusUnsupportedMediaType, api.TypeUnsupportedMedia, "%s", msg).At("header", header)
}

// patient is a response for slow clients: each write has its own deadline.
type patient struct{ http.ResponseWriter }

// writeTimeout limits each write of a streamed response.
const writeTimeout = time.Minute

func (w patient) Write(b []byte) (int, error) {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(writeTimeout)) // not supported in process
	return w.ResponseWriter.Write(b)
}
