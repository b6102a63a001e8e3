package service

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

// Scope is what an object applies to: a domain, a workspace, or with neither of
// the two the account. Models embed it, with [ScopeAttributes] in the schema.
type Scope struct {
	Domain      customtype.DomainRef `tfsdk:"domain"`
	WorkspaceID customtype.UUID      `tfsdk:"workspace_id"`
	ScopeType   types.String         `tfsdk:"scope_type"`
	ScopeID     types.String         `tfsdk:"scope_id"`
}

// ScopeAttributes returns the attributes of [Scope]. noun says with its article
// what has the scope. The resource's ModifyPlan calls [Resource.PlanScope].
func ScopeAttributes(noun string) map[string]schema.Attribute {
	stable := []planmodifier.String{stringplanmodifier.UseStateForUnknown()}
	return map[string]schema.Attribute{
		"domain": schema.StringAttribute{
			Optional:            true,
			CustomType:          customtype.DomainRefType{},
			Validators:          []validator.String{customtype.DomainRefType{}.Validator()},
			MarkdownDescription: "Domain that it applies to, by name or UUID, for instance `mailhost_domain.main.name`. Without `domain` and `workspace_id` it applies to the whole account. Another domain replaces it.",
		},
		"workspace_id": schema.StringAttribute{
			Optional:            true,
			CustomType:          customtype.UUIDType{},
			Validators:          []validator.String{customtype.UUIDType{}.Validator(), oneScope(noun)},
			MarkdownDescription: "UUID of the workspace that it applies to, in place of `domain`. Another workspace replaces it.",
		},
		"scope_type": schema.StringAttribute{
			Computed: true, PlanModifiers: stable,
			MarkdownDescription: "What it applies to: account, workspace or domain.",
		},
		"scope_id": schema.StringAttribute{
			Computed: true, PlanModifiers: stable,
			MarkdownDescription: "UUID of the account, workspace or domain that it applies to.",
		},
	}
}

// oneScope refuses, as a validator of workspace_id, a domain beside it.
type oneScope string

func (oneScope) Description(context.Context) string { return "given only without a domain" }

func (v oneScope) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (v oneScope) ValidateString(ctx context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	var domain attr.Value // of another type in each kind of schema
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("domain"), &domain)...)
	if resp.Diagnostics.HasError() || req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() || domain.IsNull() || domain.IsUnknown() {
		return
	}
	resp.Diagnostics.AddAttributeError(req.Path, "Both domain and workspace_id",
		fmt.Sprintf("%s applies to a domain or to a workspace. Remove domain or workspace_id.", capital(string(v))))
}

// Client returns the scope as it is written, for the client.
func (s Scope) Client() client.Scope {
	return client.Scope{Domain: s.Domain.ValueString(), WorkspaceID: s.WorkspaceID.ValueString()}
}

// Fill takes over what the API says of the scope. A reference is kept as it is
// written; one that is missing, after an import, is the domain's name.
func (s *Scope) Fill(ctx context.Context, c DomainReader, scopeType, scopeID string) {
	s.ScopeType, s.ScopeID = types.StringValue(scopeType), types.StringValue(scopeID)
	switch scopeType {
	case vocab.ScopeDomain:
		s.WorkspaceID = customtype.UUID{}
		// That a name is another domain's only a look could tell; it was this one's
		// when it was written.
		if s.Domain.IsNull() || isUUID(s.Domain.ValueString()) && !customtype.Equal[customtype.UUID](s.Domain.ValueString(), scopeID) {
			s.Domain = customtype.New[customtype.DomainRef](nameOr(ctx, c, scopeID))
		}
	case vocab.ScopeWorkspace:
		s.Domain = customtype.DomainRef{}
		if !customtype.Equal[customtype.UUID](s.WorkspaceID.ValueString(), scopeID) {
			s.WorkspaceID = customtype.New[customtype.UUID](scopeID)
		}
	case vocab.ScopeAccount:
		s.Domain, s.WorkspaceID = customtype.DomainRef{}, customtype.UUID{}
	}
}

// nameOr returns the name of a domain, or its id where that is all there is.
func nameOr(ctx context.Context, c DomainReader, id string) string {
	if d, err := c.GetDomain(ctx, id); err == nil && d.Name != "" {
		return d.Name
	}
	return id
}

// PlanScope plans a replacement where the scope changes, and none where the
// configuration names the same scope in other words. Call it in ModifyPlan.
func (r *Resource) PlanScope(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.State.Raw.IsNull() || req.Plan.Raw.IsNull() {
		return
	}
	config, diags := scopeIn(ctx, req.Config)
	resp.Diagnostics.Append(diags...)
	state, diags := scopeIn(ctx, req.State)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	same, err := state.covers(config, func(name string) (string, error) {
		c := r.Client(ctx, &resp.Diagnostics)
		if c == nil {
			return "", nil
		}
		return domainIDOf(ctx, c, name)
	})
	if err != nil {
		AddError(&resp.Diagnostics, err, "Can't look the domain "+config.Domain.ValueString()+" up", nil)
	}
	switch {
	case resp.Diagnostics.HasError():
	case same:
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("domain"), state.Domain)...)
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("workspace_id"), state.WorkspaceID)...)
	default:
		if !config.Domain.Equal(state.Domain) {
			resp.RequiresReplace.Append(path.Root("domain"))
		}
		if !config.WorkspaceID.Equal(state.WorkspaceID) {
			resp.RequiresReplace.Append(path.Root("workspace_id"))
		}
	}
}

func scopeIn(ctx context.Context, from interface {
	GetAttribute(context.Context, path.Path, any) diag.Diagnostics
}) (s Scope, diags diag.Diagnostics) {
	diags.Append(from.GetAttribute(ctx, path.Root("domain"), &s.Domain)...)
	diags.Append(from.GetAttribute(ctx, path.Root("workspace_id"), &s.WorkspaceID)...)
	diags.Append(from.GetAttribute(ctx, path.Root("scope_type"), &s.ScopeType)...)
	diags.Append(from.GetAttribute(ctx, path.Root("scope_id"), &s.ScopeID)...)
	return s, diags
}

// covers reports whether a configuration names the scope that an object has.
// idOf, which asks the API, is needed only where the one names a domain by its
// name and the other by its UUID.
func (s Scope) covers(config Scope, idOf func(name string) (string, error)) (bool, error) {
	if config.Domain.IsUnknown() || config.WorkspaceID.IsUnknown() {
		return false, nil
	}
	domain, workspace, id := config.Domain.ValueString(), config.WorkspaceID.ValueString(), s.ScopeID.ValueString()
	switch s.ScopeType.ValueString() {
	case vocab.ScopeAccount:
		return config.Domain.IsNull() && config.WorkspaceID.IsNull(), nil
	case vocab.ScopeWorkspace:
		return config.Domain.IsNull() && customtype.Equal[customtype.UUID](workspace, id), nil
	case vocab.ScopeDomain:
		switch {
		case config.Domain.IsNull() || !config.WorkspaceID.IsNull():
			return false, nil
		case customtype.RefersTo(domain, id, s.Domain.ValueString()):
			return true, nil
		case isUUID(domain) || !isUUID(s.Domain.ValueString()):
			return false, nil
		}
		found, err := idOf(domain)
		return found != "" && customtype.Equal[customtype.UUID](found, id), err
	}
	// A type of scope that the provider does not know: only what is written tells.
	return config.Domain.Equal(s.Domain) && config.WorkspaceID.Equal(s.WorkspaceID), nil
}

// domainIDOf returns the id of a domain, or "" where the account has none of
// that name.
func domainIDOf(ctx context.Context, c DomainReader, name string) (string, error) {
	d, err := c.GetDomain(ctx, name)
	switch {
	case client.IsNotFound(err):
		return "", nil
	case err != nil:
		return "", err
	}
	return d.ID, nil
}

// FindScoped finds the object that an import key means: <domain>/<name>, by the
// domain's name or UUID, <workspace UUID>/<name>, or the name alone for an object
// of the account. find looks in one scope. A name may hold slashes itself, so
// that a key can be read in more than one way; the first that is found counts.
func FindScoped[T any](key string, find func(scope client.Scope, name string) (*T, error)) (*T, error) {
	scope, name, _ := strings.Cut(key, "/")
	var first error
	for _, s := range scopesNamed(scope, name) {
		found, err := find(s, name)
		if err == nil || !client.IsNotFound(err) {
			return found, err
		}
		if first == nil {
			first = err
		}
	}
	found, err := find(client.Scope{}, key)
	if first != nil && client.IsNotFound(err) {
		return nil, first // what was meant, more likely than a name with a slash
	}
	return found, err
}

// Key returns the import key of the object that has a name in the scope, as
// [FindScoped] reads it.
func (s Scope) Key(name string) string {
	switch in := s.Client(); {
	case in.Domain != "":
		return in.Domain + "/" + name
	case in.WorkspaceID != "":
		return in.WorkspaceID + "/" + name
	}
	return name
}

// scopesNamed returns the scopes that the first part of a key may name.
func scopesNamed(scope, name string) []client.Scope {
	_, notDomain := customtype.Normalize[customtype.DomainRef](scope)
	switch {
	case notDomain != nil || name == "":
		return nil
	case isUUID(scope):
		return []client.Scope{{WorkspaceID: scope}, {Domain: scope}}
	}
	return []client.Scope{{Domain: scope}}
}

func isUUID(s string) bool {
	_, err := customtype.Normalize[customtype.UUID](s)
	return err == nil
}
