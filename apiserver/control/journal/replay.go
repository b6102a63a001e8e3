package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// Recording stores the requests of a journal, and replays their responses.
type Recording struct {
	mu      sync.Mutex
	entries []Entry
	used    []bool
}

// ReadRecording reads a recording written to a Journal's Record.
func ReadRecording(r io.Reader) (*Recording, error) {
	rec := new(Recording)
	for dec := json.NewDecoder(r); ; {
		var e Entry
		switch err := dec.Decode(&e); {
		case errors.Is(err, io.EOF):
			rec.used = make([]bool, len(rec.entries))
			return rec, nil
		case err != nil:
			return nil, fmt.Errorf("entry %d: %w", len(rec.entries)+1, err)
		}
		if e.Operation != "" {
			rec.entries = append(rec.entries, e)
		}
	}
}

// AccountID returns the account of the first request, or "".
func (rec *Recording) AccountID() string {
	if len(rec.entries) == 0 {
		return ""
	}
	return rec.entries[0].AccountID
}

// Middleware responds to the operations of the API in place of the service.
func (rec *Recording) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		operation := apiserver.RequestOf(r.Context()).Operation.ID
		if operation == "" {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, api.MaxBodyBytes))
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		request, _ := redact(operation, body)
		e := rec.next(r.Method, redactTokens(apiserver.RedactPath(r.URL.Path)), redactQuery(r.URL.RawQuery), request)
		switch {
		case e == nil:
			api.NewError(http.StatusNotImplemented, api.TypeInternal, "the recording has no response to this request").Write(w)
		case e.ResponseOmitted != "":
			api.NewError(http.StatusNotImplemented, api.TypeInternal, "the recording has no body of this response: %s", e.ResponseOmitted).Write(w)
		case e.Status == 0:
			panic(http.ErrAbortHandler)
		default:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(e.Status)
			_, _ = w.Write(e.Response)
		}
	})
}

// next returns the first equal request not yet replayed, or else the last equal request, or nil.
func (rec *Recording) next(method, path, query string, body []byte) (found *Entry) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	for i := range rec.entries {
		e := &rec.entries[i]
		if e.Method != method || e.Path != path || e.Query != query || !bytes.Equal(e.Request, body) {
			continue
		}
		if found = e; !rec.used[i] {
			rec.used[i] = true
			return e
		}
	}
	return found
}
