package service

import (
	"cmp"
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// Resource is the base of a resource with the model M. It implements Metadata,
// Configure, IdentitySchema and ImportState, and has the common part of Create, Read,
// Update and Delete. Pass the resource that embeds it to [Manage].
type Resource[M any] struct {
	connection
	Definition[M]
}

// Definition describes a resource with the model M.
type Definition[M any] struct {
	// Name is the resource type without the provider's name, such as "mailbox".
	Name string
	// Label names an object in messages, such as "mailbox jane@example.com".
	Label func(M) string
	// Key, if set, is the attribute by which a create finds and adopts an existing
	// object, and Canonical returns its value in the API's spelling.
	Key       string
	Canonical func(string) string

	// Find returns the id of the object with a natural key, for an import. ImportBy
	// lists the import ids for an import that finds nothing.
	Find     func(ctx context.Context, c *client.Client, key string) (id string, err error)
	ImportBy string
	// CanonicalID returns an id in the API's spelling, and false for anything else.
	// The default accepts UUIDs.
	CanonicalID func(string) (id string, ok bool)

	// DeleteVerb is the verb for a delete in messages; the default is "delete".
	DeleteVerb string
	// DeleteOperation is the API's operation that deletes an object.
	DeleteOperation api.Spec
	// Orphaned describes the consequence of an object that the API can't delete.
	Orphaned func(context.Context, M) string
	// Unreadable means that an API which can't delete an object can't read it either,
	// so that it can't be imported again.
	Unreadable bool
}

// Metadata implements resource.Resource.
func (r *Resource[M]) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + r.Name
}

// Configure implements resource.ResourceWithConfigure.
func (r *Resource[M]) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	r.connect(req.ProviderData, &resp.Diagnostics)
}

// Planned returns the plan of a create and the account's client, which is nil after
// an error.
func (r *Resource[M]) Planned(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) (plan M, c *client.Client) {
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if c = r.Client(ctx, &resp.Diagnostics); resp.Diagnostics.HasError() {
		return plan, nil
	}
	return plan, c
}

// SetCreated puts a created object with its identity into the state.
func (r *Resource[M]) SetCreated(ctx context.Context, resp *resource.CreateResponse, c *client.Client, created *M) {
	resp.Diagnostics.Append(resp.State.Set(ctx, created)...)
	resp.Diagnostics.Append(setIdentity(ctx, resp.Identity, c.AccountID(), attribute(resp.State.Raw, "id"))...)
}

// ReadObject implements Read with get, which updates the state from the API. An
// object that get does not find is dropped from the state.
func (r *Resource[M]) ReadObject(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse, get func(c *client.Client, state *M) error) {
	var state M
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	c := r.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(setIdentity(ctx, resp.Identity, c.AccountID(), attribute(req.State.Raw, "id"))...)
	switch err := get(c, &state); {
	case err == nil:
		resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
	case client.IsNotFound(err):
		resp.State.RemoveResource(ctx)
	default:
		AddError(&resp.Diagnostics, err, "Can't read the "+r.Label(state), nil)
	}
}

// Changed returns the plan and the state of an update, and the account's client,
// which is nil after an error. It has set the identity.
func (r *Resource[M]) Changed(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) (plan, state M, c *client.Client) {
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if c = r.Client(ctx, &resp.Diagnostics); resp.Diagnostics.HasError() {
		return plan, state, nil
	}
	resp.Diagnostics.Append(setIdentity(ctx, resp.Identity, c.AccountID(), attribute(req.State.Raw, "id"))...)
	return plan, state, c
}

// DeleteObject implements Delete with remove. An object that no longer exists is a
// success. An object that the API can't delete is a warning, which is short if the
// plan has announced it.
func (r *Resource[M]) DeleteObject(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse, remove func(c *client.Client, state M) error) {
	var state M
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	c := r.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	switch err := remove(c, state); {
	case err == nil || client.IsNotFound(err):
	case errors.Is(err, client.ErrDeleteUnsupported):
		announced, diags := req.Private.GetKey(ctx, orphanAnnouncedKey)
		resp.Diagnostics.Append(diags...)
		r.orphan(ctx, req.State.Raw, state).warnDestroyed(&resp.Diagnostics, len(announced) > 0)
	default:
		AddError(&resp.Diagnostics, err, "Can't "+cmp.Or(r.DeleteVerb, "delete")+" the "+r.Label(state), nil)
	}
}

func (r *Resource[M]) base() *connection { return &r.connection }

func (r *Resource[M]) typeName() string { return "mailhost_" + r.Name }

// label names the object of a plan or a state. A value that can't be decoded is
// reported elsewhere.
func (r *Resource[M]) label(ctx context.Context, get func(ctx context.Context, target any) diag.Diagnostics) string {
	var m M
	get(ctx, &m)
	return r.Label(m)
}

// naturalKey returns the natural key of an object in the API's spelling, or "" if it
// has none or it is unknown.
func (r *Resource[M]) naturalKey(object tftypes.Value) string {
	if r.Key == "" {
		return ""
	}
	if key := attribute(object, r.Key); key != "" {
		return r.Canonical(key)
	}
	return ""
}

// attribute returns a string attribute of an object, or "".
func attribute(object tftypes.Value, name string) string {
	var fields map[string]tftypes.Value
	if object.IsNull() || object.As(&fields) != nil || !fields[name].IsKnown() {
		return ""
	}
	var s *string
	if fields[name].As(&s) != nil || s == nil {
		return ""
	}
	return *s
}

// Identity is the resource identity of every resource: the object's id in its
// account.
type Identity struct {
	AccountID types.String `tfsdk:"account_id"`
	ID        types.String `tfsdk:"id"`
}

// IdentitySchema implements resource.ResourceWithIdentity.
func (r *Resource[M]) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{
		Attributes: map[string]identityschema.Attribute{
			"account_id": identityschema.StringAttribute{OptionalForImport: true, Description: "UUID of the account; default: the provider's."},
			"id":         identityschema.StringAttribute{RequiredForImport: true, Description: "Id of the object."},
		},
	}
}

// setIdentity sets the identity of an object. In a Read it must be called before
// the object may turn out to be gone, because a Read without an identity fails the
// whole plan. It writes a UUID in lower case, because Terraform refuses an identity
// that changes.
func setIdentity(ctx context.Context, identity *tfsdk.ResourceIdentity, accountID, id string) diag.Diagnostics {
	if identity == nil {
		return nil // the CLI does not support identities
	}
	if own, ok := canonicalUUID(id); ok {
		id = own
	}
	return identity.Set(ctx, Identity{AccountID: types.StringValue(accountID), ID: types.StringValue(id)})
}
