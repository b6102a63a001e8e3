package apiclient

import (
	"context"
	"path"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// Kind is a kind of object of which an account has a list.
type Kind struct {
	// Name is for people, in the singular.
	Name string
	// Path ends the path of the list, such as dedicated-ips.
	Path string
	// Total returns how many objects the caller may see.
	Total func(context.Context, *Client) (int, error)
}

// Kinds are the kinds of objects that commands and pages count.
var Kinds = []Kind{
	kind("domain", api.ListDomains), kind("mailbox", api.ListMailboxes), kind("forwarding rule", api.ListForwarding), kind("DNS record", api.ListDNSRecords),
	kind("dedicated IP", api.ListDedicatedIPs), kind("workspace", api.ListWorkspaces),
}

func kind[Req, Item any](name string, op api.Operation[Req, api.Page[Item]]) Kind {
	return Kind{name, path.Base(op.Path), func(ctx context.Context, c *Client) (int, error) { return Total(ctx, c, op) }}
}
