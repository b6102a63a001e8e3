package service

import (
	"context"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	list "github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

// Filter is an attribute that says which objects are meant: a filter of a list,
// or a key of one object.
type Filter struct {
	Name                string
	MarkdownDescription string
	Validators          []validator.String
	// Bool makes it a boolean; it has no validators then.
	Bool bool
}

// Given is what a configuration says of filters, by their names: "" where it
// says nothing, "true" or "false" of a boolean.
type Given map[string]string

// IDKey is the key of an object by its UUID. noun names the object, others are the
// keys beside it, as in "`name` or `ip`".
func IDKey(noun, others string) Filter {
	return Filter{
		Name: "id", Validators: []validator.String{customtype.UUIDType{}.Validator()},
		MarkdownDescription: "UUID of the " + noun + ". Give it or " + others + ".",
	}
}

// DomainFilter is the filter of the objects of a domain; nouns says of which.
func DomainFilter(nouns string) Filter {
	return Filter{
		Name: "domain", Validators: []validator.String{customtype.DomainRefType{}.Validator()},
		MarkdownDescription: "Only the " + nouns + " of this domain, by name or UUID.",
	}
}

// WorkspaceFilter is the filter of the objects of a workspace; nouns says of
// which.
func WorkspaceFilter(nouns string) Filter {
	return Filter{
		Name: "workspace_id", Validators: []validator.String{customtype.UUIDType{}.Validator()},
		MarkdownDescription: "Only the " + nouns + " of the workspace with this UUID.",
	}
}

// SearchFilter is the filter by a part of what an object is displayed by.
func SearchFilter(nouns, in string) Filter {
	return Filter{Name: "search", MarkdownDescription: "Only the " + nouns + " with this text in " + in + ", in upper or lower case."}
}

// optional returns a filter as an attribute of a data source.
func (f Filter) optional() schema.Attribute {
	if f.Bool {
		return schema.BoolAttribute{Optional: true, MarkdownDescription: f.MarkdownDescription}
	}
	return schema.StringAttribute{Optional: true, Validators: f.Validators, MarkdownDescription: f.MarkdownDescription}
}

// listed returns a filter as an attribute of a list resource.
func (f Filter) listed() list.Attribute {
	if f.Bool {
		return list.BoolAttribute{Optional: true, MarkdownDescription: f.MarkdownDescription}
	}
	return list.StringAttribute{Optional: true, Validators: f.Validators, MarkdownDescription: f.MarkdownDescription}
}

// given reads filters out of a configuration, in which all is known.
func given(ctx context.Context, config interface {
	GetAttribute(context.Context, path.Path, any) diag.Diagnostics
}, filters []Filter) (Given, diag.Diagnostics) {
	var diags diag.Diagnostics
	all := Given{}
	for _, f := range filters {
		if f.Bool {
			var flag types.Bool
			diags.Append(config.GetAttribute(ctx, path.Root(f.Name), &flag)...)
			if !flag.IsNull() {
				all[f.Name] = strconv.FormatBool(flag.ValueBool())
			}
			continue
		}
		var text *string
		diags.Append(config.GetAttribute(ctx, path.Root(f.Name), &text)...)
		if text != nil {
			all[f.Name] = *text
		}
	}
	return all, diags
}

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
