package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v4"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/journal"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/conformance"
)

// recording collects exchanges without secrets, in the format of go-vcr. Its recorder is not used,
// because it reads a whole response before the client gets any of it, and keeps secrets until the end.
type recording struct {
	cassette   *cassette.Cassette
	mu         sync.Mutex
	anonymizer *anonymizer // or nil
}

// recordedHeaders are the headers that are recorded. Any other one may be a credential of the client or
// of the host.
var recordedHeaders = []string{
	"Accept", "Allow", "Content-Disposition", "Content-Type", "Date", "RateLimit", "RateLimit-Limit", "RateLimit-Policy", "RateLimit-Remaining",
	"RateLimit-Reset", "Retry-After", "User-Agent", "WWW-Authenticate", api.IdempotencyReplayedHeader, conformance.RequestIDHeader,
}

// Record keeps every later exchange for WriteRecording, on request without what identifies people.
func (p *Proxy) Record(anonymize bool) {
	c := cassette.New("recording")
	c.MarshalFunc = func(v any) ([]byte, error) { return yaml.Marshal(v) }
	p.recording = &recording{cassette: c}
	if anonymize {
		p.recording.anonymizer = &anonymizer{map[string]string{}}
	}
}

// add records a complete exchange.
func (r *recording) add(upstream string, x *exchange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	sent, received := withoutSecrets(x.operation, x.RequestBody), withoutSecrets(x.operation, x.Body)
	path, query := journal.RedactText(x.Request.URL.EscapedPath()), journal.RedactQuery(x.Request.URL.RawQuery)
	if a := r.anonymizer; a != nil {
		sent, received = a.body(sent), a.body(received)
		path, query = a.url(path, query)
	}
	without := secretsOf(x)
	request, response := without.Replace(string(sent)), without.Replace(string(received))
	target := upstream + without.Replace(path)
	if query != "" {
		target += "?" + without.Replace(query)
	}
	r.cassette.AddInteraction(&cassette.Interaction{
		Request: cassette.Request{
			Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Method: x.Request.Method, URL: target,
			ContentLength: int64(len(request)), Headers: r.recorded(x.Request.Header, without), Body: request,
		},
		Response: cassette.Response{
			Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Code: x.Status, Status: fmt.Sprintf("%d %s", x.Status, http.StatusText(x.Status)),
			ContentLength: int64(len(response)), Headers: r.recorded(x.Header, without), Body: response, Duration: time.Since(x.arrival),
		},
	})
}

// withoutSecrets returns a body without the secret members of its JSON. An export contains none. In any other body they
// can't be found, so that it is left out.
func withoutSecrets(s api.Spec, body []byte) []byte {
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	isJSON := json.Valid(body) && bytes.ContainsAny(body[:1], "{[")
	if len(body) == 0 || isJSON || s.ID == api.ExportMailboxes.ID {
		return journal.Redact(s.ID, body)
	}
	return []byte(journal.Redacted)
}

// secretsOf replaces the secrets of an exchange at any other place, such as a message that repeats one: the
// client's credential and Idempotency-Key, and the secrets in the bodies.
func secretsOf(x *exchange) *strings.Replacer {
	var pairs []string
	add := func(secret string) {
		if len(secret) >= 4 { // a shorter one would replace parts of words
			escaped, _ := json.Marshal(secret)
			pairs = append(pairs, secret, journal.Redacted, string(escaped[1:len(escaped)-1]), journal.Redacted, url.QueryEscape(secret), journal.Redacted)
		}
	}
	for _, value := range x.Request.Header.Values("Authorization") {
		add(value)
		_, credential, _ := strings.Cut(value, " ")
		add(strings.TrimSpace(credential))
	}
	add(x.Request.Header.Get(api.IdempotencyKeyHeader))
	for _, secret := range slices.Concat(journal.Secrets(x.operation.ID, x.RequestBody), journal.Secrets(x.operation.ID, x.Body)) {
		add(secret)
	}
	return strings.NewReplacer(pairs...)
}

// recorded returns the headers that are recorded, without secrets.
func (r *recording) recorded(header http.Header, without *strings.Replacer) http.Header {
	kept := http.Header{}
	for name, values := range header {
		if !slices.ContainsFunc(recordedHeaders, func(allowed string) bool { return http.CanonicalHeaderKey(allowed) == name }) {
			continue
		}
		for _, value := range values {
			if value = without.Replace(journal.RedactText(value)); r.anonymizer != nil {
				value = r.anonymizer.text(value)
			}
			kept.Add(name, value)
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
