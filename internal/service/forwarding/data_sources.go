package forwarding

import (
	"context"
	"iter"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

// noun names a rule in messages, with its article.
const noun = "a forwarding rule"

var collection = service.Collection[api.Forwarding, model]{
	Name: "forwarding", Names: "forwardings", Noun: "forwarding rule", Nouns: "forwarding rules",
	Attributes: func() map[string]schema.Attribute {
		return service.ComputedAttributes(modelAttributes(), map[string]string{
			"target_email": "Address that mail is forwarded to.",
			"active":       "Whether mail is forwarded: the rule is on, and its target is a mailbox of the account or has been confirmed.",
			"domain":       "Name of the domain that it applies to; null for another scope.",
			"workspace_id": "UUID of the workspace that it applies to; null for another scope.",
		})
	},
	Filters: append(service.ScopeFilters[api.ListForwardingRequest](noun, "forwarding rules"),
		service.Filter{
			Name: "verification_state", Validators: []validator.String{validate.OneOf[api.ListForwardingRequest]("verification_state")},
			MarkdownDescription: "Only the forwarding rules whose recipient's confirmation is in this state: `internal` (none required), `pending`, `verified` or `expired`.",
		},
		service.SearchFilter("forwarding rules", "their target's address"),
	),
	List: func(ctx context.Context, c *client.Client, by service.FilterValues) iter.Seq2[api.Forwarding, error] {
		return c.ListForwarding(ctx, api.ListForwardingRequest{
			Domain: by["domain"], WorkspaceID: by["workspace_id"], ScopeType: by["scope_type"],
			VerificationState: by["verification_state"], Search: by["search"],
		})
	},
	Flatten: func(ctx context.Context, domains service.DomainReader, f *api.Forwarding) (m model) {
		m.flatten(ctx, domains, f)
		return m
	},
}

// NewDataSources returns data.mailhost_forwardings.
func NewDataSources() datasource.DataSource {
	return service.NewDataSources(collection, "The forwarding rules of the account, or those that match every filter.")
}
