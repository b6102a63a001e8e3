package httpapi

import (
	"context"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// reply is a response.
type reply[T any] struct {
	// Replayed is "true" for the response of an earlier request under the same
	// Idempotency-Key.
	Replayed string `header:"Idempotency-Replayed"`
	// Resumed is "true" if the object in the response was created by an earlier
	// request of the caller with the same body, whose response was not delivered.
	Resumed string `header:"Idempotency-Resumed"`
	Body    T
}

// stream is the response of an operation that streams CSV.
type stream struct {
	ContentType        string `header:"Content-Type"`
	ContentDisposition string `header:"Content-Disposition"`
	Body               func(huma.Context)
}

// newAPI returns an empty API that routes through mux and reads and writes JSON
// in the API's manner.
func newAPI(mux humago.Mux) huma.API {
	config := huma.Config{
		OpenAPI:       openAPI(),
		Formats:       map[string]huma.Format{"application/json": jsonFormat},
		DefaultFormat: "application/json",
	}
	config.AllowAdditionalPropertiesByDefault = true
	return humago.New(mux, config)
}

// register routes an operation to fn, which gets a valid request in canonical form.
func register[Req, Out any](a huma.API, s api.Spec, fn func(context.Context, *Req) (*Out, error)) {
	huma.Register(a, humaOperation(s), func(ctx context.Context, in *Req) (*Out, error) {
		canonicalIDs(reflect.ValueOf(in).Elem())
		if problems := check(in, keyOf(in), api.Arrival(ctx)); problems != nil {
			return nil, withExtraFindings(ctx, merge(nil, problems))
		}
		return fn(ctx, in)
	})
}

// keyOf returns the Idempotency-Key of a request, or "".
func keyOf(in any) string {
	if keyed, ok := in.(interface{ Key() string }); ok {
		return keyed.Key()
	}
	return ""
}

// check applies the rules of a request that tags can't say.
func check(in any, idempotencyKey string, arrival time.Time) (found []*api.Problem) {
	if v, ok := in.(interface{ Validate() []*api.Problem }); ok {
		found = v.Validate()
	}
	if t, ok := in.(interface {
		Timely(time.Time) *api.Problem
	}); ok && idempotencyKey == "" {
		if p := t.Timely(arrival); p != nil {
			found = append(found, p)
		}
	}
	return found
}

// withRuleErrors adds the problems that check finds to those of the schema, so that a 422
// lists every problem at once.
func withRuleErrors(ctx huma.Context, next func(huma.Context)) {
	spec := specOf(ctx)
	if _, takesBody := spec.Request.FieldByName("Body"); !takesBody {
		next(ctx)
		return
	}
	key := ctx.Header(api.IdempotencyKeyHeader)
	next(huma.WithContext(ctx, withExtraChecks(ctx.Context(), func() []*api.Problem {
		in := reflect.New(spec.Request)
		// A field that does not fit is reported by the schema.
		_ = decodeJSON(progressOf(ctx.Context()).body, in.Elem().FieldByName("Body").Addr().Interface())
		return check(in.Interface(), key, api.Arrival(ctx.Context()))
	})))
}

// strictQuery refuses a query that can't be decoded, and makes an empty number or
// boolean in one invalid. huma would ignore the filters of the first, and take the second
// for an absent one.
func strictQuery(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	if r.URL.RawQuery == "" {
		next(ctx)
		return
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		api.Unprocessable(api.Invalid("the query can't be decoded; write %% as %%25 and ; as %%3B").At("query")).Write(w)
		return
	}
	changed := false
	for _, f := range reflect.VisibleFields(specOf(ctx).Request) {
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

// specOf returns the operation that a request was routed to.
func specOf(ctx huma.Context) api.Spec {
	return ctx.Operation().Metadata[specKey].(api.Spec)
}

const specKey = "spec"

// humaOperation returns the operation as huma registers and documents it.
func humaOperation(s api.Spec) huma.Operation {
	op := huma.Operation{
		OperationID:     s.ID,
		Method:          s.Method,
		Path:            s.Path,
		Summary:         s.Summary,
		Tags:            []string{s.Tag},
		DefaultStatus:   s.Status,
		MaxBodyBytes:    api.MaxBodyBytes + 1, // huma refuses a body of exactly the limit
		BodyReadTimeout: -1,                   // the server's own deadlines hold
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
	if s.Response == reflect.TypeFor[api.CSV]() {
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
			f.SetString(api.CanonicalID(f.String()))
		}
	}
}
