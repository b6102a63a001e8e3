package mailbox_test

import (
	"context"

	"github.com/hashicorp/terraform-plugin-testing/plancheck"
)

// checks returns plan checks. It is called after the plan, when the expected values are
// known.
type checks func() []plancheck.PlanCheck

func (c checks) CheckPlan(ctx context.Context, req plancheck.CheckPlanRequest, resp *plancheck.CheckPlanResponse) {
	for _, check := range c() {
		if check.CheckPlan(ctx, req, resp); resp.Error != nil {
			return
		}
	}
}
