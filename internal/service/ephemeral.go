package service

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
)

// Ephemeral is the base of every ephemeral resource. It provides the account's client.
type Ephemeral struct{ connection }

func (e *Ephemeral) Configure(_ context.Context, req ephemeral.ConfigureRequest, _ *ephemeral.ConfigureResponse) {
	e.connect(req.ProviderData)
}
