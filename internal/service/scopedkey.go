package service

import (
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

// FindScoped finds the object that an import key means: <domain>/<name>, by the
// domain's name or UUID, <workspace UUID>/<name>, or the name alone for an object
// of the account. find looks in one scope. A name may hold slashes itself, so
// that a key can be read in more than one way; the first that is found counts.
func FindScoped[T any](key string, find func(scope client.Scope, name string) (*T, error)) (*T, error) {
	scope, name, _ := strings.Cut(key, "/")
	var first error
	for _, s := range scopesNamed(scope, name) {
		found, err := find(s, name)
		if err == nil || !client.IsNotFound(err) {
			return found, err
		}
		if first == nil {
			first = err
		}
	}
	found, err := find(client.Scope{}, key)
	if first != nil && client.IsNotFound(err) {
		return nil, first // what was meant, more likely than a name with a slash
	}
	return found, err
}

// Key returns the import key of the object that has a name in the scope, as
// [FindScoped] reads it.
func (s Scope) Key(name string) string {
	switch in := s.Client(); {
	case in.Domain != "":
		return in.Domain + "/" + name
	case in.WorkspaceID != "":
		return in.WorkspaceID + "/" + name
	}
	return name
}

// scopesNamed returns the scopes that the first part of a key may name.
func scopesNamed(scope, name string) []client.Scope {
	_, notDomain := customtype.Normalize[customtype.DomainRef](scope)
	switch {
	case notDomain != nil || name == "":
		return nil
	case isUUID(scope):
		return []client.Scope{{WorkspaceID: scope}, {Domain: scope}}
	}
	return []client.Scope{{Domain: scope}}
}

func isUUID(s string) bool {
	_, err := customtype.Normalize[customtype.UUID](s)
	return err == nil
}
