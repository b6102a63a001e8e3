package sample

import (
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

var authorizations = Kind{
	Kind: api.GrantAuthorization.Kind, File: "authorization",
	Bodies: map[string]Object{
		"grant-authorization": {
			"grant_kind": "capability", "subject_type": "user", "subject_id": "u", "capability_key": "mailbox.view", "resource_type": "domain", "resource_id": UnknownID,
		},
	},
	Parameter: "authorization_id", Key: []string{"subject_id"},
	New: func(_, domain string) Object {
		return Object{"grant_kind": "capability", "subject_type": "group", "subject_id": domain, "capability_key": vocab.CapMailboxView}
	},

	Unmanaged: "a service account has its grants as permissions",
}
