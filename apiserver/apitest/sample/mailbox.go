package sample

import "github.com/mailhost/terraform-provider-mailhost/apiserver/api"

var mailboxes = Kind{
	Kind: api.CreateMailbox.Kind, File: "mailbox",
	Bodies: map[string]Object{
		"create-mailbox":   {"domain": "example.com", "local_part": "jane.doe", "first_name": "Jane", "last_name": "Doe"},
		"update-mailbox":   {"first_name": "Janet", "last_name": "Doe-Smith"},
		"create-mailboxes": {"domain": "example.com", "items": []any{Object{"local_part": "ada", "first_name": "Ada", "last_name": "Lovelace"}}},
		"export-mailboxes": {"mailboxes": []any{"jane@example.com"}},
	},
	Parameter: "mailbox", Path: "jane@example.com", Key: []string{"primary_email"},
	New: func(_, domain string) Object {
		return Object{"domain": domain, "local_part": "sample", "first_name": "First", "last_name": "Last"}
	},
	Shown: map[string]string{"domain": "domain_name"},

	Resource: "mailhost_mailbox",
	Config:   Object{"domain": "example.com", "local_part": "jane", "first_name": "Jane", "last_name": "Doe"},
	Change:   Object{"first_name": "Joan"},
	Replace:  Object{"local_part": "john"},
	Outside:  []Change{{"update-mailbox", Object{"first_name": "Outside"}}},
}
