package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
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
	anonymize bool

	mu        sync.Mutex
	exchanges []*recorded
	lost      map[string]int // requests without a complete response, by operation
	replaced  map[string]string
}

// recorded is an exchange without secrets.
type recorded struct {
	operation   api.Spec
	path        string // of the request, escaped
	registrant  any    // of a purchase, only to find it elsewhere; it is not recorded
	interaction *cassette.Interaction
}

// recordedHeaders are the headers that are recorded. Any other one may be a credential of the client or
// of the host.
var recordedHeaders = []string{
	"Accept", "Allow", "Content-Disposition", "Content-Type", "Date", "RateLimit", "RateLimit-Limit", "RateLimit-Policy", "RateLimit-Remaining",
	"RateLimit-Reset", "Retry-After", "User-Agent", "WWW-Authenticate", api.IdempotencyReplayedHeader, conformance.RequestIDHeader,
}

// Record keeps every later exchange for WriteRecording, on request without what identifies people.
func (p *Proxy) Record(anonymize bool) {
	p.recording = &recording{anonymize: anonymize, lost: map[string]int{}}
}

// end notes a request whose response could not be recorded.
func (r *recording) end(x *exchange) {
	if x.compared && !x.Compressed {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost[x.operation.ID]++
}

// add records a complete exchange.
func (r *recording) add(upstream string, x *exchange) {
	without := secretsOf(x)
	sent, received := without.Replace(string(withoutSecrets(x, x.RequestBody))), without.Replace(string(withoutSecrets(x, x.Body)))
	path := without.Replace(journal.RedactText(x.Request.URL.EscapedPath()))
	target := upstream + path
	if query := without.Replace(journal.RedactQuery(x.Request.URL.RawQuery)); query != "" {
		target += "?" + query
	}
	var request struct {
		ContactInfo any `json:"contact_info"`
	}
	if r.anonymize {
		_ = json.Unmarshal(x.RequestBody, &request) // another body contains no registrant
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.exchanges = append(r.exchanges, &recorded{x.operation, path, request.ContactInfo, &cassette.Interaction{
		Request: cassette.Request{
			Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Method: x.Request.Method, URL: target,
			ContentLength: int64(len(sent)), Headers: recordedOf(x.Request.Header, without), Body: sent,
		},
		Response: cassette.Response{
			Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Code: x.Status, Status: fmt.Sprintf("%d %s", x.Status, http.StatusText(x.Status)),
			ContentLength: int64(len(received)), Headers: recordedOf(x.Header, without), Body: received, Duration: time.Since(x.arrival),
		},
	}})
}

// withoutSecrets returns a body without the secret members of its JSON. An export contains none. In any other body they
// can't be found, so that it is left out.
func withoutSecrets(x *exchange, body []byte) []byte {
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	isJSON := json.Valid(body) && bytes.ContainsAny(body[:1], "{[")
	isExport := x.operation.ID == api.ExportMailboxes.ID && strings.Contains(x.Header.Get("Content-Type"), "csv")
	if len(body) == 0 || isJSON || isExport {
		return journal.Redact(x.operation.ID, body)
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

// recordedOf returns the headers that are recorded, without secrets.
func recordedOf(header http.Header, without *strings.Replacer) http.Header {
	kept := http.Header{}
	for name, values := range header {
		if !slices.ContainsFunc(recordedHeaders, func(allowed string) bool { return http.CanonicalHeaderKey(allowed) == name }) {
			continue
		}
		for _, value := range values {
			kept.Add(name, without.Replace(journal.RedactText(value)))
		}
	}
	return kept
}

// Recorded returns the number of the exchanges since Record.
func (p *Proxy) Recorded() int {
	p.recording.mu.Lock()
	defer p.recording.mu.Unlock()
	return len(p.recording.exchanges)
}

// Lost returns the numbers of requests that were passed on since Record and are not recorded, because the response did
// not arrive or can't be read, by operation.
func (p *Proxy) Lost() map[string]int {
	p.recording.mu.Lock()
	defer p.recording.mu.Unlock()
	return maps.Clone(p.recording.lost)
}

// Replaced returns the replacements of the names and local parts in the last recording that was written, by the value.
func (p *Proxy) Replaced() map[string]string {
	p.recording.mu.Lock()
	defer p.recording.mu.Unlock()
	return maps.Clone(p.recording.replaced)
}

// WriteRecording writes the exchanges since Record.
func (p *Proxy) WriteRecording(w io.Writer) error {
	r := p.recording
	r.mu.Lock()
	defer r.mu.Unlock()
	c := cassette.New("recording")
	c.MarshalFunc = func(v any) ([]byte, error) { return yaml.Marshal(v) }
	var interactions []*cassette.Interaction
	if r.anonymize {
		interactions, r.replaced = anonymous(r.exchanges)
	} else {
		for _, x := range r.exchanges {
			interactions = append(interactions, x.interaction)
		}
	}
	for _, i := range interactions {
		c.AddInteraction(i)
	}
	return c.SaveWithFS(writer{w})
}

// writer is a cassette.FS that writes to an open file.
type writer struct{ io.Writer }

func (w writer) WriteFile(_ string, data []byte) error {
	_, err := w.Write(data)
	return err
}

func (writer) ReadFile(string) ([]byte, error) { return nil, http.ErrNotSupported }
func (writer) IsFileExists(string) bool        { return false }
