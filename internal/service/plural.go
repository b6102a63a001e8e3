package service

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
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
		found = append(found, record(ctx, &v))
	}
	if len(found) == 0 {
		warnOfMissingDomain(ctx, c, by["domain"], &resp.Diagnostics)
	}
	// The framework has put the filters into the state.
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root(p.Names), found)...)
}

// warnOfMissingDomain warns where nothing was found because the account has no
// such domain: whoever makes resources out of what is found would delete them all
// for a misspelt name. It is no error, or a destroy could not be repeated after
// the domain is gone.
func warnOfMissingDomain(ctx context.Context, c *client.Client, domain string, diags *diag.Diagnostics) {
	if domain == "" {
		return
	}
	if _, err := c.GetDomain(ctx, domain); client.IsNotFound(err) {
		diags.AddAttributeWarning(path.Root("domain"), "The account has no domain "+domain,
			"So nothing was found. Check the spelling, and that account_id is the account that has it.")
	}
}
