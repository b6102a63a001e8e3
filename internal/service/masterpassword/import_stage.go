package masterpassword

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// importStage is the progress of an import, for a state that records no secret. It is in
// the private state.
//
// Terraform does not store a plan without changes, so the plan of the import can't end
// the stage importing. The first read of a later run does.
type importStage string

const (
	// notImported: Terraform has created or changed the master password itself. A secret
	// that is added now is a new one.
	notImported importStage = ""
	// importing: the plan or apply belongs to the run of an import block.
	importing importStage = "importing"
	// imported: this is a later run without a change since the import. After an import
	// block, a secret in the configuration was added since. After the command terraform
	// import, it may have been there before. The two can't be distinguished.
	imported importStage = "imported"
)

// importStageKey is the key of the stage in the private state.
const importStageKey = "import_stage"

// readImportStage returns the stage in the private state, or notImported if it is
// missing or unknown to this version of the provider.
func readImportStage(ctx context.Context, p service.PrivateState, diags *diag.Diagnostics) importStage {
	value, d := p.GetKey(ctx, importStageKey)
	diags.Append(d...)
	var stage importStage
	if len(value) == 0 || json.Unmarshal(value, &stage) != nil {
		return notImported
	}
	switch stage {
	case importing, imported:
		return stage
	}
	return notImported
}

// store writes the stage to the private state.
func (s importStage) store(ctx context.Context, p service.PrivateState) diag.Diagnostics {
	return service.SetPrivate(ctx, p, importStageKey, s)
}
