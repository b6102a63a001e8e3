package service

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// ListItem describes how a list resource shows an object.
type ListItem[T, M any] struct {
	// ID returns the object's id.
	ID func(*T) string
	// DisplayName names the object for people.
	DisplayName func(*T) string
	// Model returns the resource's model as an import and a read would leave it, so
	// that a configuration generated from it has an empty plan.
	Model func(M) any
	// Skip, if set, reports whether an object is left out because it can't be imported.
	Skip func(*T) bool
}

// listResource lists the objects of a resource for terraform query.
type listResource[T, M any] struct {
	Resource[M]
	Collection[T, M]
	ListItem[T, M]
	description string
}

// NewListResource returns the list resource of a collection, with a Markdown
// description.
func NewListResource[T, M any](c Collection[T, M], item ListItem[T, M], description string) list.ListResource {
	return &listResource[T, M]{Collection: c, ListItem: item, description: description}
}

// Metadata implements list.ListResource: a list resource has the name of its
// resource.
func (l *listResource[T, M]) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + l.Collection.Name
}

// ListResourceConfigSchema implements list.ListResource.
func (l *listResource[T, M]) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	attributes := map[string]schema.Attribute{}
	for _, f := range l.Filters {
		attributes[f.Name] = f.listAttribute()
	}
	resp.Schema = schema.Schema{MarkdownDescription: l.description, Attributes: attributes}
}

// List implements list.ListResource. It reads a page when the one before it has been
// consumed, and none after the limit.
func (l *listResource[T, M]) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	by, diags := filterValues(ctx, req.Config, l.Filters)
	c := l.Client(ctx, &diags)
	if diags.HasError() {
		stream.Results = list.ListResultsStreamDiagnostics(diags)
		return
	}
	domains := newDomainCache(c)
	stream.Results = func(push func(list.ListResult) bool) {
		left := req.Limit
		for v, err := range l.Collection.List(client.WithPageSize(ctx, req.Limit), c, by) {
			if err != nil {
				var failed list.ListResult
				l.addListError(&failed.Diagnostics, err)
				push(failed)
				return
			}
			if l.Skip != nil && l.Skip(&v) {
				continue
			}
			if !push(l.result(ctx, req, c, domains, &v)) {
				return
			}
			if left--; left == 0 {
				return
			}
		}
	}
}

func (l *listResource[T, M]) result(ctx context.Context, req list.ListRequest, c *client.Client, domains DomainReader, v *T) list.ListResult {
	result := req.NewListResult(ctx)
	result.DisplayName = l.DisplayName(v)
	result.Diagnostics.Append(setIdentity(ctx, result.Identity, c.AccountID(), l.ID(v))...)
	if req.IncludeResource {
		result.Diagnostics.Append(result.Resource.Set(ctx, l.Model(l.Flatten(ctx, domains, v)))...)
	}
	return result
}
