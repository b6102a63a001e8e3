package service

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// Definition describes a kind of object to its resource, its data sources and its list
// resource. T is the API's type of an object, and M the resource's model, whose String
// names the object in messages, as in "mailbox jane@example.com".
type Definition[T any, M fmt.Stringer] struct {
	// Collection has what the plural data source needs.
	Collection[T]
	// Name is the type without the provider's name, such as "mailbox".
	Name string
	// ResourceDescription, DataSourceDescription and ListDescription are the Markdown
	// descriptions of the resource, the data source of one object, and the list resource.
	ResourceDescription, DataSourceDescription, ListDescription string

	// Settings are the resource's attributes beside Attributes: those that the API does
	// not return. Data sources do not have them.
	Settings func() map[string]schema.Attribute
	// Volatile lists the computed attributes that an update may change. A plan of an
	// update keeps the values of all others.
	Volatile []string
	// CreateTimeout, if set, adds the attribute timeouts, with this default for a create.
	CreateTimeout time.Duration

	// Get reads the object with an id, and Delete deletes it. Without such an object they
	// return an error for which client.IsNotFound is true.
	Get    func(c *client.Client, ctx context.Context, id string) (*T, error)
	Delete func(c *client.Client, ctx context.Context, id string) error
	// Flatten sets a model from a response. The default is [Flatten].
	Flatten func(m *M, v *T)

	// Find finds the object with a natural key, for an import and for a data source. An
	// object with a [Scope] has FindIn in its place, and the attributes and filters of a
	// scope. FindBy, if set, finds the object of a data source by all of its arguments.
	Find   func(c *client.Client, ctx context.Context, key string) (*T, error)
	FindIn func(c *client.Client, ctx context.Context, key string, scope client.Scope) (*T, error)
	FindBy func(ctx context.Context, c *client.Client, by FilterValues) (*T, error)
	// Keys are the arguments of the data source of which exactly one identifies the
	// object: its id, or its natural key. Qualifiers narrow a natural key.
	Keys, Qualifiers []Filter
	// Argument, if set, returns the key that is not an attribute of the resource, and its
	// value if the configuration does not set it.
	Argument func(v *T) (name string, value *string)

	// Shared means that several resources may have the same object, such as two sets of
	// mailboxes in one domain. Such a resource records what it manages in the walk itself.
	Shared bool
	// Key, if set, is the attribute by which a create finds and adopts an existing
	// object, and Canonical returns its value in the API's spelling.
	Key       string
	Canonical func(string) string
	// ImportBy lists the import ids for an import that finds nothing.
	ImportBy string
	// CanonicalID returns an id in the API's spelling, and false for anything else.
	// The default accepts UUIDs.
	CanonicalID func(string) (id string, ok bool)

	// DeleteVerb is the verb for a delete in messages; the default is "delete".
	DeleteVerb string
	// DeleteConflict, if set, explains what to do if the API refuses a delete with a
	// conflict.
	DeleteConflict string
	// DeleteOperation is the API's operation that deletes an object.
	DeleteOperation api.Spec
	// Orphaned describes the consequence of an object that the API can't delete.
	Orphaned func(context.Context, M) string
	// Unreadable means that an API which can't delete an object can't read it either,
	// so that it can't be imported again.
	Unreadable bool

	// ID returns an object's id, and DisplayName names the object for people.
	ID          func(*T) string
	DisplayName func(*T) string
	// Imported, if set, changes the model of a listed object to the one that an import and
	// a read leave, so that a configuration generated from it has an empty plan.
	Imported func(*M)
	// Skip, if set, reports whether the list resource leaves an object out because it
	// can't be imported.
	Skip func(*T) bool
}

// Collection describes the objects that a plural data source lists.
type Collection[T any] struct {
	// Names is the type without the provider's name, such as "mailboxes". It is also the
	// attribute of the results.
	Names string
	// Noun and Nouns name the objects in messages.
	Noun, Nouns string
	// Description is the Markdown description of the plural data source.
	Description string
	// Attributes are those of one object, as a resource has them.
	Attributes func() map[string]schema.Attribute
	// Described replaces, by name, the descriptions of attributes in data sources if the
	// resource's explain what a change of the attribute does.
	Described map[string]string
	// Filters are those of the plural data source and of the list resource.
	Filters []Filter
	// List iterates over the objects that match the filters, page by page.
	List func(ctx context.Context, c *client.Client, by FilterValues) iter.Seq2[T, error]
}

// resourceAttributes returns the attributes of the resource.
func (d *Definition[T, M]) resourceAttributes(ctx context.Context) map[string]schema.Attribute {
	all := d.Attributes()
	if d.FindIn != nil {
		maps.Copy(all, scopeAttributes("a "+d.Noun))
	}
	if d.Settings != nil {
		maps.Copy(all, d.Settings())
	}
	if d.CreateTimeout > 0 {
		all["timeouts"] = createTimeout(ctx, d.CreateTimeout)
	}
	return planned(all, d.Volatile)
}

// collection returns the collection of objects with a resource.
func (d *Definition[T, M]) collection() Collection[T] {
	c := d.Collection
	if d.FindIn == nil {
		return c
	}
	c.Filters = append(scopeFilters("a "+d.Noun, d.Nouns), c.Filters...)
	c.Attributes = func() map[string]schema.Attribute {
		all := d.Attributes()
		maps.Copy(all, scopeAttributes("a "+d.Noun))
		return all
	}
	c.Described = maps.Clone(scopeDescriptions)
	maps.Copy(c.Described, d.Described)
	return c
}

// SetModel sets a model from a response, with the [Scope] if it has one. Domains may be
// read through a cache.
func (d *Definition[T, M]) SetModel(ctx context.Context, domains DomainReader, m *M, v *T) {
	if d.Flatten != nil {
		d.Flatten(m, v)
	} else {
		Flatten(m, v)
	}
	if s, ok := any(m).(interface {
		setReferences(context.Context, DomainReader)
	}); ok {
		s.setReferences(ctx, domains)
	}
}

// model returns the model of an object.
func (d *Definition[T, M]) model(ctx context.Context, domains DomainReader, v *T) (m M) {
	d.SetModel(ctx, domains, &m, v)
	return m
}

// findID returns the id of the object with an import key.
func (d *Definition[T, M]) findID(ctx context.Context, c *client.Client, key string) (string, error) {
	var found *T
	var err error
	if d.FindIn == nil {
		found, err = d.Find(c, ctx, key)
	} else {
		found, err = findScoped(key, func(scope client.Scope, name string) (*T, error) { return d.FindIn(c, ctx, name, scope) })
	}
	if err != nil {
		return "", err
	}
	return d.ID(found), nil
}

// find finds the object of a data source.
func (d *Definition[T, M]) find(ctx context.Context, c *client.Client, by FilterValues) (*T, error) {
	id, key := by["id"], ""
	for _, k := range d.Keys {
		if k.Name != "id" && by[k.Name] != "" {
			key = by[k.Name]
		}
	}
	switch {
	case id != "":
		return d.Get(c, ctx, id)
	case d.FindBy != nil:
		return d.FindBy(ctx, c, by)
	case d.FindIn != nil:
		return d.FindIn(c, ctx, key, by.Scope())
	}
	return d.Find(c, ctx, key)
}
