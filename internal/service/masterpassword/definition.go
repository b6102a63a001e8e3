// Package masterpassword provides the resource mailhost_master_password, its data sources
// and its list resource. The API's paths call master passwords credentials. Only the fields of
// RenameMasterPasswordBody change in place.
//
// # The secret
//
// The API accepts a secret in a create, returns a generated secret once, and can neither
// read nor change a secret. A change of the secret is therefore a replacement. A plan compares
// the configuration with the state:
//
//	state records    configuration: the same   another                     none
//	value            no change                 replaces                    removed from state, with a warning
//	value_wo_version no change                 replaces                    removed from state, with a warning
//	generate         no change                 replaces                    removed from state, with a warning
//	none, importing  -                         recorded, nothing is sent   no change
//	none, imported   -                         error with the ways out     no change
//	none, other      -                         replaces, with a warning    no change
//
// A secret that moves to another attribute is the same if the state contains its text:
// value or generated_secret to value_wo, or generated_secret to value. value_wo is
// compared by its version alone.
//
// If a state records no secret, its importStage decides: the plan of an import may record
// the configured secret as the secret in use, but a later plan may not.
package masterpassword

import (
	"context"
	"fmt"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

var Definition = &service.Definition[api.MasterPassword, model]{
	Name: "master_password",
	Collection: service.Collection[api.MasterPassword]{
		Names: "master_passwords", Noun: "master password", Nouns: "master passwords",
		Note:       "Their secrets are not included.",
		Attributes: attributes,
		List:       service.Listed((*client.Client).ListMasterPasswords),
	},
	Objects:             func(c *client.Client) *client.Objects[api.MasterPassword] { return c.MasterPasswords },
	FindInScope:         (*client.Client).FindMasterPassword,
	ImportBy:            "<domain>/<name>, <workspace UUID>/<name>, <name> alone for a master password of the account, or by UUID",
	Validate:            func(_ context.Context, config model, diags *diag.Diagnostics) { diags.Append(config.check()...) },
	ResourceDescription: description,
	Settings:            secretAttributes,
	Volatile:            []string{"generated_secret", "updated_at"},
	ImportNotes:         map[string]any{importStageKey: importing},
	Losses:              losses,
	DeleteOperation:     api.DeleteMasterPassword.Spec,
	OrphanConsequence: func(_ context.Context, _ *client.Client, m model) string {
		return fmt.Sprintf("THE PASSWORD STILL WORKS: whoever knows it can use every mailbox of %s. Its name stays taken there; to create another one, choose another name.", m.Label())
	},
	Single: service.Single[api.MasterPassword]{
		Description: "A master password that exists, by its UUID, or by its name within its scope. Its secret is not included: the API returns only a generated one, and only once.",
		Keys: []attribute.Filter{
			attribute.IDKey("master password", "`name`"),
			attribute.NewFilter("name", "Name of the master password; its case does not matter. Set it or `id`.",
				validate.Length[api.CreateMasterPasswordBody]("name")),
		},
	},
	Listing: service.Listing[api.MasterPassword, model]{
		Note: "A configuration generated from it has no secret, so that the one in use does not change.",
	},
}

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
		"name": attribute.Argument[api.CreateMasterPasswordBody]("name", "Name of the master password, unique within its scope. It can be changed."),
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
			MarkdownDescription: "Any number. Change it when you change `value_wo`, because Terraform can't detect that: another number replaces the master password. Of a hash take 15 hex digits, because it has at most 64 bits: `parseint(substr(sha256(x), 0, 15), 16)`; the state stores it, and a weak password can be guessed from its hash. While it does not change, `value_wo` may be null, so that a plan need not know the secret.",
		},
		"generate": schema.BoolAttribute{
			Optional:            true,
			MarkdownDescription: "Whether the API generates the secret. Changing it replaces the master password, unless you remove it and set neither `value` nor `value_wo`.",
		},
		"generated_secret": schema.StringAttribute{Computed: true, Sensitive: true, MarkdownDescription: "The generated secret, with `generate = true`; null otherwise, and after an import."},
	}
}

type model struct {
	service.Scope
	secret

	ID              types.String `tfsdk:"id"`
	Name            types.String `tfsdk:"name"`
	CreatedAt       types.String `tfsdk:"created_at"`
	UpdatedAt       types.String `tfsdk:"updated_at"`
	GeneratedSecret types.String `tfsdk:"generated_secret"`
}

func (m model) String() string {
	if m.Name.IsNull() {
		return "master password " + m.ID.ValueString()
	}
	return "master password " + strconv.Quote(m.Name.ValueString())
}

// sameSecretAs reports whether a configuration sets the secret in the state, possibly with
// another attribute.
func (m model) sameSecretAs(config model) bool {
	configured := config.expand()
	return configured != nil && (m.Value.ValueString() == *configured || m.GeneratedSecret.ValueString() == *configured)
}

// secret contains the attributes that set a master password's secret.
type secret struct {
	Value          types.String `tfsdk:"value"`
	ValueWO        types.String `tfsdk:"value_wo"` // null except in a configuration
	ValueWOVersion types.Int64  `tfsdk:"value_wo_version"`
	Generate       types.Bool   `tfsdk:"generate"`
}

// secretAdvice lists the ways to set a secret.
const secretAdvice = "Set value, value_wo with value_wo_version, or generate = true: exactly one of the three."

// recorded reports whether a state records how the secret was set. It returns false after an
// import, and after the secret was removed from the configuration.
func (s secret) recorded() bool {
	return !s.Value.IsNull() || !s.ValueWOVersion.IsNull() || s.Generate.ValueBool()
}

// expand returns the secret of a configuration, or nil if it is generated or unknown.
func (s secret) expand() *string {
	for _, v := range []types.String{s.Value, s.ValueWO} {
		if !v.IsNull() && !v.IsUnknown() {
			return v.ValueStringPointer()
		}
	}
	return nil
}

// attribute names the attribute that sets the secret.
func (s secret) attribute() string {
	if s.Value.IsNull() && !s.ValueWO.IsNull() {
		return "value_wo"
	}
	return "value"
}

// changes returns the attributes that differ between a state and a plan. For generate,
// false equals null.
func (s secret) changes(plan secret) (changed []path.Path) {
	if !plan.Value.Equal(s.Value) {
		changed = append(changed, path.Root("value"))
	}
	if !plan.ValueWOVersion.Equal(s.ValueWOVersion) {
		changed = append(changed, path.Root("value_wo_version"))
	}
	if plan.Generate.IsUnknown() || plan.Generate.ValueBool() != s.Generate.ValueBool() {
		changed = append(changed, path.Root("generate"))
	}
	return changed
}

// absent reports whether a configuration sets no secret, so that an existing one stays
// unchanged. An unknown value may set one.
func (s secret) absent() bool {
	return s.Value.IsNull() && s.ValueWO.IsNull() && !s.Generate.IsUnknown() && !s.Generate.ValueBool()
}

func (s secret) checkCreate() (diags diag.Diagnostics) {
	if s.absent() {
		diags.AddError("A master password without a secret",
			"A new master password needs a secret. Only an existing one can omit it, for instance after an import. "+secretAdvice)
	}
	return diags
}

func (s secret) check() (diags diag.Diagnostics) {
	var ways []string
	if !s.Value.IsNull() && !s.Value.IsUnknown() {
		ways = append(ways, "value")
	}
	if !s.ValueWO.IsNull() && !s.ValueWO.IsUnknown() {
		ways = append(ways, "value_wo")
	}
	if s.Generate.ValueBool() {
		ways = append(ways, "generate")
	}
	if len(ways) > 1 {
		diags.AddAttributeError(path.Root(ways[1]), "Two secrets for one master password",
			"Both "+ways[0]+" and "+ways[1]+" set the secret. "+secretAdvice)
	}
	if !s.ValueWO.IsNull() && s.ValueWOVersion.IsNull() {
		diags.AddAttributeError(path.Root("value_wo"), "value_wo without value_wo_version",
			"Terraform does not store value_wo, so it can't detect a change. Set value_wo_version = 1 beside it, and another number whenever you change value_wo.")
	}
	if !s.absent() {
		diags.Append(s.checkVersion(secret{})...)
	}
	return diags
}

// checkVersion refuses a value_wo_version without value_wo, unless it equals the prior
// version: a plan without changes need not know the secret.
func (s secret) checkVersion(prior secret) (diags diag.Diagnostics) {
	if version := s.ValueWOVersion; s.ValueWO.IsNull() && !version.IsNull() && !version.IsUnknown() && !version.Equal(prior.ValueWOVersion) {
		diags.AddAttributeError(path.Root("value_wo_version"), "value_wo_version without value_wo",
			"A new value_wo_version means that value_wo has changed. Set value_wo too, or remove or restore value_wo_version.")
	}
	return diags
}

// importStage is the progress of an import, for a state that records no secret. It is stored in
// the private state. The first read of a later run ends the stage importing, because Terraform
// does not store the plan of an import without changes.
type importStage string

const (
	// notImported: Terraform created or changed the master password. A secret added now is a
	// new secret.
	notImported importStage = ""
	// importing: the plan or apply belongs to the run of an import block.
	importing importStage = "importing"
	// imported: a later run, without a change since the import. A configured secret may have been
	// added since, or before the command terraform import.
	imported importStage = "imported"
)

// importStageKey is the key of the stage in the private state.
const importStageKey = "import_stage"
