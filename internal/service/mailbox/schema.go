package mailbox

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/listplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/objectplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

// Schema implements resource.Resource.
func (r *Resource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := modelAttributes()
	attributes["timeouts"] = service.CreateTimeout(ctx, createTimeout)
	resp.Schema = schema.Schema{
		MarkdownDescription: "A mailbox of a domain. Its address can't be changed: changing `domain` or `local_part` replaces the mailbox, and its mail is lost.",
		Attributes:          attributes,
	}
}

// modelAttributes returns the attributes of model.
func modelAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id": service.StableString("UUID of the mailbox."),
		"domain": schema.StringAttribute{
			Required:            true,
			CustomType:          customtype.DomainRef,
			Validators:          []validator.String{customtype.DomainRef.Validator()},
			PlanModifiers:       []planmodifier.String{service.KeepDomainRef(), stringplanmodifier.RequiresReplace()},
			MarkdownDescription: "Domain of the mailbox, by name or UUID, for instance `mailhost_domain.main.name`. Changing it replaces the mailbox.",
		},
		"local_part": schema.StringAttribute{
			Required:            true,
			CustomType:          customtype.LocalPart,
			Validators:          []validator.String{customtype.LocalPart.Validator()},
			PlanModifiers:       []planmodifier.String{service.KeepEqual(customtype.LocalPart.Same), stringplanmodifier.RequiresReplace()},
			MarkdownDescription: "Part of the address before the @, an RFC 5321 dot-atom. It is case-insensitive. Changing it replaces the mailbox.",
		},
		"first_name": schema.StringAttribute{
			Required:            true,
			Validators:          []validator.String{validate.Length[api.CreateMailboxBody]("first_name")},
			MarkdownDescription: "First name of the person.",
		},
		"last_name": schema.StringAttribute{
			Required:            true,
			Validators:          []validator.String{validate.Length[api.CreateMailboxBody]("last_name")},
			MarkdownDescription: "Last name of the person.",
		},
		"domain_id":     service.StableString("UUID of the domain."),
		"domain_name":   service.StableString("Name of the domain, in ASCII."),
		"primary_email": service.StableString("Address of the mailbox."),
		"status":        service.StableString("State of the mailbox: provisioning, active, paused or deleting."),
		"quota": schema.SingleNestedAttribute{
			Computed: true, PlanModifiers: []planmodifier.Object{objectplanmodifier.UseStateForUnknown()},
			MarkdownDescription: "Storage of the mailbox, with the usage at the last refresh.",
			Attributes: map[string]schema.Attribute{
				"allowed": schema.Int64Attribute{Computed: true, MarkdownDescription: "Maximum size in bytes."},
				"used":    schema.Int64Attribute{Computed: true, MarkdownDescription: "Used size in bytes."},
			},
		},
		"aliases": schema.ListNestedAttribute{
			Computed: true, PlanModifiers: []planmodifier.List{listplanmodifier.UseStateForUnknown()},
			MarkdownDescription: "Further addresses of the mailbox.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"alias":        schema.StringAttribute{Computed: true, MarkdownDescription: "The address."},
				"is_catch_all": schema.BoolAttribute{Computed: true, MarkdownDescription: "Whether it receives all mail of the domain that no mailbox receives."},
			}},
		},
		"workspace_id":   service.StableString("UUID of the domain's workspace."),
		"workspace_name": service.StableString("Name of the domain's workspace."),
		"created_at":     service.StableString("When the mailbox was created (RFC 3339)."),
		"updated_at": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "When the mailbox was last changed (RFC 3339).",
		},
	}
}
