package masterpassword

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/diag"
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

// private is a resource's private state.
type private interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// readImportStage returns the stage in the private state, or notImported if it is
// missing or unknown to this version of the provider.
func readImportStage(ctx context.Context, p private, diags *diag.Diagnostics) importStage {
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
func (s importStage) store(ctx context.Context, p private) diag.Diagnostics {
	value, err := json.Marshal(s)
	if err != nil {
		panic("masterpassword: " + err.Error()) // a string can be encoded
	}
	return p.SetKey(ctx, importStageKey, value)
}
