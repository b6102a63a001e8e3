package sample

import "github.com/mailhost/terraform-provider-mailhost/apiserver/api"

var billing = Kind{
	Kind: api.CancelPlan.Kind, File: "billing",
	Bodies: map[string]Object{
		"cancel-plan": {"cancel_at_period_end": true, "cancel_immediately": false},
		"change-plan": {"effective_date": "2027-01-01T00:00:00Z", "plan_id": "smtp_per_proxy"},
	},
}
