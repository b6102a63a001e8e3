package apiserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

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
		return c.workspaceInBody(r, canonicalID(ref))
	},
}

// tellUnknownReferences has the unknown objects that a body names told together
// with the request's other problems. Where there are no others the operation
// tells them itself: the request may be a repeated one, whose answer is kept.
func (s *Service) tellUnknownReferences(ctx huma.Context, next func(huma.Context)) {
	spec := api.SpecOf(ctx)
	if !refers(spec) || !isID(ctx.Param("account_id")) {
		next(ctx)
		return
	}
	r, _ := humago.Unwrap(ctx)
	var body bytes.Buffer
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.TeeReader(r.Body, &body), r.Body}
	next(huma.WithContext(ctx, api.WithFurtherProblems(ctx.Context(), func() []*api.Problem {
		c := s.newCall(ctx.Context(), spec)
		found, err := view(c, func(r store.Reader) ([]*api.Problem, error) { return c.unknownReferences(r, body.Bytes()) })
		if err != nil && c.ctx.Err() == nil {
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
