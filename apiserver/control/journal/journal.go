package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
)

// Size is how many requests a Journal remembers: the newest.
const Size = 1000

// Journal remembers requests. One is there once the client can have read its
// answer to the end. The zero value is empty and ready for use. It is safe for
// concurrent use, and must not be copied.
type Journal struct {
	mu      sync.Mutex
	entries []*Entry // a ring once it is full: next is the oldest then
	next    int
	last    int64
}

// Entries returns what a filter selects, in order.
func (j *Journal) Entries(f Filter) []Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	entries := []Entry{}
	for i := range j.entries {
		if e := j.entries[(j.next+i)%len(j.entries)]; f.selects(e) {
			entries = append(entries, *e)
		}
	}
	return entries
}

// Last returns the sequence number of the newest entry, for Filter.Since; 0
// where there has been none.
func (j *Journal) Last() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.last
}

// Clear forgets all entries. The sequence goes on.
func (j *Journal) Clear() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries, j.next = nil, 0
}

func (j *Journal) add(e *Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last++
	e.Seq = j.last
	if len(j.entries) < Size {
		j.entries = append(j.entries, e)
		return
	}
	j.entries[j.next] = e
	j.next = (j.next + 1) % Size
}

// Middleware records what next answers; clock is the service's. Health checks
// are not recorded: somebody asks for them all the time.
func (j *Journal) Middleware(next http.Handler, clock func() time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if apiserver.RequestOf(r.Context()).Name() == "health" {
			next.ServeHTTP(w, r)
			return
		}
		ctx, acted := fault.Track(r.Context())
		e := newEntry(r, clock())
		in, out := record(r), &answer{ResponseWriter: w}
		begun := time.Now()
		defer func() { // of a request whose connection is dropped, too
			e.Milliseconds = float64(time.Since(begun).Microseconds()) / 1000
			e.Status, e.Fault = out.status, acted()
			secrets := secretsOf(e.Operation)
			e.Request, e.Omitted = in.told(secrets)
			e.Answer, e.AnswerOmitted = out.kept.told(secrets)
			j.add(e)
		}()
		copied := r.WithContext(ctx)
		copied.Body = in
		next.ServeHTTP(out, copied)
	})
}

func newEntry(r *http.Request, now time.Time) *Entry {
	asked := apiserver.RequestOf(r.Context())
	e := &Entry{
		Time: now.UTC(), RequestID: withoutTokens(asked.ID), Method: r.Method, Operation: asked.Operation.ID,
		Path: withoutTokens(apiserver.RedactPath(r.URL.Path)), Query: redactQuery(r.URL.RawQuery), Credential: credentialOf(r, asked),
	}
	if e.Operation != "" {
		e.AccountID = withoutTokens(asked.Operation.PathValues(r.URL)["account_id"])
	}
	if key := r.Header.Get(api.IdempotencyKeyHeader); key != "" {
		sum := sha256.Sum256([]byte(key))
		e.IdempotencyKey = hex.EncodeToString(sum[:6])
	}
	return e
}

func credentialOf(r *http.Request, asked apiserver.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch {
	case asked.Trusted:
		return Owner
	case !strings.EqualFold(scheme, "Bearer"):
		return None
	case strings.HasPrefix(strings.TrimSpace(token), tokenBegin):
		return ServiceAccount
	}
	return AccessToken
}
