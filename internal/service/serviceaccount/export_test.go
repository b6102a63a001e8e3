package serviceaccount

import (
	"time"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/resource"
)

// NewResourceAt returns the resource with a clock.
func NewResourceAt(now func() time.Time) resource.Resource { return newResource(now) }

// NewEphemeralResourceAt returns the ephemeral resource with a clock.
func NewEphemeralResourceAt(now func() time.Time) ephemeral.EphemeralResource {
	return &Token{now: now}
}
