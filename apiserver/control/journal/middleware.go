package journal

import (
	"bytes"
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

// Middleware records requests and their responses; clock is the service's. It
// leaves out health checks, which would displace everything else.
func (j *Journal) Middleware(next http.Handler, clock func() time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if apiserver.RequestOf(r.Context()).Name() == "health" {
			next.ServeHTTP(w, r)
			return
		}
		ctx, appliedFault := fault.Track(r.Context())
		e := newEntry(r, clock())
		in := &requestRecorder{ReadCloser: r.Body, recordedBody: recordedBody{contentType: r.Header.Get("Content-Type")}}
		out := &responseRecorder{ResponseWriter: w}
		start := time.Now()
		defer func() { // also if the handler panics to drop the connection
			e.Milliseconds = float64(time.Since(start).Microseconds()) / 1000
			e.Status, e.Fault = out.status, appliedFault()
			e.Request, e.RequestOmitted = in.redacted(e.Operation)
			e.Response, e.ResponseOmitted = out.body.redacted(e.Operation)
			j.add(e)
		}()
		recorded := r.WithContext(ctx)
		recorded.Body = in
		next.ServeHTTP(out, recorded)
	})
}

func newEntry(r *http.Request, now time.Time) Entry {
	request := apiserver.RequestOf(r.Context())
	e := Entry{
		Time: now.UTC(), RequestID: redactTokens(request.ID), Method: r.Method, Operation: request.Operation.ID,
		Path: redactTokens(apiserver.RedactPath(r.URL.Path)), Query: redactQuery(r.URL.RawQuery), Credential: credentialOf(r, request),
		AccountID: redactTokens(request.Operation.PathValues(r.URL)["account_id"]),
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

// maxBody is the size of the largest body that is kept, in bytes.
const maxBody = 64 << 10

type recordedBody struct {
	contentType string
	buffer      bytes.Buffer
	total       int64
}

func (b *recordedBody) add(p []byte) {
	if b.total += int64(len(p)); b.total <= maxBody && b.isJSON() {
		b.buffer.Write(p)
	}
}

func (b *recordedBody) isJSON() bool {
	mediaType, _, err := mime.ParseMediaType(b.contentType)
	return err == nil && mediaType == "application/json"
}

// redacted returns the body without its secrets, or the reason why it is omitted.
func (b *recordedBody) redacted(operation string) (body json.RawMessage, omitted string) {
	switch {
	case b.total == 0:
		return nil, ""
	case !b.isJSON():
		return nil, "it is not application/json"
	case b.total > maxBody:
		return nil, "it has more than 64 KiB"
	}
	body, ok := redact(operation, b.buffer.Bytes())
	if !ok {
		return nil, "it is not complete JSON"
	}
	return body, ""
}

// requestRecorder records the part of a request's body that the service reads.
type requestRecorder struct {
	io.ReadCloser
	recordedBody
}

func (r *requestRecorder) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.add(p[:n])
	return n, err
}

// responseRecorder records a response on its way to the client.
type responseRecorder struct {
	http.ResponseWriter
	status int
	body   recordedBody
}

func (r *responseRecorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status, r.body.contentType = status, r.Header().Get("Content-Type")
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *responseRecorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.WriteHeader(http.StatusOK)
	}
	n, err := r.ResponseWriter.Write(b)
	r.body.add(b[:n])
	return n, err
}

func (r *responseRecorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
