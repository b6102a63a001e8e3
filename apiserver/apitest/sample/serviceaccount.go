package sample

import "github.com/mailhost/terraform-provider-mailhost/apiserver/api"

var serviceAccounts = Kind{
	Kind: api.CreateServiceAccount.Kind, File: "serviceaccount",
	Bodies: map[string]Object{
		"create-service-account": {"name": "ci", "expires_at": "2026-12-31T00:00:00Z"},
	},
	Parameter: "service_account_id", Key: []string{"name"},
	New: func(string, string) Object { return Object{"name": "sample"} },

	Resource: "mailhost_service_account",
	Config:   Object{"name": "ci"},
	Replace:  Object{"name": "cd"},
}
