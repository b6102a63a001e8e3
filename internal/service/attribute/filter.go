package attribute

import (
	"cmp"
	"context"
	"reflect"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	list "github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

// Filter is an attribute that selects objects in a list, or one object by a key.
type Filter struct {
	Name                string
	MarkdownDescription string
	Validators          []validator.String
	// Bool makes the attribute a boolean without validators. List resources support no booleans.
	Bool bool
}

func NewFilter(name, markdown string, validators ...validator.String) Filter {
	return Filter{Name: name, MarkdownDescription: markdown, Validators: validators}
}

// FilterValues are configured values by the filter's name: "" for none, "true" or "false" for a boolean.
type FilterValues map[string]string

// IDKey returns the UUID of an object as a key. others names the alternative keys, as in "`name` or `ip`".
func IDKey(noun, others string) Filter {
	return NewFilter("id", "UUID of the "+noun+". Set it or "+others+".",
		customtype.UUID.Validator())
}

// FiltersOf returns the query parameters of a list as filters, with the contract's descriptions and
// limits.
func FiltersOf[R any]() (all []Filter) {
	request := reflect.TypeFor[R]()
	_, isScoped := request.FieldByName("ScopeType")
	for _, f := range api.FieldsOf(request) {
		if f.In != "query" || len(f.Index) > 1 { // page and page_size
			continue
		}
		filter := Filter{Name: f.Name, MarkdownDescription: describeField(f, ""), Bool: f.Kind == reflect.Bool}
		switch rule := cmp.Or(filterRules[f.Name], filterRules[request.Name()+" "+f.Name]); {
		case f.Enum != nil:
			filter.Validators = []validator.String{validate.OneOf[R](f.Name)}
		case f.Format == api.FormatUUID:
			filter.Validators = []validator.String{customtype.UUID.Validator()}
		case rule != nil:
			filter.Validators = []validator.String{rule}
		}
		if isScoped && f.Name == "workspace_id" {
			filter.Validators = append(filter.Validators, oneScope{})
		}
		all = append(all, filter)
	}
	return all
}

// filterRules validates filters with a syntax that the contract does not describe, of every list or of one list.
var filterRules = map[string]validator.String{
	"domain": customtype.DomainRef.Validator(), "country_code": validate.Country(),
	"ListDNSRecordsRequest name": customtype.DNSName.Validator(),
}

// ForDataSource returns the argument of a data source.
func (f Filter) ForDataSource() schema.Attribute {
	if f.Bool {
		return schema.BoolAttribute{Optional: true, MarkdownDescription: f.MarkdownDescription}
	}
	return schema.StringAttribute{Optional: true, Validators: f.Validators, MarkdownDescription: f.MarkdownDescription}
}

// ForList returns the argument of a list resource.
func (f Filter) ForList() list.Attribute {
	return list.StringAttribute{Optional: true, Validators: f.Validators, MarkdownDescription: f.MarkdownDescription}
}

// Reader is a configuration, a plan or a state.
type Reader interface {
	GetAttribute(context.Context, path.Path, any) diag.Diagnostics
}

// ReadFilters returns the values of filters in a configuration without unknown values.
func ReadFilters(ctx context.Context, config Reader, filters []Filter) (FilterValues, diag.Diagnostics) {
	var diags diag.Diagnostics
	all := FilterValues{}
	for _, f := range filters {
		var value attr.Value
		diags.Append(config.GetAttribute(ctx, path.Root(f.Name), &value)...)
		if value != nil && !value.IsNull() {
			all[f.Name] = Shown(ctx, value)
		}
	}
	return all, diags
}
