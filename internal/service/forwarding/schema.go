package forwarding

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

const description = "A rule that forwards the mail of the account, of a workspace or of a domain to an address.\n\n" +
	"A target that is an address of the account, of a mailbox or an alias, receives mail at once. When that address is deleted, the rule stops forwarding until it is verified again, even if the address is created anew: the plan warns, and says how to go on. Any other target gets a message with a link, and mail is forwarded once its recipient has opened the link and confirmed, " +
	"for which there are 72 hours; `verification_state` tells how far that is. Terraform does not wait for it, and its progress makes no plan. " +
	"Where the state is `expired`, or the message got lost, the action `mailhost_resend_forwarding_verification` sends a new one (Terraform 1.14 and later). " +
	"Elsewhere replace the rule: `terraform apply -replace=mailhost_forwarding.<name>`. An API that has the published operations only can't delete the old rule; there, have it deleted in the service's own control panel first.\n\n" +
	"The API limits verification messages for each recipient and for each account: mailhostd allows 20 at once, and one a minute after that. An apply that creates more such rules waits for its turn, up to five minutes for each rule, and then fails; run it again to go on. Rules to addresses of the account are not limited.\n\n" +
	"A rule of a domain is deleted together with the domain."

// Schema implements resource.Resource.
func (r *Resource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{MarkdownDescription: description, Attributes: recordAttributes()}
}

// recordAttributes are the attributes of model.
func recordAttributes() map[string]schema.Attribute {
	stable := []planmodifier.String{stringplanmodifier.UseStateForUnknown()}
	attributes := map[string]schema.Attribute{
		"id": schema.StringAttribute{
			Computed: true, PlanModifiers: stable,
			MarkdownDescription: "UUID of the rule.",
		},
		"target_email": schema.StringAttribute{
			Required:            true,
			CustomType:          customtype.EmailAddressType{},
			Validators:          []validator.String{customtype.EmailAddressType{}.Validator()},
			PlanModifiers:       []planmodifier.String{service.KeepEqual(customtype.Equal[customtype.EmailAddress])},
			MarkdownDescription: "Address that mail is forwarded to. Upper and lower case are the same. Another address changes the rule in place, and its verification starts over.",
		},
		"active": schema.BoolAttribute{
			Optional: true,
			Computed: true,
			MarkdownDescription: "Whether mail is forwarded: left out, as of the last refresh. A rule is on as soon as its target is an address of the account or has been confirmed, and nothing else can make it so. " +
				"Set, it is the rule's switch. `false` switches the rule off, without giving up the recipient's confirmation; remove it, or set it to `true`, to switch the rule on again. " +
				"`true` also switches it on again where it was switched off outside Terraform, and stays true while the rule waits for its recipient, which `verification_state` tells. " +
				"Of an imported rule that waits, the API does not tell whether it is switched off: there, `false` takes effect once the recipient has confirmed.",
		},
		"verification_required": schema.BoolAttribute{
			Computed:            true,
			MarkdownDescription: "Whether the recipient must confirm: false for an address of the account.",
		},
		"verification_state": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "State of the recipient's confirmation as of the last refresh: internal (none needed), pending, verified or expired.",
		},
		"verification_sent_at": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "When the message with the link was last sent (RFC 3339); null where none is needed.",
		},
		"verification_expires_at": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "Until when the link can be opened (RFC 3339); null where none was sent.",
		},
		"verification_verified_at": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "When the recipient confirmed (RFC 3339); null before.",
		},
		"created_at": schema.StringAttribute{
			Computed: true, PlanModifiers: stable,
			MarkdownDescription: "When the rule was created (RFC 3339).",
		},
		"updated_at": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "When the rule was last changed (RFC 3339).",
		},
	}
	maps.Copy(attributes, service.ScopeAttributes(noun))
	return attributes
}
