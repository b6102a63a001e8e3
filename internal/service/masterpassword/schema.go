package masterpassword

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

const description = `A master password: a credential for every mailbox of a domain, of a workspace, or of the whole account.

To create one, its secret comes from exactly one of three:

* ` + "`generate = true`" + `: the API makes one and tells it once; it is kept in the state, as ` + "`generated_secret`" + `.
* ` + "`value`" + `: you give one; it is kept in the state.
* ` + "`value_wo` with `value_wo_version`" + ` (Terraform 1.11 or OpenTofu 1.11 and later): you give one, and it is kept nowhere.

The API can't change a secret: another one replaces the master password, and the old one stops working. As a name is unique within its scope, ` +
	"`create_before_destroy`" + ` needs another ` + "`name`" + ` too, and so does an API without an operation that deletes: there **the old password still works**, under its old name, and the provider warns of it.

To move a secret out of the state, give the same one as ` + "`value_wo`" + ` in place of ` + "`value`" + ` or of the generated one: the master password stays as it is.

An import does not change the secret, which the API does not return. The configuration need not give one; a configuration that ` + "`-generate-config-out`" + ` has written does not. If it gives one, the plan of an ` + "`import`" + ` block records it as the secret in use, without sending it. ` +
	"After the command `terraform import`, and in later runs, adding a secret is an error that says how to go on: Terraform can't know whether it is the one in use or a new one." + `

If you remove the secret from the configuration, it stays in use and the state forgets it; the plan warns of that. A secret that you set later replaces the master password, even if it is the same one.`

// Schema implements resource.Resource.
func (r *Resource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := recordAttributes()
	maps.Copy(attributes, secretAttributes())
	resp.Schema = schema.Schema{MarkdownDescription: description, Attributes: attributes}
}

// secretAttributes are the attributes of secret, and the secret that the API makes.
func secretAttributes() map[string]schema.Attribute {
	length := validate.Length[api.CreateMasterPasswordBody]("value")
	return map[string]schema.Attribute{
		"value": schema.StringAttribute{
			Optional: true, Sensitive: true,
			Validators:          []validator.String{length},
			MarkdownDescription: "The secret, " + length.MarkdownDescription(context.Background()) + ". It is kept in the state. Another one replaces the master password.",
		},
		"value_wo": schema.StringAttribute{
			Optional: true, Sensitive: true, WriteOnly: true,
			Validators:          []validator.String{length},
			MarkdownDescription: "The secret, as `value`, but kept neither in the state nor in a plan; it may be an ephemeral value. It needs `value_wo_version`, and Terraform or OpenTofu 1.11 or later.",
		},
		"value_wo_version": schema.Int64Attribute{
			Optional:            true,
			MarkdownDescription: "Any number. Change it when you change `value_wo`, which Terraform can't see: another number replaces the master password. While it stays as it is, `value_wo` may be null, so that a plan need not know the secret.",
		},
		"generate": schema.BoolAttribute{
			Optional:            true,
			MarkdownDescription: "Whether the API generates the secret. A change replaces the master password, but where it is left out together with `value` and `value_wo`.",
		},
		"generated_secret": schema.StringAttribute{
			Computed: true, Sensitive: true,
			MarkdownDescription: "The generated secret, with `generate = true`; null otherwise, and after an import.",
		},
	}
}

// recordAttributes are the attributes of record.
func recordAttributes() map[string]schema.Attribute {
	stable := []planmodifier.String{stringplanmodifier.UseStateForUnknown()}
	attributes := map[string]schema.Attribute{
		"id": schema.StringAttribute{
			Computed: true, PlanModifiers: stable,
			MarkdownDescription: "UUID of the master password.",
		},
		"name": schema.StringAttribute{
			Required:            true,
			Validators:          []validator.String{validate.Length[api.CreateMasterPasswordBody]("name")},
			MarkdownDescription: "Name of the master password, unique within its scope. It can be changed.",
		},
		"created_at": schema.StringAttribute{
			Computed: true, PlanModifiers: stable,
			MarkdownDescription: "When the master password was created (RFC 3339).",
		},
		"updated_at": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "When the master password was last changed (RFC 3339).",
		},
	}
	maps.Copy(attributes, service.ScopeAttributes(noun))
	return attributes
}
