package service

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Managed is what every resource of this provider implements.
type Managed interface {
	resource.ResourceWithConfigure
	resource.ResourceWithIdentity
	resource.ResourceWithImportState
	resource.ResourceWithModifyPlan
}

// Guard returns the resource with what has to hold for every kind of object:
//
//   - An object in the state is only read, changed or deleted through a connection
//     to the account that it belongs to. In another account it would seem to be
//     gone. The state knows the account by the resource identity or, on a CLI that
//     has no identities, by the private state.
//   - An error that concerns the connection as a whole is reported in full once
//     per walk. Reads and plans of other objects then return nothing instead, and
//     changes of other objects fail with a short error.
func Guard(r resource.Resource) resource.Resource { return &guarded{Managed: r.(Managed)} }

type guarded struct {
	Managed
	connection
}

// accountKey is where the private state has the account.
const accountKey = "account"

// Configure implements resource.ResourceWithConfigure.
func (g *guarded) Configure(ctx context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	g.Managed.Configure(ctx, req, resp)
	if !resp.Diagnostics.HasError() {
		g.connect(req.ProviderData, &resp.Diagnostics)
	}
}

// ModifyPlan implements resource.ResourceWithModifyPlan.
func (g *guarded) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.State.Raw.IsNull() || g.checkAccount(ctx, req.Identity, req.Private, &resp.Diagnostics) == "" {
		g.Managed.ModifyPlan(ctx, req, resp)
	}
	reportOnce(&resp.Diagnostics, true)
}

// Create implements resource.Resource.
func (g *guarded) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	g.Managed.Create(ctx, req, resp)
	if !resp.State.Raw.IsNull() && resp.State.Raw.IsFullyKnown() {
		g.keepAccount(ctx, resp.Private, &resp.Diagnostics)
	}
	reportOnce(&resp.Diagnostics, false)
}

// Read implements resource.Resource.
func (g *guarded) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	if g.checkAccount(ctx, req.Identity, req.Private, &resp.Diagnostics) == "" {
		g.Managed.Read(ctx, req, resp)
		if !resp.State.Raw.IsNull() && !resp.Diagnostics.HasError() {
			g.keepAccount(ctx, resp.Private, &resp.Diagnostics)
		}
	}
	reportOnce(&resp.Diagnostics, hasIdentity(ctx, req, resp))
}

// hasIdentity reports whether a read that failed may return without an error as far
// as its identity goes: it must have one, also for a CLI that has no identities. It
// adds the one of the state.
func hasIdentity(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) bool {
	if resp.Identity == nil || !resp.Identity.Raw.IsFullyNull() {
		return true
	}
	of := accountOf(ctx, req.Identity, req.Private, &resp.Diagnostics)
	if of.ID == "" {
		return false
	}
	var id types.String
	resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("id"), &id)...)
	resp.Diagnostics.Append(SetIdentity(ctx, resp.Identity, of.ID, id)...)
	return true
}

// Update implements resource.Resource.
func (g *guarded) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	if g.checkAccount(ctx, req.Identity, req.Private, &resp.Diagnostics) == "" {
		g.Managed.Update(ctx, req, resp)
		if !resp.Diagnostics.HasError() {
			g.keepAccount(ctx, resp.Private, &resp.Diagnostics)
		}
	}
	reportOnce(&resp.Diagnostics, false)
}

// Delete implements resource.Resource.
func (g *guarded) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	if g.checkAccount(ctx, req.Identity, req.Private, &resp.Diagnostics) == "" {
		g.Managed.Delete(ctx, req, resp)
	}
	reportOnce(&resp.Diagnostics, false)
}

// ImportState implements resource.ResourceWithImportState.
func (g *guarded) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	g.Managed.ImportState(ctx, req, resp)
	if !resp.Diagnostics.HasError() {
		g.keepAccount(ctx, resp.Private, &resp.Diagnostics)
	}
	reportOnce(&resp.Diagnostics, false)
}

// ConfigValidators implements resource.ResourceWithConfigValidators.
func (g *guarded) ConfigValidators(ctx context.Context) []resource.ConfigValidator {
	if r, ok := g.Managed.(resource.ResourceWithConfigValidators); ok {
		return r.ConfigValidators(ctx)
	}
	return nil
}

// ValidateConfig implements resource.ResourceWithValidateConfig.
func (g *guarded) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	if r, ok := g.Managed.(resource.ResourceWithValidateConfig); ok {
		r.ValidateConfig(ctx, req, resp)
	}
}

// UpgradeState implements resource.ResourceWithUpgradeState.
func (g *guarded) UpgradeState(ctx context.Context) map[int64]resource.StateUpgrader {
	if r, ok := g.Managed.(resource.ResourceWithUpgradeState); ok {
		return r.UpgradeState(ctx)
	}
	return nil
}

// MoveState implements resource.ResourceWithMoveState.
func (g *guarded) MoveState(ctx context.Context) []resource.StateMover {
	if r, ok := g.Managed.(resource.ResourceWithMoveState); ok {
		return r.MoveState(ctx)
	}
	return nil
}

// privateState is the provider's part of a resource's private state.
type privateState interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// checkAccount adds an error and returns the state's account if that is not the
// connection's. It returns "" if they are the same, and if either is unknown: a
// connection that can't be opened has an error of its own.
func (g *guarded) checkAccount(ctx context.Context, identity *tfsdk.ResourceIdentity, private privateState, diags *diag.Diagnostics) string {
	of := accountOf(ctx, identity, private, diags)
	if of.ID == "" || g.session == nil {
		return ""
	}
	c, err := g.session.Client(ctx)
	if err != nil {
		return ""
	}
	origin, createdAt := g.session.Origin, g.session.AccountCreatedAt(ctx)
	reason := fmt.Sprintf("According to the state the object is in the account %s, but the provider is connected to the account %s, %s.", of.ID, c.AccountID(), origin.Account)
	if strings.EqualFold(of.ID, c.AccountID()) {
		if of.CreatedAt == "" || createdAt == "" || of.CreatedAt == createdAt {
			return ""
		}
		reason = fmt.Sprintf("According to the state the object is in the account %s that was created at %s, but the provider is connected to one with the same id that was created at %s, %s.", of.ID, of.CreatedAt, createdAt, origin.Account)
	}
	diags.Append(newConnectionError(&g.session.WrongAccount, "The state belongs to another account", reason,
		"Nothing was read, changed or dropped from the state.",
		origin.Other,
		fmt.Sprintf("If the account %s of the state is gone for good, take its objects out of the state with terraform state rm, or start with a new state.", of.ID)))
	return of.ID
}

// account is what the private state has of the account of an object.
type account struct {
	ID string `json:"id"`
	// CreatedAt is "" unless the account is embedded.
	CreatedAt string `json:"created_at,omitempty"`
}

// accountOf returns the account that an object of the state belongs to; its id is
// "" if it is unknown.
func accountOf(ctx context.Context, identity *tfsdk.ResourceIdentity, private privateState, diags *diag.Diagnostics) (a account) {
	value, problems := private.GetKey(ctx, accountKey)
	diags.Append(problems...)
	if json.Unmarshal(value, &a) != nil {
		a = account{} // nothing is kept
	}
	if identity != nil && !identity.Raw.IsNull() {
		var known Identity
		diags.Append(identity.Get(ctx, &known)...)
		if id := known.AccountID.ValueString(); id != "" {
			a.ID = id
		}
	}
	return a
}

// keepAccount notes in the private state which account an object belongs to.
func (g *guarded) keepAccount(ctx context.Context, private privateState, diags *diag.Diagnostics) {
	if g.session == nil {
		return
	}
	c, err := g.session.Client(ctx)
	if err != nil {
		return
	}
	value, err := json.Marshal(account{ID: c.AccountID(), CreatedAt: g.session.AccountCreatedAt(ctx)})
	if err != nil {
		panic("service: " + err.Error()) // strings always have a JSON form
	}
	diags.Append(private.SetKey(ctx, accountKey, value)...)
}

// GuardDataSource returns the data source with what [Guard] says of errors.
func GuardDataSource(d datasource.DataSource) datasource.DataSource { return &guardedData{d} }

type guardedData struct{ datasource.DataSource }

// Configure implements datasource.DataSourceWithConfigure.
func (g *guardedData) Configure(ctx context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse) {
	if d, ok := g.DataSource.(datasource.DataSourceWithConfigure); ok {
		d.Configure(ctx, req, resp)
	}
}

// Read implements datasource.DataSource.
func (g *guardedData) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	g.DataSource.Read(ctx, req, resp)
	reportLookup(resp.Diagnostics)
}

// ConfigValidators implements datasource.DataSourceWithConfigValidators.
func (g *guardedData) ConfigValidators(ctx context.Context) []datasource.ConfigValidator {
	if d, ok := g.DataSource.(datasource.DataSourceWithConfigValidators); ok {
		return d.ConfigValidators(ctx)
	}
	return nil
}

// ValidateConfig implements datasource.DataSourceWithValidateConfig.
func (g *guardedData) ValidateConfig(ctx context.Context, req datasource.ValidateConfigRequest, resp *datasource.ValidateConfigResponse) {
	if d, ok := g.DataSource.(datasource.DataSourceWithValidateConfig); ok {
		d.ValidateConfig(ctx, req, resp)
	}
}
