package mailbox_test

import (
	"context"

	"github.com/hashicorp/terraform-plugin-testing/plancheck"
)

// checks are plan checks that are made when the plan is: what they expect is not
// known before.
type checks func() []plancheck.PlanCheck

func (c checks) CheckPlan(ctx context.Context, req plancheck.CheckPlanRequest, resp *plancheck.CheckPlanResponse) {
	for _, check := range c() {
		if check.CheckPlan(ctx, req, resp); resp.Error != nil {
			return
		}
	}
}
