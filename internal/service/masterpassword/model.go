package masterpassword

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

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

// sameSecretAs reports whether a configuration sets the secret in the state, possibly by
// another attribute.
func (m model) sameSecretAs(config model) bool {
	configured := config.expand()
	return configured != nil && (m.Value.ValueString() == *configured || m.GeneratedSecret.ValueString() == *configured)
}

// secret has the attributes that set a master password's secret.
type secret struct {
	Value          types.String `tfsdk:"value"`
	ValueWO        types.String `tfsdk:"value_wo"` // null except in a configuration
	ValueWOVersion types.Int64  `tfsdk:"value_wo_version"`
	Generate       types.Bool   `tfsdk:"generate"`
}

// secretAdvice lists the ways to set a secret.
const secretAdvice = "Set value, value_wo with value_wo_version, or generate = true: exactly one of the three."

// recorded reports whether a state records how the secret was set. It does not after an
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

// checkVersion refuses a value_wo_version without value_wo, unless it equals that of the
// prior secret: a plan without changes need not know the secret.
func (s secret) checkVersion(prior secret) (diags diag.Diagnostics) {
	if version := s.ValueWOVersion; s.ValueWO.IsNull() && !version.IsNull() && !version.IsUnknown() && !version.Equal(prior.ValueWOVersion) {
		diags.AddAttributeError(path.Root("value_wo_version"), "value_wo_version without value_wo",
			"A new value_wo_version means that value_wo has changed. Set value_wo too, or remove or restore value_wo_version.")
	}
	return diags
}

// importStage is the progress of an import, for a state that records no secret. It is in the
// private state. Terraform does not store a plan without changes, so that not the plan of the
// import but the first read of a later run ends the stage importing.
type importStage string

const (
	// notImported: Terraform has created or changed the master password itself. A secret
	// that is added now is a new one.
	notImported importStage = ""
	// importing: the plan or apply belongs to the run of an import block.
	importing importStage = "importing"
	// imported: this is a later run without a change since the import. A secret in the
	// configuration may have been added since, or before the command terraform import.
	imported importStage = "imported"
)

// importStageKey is the key of the stage in the private state.
const importStageKey = "import_stage"

// readImportStage returns the stage in the private state, or notImported without one.
func readImportStage(ctx context.Context, p service.PrivateState, diags *diag.Diagnostics) (stage importStage) {
	value, d := p.GetKey(ctx, importStageKey)
	diags.Append(d...)
	if json.Unmarshal(value, &stage) != nil {
		return notImported
	}
	return stage
}

func (s importStage) store(ctx context.Context, p service.PrivateState) diag.Diagnostics {
	return service.SetPrivate(ctx, p, importStageKey, s)
}
