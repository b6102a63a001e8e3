package mailbox

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

func attributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id": service.ComputedString("UUID of the mailbox."),
		"domain": schema.StringAttribute{
			Required:            true,
			CustomType:          customtype.DomainRef,
			PlanModifiers:       []planmodifier.String{service.KeepDomainRef("domain_id"), stringplanmodifier.RequiresReplace()},
			MarkdownDescription: "Domain of the mailbox, by name or UUID, for instance `mailhost_domain.main.name`. Changing it replaces the mailbox.",
		},
		"local_part": schema.StringAttribute{
			Required:            true,
			CustomType:          customtype.LocalPart,
			PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplace()},
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
		"domain_id":     service.ComputedString("UUID of the domain."),
		"domain_name":   service.ComputedString("Name of the domain, in ASCII."),
		"primary_email": service.ComputedString("Address of the mailbox."),
		"status":        service.ComputedString("State of the mailbox: provisioning, active, paused or deleting."),
		"quota": schema.SingleNestedAttribute{
			Computed:            true,
			MarkdownDescription: "Storage of the mailbox, with the usage at the last refresh.",
			Attributes: map[string]schema.Attribute{
				"allowed": schema.Int64Attribute{Computed: true, MarkdownDescription: "Maximum size in bytes."},
				"used":    schema.Int64Attribute{Computed: true, MarkdownDescription: "Used size in bytes."},
			},
		},
		"aliases": schema.ListNestedAttribute{
			Computed:            true,
			MarkdownDescription: "Further addresses of the mailbox.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"alias":        service.ComputedString("The address."),
				"is_catch_all": schema.BoolAttribute{Computed: true, MarkdownDescription: "Whether it receives all mail of the domain that no mailbox receives."},
			}},
		},
		"workspace_id":   service.ComputedString("UUID of the domain's workspace."),
		"workspace_name": service.ComputedString("Name of the domain's workspace."),
		"created_at":     service.ComputedString("When the mailbox was created (RFC 3339)."),
		"updated_at":     service.ComputedString("When the mailbox was last changed (RFC 3339)."),
	}
}

func settings() map[string]schema.Attribute {
	return map[string]schema.Attribute{"on_existing": service.OnExisting("a mailbox with this address", "sets its names")}
}
