package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"reflect"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/account"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/idempotency"
)

// operation serves one operation of the API.
type operation struct {
	*Handler
	account.Operation
}

// ServeHTTP authenticates the caller (authenticate.go), reads and validates the request (input.go),
// runs the operation and writes the response. For an invalid request, a 401 or 403 takes
// precedence.
func (o *operation) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	who, err := o.authenticate(r, o.Spec)
	if err != nil {
		o.responseTo(ctx, err, "authentication failed").Write(w)
		return
	}
	if r.Method == http.MethodGet && r.Header.Get(api.IdempotencyKeyHeader) != "" {
		w.Header().Set(api.IdempotencyReplayedHeader, "false") // the server supports keys, so the create can be resent
	}
	p := progressOf(ctx)
	p.caller = who
	defer o.release(r)
	request, q, err := o.prepare(w, r)
	if err != nil {
		// A timeout of the body has already cancelled the request's context.
		current, refused := o.Rules.Auth.AuthorizeNow(context.WithoutCancel(ctx), who, o.Spec)
		err = cmp.Or(refused, mayChange(r, current, o.Spec), err)
	} else {
		err = o.respond(w, r, request, q)
	}
	if err != nil {
		o.responseTo(ctx, err, "operation failed", "operation", o.ID).Write(w)
	}
}

// prepare reads and validates a request, and claims its Idempotency-Key.
func (o *operation) prepare(w http.ResponseWriter, r *http.Request) (request any, q *idempotency.Request, err error) {
	var body []byte
	if o.Body() != nil {
		if body, err = o.receive(w, r); err != nil {
			return nil, nil, err
		}
		progressOf(r.Context()).arrival = o.Rules.Now() // the body may have taken longer than clocks may differ
	}
	if request, err = o.read(r, body); err != nil {
		return nil, nil, err
	}
	p := progressOf(r.Context())
	p.decoded = request
	q, err = o.Idempotency.Begin(p.caller, o.ID, keyOf(request), request)
	return request, q, err
}

// csvMemory is the memory for the rows that an export reads at a time, about.
const csvMemory = 256 << 10

// respond runs the operation and writes the response, unless it returns an error. A large list or an
// export reserves memory until the client has read it; for other responses, the request's body has.
func (o *operation) respond(w http.ResponseWriter, r *http.Request, request any, q *idempotency.Request) error {
	ctx := r.Context()
	response, err := o.run(ctx, request, q)
	if err != nil {
		return err
	}
	tooMany := api.Unavailable("too many large responses are in flight; try again")
	if file, ok := response.(*api.CSV); ok {
		if !o.reserve(r, csvMemory) {
			return tooMany
		}
		o.writeCSV(ctx, w, file)
		return nil
	}
	body := q.Response() // encoded once for the idempotency record and the client
	if body == nil && o.Response != reflect.TypeFor[api.NoContent]() {
		if body, err = api.EncodeJSON(response); err != nil {
			return err
		}
	}
	if o.Method == http.MethodGet && len(body) > freeBody && !o.reserve(r, int64(len(body))) {
		return tooMany
	}
	if q.Replayed {
		w.Header().Set(api.IdempotencyReplayedHeader, "true")
	}
	if body != nil {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(o.Status)
	_, _ = w.Write(body)
	return nil
}

// run runs the operation. A replayed response is nil.
func (o *operation) run(ctx context.Context, request any, q *idempotency.Request) (any, error) {
	defer q.Done()
	return o.Run(o.newCall(ctx, o.Spec, q), request)
}

func (h *Handler) newCall(ctx context.Context, spec api.Spec, q *idempotency.Request) *account.Call {
	p := progressOf(ctx)
	return &account.Call{Rules: h.Rules, Context: ctx, Spec: spec, Caller: p.caller, Arrival: p.arrival, RequestID: p.ID, Idempotency: q}
}

// writeCSV streams a file. An error cuts the file off.
func (o *operation) writeCSV(ctx context.Context, w http.ResponseWriter, file *api.CSV) {
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="`+file.Filename+`"`)
	w.WriteHeader(o.Status)
	if err := file.Write(patient{w}); err != nil {
		o.Rules.Log.Warn("export cut off", "request_id", requestID(ctx), "error", err)
		panic(http.ErrAbortHandler)
	}
}

// keyOf returns the Idempotency-Key of a request, or "".
func keyOf(request any) string {
	if keyed, ok := request.(interface{ Key() string }); ok {
		return keyed.Key()
	}
	return ""
}
