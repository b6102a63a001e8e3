package service

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
)

// Scope is the domain or the workspace to which an object applies or, without either, the account.
// The model of a kind with FindInScope embeds it.
type Scope struct {
	InDomain

	Domain      customtype.String `tfsdk:"domain"`
	WorkspaceID customtype.String `tfsdk:"workspace_id"`
	ScopeType   types.String      `tfsdk:"scope_type"`
	ScopeID     types.String      `tfsdk:"scope_id"`
}

// scopeValues returns the computed attributes of [Scope] that follow from the configuration.
func scopeValues(of attribute.Raw, accountID string) map[string]attr.Value {
	domain, workspace := of.Text("domain"), of.Text("workspace_id")
	var scope, id string
	switch {
	case of["domain"].IsNull() && of["workspace_id"].IsNull():
		scope, id = vocab.ScopeAccount, accountID
	case domain != "":
		scope, id = vocab.ScopeDomain, domain
	case workspace != "":
		scope, id = vocab.ScopeWorkspace, workspace
	default:
		return nil // one of them is unknown, and may be null
	}
	known := map[string]attr.Value{"scope_type": types.StringValue(scope)}
	if canonical, err := customtype.UUID.Normalize(id); err == nil {
		known["scope_id"] = types.StringValue(canonical)
	}
	return known
}

// Expand returns the scope as configured, for the client.
func (s Scope) Expand() client.Scope {
	return client.Scope{Domain: s.Domain.ValueString(), WorkspaceID: s.WorkspaceID.ValueString()}
}

// Label names the scope in messages, as in "domain example.com".
func (s Scope) Label() string {
	in := s.Expand()
	in.Domain = s.DomainLabel(in.Domain)
	return in.String()
}

// setReferences sets the domain and the workspace from the scope of a response. It keeps the configured
// spelling, and after an import sets the domain's name.
func (s *Scope) setReferences(ctx context.Context, domain DomainReader) {
	switch scopeID := s.ScopeID.ValueString(); s.ScopeType.ValueString() {
	case vocab.ScopeDomain:
		s.WorkspaceID = customtype.String{}
		// A name may refer to another domain by now, but only a lookup could find out.
		if s.Domain.IsNull() || isUUID(s.Domain.ValueString()) && !customtype.UUID.Same(s.Domain.ValueString(), scopeID) {
			s.Domain = customtype.New(domainName(ctx, domain, scopeID))
		}
	case vocab.ScopeWorkspace:
		s.Domain = customtype.String{}
		if !customtype.UUID.Same(s.WorkspaceID.ValueString(), scopeID) {
			s.WorkspaceID = customtype.New(scopeID)
		}
	case vocab.ScopeAccount:
		s.Domain, s.WorkspaceID = customtype.String{}, customtype.String{}
	}
}

// domainName returns the name of a domain, or its id if it can't be read.
func domainName(ctx context.Context, domain DomainReader, id string) string {
	if d, err := domain(ctx, id); err == nil && d.Name != "" {
		return d.Name
	}
	return id
}

func scopeIn(ctx context.Context, from attribute.Reader) (s Scope, diags diag.Diagnostics) {
	diags.Append(from.GetAttribute(ctx, path.Root("domain"), &s.Domain)...)
	diags.Append(from.GetAttribute(ctx, path.Root("workspace_id"), &s.WorkspaceID)...)
	diags.Append(from.GetAttribute(ctx, path.Root("scope_type"), &s.ScopeType)...)
	diags.Append(from.GetAttribute(ctx, path.Root("scope_id"), &s.ScopeID)...)
	return s, diags
}

// covers reports whether a configuration refers to the scope of an object. It reads the domain
// only if the configuration contains its name and the state its UUID.
func (s Scope) covers(ctx context.Context, config Scope, read DomainReader) (bool, error) {
	if config.Domain.IsUnknown() || config.WorkspaceID.IsUnknown() {
		return false, nil
	}
	domain, workspace, id := config.Domain.ValueString(), config.WorkspaceID.ValueString(), s.ScopeID.ValueString()
	switch s.ScopeType.ValueString() {
	case vocab.ScopeAccount:
		return config.Domain.IsNull() && config.WorkspaceID.IsNull(), nil
	case vocab.ScopeWorkspace:
		return config.Domain.IsNull() && customtype.UUID.Same(workspace, id), nil
	case vocab.ScopeDomain:
		switch {
		case config.Domain.IsNull() || !config.WorkspaceID.IsNull():
			return false, nil
		case customtype.RefersTo(domain, id, s.Domain.ValueString()):
			return true, nil
		case isUUID(domain) || !isUUID(s.Domain.ValueString()):
			return false, nil
		}
		found, err := read(ctx, domain)
		if client.IsNotFound(err) {
			return false, nil
		}
		return err == nil && customtype.UUID.Same(found.ID, id), err
	}
	// An unknown type of scope.
	return config.Domain.Equal(s.Domain) && config.WorkspaceID.Equal(s.WorkspaceID), nil
}

// findScoped finds the object with an import key: <domain>/<name> with the domain's name or UUID,
// <workspace UUID>/<name>, or <name> for an object of the account. A name may contain slashes, so
// that a key may match in several scopes. findScoped returns the first match.
func findScoped[T any](key string, find func(scope client.Scope, name string) (*T, error)) (*T, error) {
	ref, name, _ := strings.Cut(key, "/")
	var scopes []client.Scope
	if _, err := customtype.DomainRef.Normalize(ref); err == nil && name != "" {
		if isUUID(ref) {
			scopes = append(scopes, client.Scope{WorkspaceID: ref})
		}
		scopes = append(scopes, client.Scope{Domain: ref})
	}
	var first error
	for _, s := range scopes {
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
		return nil, first // more likely than a name with a slash
	}
	return found, err
}

// ImportKey returns the import key of the object with a name in the scope, for
// [findScoped].
func (s Scope) ImportKey(name string) string {
	switch in := s.Expand(); {
	case in.Domain != "":
		return s.DomainLabel(in.Domain) + "/" + name
	case in.WorkspaceID != "":
		return in.WorkspaceID + "/" + name
	}
	return name
}

func isUUID(s string) bool {
	_, err := customtype.UUID.Normalize(s)
	return err == nil
}
