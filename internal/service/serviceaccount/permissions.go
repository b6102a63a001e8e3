package serviceaccount

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
)

// permission is an element of the attribute permissions.
type permission struct {
	CapabilityKey types.String      `tfsdk:"capability_key"`
	ResourceType  types.String      `tfsdk:"resource_type"`
	ResourceID    customtype.String `tfsdk:"resource_id"`
}

var permissionType = types.ObjectType{AttrTypes: map[string]attr.Type{
	"capability_key": types.StringType, "resource_type": types.StringType, "resource_id": customtype.UUID,
}}

// permissionFields maps the members of a grant's request to the attribute.
var permissionFields = report.Fields{"capability_key": "permissions", "resource_type": "permissions", "resource_id": "permissions"}

// same reports whether two permissions are equal, in any spelling of the UUID.
func (p permission) same(other permission) bool {
	return p.CapabilityKey.Equal(other.CapabilityKey) && p.ResourceType.Equal(other.ResourceType) &&
		strings.EqualFold(p.ResourceID.ValueString(), other.ResourceID.ValueString())
}

// granted returns the permission of a grant. For an owner, the kind of the grant takes the place of a
// capability's key.
func granted(g *api.Authorization) permission {
	key := types.StringValue(g.GrantKind)
	if g.GrantKind == vocab.GrantCapability {
		key = types.StringPointerValue(g.CapabilityKey)
	}
	return permission{key, types.StringPointerValue(g.ResourceType), customtype.String{StringValue: types.StringPointerValue(g.ResourceID)}}
}

// permissionsIn returns the elements of the attribute, or none if one is unknown or null. Every other
// element is convertible to a permission.
func permissionsIn(ctx context.Context, set types.Set) (all []permission) {
	if !set.IsNull() {
		set.ElementsAs(ctx, &all, false)
	}
	return all
}

func checkPermissions(ctx context.Context, set types.Set, diags *diag.Diagnostics) {
	if set.IsUnknown() {
		return
	}
	all := permissionsIn(ctx, set)
	if slices.ContainsFunc(set.Elements(), attr.Value.IsNull) {
		all = append(all, permission{}) // permissionsIn returned none
	}
	for _, p := range all {
		// The schema can't require capability_key, because the framework reports it as missing while the element is unknown.
		if p.CapabilityKey.IsNull() {
			diags.AddAttributeError(path.Root("permissions"), "A permission without capability_key",
				"Each permission names a capability. Set capability_key, for instance to mailbox.view.")
		}
		if key := p.CapabilityKey.ValueString(); isSet(p.CapabilityKey) && !slices.Contains(api.Capabilities(), vocab.Capability(key)) {
			diags.AddAttributeError(path.Root("permissions"), fmt.Sprintf("There is no capability %q", key),
				fmt.Sprintf("The API's capabilities are %s.", strings.ReplaceAll(strings.Trim(fmt.Sprint(api.Capabilities()), "[]"), " ", ", ")))
		}
		if p.ResourceType.IsNull() != p.ResourceID.IsNull() && !p.ResourceType.IsUnknown() && !p.ResourceID.IsUnknown() {
			diags.AddAttributeError(path.Root("permissions"), "A permission names only half of its resource",
				fmt.Sprintf("%s has resource_type or resource_id, but not both. Set both to restrict it to a workspace or a domain, or neither to give it for the whole account.", p.CapabilityKey.ValueString()))
		}
	}
}

// checkRights refuses permissions that the API can't grant, and warns if a service account
// becomes an owner, because it inherits the permissions of the provider's credential.
func (r *Resource) checkRights(ctx context.Context, plan model, diags *diag.Diagnostics) {
	c := r.ClientIfOpen(ctx)
	if c == nil {
		return
	}
	caller, err := r.Caller(ctx, c)
	switch {
	case err != nil: // a refresh, or the plan of a create, reports the error
	case !plan.Permissions.IsNull():
		if caller == nil {
			addNoGrants(diags, plan.String())
		}
	case caller != nil && slices.ContainsFunc(caller.Grants, func(g api.Authorization) bool {
		return g.GrantKind != vocab.GrantCapability && g.RevokedAt == nil
	}):
		diags.AddWarning("The plan makes the "+plan.String()+" an owner of the account",
			"A service account has the rights of the credential that creates it, and the provider's may do everything. Whoever has the token, or reads the state, may too. "+
				"For fewer rights, list what it needs in permissions.")
	}
}

// addNoGrants adds an error about permissions on an API that can't grant any.
func addNoGrants(diags *diag.Diagnostics, object string) {
	diags.AddAttributeError(path.Root("permissions"), "Can't restrict the "+object,
		"This API has no operation that grants or revokes permissions: a service account has those of the credential that creates it. "+
			"Remove permissions, and create it with a credential that has no more than it should have.")
}

// authorizations returns the grants of a service account that are not revoked.
func authorizations(ctx context.Context, c *client.Client, id string) (all []api.Authorization, err error) {
	for g, err := range c.ListAuthorizations(ctx, api.ListAuthorizationsRequest{
		SubjectType: vocab.SubjectServiceAccount, SubjectID: id,
	}) {
		if err != nil {
			return nil, err
		}
		// An API may ignore the filters, and nothing of another subject may be revoked.
		if g.SubjectType == vocab.SubjectServiceAccount && strings.EqualFold(g.SubjectID, id) && g.RevokedAt == nil {
			all = append(all, g)
		}
	}
	return all, nil
}

// restrict changes the permissions of a service account to exactly the given ones. It revokes from a new
// service account first, so that its rights are never wider than planned for longer than necessary, and
// from one in use last, so that its users lack nothing in between.
func restrict(ctx context.Context, c *client.Client, id string, permissions types.Set, isNew bool) error {
	wanted := permissionsIn(ctx, permissions)
	have, err := authorizations(ctx, c, id)
	if err != nil {
		return err
	}
	steps := []func() error{
		func() error { return grantMissing(ctx, c, id, wanted, have) },
		func() error { return revokeSurplus(ctx, c, wanted, have) },
	}
	if isNew {
		slices.Reverse(steps)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func grantMissing(ctx context.Context, c *client.Client, id string, wanted []permission, have []api.Authorization) error {
	for _, p := range wanted {
		if slices.ContainsFunc(have, func(g api.Authorization) bool { return p.same(granted(&g)) }) {
			continue
		}
		if err := c.GrantAuthorization(ctx, api.GrantAuthorizationBody{
			GrantKind: vocab.GrantCapability, SubjectType: vocab.SubjectServiceAccount, SubjectID: id,
			CapabilityKey: p.CapabilityKey.ValueStringPointer(), ResourceType: p.ResourceType.ValueStringPointer(), ResourceID: p.ResourceID.ValueStringPointer(),
		}); err != nil {
			return err
		}
	}
	return nil
}

func revokeSurplus(ctx context.Context, c *client.Client, wanted []permission, have []api.Authorization) error {
	for _, g := range have {
		if slices.ContainsFunc(wanted, granted(&g).same) {
			continue
		}
		if err := c.RevokeAuthorization(ctx, g.ID); err != nil {
			return err
		}
	}
	return nil
}

// readPermissions sets the permissions from the API, if they are managed. It keeps the
// state's spelling of a UUID. An import also sets them, unless the service account is an owner or
// the provider's credential may not view them.
func (m *model) readPermissions(ctx context.Context, c *client.Client, isImport bool) error {
	if m.Permissions.IsNull() && !isImport {
		return nil
	}
	known := permissionsIn(ctx, m.Permissions)
	grants, err := authorizations(ctx, c, m.ID.ValueString())
	isOwner := slices.ContainsFunc(grants, func(g api.Authorization) bool { return g.GrantKind != vocab.GrantCapability })
	switch {
	case isImport && (isOwner || errors.Is(err, client.ErrReadUnsupported) || client.StatusOf(err) == http.StatusForbidden):
		return nil
	case err != nil:
		return err
	}
	all := []permission{}
	for _, g := range grants {
		p := granted(&g)
		if i := slices.IndexFunc(known, p.same); i >= 0 {
			p = known[i]
		}
		all = append(all, p)
	}
	m.Permissions, _ = types.SetValueFrom(ctx, permissionType, all)
	return nil
}
