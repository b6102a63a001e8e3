package dnsrecord

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

const description = "A DNS record of a domain.\n\n" +
	"Every domain comes with the records that its mail needs: MX, SPF, DKIM and DMARC. They are system-managed and exist as long as the domain; they need no resource and can't have one. To own all records of a domain, use `mailhost_dns_zone`; a plan that has both for one record is an error.\n\n" +
	"To set your own policy, create the record: a TXT record at `@` that begins with `v=spf1`, one at `_dmarc` that begins with `v=DMARC1`, and MX records at `@` replace the system-managed ones of that kind. Those return when you delete the last of yours. " +
	"A name has one SPF and one DMARC record; a second one is an error. DKIM records are not replaced.\n\n" +
	"An API with the published operations only can create a record, but not read, change or delete it. There a refresh keeps the state as it is; a change of `value`, `ttl` or `priority` is an error that explains " +
	"how to replace the record; a destroy drops the record from the state with a warning; and no record can be imported. If an identical record exists, only the apply knows it: it fails, or adopts the record with `on_existing = \"adopt\"` if the API returns its id."

// recordType validates a type, here and in data sources.
var recordType = validate.OneOf[api.CreateDNSRecordBody]("type")

func attributes() map[string]schema.Attribute {
	ctx := context.Background()
	ttl := validate.Range[api.CreateDNSRecordBody]("ttl")
	priority := validate.Range[api.CreateDNSRecordBody]("prio")
	return map[string]schema.Attribute{
		"id": service.ComputedString("Id of the record: a number, in decimal."),
		"domain": schema.StringAttribute{
			Required:            true,
			CustomType:          customtype.DomainRef,
			PlanModifiers:       []planmodifier.String{service.KeepDomainRef("domain_id"), stringplanmodifier.RequiresReplace()},
			MarkdownDescription: "Domain of the record, by name or UUID, for instance `mailhost_domain.main.name`. Changing it replaces the record.",
		},
		"name": schema.StringAttribute{
			Required:            true,
			CustomType:          customtype.DNSName,
			PlanModifiers:       []planmodifier.String{keepEqual(model.sameName), stringplanmodifier.RequiresReplace()},
			MarkdownDescription: "Name of the record: relative to the domain, such as `www`, or in full, such as `www.example.com`, which ends in the domain; `@` is the domain itself. Changing it replaces the record.",
		},
		"type": schema.StringAttribute{
			Required:            true,
			Validators:          []validator.String{recordType},
			PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplace()},
			MarkdownDescription: fmt.Sprintf("Type of the record: %s. Changing it replaces the record.", recordType.MarkdownDescription(ctx)),
		},
		"value": schema.StringAttribute{
			Required:      true,
			CustomType:    customtype.DNSValue,
			PlanModifiers: []planmodifier.String{keepEqual(model.sameValue)},
			MarkdownDescription: "Value of the record, in the form of its type, without the priority: for instance `192.0.2.1` (A), `mail.example.com` (MX), `5 443 sip.example.com` (SRV: weight, port, target), `0 issue \"ca.example.net\"` (CAA). " +
				"A TXT value is the text itself, of any length, or quoted strings as in a zone file, which are joined.",
		},
		"ttl": schema.Int64Attribute{
			Optional: true, Computed: true,
			Default:             int64default.StaticInt64(api.DefaultDNSTTL),
			Validators:          []validator.Int64{ttl},
			MarkdownDescription: fmt.Sprintf("How long resolvers may cache the record, in seconds: %s. Default: `%d`.", ttl.MarkdownDescription(ctx), api.DefaultDNSTTL),
		},
		"priority": schema.Int64Attribute{
			Optional:            true,
			Validators:          []validator.Int64{priority},
			MarkdownDescription: fmt.Sprintf("Priority of an MX or SRV record, the lowest first: %s. Required for these types; other types have none.", priority.MarkdownDescription(ctx)),
		},
		"is_system_managed": schema.BoolAttribute{Computed: true, MarkdownDescription: "Whether the record was created with its domain. Always false, because such records can't be managed."},
		"domain_id":         service.ComputedString("UUID of the domain; null if the credential may not see the domain."),
		"domain_name":       service.ComputedString("Name of the domain, in ASCII."),
		"fqdn":              service.ComputedString("Full name of the record in ASCII, without a trailing dot."),
	}
}
