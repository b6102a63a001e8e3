package replay

import (
	"io"
	"maps"
	"net/http"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/conformance"
)

// response is a response to a client.
type response struct {
	status int
	header http.Header
	body   []byte
}

// Middleware responds to the operations of the API in place of the service.
func (rec *Recording) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, ok := conformance.OperationOf(r)
		if !ok || s.Method != r.Method {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, api.MaxBodyBytes))
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		response := rec.respond(newRequest(s, r.URL, body), r.Header.Get(api.IdempotencyKeyHeader))
		maps.Copy(w.Header(), response.header)
		w.WriteHeader(response.status)
		_, _ = w.Write(response.body)
	})
}

func (rec *Recording) respond(r request, key string) *response {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	s := r.operation
	switch x := rec.absent[s.ID]; {
	case r.account != rec.AccountID():
		return notRecorded([]string{"path", "account_id"}, "the recording is of the account %s, and this request is for %s", rec.AccountID(), r.account)
	case x != nil:
		return x.response()
	case s.Changes():
		return rec.change(r, key)
	case isList(s):
		if response := rec.page(r); response != nil {
			return response
		}
	case nameParameter(s) != "":
		if response := rec.read(r); response != nil {
			return response
		}
	}
	if response := rec.document(r); response != nil {
		return response
	}
	return rec.unrecorded(r)
}

func respondWith(status int, v any) *response {
	body, _ := api.EncodeJSON(v) // decoded JSON, so there is no error
	return &response{status, http.Header{"Content-Type": {"application/json"}}, body}
}

// replayedHeaders are the headers of a recorded response that a client may need.
var replayedHeaders = []string{"Allow", "Content-Disposition", "Content-Type", "Retry-After", "WWW-Authenticate", api.IdempotencyReplayedHeader}

// response returns the recorded response.
func (x *exchange) response() *response {
	header := http.Header{}
	for _, name := range replayedHeaders {
		for _, value := range x.header.Values(name) {
			header.Add(name, value)
		}
	}
	return &response{x.status, header, x.body}
}

// read responds with the current value of an object, or returns nil if the recording does not show it.
func (rec *Recording) read(r request) *response {
	e := rec.find(r.operation, r.url)
	if e == nil {
		if x := rec.refused[nameKey(r)]; x != nil {
			return x.response()
		}
		return nil
	}
	if v := rec.now(e); v.object != nil {
		return respondWith(http.StatusOK, v.object)
	}
	return rec.isMissing(r)
}

// isMissing returns the response to a request for an object that does not exist.
func (rec *Recording) isMissing(r request) *response {
	if x := rec.refused[nameKey(r)]; x != nil {
		return x.response()
	}
	e := api.NewError(http.StatusNotFound, api.TypeNotFound, "no such %s in this account", r.operation.Kind.Noun)
	return respondWith(http.StatusNotFound, e.At("path", nameParameter(r.operation)))
}
