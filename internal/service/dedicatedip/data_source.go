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
	return service.NewDataSource(collection, service.Lookup[api.DedicatedIP, model]{
		Keys: []service.Filter{
			service.IDKey("dedicated IP", "`name` or `ip`"),
			{
				Name: "name", Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
				MarkdownDescription: "Name of the dedicated IP. Set it, `id` or `ip`.",
			},
			{
				Name: "ip", Validators: []validator.String{validate.Rule("an IP address such as 198.51.100.1", checkIP)},
				MarkdownDescription: "Public address, one of `ip_addresses`; the first of them if `id` or `name` is set. Set it, `id` or `name`.",
			},
		},
		Get: (*client.Client).GetDedicatedIP,
		Find: func(ctx context.Context, c *client.Client, by service.FilterValues) (*api.DedicatedIP, error) {
			return c.FindDedicatedIP(ctx, cmp.Or(by["name"], by["ip"]))
		},
		Model: newDataSourceModel,
	}, "A dedicated IP address of the account, by its UUID, its name or the address itself. Nothing is claimed.")
}

// dataSourceModel is the model of the data source of one address.
type dataSourceModel struct {
	model

	IP types.String `tfsdk:"ip"`
}

// newDataSourceModel sets ip to the configured address, or else to the first one.
func newDataSourceModel(m model, by service.FilterValues) any {
	d := &dataSourceModel{model: m, IP: m.firstIP()}
	if ip := by["ip"]; ip != "" {
		d.IP = types.StringValue(ip)
	}
	return d
}

// checkIP returns an IP address in its canonical form.
func checkIP(s string) (string, error) {
	a, err := netip.ParseAddr(s)
	if err != nil {
		return "", err
	}
	return a.String(), nil
}
