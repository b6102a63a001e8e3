// Package domain provides the resource mailhost_domain, its data sources and its list
// resource.
//
// A purchase sends PurchaseDomainsBody, and a PATCH follows for the attributes that only UpdateDomainBody has:
// warnUnset names them if it fails. The lookup after a lost response compares nothing but the name, because a domain
// that seems to be missing would be bought again.
package domain

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

var Definition = &service.Definition[api.Domain, model]{
	Name: "domain",
	Collection: service.Collection[api.Domain]{
		Names: "domains", Noun: "domain", Nouns: "domains",
		Attributes: attributes,
		List:       service.Listed((*client.Client).ListDomains),
	},
	Objects:             func(c *client.Client) *client.Objects[api.Domain] { return c.Domains },
	Find:                (*client.Client).FindDomain,
	ResourceDescription: description,
	Settings:            settings,
	CreateTimeout:       30 * time.Minute,
	NaturalKeys:         naturalKeys,
	ReplacedBy:          []string{"name"},
	IsValuable:          true,
	Losses:              losses,
	DeleteOperation:     api.DeleteDomain.Spec,
	DeleteConflict: "The domain was not deleted. " +
		"Run destroy again if mailboxes of this configuration were being destroyed at the same time. To make Terraform destroy them first, let each mailbox refer to the domain, for instance with domain = mailhost_domain.main.name, or give it depends_on. " +
		"Delete or import mailboxes that the configuration does not have. " +
		"To keep the domain, remove it from the state with `terraform state rm` or a removed block.",
	OrphanConsequence: func(_ context.Context, _ *client.Client, m model) string {
		if m.AutoRenew.ValueBool() {
			return "It keeps receiving mail and answering DNS queries. Because auto_renew is on, its registration will be renewed and charged again."
		}
		return "It keeps receiving mail and answering DNS queries until its registration ends."
	},
	Single: service.Single[api.Domain]{
		Description: "A domain of the account, by its UUID or its name. Nothing is bought: a domain that the account does not own is an error.",
		Keys: []attribute.Filter{
			attribute.IDKey("domain", "`name`"),
			attribute.NewFilter("name", "Name of the domain, such as `example.com`, in any spelling. Give it or `id`.",
				customtype.DomainName.Validator()),
		},
	},
	Listing: service.Listing[api.Domain, model]{
		Imported: func(_ context.Context, _ *client.Client, m *model) error {
			m.Acquisition = types.StringValue(acquisitionAdopt)
			m.keepNoRedirect()
			return nil
		},
	},
}

const description = "A domain of the account. Creating it **buys** the domain. If the account owns the domain already, the plan fails, or adopts it with `on_existing = \"adopt\"`, and nothing is bought. The plan shows the price if the API returns one, and the settings that an adoption changes. " +
	"A plan of a new domain fails while the domain or its price can't be looked up because of an outage, so that no saved plan buys what it has not shown.\n\n" +
	"Destroying it deletes the domain with everything in it, such as its DNS records and forwarding rules. The API refuses that while the domain has mailboxes, and there is no refund. " +
	"Use `lifecycle { prevent_destroy = true }` for a domain that matters.\n\n" +
	"A domain is never replaced by itself: `-replace`, `replace_triggered_by` and a tainted domain are errors in the plan (except for a domain that the registry refused), because they would delete the domain and buy the same name again. " +
	"If you rename the resource, add a `moved` block. " +
	"If you apply a saved plan after the price has changed, or after the domain was added to or removed from the account, the apply stops before it buys anything: plan again. " +
	"The CLI reports that as `Provider produced inconsistent final plan` and calls it a bug in the provider, which it is not."

func settings() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"contact_info": contactAttribute(),
		"on_existing":  service.OnExisting[api.UpdateDomainBody]("the domain in the account", ", without buying anything"),
		"acquisition": attribute.ComputedString("How Terraform got the domain: `purchase`, or `adopt` for a domain that the account owned already, including an imported one. The plan of a new domain shows it if the `name` is known, " +
			"and the apply does nothing else. Null for a domain that an earlier version of the provider created."),
		"purchase_price": attribute.ComputedString("The price that the plan of the purchase has shown, such as `12.00 USD`. If it is another one when the plan is applied, the apply stops before it buys anything. " +
			"Null for a domain that was not bought, and for an API that returns the price only with the purchase."),
	}
}

// attributes returns the attributes that the API returns. None is volatile, because
// ModifyPlan plans every attribute that an update changes.
func attributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"name": schema.StringAttribute{
			Required:   true,
			CustomType: customtype.DomainName,
			MarkdownDescription: "Name of the domain, such as `example.com`. Upper and lower case, a trailing dot, and Unicode or ASCII (IDNA) are the same. " +
				"Changing it replaces the domain: another domain is bought and this one is deleted.",
		},
		"workspace_id": schema.StringAttribute{
			Optional: true, Computed: true,
			CustomType: customtype.UUID,
			MarkdownDescription: "UUID of the workspace that the domain is in. Default: the account's default workspace for a purchase, which the plan shows, and the current workspace for an adoption. " +
				"Changing it moves the domain; removing it leaves the domain where it is.",
		},
		"auto_renew": schema.BoolAttribute{
			Optional: true, Computed: true,
			MarkdownDescription: "Whether the registration is renewed automatically. Set it to `true` for a domain that you need: without a renewal the registration ends, and then somebody else can register the name. " +
				"If you omit it, a purchase has `false`, and every other domain keeps its setting: one that is adopted or imported, and one whose configuration had it before. Set it to `false` to end a renewal; the plan warns of that.",
		},
		"redirect_url": schema.StringAttribute{
			Optional: true, Computed: true,
			CustomType: customtype.RedirectURL,
			Validators: []validator.String{validate.Length[api.UpdateDomainBody]("redirect_url")},
			MarkdownDescription: "Where the domain's web traffic is redirected to, an absolute http or https URL. If you omit it, the domain keeps its redirect, if it has one. " +
				"Set it to `\"\"` to end a redirect; the plan warns of that.",
		},
	}
}

func expandContact(contact types.Object) (body api.ContactInfo) {
	attribute.ExpandStrings(&body, contact)
	if code, err := api.CheckCountry(body.Country); err == nil {
		body.Country = code
	}
	return body
}

// contactAttribute returns the schema of contact_info.
//
// The street, the e-mail address and the phone number are sensitive, because plans end up in
// CI logs and pull requests. The names and the place are not, because the reviewer of a
// purchase must see the future owner. Like any value, all of them are in the state.
func contactAttribute() schema.Attribute {
	private := func(name, description string, rules ...validator.String) schema.Attribute {
		return schema.StringAttribute{
			Required: true, Sensitive: true,
			Validators:          append([]validator.String{validate.Length[api.ContactInfo](name)}, rules...),
			MarkdownDescription: description,
		}
	}
	return schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "Registrant of the domain, required only to buy it, not for a domain that the account owns already. " +
			"It is sent with the purchase only, and the API does not return it: a later change is stored in the state and changes nothing at the registrar. An import leaves it null, and the next apply stores it.",
		Attributes: map[string]schema.Attribute{
			"first_name":   attribute.Argument[api.ContactInfo]("first_name", "First name."),
			"last_name":    attribute.Argument[api.ContactInfo]("last_name", "Last name."),
			"organization": attribute.Argument[api.ContactInfo]("organization", "Company or other organization."),
			"email":        private("email", "E-mail address. The registry may write to it.", customtype.EmailAddress.Validator()),
			"phone":        private("phone", "Phone number with its country code (E.164), such as `+4930123456`.", validate.Phone()),
			"address_1":    private("address_1", "Street and number."),
			"zip":          attribute.Argument[api.ContactInfo]("zip", "Postal code."),
			"city":         attribute.Argument[api.ContactInfo]("city", "City."),
			"state":        attribute.Argument[api.ContactInfo]("state", "State, province or region."),
			"country": schema.StringAttribute{
				Required:            true,
				Validators:          []validator.String{validate.Country()},
				MarkdownDescription: "Two-letter country code (ISO 3166), such as `DE`.",
			},
		},
	}
}

type model struct {
	ID                      types.String      `tfsdk:"id"`
	Name                    customtype.String `tfsdk:"name"`
	WorkspaceID             customtype.String `tfsdk:"workspace_id"`
	AutoRenew               types.Bool        `tfsdk:"auto_renew"`
	RedirectURL             customtype.String `tfsdk:"redirect_url"`
	Status                  types.String      `tfsdk:"status"`
	OutboundRoutingReady    types.Bool        `tfsdk:"outbound_routing_ready"`
	DedicatedIPID           types.String      `tfsdk:"dedicated_ip_id"`
	InboundTenantID         types.String      `tfsdk:"inbound_tenant_id"`
	InboundTenantExternalID types.String      `tfsdk:"inbound_tenant_external_id"`
	InboundTenantName       types.String      `tfsdk:"inbound_tenant_name"`
	InboundTenantType       types.String      `tfsdk:"inbound_tenant_type"`
	RedirectMode            types.String      `tfsdk:"redirect_mode"`
	Tags                    types.List        `tfsdk:"tags"`
	CreatedAt               types.String      `tfsdk:"created_at"`
	UpdatedAt               types.String      `tfsdk:"updated_at"`
	// The API does not return the following fields.
	ContactInfo types.Object `tfsdk:"contact_info"`
	OnExisting  types.String `tfsdk:"on_existing"`
	Acquisition types.String `tfsdk:"acquisition"`
	// PurchasePrice is the price shown by the plan of the purchase.
	PurchasePrice types.String   `tfsdk:"purchase_price"`
	Timeouts      timeouts.Value `tfsdk:"timeouts"`
}

func (m model) String() string { return "domain " + m.display() }

func (m model) canonicalName() string { return canonical(m.Name.ValueString()) }

// canonical returns a domain's name in the API's spelling.
func canonical(name string) string {
	normal, err := customtype.DomainName.Normalize(name)
	if err != nil {
		return name // the API reports what is wrong with it
	}
	return normal
}

// naturalKeys returns the name of a domain, unless the registry refused it: a refused domain may
// be deleted and bought again.
func naturalKeys(of attribute.Raw) []string {
	if name := of.Text("name"); name != "" && of.Text("status") != vocab.DomainFailed {
		return []string{canonical(name)}
	}
	return nil
}

// noRedirect is a redirect_url that ends a redirect.
var noRedirect = customtype.New("")

// redirect returns redirect_url, and null for "".
func (m model) redirect() customtype.String {
	if m.RedirectURL.Equal(noRedirect) {
		return customtype.String{}
	}
	return m.RedirectURL
}

// keepNoRedirect replaces a null redirect_url of a response by "".
func (m *model) keepNoRedirect() {
	if m.RedirectURL.IsNull() {
		m.RedirectURL = noRedirect
	}
}

// expandUpdate returns the update that changes other to m. It omits equal values, and values
// unknown in m.
func (m model) expandUpdate(other model) api.UpdateDomainBody {
	return api.UpdateDomainBody{
		WorkspaceID: attribute.Changed(m.WorkspaceID, other.WorkspaceID, m.WorkspaceID.ValueStringPointer()),
		AutoRenew:   attribute.Changed(m.AutoRenew, other.AutoRenew, m.AutoRenew.ValueBoolPointer()),
		RedirectURL: attribute.ChangedNullable(m.redirect(), other.redirect(), m.redirect().ValueStringPointer()),
	}
}
