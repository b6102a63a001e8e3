package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// responseTo returns the response to an error of an operation. The cause of an internal
// error is logged under msg and not exposed.
func (h *Handler) responseTo(ctx context.Context, err error, msg string, attrs ...any) *api.Error {
	if response, ok := errors.AsType[*api.Error](err); ok {
		return response
	}
	if ctx.Err() != nil { // nobody waits for the response
		return api.Cancelled()
	}
	if !errors.Is(err, store.ErrUnavailable) { // an outage is logged once, by the store
		h.log.Error(msg, append([]any{"request_id", requestID(ctx), "error", err}, attrs...)...)
	}
	switch {
	case h.exposeFaults:
		return api.NewError(http.StatusInternalServerError, api.TypeInternal, "the embedded account failed: %s", err)
	case errors.Is(err, store.ErrUnavailable):
		return api.Unavailable("the service can't keep changes at the moment; try again")
	}
	return internalError()
}

func internalError() *api.Error {
	return api.NewError(http.StatusInternalServerError, api.TypeInternal, "something failed inside the service; try again, and quote the request id if it happens again")
}
