package service

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/datasourcevalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// Lookup says how one object is found.
type Lookup[T, R any] struct {
	// Keys are the attributes of which exactly one says what object is meant: its
	// id, or its natural key.
	Keys []Filter
	// Within are attributes that say more of a natural key, such as its scope.
	Within []Filter
	// Get reads the object with an id, and Find finds it by another key. They return
	// an error that client.IsNotFound reports where there is none.
	Get  func(c *client.Client, ctx context.Context, id string) (*T, error)
	Find func(ctx context.Context, c *client.Client, by Given) (*T, error)
	// Model, if set, makes the data source's model out of the record, where that
	// is another one.
	Model func(r R, by Given) any
}

// singular is a data source of one object.
type singular[T, R any] struct {
	DataSource
	Object[T, R]
	Lookup[T, R]
	description string
}

// NewSingular returns the data source of one object of a kind. description is
// what it says of itself, in Markdown.
func NewSingular[T, R any](o Object[T, R], l Lookup[T, R], description string) datasource.DataSource {
	return &singular[T, R]{Object: o, Lookup: l, description: description}
}

// Metadata implements datasource.DataSource.
func (s *singular[T, R]) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + s.Name
}

// Schema implements datasource.DataSource: a key is an attribute of the object,
// as a rule, which the API answers where the configuration does not say it.
func (s *singular[T, R]) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := s.Attributes()
	for _, f := range s.lookedUpBy() {
		a, _ := attributes[f.Name].(schema.StringAttribute)
		a.Optional, a.Computed, a.Validators, a.MarkdownDescription = true, true, f.Validators, f.MarkdownDescription
		attributes[f.Name] = a
	}
	resp.Schema = schema.Schema{MarkdownDescription: s.description, Attributes: attributes}
}

func (s *singular[T, R]) lookedUpBy() []Filter {
	return append(append([]Filter{}, s.Keys...), s.Within...)
}

// ConfigValidators implements datasource.DataSourceWithConfigValidators.
func (s *singular[T, R]) ConfigValidators(context.Context) []datasource.ConfigValidator {
	var keys []path.Expression
	for _, k := range s.Keys {
		keys = append(keys, path.MatchRoot(k.Name))
	}
	return []datasource.ConfigValidator{datasourcevalidator.ExactlyOneOf(keys...)}
}

// Read implements datasource.DataSource.
func (s *singular[T, R]) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	by, diags := given(ctx, req.Config, s.lookedUpBy())
	resp.Diagnostics.Append(diags...)
	c := s.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	v, err := s.find(ctx, c, by)
	if err != nil {
		addLookupError(&resp.Diagnostics, err, "Can't find the "+s.meant(by), nil)
		return
	}
	r := s.Recorder(c)(ctx, v)
	if s.Model != nil {
		resp.Diagnostics.Append(resp.State.Set(ctx, s.Model(r, by))...)
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &r)...)
}

func (l Lookup[T, R]) find(ctx context.Context, c *client.Client, by Given) (*T, error) {
	if id := by["id"]; id != "" {
		return l.Get(c, ctx, id)
	}
	return l.Find(ctx, c, by)
}

// meant names the object as the configuration does.
func (s *singular[T, R]) meant(by Given) string {
	var parts []string
	for _, f := range s.lookedUpBy() {
		if v := by[f.Name]; v != "" {
			parts = append(parts, fmt.Sprintf("%s = %q", f.Name, v))
		}
	}
	return s.Noun + " with " + strings.Join(parts, ", ")
}

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
