package masterpassword

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// importStage says how long ago the import was, for a state that records no secret.
// It is kept in the private state.
//
// Terraform does not record a plan that changes nothing, so the plan of the import
// can't end the stage importing. The first read of a later run does.
type importStage string

const (
	// settled: Terraform has created or changed the master password itself. A secret
	// that is added now is a new one.
	settled importStage = ""
	// importing: the plan or apply belongs to the run of an import block.
	importing importStage = "importing"
	// imported: this is a later run, and nothing was changed since the import. After
	// an import block, a secret was added to the configuration since. After the
	// command terraform import, it may have been there from the start. The two can't
	// be told apart.
	imported importStage = "imported"
)

// importStageKey is the key of the stage in the private state.
const importStageKey = "import_stage"

// private is the part of a resource's private state that is needed here.
type private interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// readImportStage returns the stage in the private state. One that is missing or of
// a later version of the provider is settled.
func readImportStage(ctx context.Context, p private, diags *diag.Diagnostics) importStage {
	value, d := p.GetKey(ctx, importStageKey)
	diags.Append(d...)
	var stage importStage
	if len(value) == 0 || json.Unmarshal(value, &stage) != nil {
		return settled
	}
	switch stage {
	case importing, imported:
		return stage
	}
	return settled
}

// keep writes the stage to the private state.
func (s importStage) keep(ctx context.Context, p private) diag.Diagnostics {
	value, err := json.Marshal(s)
	if err != nil {
		panic("masterpassword: " + err.Error()) // a string can be encoded
	}
	return p.SetKey(ctx, importStageKey, value)
}
