package sample

import (
	"maps"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

var masterPasswords = Kind{
	Kind: api.CreateMasterPassword.Kind, File: "masterpassword",
	Bodies: map[string]Object{
		"create-master-password": {"name": "Migration", "value": "abcd", "generate": false},
		"rename-master-password": {"name": "Migration 2026"},
	},
	Parameter: "credential_id", Key: []string{"name"},
	New: func(_, domain string) Object { return Object{"domain": domain, "name": "sample", "generate": true} },
	Hidden: with(scope, map[string]string{
		"value": "it is the secret", "generate": "the response shows the secret",
	}),

	Resource: "mailhost_master_password",
	Config:   Object{"name": "Backup", "generate": true},
	Change:   Object{"name": "Migration"},
	Replace:  Object{"domain": "example.com"},
	Outside:  []Change{{"rename-master-password", Object{"name": "renamed outside"}}},
}

func with(fields, more map[string]string) map[string]string {
	all := maps.Clone(fields)
	maps.Copy(all, more)
	return all
}
