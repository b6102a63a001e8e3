package service

import (
	"context"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	list "github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
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
