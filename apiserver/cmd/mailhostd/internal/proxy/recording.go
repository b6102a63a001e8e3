package proxy

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"go.yaml.in/yaml/v4"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/journal"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/conformance"
)

// recording collects exchanges without secrets, in the format of go-vcr. Its recorder is not used,
// because it reads a whole response before the client gets any of it, and keeps secrets until the end.
type recording struct{ cassette *cassette.Cassette }

// recordedHeaders are the headers that are recorded. Any other one may be a credential of the client or
// of the host.
var recordedHeaders = []string{
	"Accept", "Allow", "Content-Disposition", "Content-Type", "Date", "RateLimit", "RateLimit-Limit", "RateLimit-Policy", "RateLimit-Remaining",
	"RateLimit-Reset", "Retry-After", "User-Agent", "WWW-Authenticate", api.IdempotencyReplayedHeader, conformance.RequestIDHeader,
}

// Record keeps every later exchange for WriteRecording.
func (p *Proxy) Record() {
	c := cassette.New("recording")
	c.MarshalFunc = func(v any) ([]byte, error) { return yaml.Marshal(v) }
	p.recording = &recording{cassette: c}
}

// add records a complete exchange.
func (r *recording) add(upstream string, x *exchange) {
	request, response := string(journal.Redact(x.operation.ID, x.RequestBody)), string(journal.Redact(x.operation.ID, x.Body))
	target := upstream + journal.RedactText(x.Request.URL.EscapedPath())
	if query := journal.RedactQuery(x.Request.URL.RawQuery); query != "" {
		target += "?" + query
	}
	r.cassette.AddInteraction(&cassette.Interaction{
		Request: cassette.Request{
			Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Method: x.Request.Method, URL: target,
			ContentLength: int64(len(request)), Headers: recorded(x.Request.Header), Body: request,
		},
		Response: cassette.Response{
			Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Code: x.Status, Status: fmt.Sprintf("%d %s", x.Status, http.StatusText(x.Status)),
			ContentLength: int64(len(response)), Headers: recorded(x.Header), Body: response, Duration: time.Since(x.arrival),
		},
	})
}

// recorded returns the headers that are recorded, without tokens.
func recorded(header http.Header) http.Header {
	kept := http.Header{}
	for name, values := range header {
		if !slices.ContainsFunc(recordedHeaders, func(allowed string) bool { return http.CanonicalHeaderKey(allowed) == name }) {
			continue
		}
		for _, value := range values {
			kept.Add(name, journal.RedactText(value))
		}
	}
	return kept
}

// WriteRecording writes the exchanges since Record, if it was called.
func (p *Proxy) WriteRecording(w io.Writer) error {
	if p.recording == nil {
		return nil
	}
	return p.recording.cassette.SaveWithFS(writer{w})
}

// writer is a cassette.FS that writes to an open file.
type writer struct{ io.Writer }

func (w writer) WriteFile(_ string, data []byte) error {
	_, err := w.Write(data)
	return err
}

func (writer) ReadFile(string) ([]byte, error) { return nil, http.ErrNotSupported }
func (writer) IsFileExists(string) bool        { return false }
