package service

import (
	"context"
	"fmt"
	"iter"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	resource "github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// Collection describes the objects that data sources and list resources find. T is
// the API's type of an object, M the model that has its attributes.
type Collection[T, M any] struct {
	// Name and Names are the types without the provider's name: mailbox and
	// mailboxes. Names is also the plural data source's attribute of results.
	Name, Names string
	// Noun and Nouns name the objects in messages.
	Noun, Nouns string
	// Attributes are those of one object, see [ComputedAttributes].
	Attributes func() map[string]schema.Attribute
	// Filters are those of the plural data source and of the list resource.
	Filters []Filter
	// List iterates over the objects that match the filters, page by page.
	List func(ctx context.Context, c *client.Client, by FilterValues) iter.Seq2[T, error]
	// Flatten returns the model of an object. Domains are read through a cache.
	Flatten func(ctx context.Context, domains DomainReader, v *T) M
}

// results is the plural data source's attribute of results.
func (c Collection[T, M]) results() schema.Attribute {
	return schema.ListNestedAttribute{
		Computed:            true,
		MarkdownDescription: "The " + c.Nouns + ", the oldest first.",
		NestedObject:        schema.NestedAttributeObject{Attributes: c.Attributes()},
	}
}

// addListError reports why objects could not be listed.
func (c Collection[T, M]) addListError(diags *diag.Diagnostics, err error) {
	fields := Fields{}
	for _, f := range c.Filters {
		fields["query."+f.Name] = f.Name
	}
	addLookupError(diags, err, "Can't list the "+c.Nouns, fields)
}

// addLookupError reports why objects could not be looked up. It distinguishes an API
// without the operation from one that failed.
func addLookupError(diags *diag.Diagnostics, err error, summary string, fields Fields) {
	switch {
	case client.IsUnsupported(err):
		diags.AddError(summary, paragraphs(
			fmt.Sprintf("This API has no operation for it (%s).", err),
			"It has the published operations only. Instead of a lookup, set the value in the configuration, for instance as a variable."))
	case client.IsNotFound(err):
		AddErrorWithAdvice(diags, err, summary, fields, "Check the spelling, that account_id is the account that has it, and that the credential may see it.")
	default:
		AddError(diags, err, summary, fields)
	}
}

// ComputedAttributes returns a resource's attributes as computed attributes of a
// data source. descriptions replaces, by name, the descriptions that explain what a
// change of the attribute does.
func ComputedAttributes(attributes map[string]resource.Attribute, descriptions map[string]string) map[string]schema.Attribute {
	all := make(map[string]schema.Attribute, len(attributes))
	for name, a := range attributes {
		description, ok := descriptions[name]
		if !ok {
			description = a.GetMarkdownDescription()
		}
		all[name] = computed(name, a, description)
	}
	for name := range descriptions {
		if _, ok := attributes[name]; !ok {
			panic("service: there is no attribute " + name + " to describe")
		}
	}
	return all
}

func computed(name string, a resource.Attribute, description string) schema.Attribute {
	switch a := a.(type) {
	case resource.StringAttribute:
		return schema.StringAttribute{Computed: true, CustomType: a.CustomType, Sensitive: a.Sensitive, MarkdownDescription: description}
	case resource.BoolAttribute:
		return schema.BoolAttribute{Computed: true, MarkdownDescription: description}
	case resource.Int64Attribute:
		return schema.Int64Attribute{Computed: true, MarkdownDescription: description}
	case resource.SingleNestedAttribute:
		return schema.SingleNestedAttribute{Computed: true, Attributes: ComputedAttributes(a.Attributes, nil), MarkdownDescription: description}
	case resource.ListNestedAttribute:
		return schema.ListNestedAttribute{
			Computed: true, MarkdownDescription: description,
			NestedObject: schema.NestedAttributeObject{Attributes: ComputedAttributes(a.NestedObject.Attributes, nil)},
		}
	}
	panic(fmt.Sprintf("service: no data source has an attribute like %s, a %T", name, a))
}
