package attribute

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

// Scope returns the arguments of an object that applies to a domain, a workspace or the account.
func Scope() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"domain": schema.StringAttribute{
			Optional:            true,
			CustomType:          customtype.DomainRef,
			MarkdownDescription: "Domain that it applies to, by name or UUID, for instance `mailhost_domain.main.name`. Without `domain` and `workspace_id` it applies to the whole account. Another domain replaces it.",
		},
		"workspace_id": schema.StringAttribute{
			Optional:            true,
			CustomType:          customtype.UUID,
			Validators:          []validator.String{oneScope{}},
			MarkdownDescription: "UUID of the workspace that it applies to, in place of `domain`. Another workspace replaces it.",
		},
	}
}

// ScopeDescriptions describe the attributes of [Scope] in data sources.
var ScopeDescriptions = map[string]string{
	"domain":       "Name of the domain that it applies to; null for another scope.",
	"workspace_id": "UUID of the workspace that it applies to; null for another scope.",
}

// oneScope is a validator of workspace_id that refuses a domain in the same object.
type oneScope struct{}

func (oneScope) Description(context.Context) string { return "set only without a domain" }

func (v oneScope) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (oneScope) ValidateString(ctx context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	var domain attr.Value // its type differs between kinds of schema
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("domain"), &domain)...)
	if resp.Diagnostics.HasError() || req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() || domain.IsNull() || domain.IsUnknown() {
		return
	}
	resp.Diagnostics.AddAttributeError(req.Path, "Both domain and workspace_id",
		"It applies to a domain or to a workspace. Remove domain or workspace_id.")
}

// ScopeQualifiers returns the attributes that select a [Scope] for an object's natural key.
func ScopeQualifiers(key string) []Filter {
	withKey := stringvalidator.AlsoRequires(path.MatchRoot(key))
	return []Filter{
		NewFilter("domain", "Domain that it applies to. With `"+key+"`, set its name or UUID to look in that domain; without `domain` and `workspace_id`, the lookup is among those of the whole account.",
			customtype.DomainRef.Validator(), withKey),
		NewFilter("workspace_id", "UUID of the workspace that it applies to. With `"+key+"`, set it in place of `domain` to look in that workspace.",
			customtype.UUID.Validator(), oneScope{}, withKey),
	}
}
