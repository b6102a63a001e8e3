package apiserver

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// references are the fields that name an object in the body of whatever
// operation, with how it is told that there is none.
var references = map[string]func(*call, store.Reader, string) error{
	"domain": func(c *call, r store.Reader, ref string) error {
		_, err := c.domainInBody(r, ref)
		return err
	},
	"workspace_id": func(c *call, r store.Reader, ref string) error {
		return c.workspaceInBody(r, api.CanonicalID(ref))
	},
}

// withReferenceErrors adds an error for each domain or workspace in the body that
// does not exist to the errors of an invalid request, so that a 422 lists every
// problem at once. For a valid body the operation reports them itself.
func (s *Service) withReferenceErrors(ctx huma.Context, next func(huma.Context)) {
	spec := api.SpecOf(ctx)
	if !refers(spec) || !api.IsID(ctx.Param("account_id")) {
		next(ctx)
		return
	}
	next(huma.WithContext(ctx, api.WithFurtherProblems(ctx.Context(), func() []*api.Problem {
		c := s.newCall(ctx.Context(), spec)
		found, err := view(c, func(r store.Reader) ([]*api.Problem, error) { return c.unknownReferences(r, progressOf(c.ctx).body) })
		if _, refused := errors.AsType[*api.Error](err); err != nil && !refused && c.ctx.Err() == nil {
			s.log.Error("references not looked at", "request_id", requestID(c.ctx), "error", err)
		}
		return found
	})))
}

// refers reports whether an operation's body has a field that names an object.
func refers(spec api.Spec) bool {
	body, ok := spec.Request.FieldByName("Body")
	if !ok {
		return false
	}
	for _, f := range reflect.VisibleFields(body.Type) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if references[name] != nil {
			return true
		}
	}
	return false
}

func (c *call) unknownReferences(r store.Reader, body []byte) (found []*api.Problem, err error) {
	var fields map[string]any
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, nil //nolint:nilerr // it is told of already
	}
	for _, name := range slices.Sorted(maps.Keys(references)) {
		ref, _ := fields[name].(string)
		if ref == "" {
			continue
		}
		var unknown *api.Error
		switch err := references[name](c, r, ref); {
		case errors.As(err, &unknown):
			found = append(found, unknown.Detail...)
		case err != nil:
			return nil, err
		}
	}
	return found, nil
}
