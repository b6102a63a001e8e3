package service

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
)

// Definition describes a kind of object once, for its resource, its data sources and its list
// resource: T is the API's type of an object, and M the model of the resource. M's String returns the
// object's name in messages, as in "mailbox jane@example.com".
type Definition[T any, M fmt.Stringer] struct {
	// Name is the type without the provider's name, such as "mailbox".
	Name string
	Collection[T]

	// Find, read and delete one object.

	// CanonicalID returns an id in the API's spelling, and false for anything else.
	// The default accepts UUIDs.
	CanonicalID func(string) (id string, ok bool)
	// Objects returns the client's functions that read and delete an object. It is nil for a resource
	// that overrides Read and Delete.
	Objects func(c *client.Client) *client.Objects[T]
	// Flatten sets a model from a response. The default is [attribute.Flatten].
	Flatten func(m *M, v *T)
	// Find finds the object with a natural key, for an import and for a data source.
	Find func(c *client.Client, ctx context.Context, key string) (*T, error)
	// FindInScope replaces Find for a key that is unique only in a scope. The kind then gets the
	// attributes and the filters of a scope, and its model must embed [Scope].
	FindInScope func(c *client.Client, ctx context.Context, key string, scope client.Scope) (*T, error)
	// FindBy, if set, finds the object of a data source by all of its arguments.
	FindBy func(ctx context.Context, c *client.Client, by attribute.FilterValues) (*T, error)

	// The resource.

	// ResourceDescription is the Markdown description of the resource.
	ResourceDescription string
	// Settings returns the attributes of the resource that the API does not return, such as timeouts.
	// Data sources omit them.
	Settings func() map[string]schema.Attribute
	// Validate, if set, checks a resource's configuration, which may contain unknown values.
	Validate func(ctx context.Context, config M, diags *diag.Diagnostics)
	// NaturalKeys returns the natural keys of an object in the API's spelling, as far as its
	// attributes are known. See [attribute.DomainKeys].
	NaturalKeys func(attribute.Raw) []string
	// PlannedValues, if set, returns the computed attributes of a new object that follow from its
	// arguments. Core refuses an apply with another result, for instance in another account.
	PlannedValues func(of attribute.Raw, accountID string) map[string]attr.Value
	// Volatile lists the computed attributes that an update may change. The plan of an update keeps
	// the values of all others.
	Volatile []string
	// ReplacedBy lists the arguments that replace the object if they change, see
	// [Resource.planReplacement]. An adoption does not change them.
	ReplacedBy []string
	// IsValuable means that an object holds mail or money: a plan fails if it would delete the object
	// and create another one with the same key.
	IsValuable bool
	// Shared means that several resources may manage the same object, such as two sets of mailboxes
	// in one domain. The kind then records its objects in the walk itself.
	Shared bool
	// CreateTimeout, if set, adds the attribute timeouts, with this default for a create.
	CreateTimeout time.Duration
	// ImportBy lists the import ids, for the error of an import that finds nothing. An import stores
	// ImportNotes in the private state, by key.
	ImportBy    string
	ImportNotes map[string]any

	// Losses returns the losses of a planned change, and its purchases. It also gets changes in which
	// nothing is lost, with unknown values and without a connection: see [Change]. A kind whose objects
	// can't be lost returns nil.
	Losses func(context.Context, Change[M]) []Loss
	// DeleteOperation is the API's operation that deletes an object. DeleteVerb is the verb for it
	// in messages; the default is "delete".
	DeleteOperation api.Spec
	DeleteVerb      string
	// DeleteConflict, if set, is the advice for a delete that the API refuses with a conflict.
	DeleteConflict string
	// OrphanConsequence describes the consequence of leaving an object that the API can't delete.
	OrphanConsequence func(context.Context, *client.Client, M) string

	// The data source of one object, and the list resource. Both are empty for a resource without
	// data sources.

	Single  Single[T]
	Listing Listing[T, M]
}

// Collection describes the objects that a plural data source lists.
type Collection[T any] struct {
	// Names is the type without the provider's name, such as "mailboxes". It is also the
	// attribute of the results.
	Names string
	// Noun and Nouns name the objects in messages.
	Noun, Nouns string
	// Note follows the first sentence of the data source's description.
	Note string
	// Attributes returns the resource's arguments, and the attributes without a field in T. All other
	// fields of T are computed attributes. Data sources describe each field of T as the contract does.
	Attributes func() map[string]schema.Attribute
	// List lists the objects for the plural data source and the list resource.
	List List[T]
}

// List is a list of the API. See [Listed] and [ListedAll].
type List[T any] struct {
	Filters []attribute.Filter
	// All iterates over the objects that match the filters, page by page.
	All func(ctx context.Context, c *client.Client, by attribute.FilterValues) iter.Seq2[T, error]
}

// Single is the data source of one object.
type Single[T any] struct {
	// Description is the data source's Markdown description.
	Description string
	// Keys lists the arguments that identify the object, first its id, then its natural keys. The
	// configuration sets exactly one of them. Qualifiers restrict a natural key.
	Keys, Qualifiers []attribute.Filter
	// Argument, if set, returns the name of the one key that the resource lacks as an attribute, and
	// the key's value for a configuration that does not set it.
	Argument func(v *T) (name string, value *string)
}

// Listing is the list resource.
type Listing[T any, M fmt.Stringer] struct {
	// Note follows the first sentence of the list resource's Markdown description.
	Note string
	// DisplayName returns the object's name for people. The default is the first natural key of Single,
	// or the name, with the type of the scope unless it is the account.
	DisplayName func(*T) string
	// Imported, if set, changes the model of a listed object to the state after an import and a read,
	// so that the plan of a configuration generated from it is empty.
	Imported func(ctx context.Context, c *client.Client, m *M) error
	// Skip, if set, reports whether the list omits an object because it can't be imported.
	Skip func(*T) bool
}

// Listed returns the list of an operation, with its query parameters as filters.
func Listed[T, R any](list func(c *client.Client, ctx context.Context, req R) iter.Seq2[T, error]) List[T] {
	return List[T]{attribute.FiltersOf[R](), func(ctx context.Context, c *client.Client, by attribute.FilterValues) iter.Seq2[T, error] {
		var req R
		fields := reflect.ValueOf(&req).Elem()
		for _, f := range api.FieldsOf(fields.Type()) {
			switch value, field := by[f.Name], fields.FieldByIndex(f.Index); {
			case value == "":
			case f.Kind == reflect.Bool:
				field.SetBool(value == "true")
			default:
				field.SetString(value)
			}
		}
		return list(c, ctx, req)
	}}
}

// ListedAll returns the list of an operation without filters.
func ListedAll[T any](list func(c *client.Client, ctx context.Context) iter.Seq2[T, error]) List[T] {
	return List[T]{All: func(ctx context.Context, c *client.Client, _ attribute.FilterValues) iter.Seq2[T, error] {
		return list(c, ctx)
	}}
}

func (d *Definition[T, M]) resourceAttributes() map[string]schema.Attribute {
	all := d.Collection.attributes()
	if d.Settings != nil {
		maps.Copy(all, d.Settings())
	}
	if d.CreateTimeout > 0 {
		all["timeouts"] = attribute.CreateTimeout(d.CreateTimeout)
	}
	return attribute.CompleteCustomTypes(all)
}

func (d *Definition[T, M]) typeName() string { return "mailhost_" + d.Name }

// isScoped reports whether the objects belong to a [Scope].
func (l Collection[T]) isScoped() bool {
	_, ok := reflect.TypeFor[T]().FieldByName("ScopeType")
	return ok
}

// attributes returns the attributes of the resource that the API returns.
func (l Collection[T]) attributes() map[string]schema.Attribute {
	all := map[string]schema.Attribute{}
	if l.Names != "" {
		all = attribute.FromContract(api.FieldsOf(reflect.TypeFor[T]()), l.Noun)
	}
	if l.Attributes != nil {
		maps.Copy(all, l.Attributes())
	}
	if l.isScoped() {
		maps.Copy(all, attribute.Scope())
	}
	return all
}

// description describes the collection after a first word, such as "Lists the".
func (l Collection[T]) description(first, note string) string {
	text := first + " " + l.Nouns + " of the account"
	if len(l.List.Filters) > 0 {
		text += ", or those that match every filter"
	}
	if text += "."; note != "" {
		text += " " + note
	}
	return text
}

// SetModel sets a model from a response, including its [Scope]. domains may read from a cache.
func (d *Definition[T, M]) SetModel(ctx context.Context, domains DomainReader, m *M, v *T) {
	d.flatten(m, v)
	if s, ok := any(m).(interface {
		setReferences(context.Context, DomainReader)
	}); ok {
		s.setReferences(ctx, domains)
	}
}

func (d *Definition[T, M]) flatten(m *M, v *T) {
	if d.Flatten != nil {
		d.Flatten(m, v)
	} else {
		attribute.Flatten(m, v)
	}
}

func (d *Definition[T, M]) model(ctx context.Context, domains DomainReader, v *T) (m M) {
	d.SetModel(ctx, domains, &m, v)
	return m
}

// idOf returns the id of a response.
func idOf(response any) string {
	return attribute.Shown(context.Background(), attribute.Values(response)["id"])
}

func (d *Definition[T, M]) displayName(v *T) string {
	if d.Listing.DisplayName != nil {
		return d.Listing.DisplayName(v)
	}
	key, values := "name", attribute.Values(v)
	if len(d.Single.Keys) > 1 {
		key = d.Single.Keys[1].Name
	}
	name := attribute.Shown(context.Background(), values[key])
	if d.isScoped() && !values["scope_type"].Equal(types.StringValue(vocab.ScopeAccount)) {
		name += " (" + attribute.Shown(context.Background(), values["scope_type"]) + ")"
	}
	return name
}

// findID returns the id of the object with an import key.
func (d *Definition[T, M]) findID(ctx context.Context, c *client.Client, key string) (string, error) {
	var found *T
	var err error
	if d.isScoped() {
		found, err = findScoped(key, func(scope client.Scope, name string) (*T, error) { return d.FindInScope(c, ctx, name, scope) })
	} else {
		found, err = d.Find(c, ctx, key)
	}
	if err != nil {
		return "", err
	}
	return idOf(found), nil
}

// find finds the object of a data source.
func (d *Definition[T, M]) find(ctx context.Context, c *client.Client, by attribute.FilterValues) (*T, error) {
	var key string
	for _, k := range d.Single.Keys {
		if by[k.Name] != "" {
			key = by[k.Name]
		}
	}
	switch {
	case d.FindBy != nil:
		return d.FindBy(ctx, c, by)
	case by["id"] != "":
		return d.Objects(c).Get(ctx, by["id"])
	case d.isScoped():
		return d.FindInScope(c, ctx, key, client.Scope{Domain: by["domain"], WorkspaceID: by["workspace_id"]})
	}
	return d.Find(c, ctx, key)
}
