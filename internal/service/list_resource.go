package service

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
)

// listResource lists the objects of a resource for terraform query.
type listResource[T any, M fmt.Stringer] struct {
	connection
	*Definition[T, M]
}

func (d *Definition[T, M]) ListResource() list.ListResource {
	return &listResource[T, M]{Definition: d}
}

func (l *listResource[T, M]) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	l.connect(req.ProviderData)
}

func (l *listResource[T, M]) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + l.Name
}

func (l *listResource[T, M]) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	attributes := map[string]schema.Attribute{}
	for _, f := range l.Collection.List.Filters {
		attributes[f.Name] = f.ForList()
	}
	resp.Schema = schema.Schema{MarkdownDescription: l.Collection.description("Lists the", l.Listing.Note), Attributes: attributes}
}

// List requests a page after the previous page was consumed, and no page after the limit.
func (l *listResource[T, M]) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	by, diags := attribute.ReadFilters(ctx, req.Config, l.Collection.List.Filters)
	c := l.Client(ctx, &diags)
	if diags.HasError() {
		stream.Results = list.ListResultsStreamDiagnostics(diags)
		return
	}
	domains := listedDomains(c)
	stream.Results = func(push func(list.ListResult) bool) {
		left, isEmpty := req.Limit, true
		for v, err := range l.Collection.List.All(ctx, c, by) {
			if err != nil {
				var failed list.ListResult
				l.Collection.addListError(&failed.Diagnostics, err)
				push(failed)
				return
			}
			isEmpty = false
			if l.Listing.Skip != nil && l.Listing.Skip(&v) {
				continue
			}
			if !push(l.result(ctx, req, c, domains, &v)) {
				return
			}
			if left--; left == 0 {
				return
			}
		}
		if !isEmpty {
			return
		}
		if missing := explainEmptyResult(ctx, c, by["domain"], diag.NewAttributeErrorDiagnostic); missing.HasError() {
			push(list.ListResult{Diagnostics: missing})
		}
	}
}

func (l *listResource[T, M]) result(ctx context.Context, req list.ListRequest, c *client.Client, domains DomainReader, v *T) list.ListResult {
	result := req.NewListResult(ctx)
	result.DisplayName = l.displayName(v)
	result.Diagnostics.Append(setIdentity(ctx, result.Identity, c.AccountID(), idOf(v))...)
	if req.IncludeResource {
		m := l.model(ctx, domains, v)
		if l.Listing.Imported != nil {
			if err := l.Listing.Imported(ctx, c, &m); err != nil {
				l.Collection.addListError(&result.Diagnostics, err)
				return result
			}
		}
		result.Diagnostics.Append(result.Resource.Set(ctx, attribute.Object(ctx, result.Resource.Schema.Type().(types.ObjectType).AttrTypes, m))...)
	}
	return result
}
