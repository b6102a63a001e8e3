package journal

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
)

// Middleware records requests and responses with the time of the service's clock. It omits health
// checks, which would displace all other entries.
func (j *Journal) Middleware(next http.Handler, clock func() time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if apiserver.RequestOf(r.Context()).Name() == "health" {
			next.ServeHTTP(w, r)
			return
		}
		e := newEntry(r, clock())
		in, out := new(recordedBody), &responseRecorder{ResponseWriter: w}
		start := time.Now()
		defer func() { // also if the handler panics to drop the connection
			e.Milliseconds = float64(time.Since(start).Microseconds()) / 1000
			e.Status, e.Fault, e.OtherFaults, e.Key, e.Attempt = out.status, out.fault, out.otherFaults, RedactText(out.key), out.attempt
			e.Request, e.RequestOmitted = in.redacted(e.Operation, r.Header)
			e.Response, e.ResponseOmitted = out.body.redacted(e.Operation, w.Header())
			j.add(e)
		}()
		recorded := *r
		recorded.Body = struct {
			io.Reader
			io.Closer
		}{io.TeeReader(r.Body, in), r.Body}
		next.ServeHTTP(out, &recorded)
	})
}

func newEntry(r *http.Request, now time.Time) Entry {
	request := apiserver.RequestOf(r.Context())
	e := Entry{
		Time: now.UTC(), RequestID: RedactText(request.ID), Method: r.Method, Operation: request.Operation.ID,
		Path: RedactText(apiserver.RedactPath(r.URL.Path)), Query: RedactQuery(r.URL.RawQuery), Credential: credentialOf(r, request),
		AccountID: RedactText(request.Operation.PathValues(r.URL)["account_id"]),
	}
	if key := r.Header.Get(api.IdempotencyKeyHeader); key != "" {
		sum := sha256.Sum256([]byte(key))
		e.IdempotencyKey = hex.EncodeToString(sum[:6])
	}
	return e
}

func credentialOf(r *http.Request, request apiserver.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch {
	case request.Trusted:
		return Owner
	case !strings.EqualFold(scheme, "Bearer"):
		return None
	case strings.HasPrefix(strings.TrimSpace(token), tokenPrefix):
		return ServiceAccount
	}
	return AccessToken
}

// maxBody limits a recorded body, in bytes.
const maxBody = 64 << 10

// recordedBody stores the beginning of a body as it is read or written.
type recordedBody struct{ buffer bytes.Buffer }

func (b *recordedBody) Write(p []byte) (int, error) {
	b.buffer.Write(p[:min(len(p), maxBody+1-b.buffer.Len())])
	return len(p), nil
}

// redacted returns the body without its secrets, or the reason for its omission.
func (b *recordedBody) redacted(operation string, header http.Header) (body json.RawMessage, omitted string) {
	mediaType, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	switch {
	case b.buffer.Len() == 0:
		return nil, ""
	case mediaType != "application/json":
		return nil, "it is not application/json"
	case b.buffer.Len() > maxBody:
		return nil, "it has more than 64 KiB"
	}
	body, ok := redact(operation, b.buffer.Bytes())
	if !ok {
		return nil, "it is not complete JSON"
	}
	return body, ""
}

var _ fault.Observer = (*responseRecorder)(nil)

// responseRecorder passes a response to the client and records it.
type responseRecorder struct {
	http.ResponseWriter
	status      int
	body        recordedBody
	fault, key  string
	otherFaults []string
	attempt     int
}

func (r *responseRecorder) FaultApplied(ruleID, key string, attempt int) {
	if r.fault != "" {
		r.otherFaults = append(r.otherFaults, r.fault)
	}
	r.fault, r.key, r.attempt = ruleID, key, attempt
}

func (r *responseRecorder) WriteHeader(status int) {
	r.status = cmp.Or(r.status, status)
	r.ResponseWriter.WriteHeader(status)
}

func (r *responseRecorder) Write(b []byte) (int, error) {
	r.status = cmp.Or(r.status, http.StatusOK)
	n, err := r.ResponseWriter.Write(b)
	_, _ = r.body.Write(b[:n])
	return n, err
}

func (r *responseRecorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
