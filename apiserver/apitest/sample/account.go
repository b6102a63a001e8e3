package sample

import "github.com/mailhost/terraform-provider-mailhost/apiserver/api"

var workspaces = Kind{
	Kind: api.CreateWorkspace.Kind, File: "account",
	Bodies: map[string]Object{
		"create-workspace": {"name": "Research"},
	},
	Parameter: "workspace_id", Key: []string{"name"},

	Unmanaged: "nothing changes or deletes a workspace",
}
