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

// Object is a kind of object that can be looked up: what its data sources and
// its list resource have in common. T is what the API answers, R the record of
// it: a model whose attributes are Attributes.
type Object[T, R any] struct {
	// Name and Names are the types without the provider's name: mailbox and
	// mailboxes. Names is the plural data source's attribute of results, too.
	Name, Names string
	// Noun and Nouns name it in messages.
	Noun, Nouns string
	// Attributes are those of one object, see [Answered].
	Attributes func() map[string]schema.Attribute
	// Filters are the list's.
	Filters []Filter
	// List lists what the given filters let through, page by page.
	List func(ctx context.Context, c *client.Client, by Given) iter.Seq2[T, error]
	// Recorder returns a function that makes the record of an answer. It is asked
	// for one per list, and may remember there what it has looked up. Where the
	// answer says all, see [Recorded].
	Recorder func(c *client.Client) func(ctx context.Context, v *T) R
}

// Recorded is the Recorder of an object whose answer says all of its record.
func Recorded[T, R any](record func(*T) R) func(*client.Client) func(context.Context, *T) R {
	return func(*client.Client) func(context.Context, *T) R {
		return func(_ context.Context, v *T) R { return record(v) }
	}
}

// results is where the plural data source has what it found.
func (o Object[T, R]) results() schema.Attribute {
	return schema.ListNestedAttribute{
		Computed:            true,
		MarkdownDescription: "The " + o.Nouns + ", the oldest first.",
		NestedObject:        schema.NestedAttributeObject{Attributes: o.Attributes()},
	}
}

// addListError tells why objects could not be listed.
func (o Object[T, R]) addListError(diags *diag.Diagnostics, err error) {
	fields := Fields{}
	for _, f := range o.Filters {
		fields["query."+f.Name] = f.Name
	}
	addLookupError(diags, err, "Can't list the "+o.Nouns, fields)
}

// addLookupError tells why something could not be looked up. An API that can't
// do it at all is told apart from one that failed.
func addLookupError(diags *diag.Diagnostics, err error, summary string, fields Fields) {
	switch {
	case client.IsUnsupported(err):
		diags.AddError(summary, join(
			fmt.Sprintf("This API has no operation for it (%s).", err),
			"It has the published operations only. Give what you need in the configuration, for instance as a variable, instead of looking it up."))
	case client.IsNotFound(err):
		AddErrorAdvising(diags, err, summary, fields, "Check the spelling, that account_id is the account that has it, and that the credential may see it.")
	default:
		AddError(diags, err, summary, fields)
	}
}

// Answered returns a resource's attributes as those of a data source, which the
// API answers and nobody configures. Of an attribute that a resource's
// configuration says, the description tells what a change does; descriptions has
// the words for it in a data source, by name.
func Answered(attributes map[string]resource.Attribute, descriptions map[string]string) map[string]schema.Attribute {
	answered := make(map[string]schema.Attribute, len(attributes))
	for name, a := range attributes {
		description, given := descriptions[name]
		if !given {
			description = a.GetMarkdownDescription()
		}
		answered[name] = computed(name, a, description)
	}
	for name := range descriptions {
		if _, ok := attributes[name]; !ok {
			panic("service: there is no attribute " + name + " to describe")
		}
	}
	return answered
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
		return schema.SingleNestedAttribute{Computed: true, Attributes: Answered(a.Attributes, nil), MarkdownDescription: description}
	case resource.ListNestedAttribute:
		return schema.ListNestedAttribute{
			Computed: true, MarkdownDescription: description,
			NestedObject: schema.NestedAttributeObject{Attributes: Answered(a.NestedObject.Attributes, nil)},
		}
	}
	panic(fmt.Sprintf("service: no data source has an attribute like %s, a %T", name, a))
}
