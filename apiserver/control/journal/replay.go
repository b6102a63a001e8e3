package journal

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
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
		want := Entry{Method: r.Method, Path: RedactText(apiserver.RedactPath(r.URL.Path)), Query: RedactQuery(r.URL.RawQuery), Request: request}
		e := rec.next(want)
		switch {
		case e == nil:
			api.NewError(http.StatusNotImplemented, api.TypeInternal, "the recording has no response to this request; %s", rec.nearest(want)).Write(w)
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
func (rec *Recording) next(want Entry) (found *Entry) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	for i := range rec.entries {
		e := &rec.entries[i]
		if len(e.differences(want)) > 0 {
			continue
		}
		if found = e; !rec.used[i] {
			rec.used[i] = true
			return e
		}
	}
	return found
}

// nearest describes the recorded request that differs from another one in the fewest parts.
func (rec *Recording) nearest(want Entry) string {
	text, fewest := "it contains no request", 0
	for i := range rec.entries {
		e := &rec.entries[i]
		if differences := e.differences(want); i == 0 || len(differences) < fewest {
			text, fewest = "the nearest is seq "+strconv.FormatInt(e.Seq, 10)+": its "+strings.Join(differences, ", and its "), len(differences)
		}
	}
	return text
}

// differences lists the parts of a recorded request that differ from another one.
func (e *Entry) differences(other Entry) (parts []string) {
	for _, part := range []struct{ name, value, other string }{
		{"method", e.Method, other.Method}, {"path", e.Path, other.Path}, {"query", e.Query, other.Query}, {"body", string(e.Request), string(other.Request)},
	} {
		if part.value != part.other {
			parts = append(parts, fmt.Sprintf("%s is %.200s", part.name, cmp.Or(part.value, "empty")))
		}
	}
	return parts
}
