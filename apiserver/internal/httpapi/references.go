package httpapi

import (
	"errors"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/account"
)

// withReferenceErrors adds an error for each domain or workspace in the body that
// does not exist to the errors of an invalid request, so that a 422 lists every
// problem at once.
func (h *Handler) withReferenceErrors(ctx huma.Context, next func(huma.Context)) {
	spec := specOf(ctx)
	if !account.HasReferences(spec) || !api.IsID(ctx.Param("account_id")) {
		next(ctx)
		return
	}
	next(huma.WithContext(ctx, withExtraChecks(ctx.Context(), func() []*api.Problem {
		p := progressOf(ctx.Context())
		found, err := account.ReferenceErrors(h.newCall(ctx.Context(), spec, nil), p.body)
		if _, refused := errors.AsType[*api.Error](err); err != nil && !refused && ctx.Context().Err() == nil {
			h.log.Error("references not checked", "request_id", p.ID, "error", err)
		}
		return found
	})))
}
