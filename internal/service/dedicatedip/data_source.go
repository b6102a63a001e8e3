package dedicatedip

import (
	"cmp"
	"context"
	"net/netip"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

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

// checkIP returns an IP address in its canonical form.
func checkIP(s string) (string, error) {
	a, err := netip.ParseAddr(s)
	if err != nil {
		return "", err
	}
	return a.String(), nil
}
