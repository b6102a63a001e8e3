package forwarding

import (
	"context"
	"iter"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

// noun is what messages call it, with its article.
const noun = "a forwarding rule"

var object = service.Object[api.Forwarding, model]{
	Name: "forwarding", Names: "forwardings", Noun: "forwarding rule", Nouns: "forwarding rules",
	Attributes: func() map[string]schema.Attribute {
		return service.Answered(recordAttributes(), map[string]string{
			"target_email": "Address that mail is forwarded to.",
			"active":       "Whether mail is forwarded: the rule is on, and its target is a mailbox of the account or has been confirmed.",
			"domain":       "Name of the domain that it applies to; null where it applies to none alone.",
			"workspace_id": "UUID of the workspace that it applies to; null where it applies to none alone.",
		})
	},
	Filters: append(service.ScopeFilters[api.ListForwardingRequest](noun, "forwarding rules"),
		service.Filter{
			Name: "verification_state", Validators: []validator.String{validate.OneOf[api.ListForwardingRequest]("verification_state")},
			MarkdownDescription: "Only the forwarding rules whose recipient's confirmation is in this state: `internal` (none needed), `pending`, `verified` or `expired`.",
		},
		service.SearchFilter("forwarding rules", "their target's address"),
	),
	List: func(ctx context.Context, c *client.Client, by service.Given) iter.Seq2[api.Forwarding, error] {
		return c.ListForwarding(ctx, api.ListForwardingRequest{
			Domain: by["domain"], WorkspaceID: by["workspace_id"], ScopeType: by["scope_type"],
			VerificationState: by["verification_state"], Search: by["search"],
		})
	},
	Recorder: func(c *client.Client) func(context.Context, *api.Forwarding) model {
		domains := service.RememberDomains(c)
		return func(ctx context.Context, f *api.Forwarding) (m model) {
			m.fill(ctx, domains, f)
			return m
		}
	},
}

// NewDataSource returns data.mailhost_forwarding.
func NewDataSource() datasource.DataSource {
	return service.NewSingular(object, service.Lookup[api.Forwarding, model]{
		Keys: []service.Filter{
			service.IDKey("rule", "`target_email`"),
			{
				Name: "target_email", Validators: []validator.String{customtype.EmailAddressType{}.Validator()},
				MarkdownDescription: "Address that mail is forwarded to. Upper and lower case are the same. Give it or `id`.",
			},
		},
		Within: service.ScopeWithin(noun, "target_email"),
		Get:    (*client.Client).GetForwarding,
		Find: func(ctx context.Context, c *client.Client, by service.Given) (*api.Forwarding, error) {
			return c.FindForwarding(ctx, by["target_email"], by.Scope())
		},
		Model: func(found model, by service.Given) any {
			found.Keep(by)
			return &found
		},
	}, "A forwarding rule that exists, by its UUID, or by its target within its scope.")
}

// NewDataSources returns data.mailhost_forwardings.
func NewDataSources() datasource.DataSource {
	return service.NewPlural(object, "The forwarding rules of the account, or those of them that every filter lets through.")
}

// NewListResource returns the list resource mailhost_forwarding.
func NewListResource() list.ListResource {
	return service.NewListResource(object, service.Listed[api.Forwarding, model]{
		ID:          func(f *api.Forwarding) string { return f.ID },
		DisplayName: func(f *api.Forwarding) string { return service.ScopedName(f.TargetEmail, f.ScopeType) },
		Model: func(m model) any {
			if !m.confirmed() {
				m.Active = types.BoolNull() // false would switch off a rule that only waits
			}
			return &m
		},
	}, "Lists the forwarding rules of the account, or those of them that every filter lets through. Of a rule that waits for its recipient, `active` is null: nothing tells whether it is switched off, and a configuration that is generated from it must not switch it off.")
}
