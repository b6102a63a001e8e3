package service

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
)

// plural is a data source of all objects of a kind that its filters let through.
type plural[T, R any] struct {
	DataSource
	Object[T, R]
	description string
}

// NewPlural returns the data source of all objects of a kind that the filters
// let through. description is what it says of itself, in Markdown.
func NewPlural[T, R any](o Object[T, R], description string) datasource.DataSource {
	return &plural[T, R]{Object: o, description: description}
}

// Metadata implements datasource.DataSource.
func (p *plural[T, R]) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + p.Names
}

// Schema implements datasource.DataSource.
func (p *plural[T, R]) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := map[string]schema.Attribute{p.Names: p.results()}
	for _, f := range p.Filters {
		attributes[f.Name] = f.optional()
	}
	resp.Schema = schema.Schema{MarkdownDescription: p.description, Attributes: attributes}
}

// Read implements datasource.DataSource.
func (p *plural[T, R]) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	by, diags := given(ctx, req.Config, p.Filters)
	resp.Diagnostics.Append(diags...)
	c := p.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	record := p.Recorder(c)
	found := []R{}
	for v, err := range p.List(ctx, c, by) {
		if err != nil {
			p.addListError(&resp.Diagnostics, err)
			return
		}
		r, err := record(ctx, &v)
		if err != nil {
			p.addListError(&resp.Diagnostics, err)
			return
		}
		found = append(found, r)
	}
	resp.State.Raw = req.Config.Raw // the filters
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root(p.Names), found)...)
}
