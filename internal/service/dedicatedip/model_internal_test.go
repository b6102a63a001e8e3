package dedicatedip

import (
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

func TestFlatten(t *testing.T) {
	var m model
	service.Flatten(&m, &api.DedicatedIP{
		ID: "id", Name: "n", Status: "active", Type: "dedicated", ASN: new(int64(64496)), CountryCode: new("DE"), CreatedAt: new("c"), UpdatedAt: new("u"),
		IPAddresses: []api.IPAddress{{IP: "198.51.100.1", FCrDNSConfirmed: true, RDNS: new("mx.example.com")}, {IP: "2001:db8::1", Healthy: new(false)}},
	})
	const addresses = `[{"fcrdns_confirmed":true,"healthy":<null>,"ip":"198.51.100.1","rdns":"mx.example.com"},` +
		`{"fcrdns_confirmed":false,"healthy":false,"ip":"2001:db8::1","rdns":<null>}]`
	if m.IPAddresses.String() != addresses || m.ASN.ValueInt64() != 64496 || m.CountryCode.ValueString() != "DE" || m.String() != "dedicated IP n" {
		t.Errorf("got %+v", m)
	}
	service.Flatten(&m, &api.DedicatedIP{ID: "id"})
	if !m.ASN.IsNull() || !m.CountryCode.IsNull() || !m.UpdatedAt.IsNull() || m.IPAddresses.IsNull() || m.String() != "dedicated IP id" || !m.OptionID.IsNull() {
		t.Errorf("got %+v", m)
	}
}
