package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/account"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/idempotency"
)

// binder binds operations to the functions that implement them.
type binder struct {
	handler       *Handler
	api           huma.API
	publishedOnly bool
}

// serve binds an operation with a JSON response.
func serve[Req, Resp any](b binder, op api.Operation[Req, Resp], fn func(*account.Call, *Req) (*Resp, error)) {
	if b.publishedOnly && op.Lifecycle() {
		return
	}
	h := b.handler
	register(b.api, op.Spec, func(ctx context.Context, in *Req) (*reply[Resp], error) {
		out, request, err := run(ctx, h, op, in, fn)
		if err != nil {
			return nil, err
		}
		response := &reply[Resp]{Body: *out}
		if request.Replayed {
			response.Replayed = "true"
		}
		if request.Resumed {
			response.Resumed = "true"
		}
		return response, nil
	})
}

// serveEmpty binds an operation without a response body.
func serveEmpty[Req any](b binder, op api.Operation[Req, api.NoContent], fn func(*account.Call, *Req) (*api.NoContent, error)) {
	if b.publishedOnly && op.Lifecycle() {
		return
	}
	register(b.api, op.Spec, func(ctx context.Context, in *Req) (*struct{}, error) {
		_, _, err := run(ctx, b.handler, op, in, fn)
		return nil, err
	})
}

// run runs an operation under the request's Idempotency-Key. An error is an *api.Error.
func run[Req, Resp any](ctx context.Context, h *Handler, op api.Operation[Req, Resp], in *Req, fn func(*account.Call, *Req) (*Resp, error)) (*Resp, *idempotency.Request, error) {
	request, err := h.beginIdempotency(ctx, op.Spec, in)
	if err != nil {
		return nil, nil, h.responseTo(ctx, err, "operation failed", "operation", op.ID)
	}
	defer request.Ran()
	out, err := fn(h.newCall(ctx, op.Spec, request), in)
	if err != nil {
		return nil, nil, h.responseTo(ctx, err, "operation failed", "operation", op.ID)
	}
	return out, request, nil
}

// serveCSV binds an operation that streams CSV. After an error in the middle of the
// stream, the status is sent already: the response is cut off.
func serveCSV[Req any](b binder, op api.Operation[Req, api.CSV], fn func(*account.Call, *Req) (*account.Export, error)) {
	if b.publishedOnly && op.Lifecycle() {
		return
	}
	h := b.handler
	register(b.api, op.Spec, func(ctx context.Context, in *Req) (*stream, error) {
		export, err := fn(h.newCall(ctx, op.Spec, nil), in)
		if err != nil {
			return nil, h.responseTo(ctx, err, "operation failed", "operation", op.ID)
		}
		return &stream{
			ContentType: export.ContentType, ContentDisposition: export.ContentDisposition,
			Body: func(out huma.Context) {
				out.SetStatus(op.Status)
				if err := export.Write(out.BodyWriter()); err != nil {
					h.log.Warn("export cut off", "request_id", requestID(ctx), "error", err)
					panic(http.ErrAbortHandler)
				}
			},
		}, nil
	})
}

// beginIdempotency registers a request under its Idempotency-Key, until endRequest.
func (h *Handler) beginIdempotency(ctx context.Context, spec api.Spec, in any) (*idempotency.Request, error) {
	p := progressOf(ctx)
	p.input = in
	var err error
	p.idempotency, err = h.idempotency.Begin(auth.CallerFrom(ctx), spec.ID, keyOf(in), p.lookup, in)
	return p.idempotency, err
}

func (h *Handler) newCall(ctx context.Context, spec api.Spec, request *idempotency.Request) *account.Call {
	return &account.Call{
		Rules: h.rules, Context: ctx, Spec: spec, Caller: auth.CallerFrom(ctx), Arrival: api.Arrival(ctx),
		RequestID: requestID(ctx), Idempotency: request,
	}
}
