package service

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/datasourcevalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
)

// NewDataSource returns a data source with a name (without the provider's) and a schema.
// It calls read with the account's client.
func NewDataSource(name string, s schema.Schema, read func(ctx context.Context, c *client.Client, req datasource.ReadRequest, resp *datasource.ReadResponse)) datasource.DataSource {
	return &dataSource{name: name, schema: s, read: read}
}

type dataSource struct {
	connection

	name   string
	schema schema.Schema
	// keys, if set, lists arguments: the configuration must set exactly one of them.
	keys []path.Expression
	read func(ctx context.Context, c *client.Client, req datasource.ReadRequest, resp *datasource.ReadResponse)
}

func (s *dataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + s.name
}

func (s *dataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = s.schema
}

func (s *dataSource) Configure(_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	s.connect(req.ProviderData)
}

func (s *dataSource) ConfigValidators(context.Context) []datasource.ConfigValidator {
	if s.keys == nil {
		return nil
	}
	return []datasource.ConfigValidator{datasourcevalidator.ExactlyOneOf(s.keys...)}
}

func (s *dataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	defer report.ShortenLookup(&resp.Diagnostics)
	if c := s.Client(ctx, &resp.Diagnostics); c != nil {
		s.read(s.ForDataSource(ctx), c, req, resp)
	}
}

// DataSource returns the data source of one object. A key is usually an attribute of the
// object: the API returns the keys that the configuration does not set.
func (d *Definition[T, M]) DataSource() datasource.DataSource {
	arguments := slices.Concat(d.Single.Keys, d.Single.Qualifiers)
	if d.isScoped() {
		arguments = append(arguments, attribute.ScopeQualifiers(d.Single.Keys[1].Name)...)
	}
	attributes := d.Collection.readOnly()
	for _, f := range arguments {
		a, _ := attributes[f.Name].(schema.StringAttribute)
		a.Optional, a.Computed, a.Validators, a.MarkdownDescription = true, true, f.Validators, f.MarkdownDescription
		attributes[f.Name] = a
	}
	s := &dataSource{name: d.Name, schema: schema.Schema{MarkdownDescription: d.Single.Description, Attributes: attributes}}
	for _, k := range d.Single.Keys {
		s.keys = append(s.keys, path.MatchRoot(k.Name))
	}
	s.read = func(ctx context.Context, c *client.Client, req datasource.ReadRequest, resp *datasource.ReadResponse) {
		by, diags := attribute.ReadFilters(ctx, req.Config, arguments)
		if resp.Diagnostics.Append(diags...); diags.HasError() {
			return
		}
		v, err := d.find(ctx, c, by)
		if err != nil {
			addLookupError(&resp.Diagnostics, err, "Can't find the "+d.Noun+" with "+describe(arguments, by), nil)
			return
		}
		resp.Diagnostics.Append(attribute.SetState(ctx, &resp.State, d.model(ctx, c.Domains.Get, v))...)
		if domain := by["domain"]; d.isScoped() && domain != "" { // the name or id in the configuration
			resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("domain"), domain)...)
		}
		if d.Single.Argument != nil {
			name, value := d.Single.Argument(v)
			if configured, ok := by[name]; ok {
				value = &configured
			}
			resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root(name), value)...)
		}
	}
	return s
}

// describe describes the configured arguments of a lookup.
func describe(arguments []attribute.Filter, by attribute.FilterValues) string {
	var parts []string
	for _, f := range arguments {
		if v := by[f.Name]; v != "" {
			parts = append(parts, fmt.Sprintf("%s = %q", f.Name, v))
		}
	}
	return strings.Join(parts, ", ")
}

// DataSources returns the data source of all objects that match the filters.
func (d *Definition[T, M]) DataSources() datasource.DataSource {
	return d.Collection.dataSources(func(ctx context.Context, domains DomainReader, v *T) any { return d.model(ctx, domains, v) })
}

// DataSources returns the data source of all objects that match the filters, with the
// attributes of the API's responses.
func (l Collection[T]) DataSources() datasource.DataSource {
	return l.dataSources(func(_ context.Context, _ DomainReader, v *T) any { return v })
}

func (l Collection[T]) dataSources(flatten func(ctx context.Context, domains DomainReader, v *T) any) datasource.DataSource {
	element := schema.NestedAttributeObject{Attributes: l.readOnly()}
	elementType := element.Type().(types.ObjectType)
	attributes := map[string]schema.Attribute{l.Names: schema.ListNestedAttribute{
		Computed:            true,
		MarkdownDescription: "The " + l.Nouns + ", the oldest first.",
		NestedObject:        element,
	}}
	for _, f := range l.List.Filters {
		attributes[f.Name] = f.ForDataSource()
	}
	return NewDataSource(l.Names, schema.Schema{MarkdownDescription: l.description("The", l.Note), Attributes: attributes},
		func(ctx context.Context, c *client.Client, req datasource.ReadRequest, resp *datasource.ReadResponse) {
			by, diags := attribute.ReadFilters(ctx, req.Config, l.List.Filters)
			if resp.Diagnostics.Append(diags...); diags.HasError() {
				return
			}
			domains, found := listedDomains(c), []attr.Value{}
			for v, err := range l.List.All(ctx, c, by) {
				if err != nil {
					l.addListError(&resp.Diagnostics, err)
					return
				}
				found = append(found, attribute.Object(ctx, elementType.AttrTypes, flatten(ctx, domains, &v)))
			}
			if len(found) == 0 {
				// An error would fail a destroy after the domain is gone.
				resp.Diagnostics.Append(explainEmptyResult(ctx, c, by["domain"], diag.NewAttributeWarningDiagnostic)...)
			}
			// The framework put the filters into the state.
			resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root(l.Names), types.ListValueMust(elementType, found))...)
		})
}

// readOnly returns the attributes of an object in a data source.
func (l Collection[T]) readOnly() map[string]schema.Attribute {
	described := map[string]string{"domain": "Name of the domain, as `domain_name`."}
	if l.isScoped() {
		maps.Copy(described, attribute.ScopeDescriptions)
	}
	for name, a := range attribute.FromContract(api.FieldsOf(reflect.TypeFor[T]()), l.Noun) {
		described[name] = a.GetMarkdownDescription()
	}
	return attribute.ForDataSource(l.attributes(), described)
}

// addListError adds the error of a list.
func (l Collection[T]) addListError(diags *diag.Diagnostics, err error) {
	fields := report.Fields{}
	for _, f := range l.List.Filters {
		fields["query."+f.Name] = f.Name
	}
	addLookupError(diags, err, "Can't list the "+l.Nouns, fields)
}

// addLookupError adds the error of a lookup.
func addLookupError(diags *diag.Diagnostics, err error, summary string, fields report.Fields) {
	switch {
	case client.IsUnsupported(err):
		diags.AddError(summary, report.Paragraphs(
			fmt.Sprintf("This API has no operation for it (%s).", err),
			"It has the published operations only. Instead of a lookup, set the value in the configuration, for instance as a variable."))
	case client.IsNotFound(err):
		report.ErrorWithAdvice(diags, err, summary, fields, "Check the spelling, that account_id is the account that has it, and that the credential may see it.")
	default:
		report.Error(diags, err, summary, fields)
	}
}

// explainEmptyResult returns a diagnostic if nothing was found because the account lacks the domain: a misspelt
// name would delete all resources with a for_each over the result.
func explainEmptyResult(ctx context.Context, c *client.Client, domain string, diagnostic func(path.Path, string, string) diag.DiagnosticWithPath) (diags diag.Diagnostics) {
	if domain == "" {
		return nil
	}
	if _, err := c.Domains.Get(ctx, domain); client.IsNotFound(err) {
		diags.Append(diagnostic(path.Root("domain"), "The account has no domain "+InDomain{}.DomainLabel(domain),
			"The result is empty. Check the spelling, and that account_id is the account that has the domain."))
	}
	return diags
}
