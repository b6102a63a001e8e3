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
	kind(api.ListDomains), kind(api.ListMailboxes), kind(api.ListForwarding), kind(api.ListDNSRecords), kind(api.ListDedicatedIPs), kind(api.ListWorkspaces),
}

func kind[Req, Item any](op api.Operation[Req, api.Page[Item]]) Kind {
	return Kind{op.Kind.Noun, path.Base(op.Path), func(ctx context.Context, c *Client) (int, error) { return Total(ctx, c, op) }}
}
