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

// granted returns what a grant permits. An owner's has its kind in place of a capability's key.
func granted(g *api.Authorization) permission {
	key := types.StringValue(g.GrantKind)
	if g.GrantKind == vocab.GrantCapability {
		key = types.StringPointerValue(g.CapabilityKey)
	}
	return permission{key, types.StringPointerValue(g.ResourceType), customtype.String{StringValue: types.StringPointerValue(g.ResourceID)}}
}

// permissionsIn returns the elements of the attribute, or none if one is unknown. Nothing else of
// their type fails to be a permission.
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
		all = append(all, permission{}) // with a null among the elements, permissionsIn returns none
	}
	for _, p := range all {
		// The schema can't require it, because the framework takes it for missing while the whole element is unknown.
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

// checkRights refuses permissions that the API can't grant, and warns of a service account
// that becomes an owner, because it inherits the permissions of the provider's credential.
func (r *Resource) checkRights(ctx context.Context, plan model, diags *diag.Diagnostics) {
	c := r.ClientForWarning(ctx)
	if c == nil {
		return
	}
	caller, err := r.Caller(ctx, c)
	switch {
	case err != nil: // a refresh, or the plan of a create, reports it
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

// addNoGrants adds the error of permissions on an API that can't grant any.
func addNoGrants(diags *diag.Diagnostics, object string) {
	diags.AddAttributeError(path.Root("permissions"), "Can't restrict the "+object,
		"This API has no operation that grants or revokes permissions: a service account has those of the credential that creates it. "+
			"Remove permissions, and create it with a credential that has no more than it should have.")
}

func authorizations(ctx context.Context, c *client.Client, id string) (all []api.Authorization, err error) {
	for g, err := range c.ListAuthorizations(ctx, api.ListAuthorizationsRequest{
		SubjectType: vocab.SubjectServiceAccount, SubjectID: id,
	}) {
		if err != nil {
			return nil, err
		}
		all = append(all, g)
	}
	return all, nil
}

// restrict gives a service account exactly some permissions. It revokes last: an error
// leaves a token with more rights than planned, and none that its users need is missing.
func restrict(ctx context.Context, c *client.Client, id string, permissions types.Set) error {
	wanted := permissionsIn(ctx, permissions)
	have, err := authorizations(ctx, c, id)
	if err != nil {
		return err
	}
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
// state's spelling of a UUID. An import reads those of a service account that is no owner, if the
// provider's credential may view them.
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
