package sample

import "github.com/mailhost/terraform-provider-mailhost/apiserver/api"

var forwarding = Kind{
	Kind: api.CreateForwarding.Kind, File: "forwarding",
	Bodies: map[string]Object{
		"create-forwarding":     {"target_email": "archive@example.net"},
		"update-forwarding":     {"target_email": "jane@example.com"},
		"set-forwarding-active": {"active": false},
	},
	Parameter: "forwarding_id", Key: []string{"target_email"},
	New:    func(_, domain string) Object { return Object{"domain": domain, "target_email": "sample@example.net"} },
	Hidden: scope,

	Resource: "mailhost_forwarding",
	Config:   Object{"target_email": "jane@example.org"},
	Change:   Object{"target_email": "joan@example.org"},
	Replace:  Object{"domain": "example.com"},
	Outside:  []Change{{"set-forwarding-active", Object{"active": false}}, {"update-forwarding", Object{"target_email": "outside@example.org"}}},
}

// scope lists the fields of a create that set the scope of an object.
var scope = map[string]string{
	"domain": "scope_type and scope_id show it", "workspace_id": "scope_type and scope_id show it",
}
