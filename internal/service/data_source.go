package service

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/datasourcevalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// Lookup describes how a data source finds one object.
type Lookup[T, M any] struct {
	// Keys are the attributes of which exactly one identifies the object: its id, or
	// its natural key.
	Keys []Filter
	// Qualifiers are attributes that narrow a natural key, such as its scope.
	Qualifiers []Filter
	// Get reads the object with an id, and Find finds it by another key. Without such
	// an object they return an error for which client.IsNotFound is true.
	Get  func(c *client.Client, ctx context.Context, id string) (*T, error)
	Find func(ctx context.Context, c *client.Client, by FilterValues) (*T, error)
	// Model, if set, returns the data source's model if that is not M.
	Model func(m M, by FilterValues) any
}

// dataSource is a data source of one object.
type dataSource[T, M any] struct {
	DataSource
	Collection[T, M]
	Lookup[T, M]
	description string
}

// NewDataSource returns the data source of one object, with a Markdown description.
func NewDataSource[T, M any](c Collection[T, M], l Lookup[T, M], description string) datasource.DataSource {
	return &dataSource[T, M]{Collection: c, Lookup: l, description: description}
}

// Metadata implements datasource.DataSource.
func (s *dataSource[T, M]) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + s.Name
}

// Schema implements datasource.DataSource. A key is usually an attribute of the
// object, which the API returns if the configuration does not set it.
func (s *dataSource[T, M]) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := s.Attributes()
	for _, f := range s.arguments() {
		a, _ := attributes[f.Name].(schema.StringAttribute)
		a.Optional, a.Computed, a.Validators, a.MarkdownDescription = true, true, f.Validators, f.MarkdownDescription
		attributes[f.Name] = a
	}
	resp.Schema = schema.Schema{MarkdownDescription: s.description, Attributes: attributes}
}

func (s *dataSource[T, M]) arguments() []Filter { return slices.Concat(s.Keys, s.Qualifiers) }

// ConfigValidators implements datasource.DataSourceWithConfigValidators.
func (s *dataSource[T, M]) ConfigValidators(context.Context) []datasource.ConfigValidator {
	var keys []path.Expression
	for _, k := range s.Keys {
		keys = append(keys, path.MatchRoot(k.Name))
	}
	return []datasource.ConfigValidator{datasourcevalidator.ExactlyOneOf(keys...)}
}

// Read implements datasource.DataSource.
func (s *dataSource[T, M]) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	defer ReportOnce(resp)
	by, diags := filterValues(ctx, req.Config, s.arguments())
	resp.Diagnostics.Append(diags...)
	c := s.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	v, err := s.find(ctx, c, by)
	if err != nil {
		addLookupError(&resp.Diagnostics, err, "Can't find the "+s.label(by), nil)
		return
	}
	m := s.Flatten(ctx, c, v)
	if s.Model != nil {
		resp.Diagnostics.Append(resp.State.Set(ctx, s.Model(m, by))...)
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

func (l Lookup[T, M]) find(ctx context.Context, c *client.Client, by FilterValues) (*T, error) {
	if id := by["id"]; id != "" {
		return l.Get(c, ctx, id)
	}
	return l.Find(ctx, c, by)
}

// label names the object by the configuration's arguments.
func (s *dataSource[T, M]) label(by FilterValues) string {
	var parts []string
	for _, f := range s.arguments() {
		if v := by[f.Name]; v != "" {
			parts = append(parts, fmt.Sprintf("%s = %q", f.Name, v))
		}
	}
	return s.Noun + " with " + strings.Join(parts, ", ")
}

// dataSources is a data source of all objects that match its filters.
type dataSources[T, M any] struct {
	DataSource
	Collection[T, M]
	description string
}

// NewDataSources returns the data source of all objects that match the filters, with
// a Markdown description.
func NewDataSources[T, M any](c Collection[T, M], description string) datasource.DataSource {
	return &dataSources[T, M]{Collection: c, description: description}
}

// Metadata implements datasource.DataSource.
func (s *dataSources[T, M]) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + s.Names
}

// Schema implements datasource.DataSource.
func (s *dataSources[T, M]) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := map[string]schema.Attribute{s.Names: s.results()}
	for _, f := range s.Filters {
		attributes[f.Name] = f.dataSourceAttribute()
	}
	resp.Schema = schema.Schema{MarkdownDescription: s.description, Attributes: attributes}
}

// Read implements datasource.DataSource.
func (s *dataSources[T, M]) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	defer ReportOnce(resp)
	by, diags := filterValues(ctx, req.Config, s.Filters)
	resp.Diagnostics.Append(diags...)
	c := s.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	domains := newDomainCache(c)
	found := []M{}
	for v, err := range s.List(ctx, c, by) {
		if err != nil {
			s.addListError(&resp.Diagnostics, err)
			return
		}
		found = append(found, s.Flatten(ctx, domains, &v))
	}
	if len(found) == 0 {
		warnMissingDomain(ctx, c, by["domain"], &resp.Diagnostics)
	}
	// The framework has put the filters into the state.
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root(s.Names), found)...)
}

// warnMissingDomain warns if nothing was found because the account has no such
// domain: resources with a for_each over the result would all be deleted for a
// misspelt name. It is no error, because a destroy must succeed after the domain is
// gone.
func warnMissingDomain(ctx context.Context, c *client.Client, domain string, diags *diag.Diagnostics) {
	if domain == "" {
		return
	}
	if _, err := c.GetDomain(ctx, domain); client.IsNotFound(err) {
		diags.AddAttributeWarning(path.Root("domain"), "The account has no domain "+domain,
			"The result is empty. Check the spelling, and that account_id is the account that has the domain.")
	}
}
