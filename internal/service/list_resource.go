package service

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// Listed says how an object is shown by a list resource.
type Listed[T, R any] struct {
	// ID returns the object's id.
	ID func(*T) string
	// DisplayName names the object for people.
	DisplayName func(*T) string
	// Model returns the resource's model as an import and a read would leave it,
	// so that a configuration generated from it plans nothing.
	Model func(R) any
	// Skip, if set, reports whether an object can't be imported and is left out.
	Skip func(*T) bool
}

// listResource lists the objects of a resource for terraform query.
type listResource[T, R any] struct {
	Resource
	Object[T, R]
	Listed[T, R]
	description string
}

// NewListResource returns the list resource of a kind of object. description is
// what it says of itself, in Markdown.
func NewListResource[T, R any](o Object[T, R], l Listed[T, R], description string) list.ListResource {
	return &listResource[T, R]{Object: o, Listed: l, description: description}
}

// Metadata implements list.ListResource: it has the name of the resource.
func (l *listResource[T, R]) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + l.Name
}

// ListResourceConfigSchema implements list.ListResource.
func (l *listResource[T, R]) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	attributes := map[string]schema.Attribute{}
	for _, f := range l.Filters {
		attributes[f.Name] = f.listed()
	}
	resp.Schema = schema.Schema{MarkdownDescription: l.description, Attributes: attributes}
}

// List implements list.ListResource. A page is read when the one before it has
// been taken, and none after the limit.
func (l *listResource[T, R]) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	by, diags := given(ctx, req.Config, l.Filters)
	c := l.Client(ctx, &diags)
	if diags.HasError() {
		stream.Results = list.ListResultsStreamDiagnostics(diags)
		return
	}
	record := l.Recorder(c)
	stream.Results = func(push func(list.ListResult) bool) {
		left := req.Limit
		for v, err := range l.Object.List(client.WithPageSize(ctx, req.Limit), c, by) {
			if err != nil {
				var failed list.ListResult
				l.addListError(&failed.Diagnostics, err)
				push(failed)
				return
			}
			if l.Skip != nil && l.Skip(&v) {
				continue
			}
			if !push(l.result(ctx, req, c, record, &v)) {
				return
			}
			if left--; left == 0 {
				return
			}
		}
	}
}

func (l *listResource[T, R]) result(ctx context.Context, req list.ListRequest, c *client.Client, record func(context.Context, *T) R, v *T) list.ListResult {
	result := req.NewListResult(ctx)
	result.DisplayName = l.DisplayName(v)
	result.Diagnostics.Append(SetIdentity(ctx, result.Identity, c.AccountID(), types.StringValue(l.ID(v)))...)
	if !req.IncludeResource {
		return result
	}
	result.Diagnostics.Append(result.Resource.Set(ctx, l.Model(record(ctx, v)))...)
	return result
}
