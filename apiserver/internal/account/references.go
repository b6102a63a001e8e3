package account

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// references are the fields that name an object in the body of any operation, each with
// the check that the object exists.
var references = map[string]func(*Call, store.Reader, string) error{
	"domain": func(c *Call, r store.Reader, ref string) error {
		_, err := c.domainInBody(r, ref)
		return err
	},
	"workspace_id": func(c *Call, r store.Reader, ref string) error {
		return c.workspaceInBody(r, api.CanonicalID(ref))
	},
}

// ReferenceErrors returns the errors of each domain or workspace in a request body that
// does not exist, for a request that is invalid for another reason. For a valid body the
// operation reports them itself.
func ReferenceErrors(c *Call, body []byte) ([]*api.Problem, error) {
	return view(c, func(r store.Reader) ([]*api.Problem, error) { return c.unknownReferences(r, body) })
}

// HasReferences reports whether an operation's body has a field that names an object.
func HasReferences(spec api.Spec) bool {
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

func (c *Call) unknownReferences(r store.Reader, body []byte) (found []*api.Problem, err error) {
	var fields map[string]any
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, nil //nolint:nilerr // the decoding reports it
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
