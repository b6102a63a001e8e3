package api

import (
	"context"
	"net/http"
	"net/url"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// MaxBodyBytes is the largest request body, in bytes: a bulk request of 1000
// mailboxes with long names fits.
const MaxBodyBytes = 1 << 20

// Reply is what a handler answers with.
type Reply[T any] struct {
	// Replayed is "true" for the response of an earlier request under the same
	// Idempotency-Key.
	Replayed string `header:"Idempotency-Replayed"`
	// Resumed is "true" if the object in the response was created by an earlier
	// request of the caller with the same body, whose response was not delivered.
	Resumed string `header:"Idempotency-Resumed"`
	Body    T
}

// Stream is the answer of an operation whose response is CSV.
type Stream struct {
	ContentType        string `header:"Content-Type"`
	ContentDisposition string `header:"Content-Disposition"`
	Body               func(huma.Context)
}

// NewAPI returns an empty API that routes through mux and reads and writes JSON
// in the API's manner.
func NewAPI(mux humago.Mux) huma.API {
	config := huma.Config{
		OpenAPI:       openAPI(),
		Formats:       map[string]huma.Format{"application/json": jsonFormat},
		DefaultFormat: "application/json",
	}
	config.AllowAdditionalPropertiesByDefault = true
	return humago.New(mux, config)
}

// StrictQuery is a middleware that refuses a query that can't be decoded, and
// makes an empty number or boolean in one an invalid one. Without it the first
// would lose filters, and the second would be taken for an absent one.
func StrictQuery(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	if r.URL.RawQuery == "" {
		next(ctx)
		return
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		Unprocessable(Invalid("the query can't be decoded; write %% as %%25 and ; as %%3B").At("query")).Write(w)
		return
	}
	changed := false
	for _, f := range reflect.VisibleFields(SpecOf(ctx).Request) {
		name := f.Tag.Get("query")
		if name != "" && f.Type.Kind() != reflect.String && query.Has(name) && query.Get(name) == "" {
			query.Set(name, " ")
			changed = true
		}
	}
	if changed {
		r.URL.RawQuery = query.Encode()
	}
	next(ctx)
}

// binder routes an operation to a function whose input is a pointer to the
// request type and whose output is a *Reply of the response type, or a *Stream.
// It is where the types end: huma.Register is large, and compiled once for each
// pair of types in each package that uses it with them.
type binder func(h huma.API, fn func(ctx context.Context, in any) (any, error))

func bindReply[Req, Resp any](s Spec) binder {
	return func(h huma.API, fn func(context.Context, any) (any, error)) {
		huma.Register(h, s.huma(), func(ctx context.Context, in *Req) (*Reply[Resp], error) {
			canonicalIDs(reflect.ValueOf(in).Elem())
			out, err := fn(ctx, in)
			if err != nil {
				return nil, err
			}
			return out.(*Reply[Resp]), nil
		})
	}
}

func bindEmpty[Req any](s Spec) binder {
	return func(h huma.API, fn func(context.Context, any) (any, error)) {
		huma.Register(h, s.huma(), func(ctx context.Context, in *Req) (*struct{}, error) {
			canonicalIDs(reflect.ValueOf(in).Elem())
			_, err := fn(ctx, in)
			return nil, err
		})
	}
}

func bindStream[Req any](s Spec) binder {
	return func(h huma.API, fn func(context.Context, any) (any, error)) {
		huma.Register(h, s.huma(), func(ctx context.Context, in *Req) (*Stream, error) {
			canonicalIDs(reflect.ValueOf(in).Elem())
			out, err := fn(ctx, in)
			if err != nil {
				return nil, err
			}
			return out.(*Stream), nil
		})
	}
}

// Handle routes the operation to fn. It must not be called twice for one API.
func (op Operation[Req, Resp]) Handle(h huma.API, fn func(context.Context, *Req) (*Reply[Resp], error)) {
	op.bind(h, func(ctx context.Context, in any) (any, error) { return fn(ctx, in.(*Req)) })
}

// HandleStream is Handle for an operation whose response is CSV.
func HandleStream[Req any](h huma.API, op Operation[Req, CSV], fn func(context.Context, *Req) (*Stream, error)) {
	op.bind(h, func(ctx context.Context, in any) (any, error) { return fn(ctx, in.(*Req)) })
}

// SpecOf returns the operation that a request was routed to.
func SpecOf(ctx huma.Context) Spec {
	return ctx.Operation().Metadata[specKey].(Spec)
}

const specKey = "spec"

func (s Spec) huma() huma.Operation {
	op := huma.Operation{
		OperationID:     s.ID,
		Method:          s.Method,
		Path:            s.Path,
		Summary:         s.Summary,
		Tags:            []string{s.Tag},
		DefaultStatus:   s.Status,
		MaxBodyBytes:    MaxBodyBytes + 1, // huma refuses a body of exactly the limit
		BodyReadTimeout: -1,               // the server's own deadlines hold
		Metadata:        map[string]any{specKey: s},
		Errors:          []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests, http.StatusServiceUnavailable},
		Security:        []map[string][]string{{securityScheme: {}}},
		Extensions:      map[string]any{},
	}
	if s.Capability != "" {
		op.Description = "Needs the capability `" + string(s.Capability) + "`."
		op.Extensions["x-capability"] = string(s.Capability)
	}
	if s.Lifecycle() {
		op.Extensions["x-lifecycle-extension"] = true
	}
	if strings.Count(s.Path, "{") > 1 {
		op.Errors = append(op.Errors, http.StatusNotFound)
	}
	if s.Method != http.MethodGet {
		op.Errors = append(op.Errors, http.StatusConflict)
	}
	if _, ok := s.Request.FieldByName("Body"); ok {
		op.Errors = append(op.Errors, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	if s.Response == reflect.TypeFor[CSV]() {
		op.Responses = map[string]*huma.Response{"200": {
			Description: "CSV with a header line",
			Content:     map[string]*huma.MediaType{"text/csv": {Schema: &huma.Schema{Type: huma.TypeString}}},
		}}
	}
	return op
}

// canonicalIDs rewrites every field of format uuid to its canonical form.
func canonicalIDs(v reflect.Value) {
	t := v.Type()
	for i := range t.NumField() {
		f := v.Field(i)
		if f.Kind() == reflect.Pointer {
			f = f.Elem()
		}
		switch {
		case f.Kind() == reflect.Struct && t.Field(i).IsExported():
			canonicalIDs(f)
		case f.Kind() == reflect.String && t.Field(i).Tag.Get("format") == "uuid":
			f.SetString(CanonicalID(f.String()))
		}
	}
}
