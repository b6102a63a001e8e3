package service

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

// ScopeFilters are the filters of a list of objects that have a [Scope]. Req is
// the list's request; noun says with its article what has the scope, nouns is its
// plural.
func ScopeFilters[Req any](noun, nouns string) []Filter {
	domain, workspace := DomainFilter(nouns), WorkspaceFilter(nouns)
	domain.MarkdownDescription = "Only the " + nouns + " that apply to this domain, by name or UUID."
	workspace.MarkdownDescription = "Only the " + nouns + " that apply to the workspace with this UUID; those of its domains are not among them. Give it or `domain`."
	workspace.Validators = append(workspace.Validators, oneScope(noun))
	return []Filter{
		domain, workspace,
		{
			Name: "scope_type", Validators: []validator.String{validate.OneOf[Req]("scope_type")},
			MarkdownDescription: "Only the " + nouns + " that apply to the `account` as a whole, or to any `workspace`, or to any `domain`.",
		},
	}
}

// ScopeWithin are the attributes that say which [Scope] has the object of a
// natural key. noun says with its article what has the scope, key is the key's
// name.
func ScopeWithin(noun, key string) []Filter {
	byKey := stringvalidator.AlsoRequires(path.MatchRoot(key))
	return []Filter{
		{
			Name: "domain", Validators: []validator.String{customtype.DomainRefType{}.Validator(), byKey},
			MarkdownDescription: "Domain that it applies to. With `" + key + "`, its name or UUID says where to look; without `domain` and `workspace_id`, that is what applies to the whole account.",
		},
		{
			Name: "workspace_id", Validators: []validator.String{customtype.UUIDType{}.Validator(), oneScope(noun), byKey},
			MarkdownDescription: "UUID of the workspace that it applies to. With `" + key + "`, it says where to look, in place of `domain`.",
		},
	}
}

// Scope returns the scope that is given.
func (g Given) Scope() client.Scope {
	return client.Scope{Domain: g["domain"], WorkspaceID: g["workspace_id"]}
}

// Keep takes over a domain as the configuration that looked it up refers to it.
func (s *Scope) Keep(by Given) {
	if domain := by["domain"]; domain != "" {
		s.Domain = customtype.New[customtype.DomainRef](domain)
	}
}

// ScopedName is the display name of an object that has a scope: others may have
// its name in theirs.
func ScopedName(name, scopeType string) string {
	if scopeType == vocab.ScopeAccount {
		return name
	}
	return name + " (" + scopeType + ")"
}
