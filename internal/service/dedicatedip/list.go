package dedicatedip

import (
	"cmp"
	"context"
	"iter"
	"net/netip"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

var object = service.Object[api.DedicatedIP, record]{
	Name: "dedicated_ip", Names: "dedicated_ips", Noun: "dedicated IP", Nouns: "dedicated IPs",
	Attributes: func() map[string]schema.Attribute { return service.Answered(recordAttributes(), nil) },
	Filters: []service.Filter{
		{
			Name: "status", Validators: []validator.String{validate.OneOf[api.ListDedicatedIPsRequest]("status")},
			MarkdownDescription: "Only the dedicated IPs in this state: `provisioning`, `active` or `releasing`.",
		},
		{
			Name: "country_code", Validators: []validator.String{validate.Country()},
			MarkdownDescription: "Only the dedicated IPs in this country, by its two-letter code (ISO 3166), such as `DE`.",
		},
	},
	List: func(ctx context.Context, c *client.Client, by service.Given) iter.Seq2[api.DedicatedIP, error] {
		country := by["country_code"]
		if code, err := api.CheckCountry(country); err == nil {
			country = code
		}
		return c.ListDedicatedIPs(ctx, api.ListDedicatedIPsRequest{Status: by["status"], CountryCode: country})
	},
	Recorder: service.Recorded(func(d *api.DedicatedIP) (r record) {
		r.fill(d)
		return r
	}),
}

// lookedUp is the singular data source as Terraform keeps it.
type lookedUp struct {
	record

	IP types.String `tfsdk:"ip"`
}

// newLookedUp tells of an address that was looked up by something else its first
// IP.
func newLookedUp(r record, by service.Given) any {
	l := &lookedUp{record: r, IP: r.firstIP()}
	if ip := by["ip"]; ip != "" {
		l.IP = types.StringValue(ip)
	}
	return l
}

// NewDataSource returns data.mailhost_dedicated_ip.
func NewDataSource() datasource.DataSource {
	return service.NewSingular(object, service.Lookup[api.DedicatedIP, record]{
		Keys: []service.Filter{
			service.IDKey("dedicated IP", "`name` or `ip`"),
			{
				Name: "name", Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
				MarkdownDescription: "Name of the dedicated IP. Give it, `id` or `ip`.",
			},
			{
				Name: "ip", Validators: []validator.String{validate.Rule("an IP address such as 198.51.100.1", checkIP)},
				MarkdownDescription: "Public address, one of `ip_addresses`; the first of them where `id` or `name` is given. Give it, `id` or `name`.",
			},
		},
		Get: (*client.Client).GetDedicatedIP,
		Find: func(ctx context.Context, c *client.Client, by service.Given) (*api.DedicatedIP, error) {
			return c.FindDedicatedIP(ctx, cmp.Or(by["name"], by["ip"]))
		},
		Model: newLookedUp,
	}, "A dedicated IP address of the account, by its UUID, its name or the address itself. Nothing is claimed.")
}

// checkIP returns an IP address in its canonical form.
func checkIP(s string) (string, error) {
	a, err := netip.ParseAddr(s)
	if err != nil {
		return "", err
	}
	return a.String(), nil
}

// NewDataSources returns data.mailhost_dedicated_ips.
func NewDataSources() datasource.DataSource {
	return service.NewPlural(object, "The dedicated IP addresses of the account, or those of them that every filter lets through.")
}

// NewListResource returns the list resource mailhost_dedicated_ip.
func NewListResource() list.ListResource {
	return service.NewListResource(object, service.Listed[api.DedicatedIP, record]{
		ID:          func(d *api.DedicatedIP) string { return d.ID },
		DisplayName: func(d *api.DedicatedIP) string { return d.Name },
		Model:       func(r record) any { return &model{record: r, Timeouts: service.NoTimeouts()} },
	}, "Lists the dedicated IP addresses of the account, or those of them that every filter lets through.")
}
