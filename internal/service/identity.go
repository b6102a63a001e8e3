package service

import (
	"context"

	"github.com/google/uuid"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Identity is the resource identity of every resource: the object's id in its account.
type Identity struct {
	AccountID types.String `tfsdk:"account_id"`
	ID        types.String `tfsdk:"id"`
}

// setIdentity sets the identity of an object; accountID is "" if it is unknown. It writes a UUID in
// lower case, because Terraform refuses a changed identity.
func setIdentity(ctx context.Context, identity *tfsdk.ResourceIdentity, accountID, id string) diag.Diagnostics {
	if identity == nil {
		return nil // the CLI does not support identities
	}
	if own, ok := canonicalUUID(id); ok {
		id = own
	}
	known := Identity{ID: types.StringValue(id)}
	if accountID != "" {
		known.AccountID = types.StringValue(accountID)
	}
	return identity.Set(ctx, known)
}

func canonicalUUID(s string) (string, bool) {
	id, err := uuid.Parse(s)
	return id.String(), err == nil
}
