package sample

import "github.com/mailhost/terraform-provider-mailhost/apiserver/api"

var feedback = Kind{
	Kind: api.SubmitFeedback.Kind, File: "feedback",
	Bodies: map[string]Object{
		"submit-feedback": {
			"title": "More regions", "description": "Please offer dedicated IPs in Asia.", "attributes": Object{"team": "infrastructure"}, "category": "feature_request", "paid_product_feature": true,
		},
	},
}
