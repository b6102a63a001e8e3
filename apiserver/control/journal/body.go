package journal

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net/http"
)

// maxBody is the largest body that is kept, in bytes.
const maxBody = 64 << 10

// kept is a body as far as it is kept.
type kept struct {
	contentType string
	buffer      bytes.Buffer
	total       int64
}

// add keeps a part of the body.
func (k *kept) add(b []byte) {
	if k.total += int64(len(b)); k.total <= maxBody && k.isJSON() {
		k.buffer.Write(b)
	}
}

func (k *kept) isJSON() bool {
	mediaType, _, err := mime.ParseMediaType(k.contentType)
	return err == nil && mediaType == "application/json"
}

// told returns the body without its secrets, or why it is left out.
func (k *kept) told(s secrets) (body json.RawMessage, omitted string) {
	switch {
	case k.total == 0:
		return nil, ""
	case !k.isJSON():
		return nil, "it is not application/json"
	case k.total > maxBody:
		return nil, "it has more than 64 KiB"
	}
	body, ok := s.redact(k.buffer.Bytes())
	if !ok {
		return nil, "it is not complete JSON"
	}
	return body, ""
}

// requestBody keeps what is read of a request's body.
type requestBody struct {
	io.ReadCloser
	kept
}

func record(r *http.Request) *requestBody {
	body := &requestBody{ReadCloser: r.Body, kept: kept{contentType: r.Header.Get("Content-Type")}}
	if body.ReadCloser == nil {
		body.ReadCloser = http.NoBody
	}
	return body
}

// Read implements io.Reader.
func (b *requestBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.add(p[:n])
	return n, err
}

// answer keeps what is sent.
type answer struct {
	http.ResponseWriter
	status int
	kept   kept
}

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status, a.kept.contentType = status, a.Header().Get("Content-Type")
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (a *answer) Write(b []byte) (int, error) {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	n, err := a.ResponseWriter.Write(b)
	a.kept.add(b[:n])
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
