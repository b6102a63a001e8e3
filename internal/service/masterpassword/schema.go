package masterpassword

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

const description = `A master password: a credential for every mailbox of a domain, of a workspace, or of the whole account.

To create one, set its secret in exactly one of three ways:

* ` + "`generate = true`" + `: the API generates one and returns it once; it is stored in the state, as ` + "`generated_secret`" + `.
* ` + "`value`" + `: you set one; it is stored in the state.
* ` + "`value_wo` with `value_wo_version`" + ` (Terraform 1.11 or OpenTofu 1.11 and later): you set one, and Terraform does not store it.

The API can't change a secret: another secret replaces the master password, and the old one stops working. Because a name is unique within its scope, ` +
	"`create_before_destroy`" + ` needs another ` + "`name`" + ` too. So does an API without an operation that deletes: there **the old password still works**, with its old name, and the provider warns about it.

To remove a secret from the state, set the same secret as ` + "`value_wo`" + ` in place of ` + "`value`" + ` or of the generated one: the master password does not change.

An import does not change the secret, which the API does not return. The configuration can omit it, as one that ` + "`-generate-config-out`" + ` has written does. If it sets one, the plan of an ` + "`import`" + ` block records it as the secret in use, without sending it. ` +
	"After the command `terraform import`, and in later runs, adding a secret is an error that explains what to do: Terraform can't know whether it is the one in use or a new one." + `

If you remove the secret from the configuration, it stays in use and is removed from the state; the plan warns about that. A secret that you set later replaces the master password, even if it is the same secret.`

func attributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id": service.ComputedString("UUID of the master password."),
		"name": schema.StringAttribute{
			Required:            true,
			Validators:          []validator.String{validate.Length[api.CreateMasterPasswordBody]("name")},
			MarkdownDescription: "Name of the master password, unique within its scope. It can be changed.",
		},
		"created_at": service.ComputedString("When the master password was created (RFC 3339)."),
		"updated_at": service.ComputedString("When the master password was last changed (RFC 3339)."),
	}
}

func secretAttributes() map[string]schema.Attribute {
	length := validate.Length[api.CreateMasterPasswordBody]("value")
	return map[string]schema.Attribute{
		"value": schema.StringAttribute{
			Optional: true, Sensitive: true,
			Validators:          []validator.String{length},
			MarkdownDescription: "The secret, " + length.MarkdownDescription(context.Background()) + ". It is stored in the state. Changing it replaces the master password.",
		},
		"value_wo": schema.StringAttribute{
			Optional: true, Sensitive: true, WriteOnly: true,
			Validators:          []validator.String{length},
			MarkdownDescription: "The secret, like `value`, but stored neither in the state nor in a plan; it may be an ephemeral value. It requires `value_wo_version`, and Terraform or OpenTofu 1.11 or later.",
		},
		"value_wo_version": schema.Int64Attribute{
			Optional:            true,
			MarkdownDescription: "Any number. Change it when you change `value_wo`, because Terraform can't detect that: another number replaces the master password. While it does not change, `value_wo` may be null, so that a plan need not know the secret.",
		},
		"generate": schema.BoolAttribute{
			Optional:            true,
			MarkdownDescription: "Whether the API generates the secret. Changing it replaces the master password, unless you remove it and set neither `value` nor `value_wo`.",
		},
		"generated_secret": schema.StringAttribute{Computed: true, Sensitive: true, MarkdownDescription: "The generated secret, with `generate = true`; null otherwise, and after an import."},
	}
}
