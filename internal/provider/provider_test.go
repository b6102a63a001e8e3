package provider_test

import (
	"reflect"
	"slices"
	"testing"

	fwprovider "github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
	"github.com/mailhost/terraform-provider-mailhost/internal/provider"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// TestConfigureReachesEverything fails if the framework adds a field for provider data
// that Configure does not set.
func TestConfigureReachesEverything(t *testing.T) {
	t.Setenv("MAILHOST_DATA_DIR", t.TempDir())
	p := provider.New("test")()
	var s fwprovider.SchemaResponse
	p.Schema(t.Context(), fwprovider.SchemaRequest{}, &s)
	var resp fwprovider.ConfigureResponse
	p.Configure(t.Context(), fwprovider.ConfigureRequest{
		Config: tfsdk.Config{Schema: s.Schema, Raw: nothing(t, s.Schema.Type().TerraformType(t.Context()))},
	}, &resp)
	if len(resp.Diagnostics) > 0 {
		t.Fatal(resp.Diagnostics)
	}
	var first *session.Session
	fields := 0
	for f, v := range reflect.ValueOf(resp).Fields() {
		if f.Type.Kind() != reflect.Interface || f.Name == "Diagnostics" {
			continue
		}
		fields++
		got, ok := reflect.TypeAssert[*session.Session](v)
		if !ok || got == nil {
			t.Errorf("%s is %v", f.Name, v)
			continue
		}
		if first == nil {
			first = got
		}
		assert.Check(t, got == first, "%s is another session", f.Name)
	}
	assert.Check(t, fields == 6, "there are %d fields of data", fields)
}

// nothing is an object without values.
func nothing(t *testing.T, typ tftypes.Type) tftypes.Value {
	t.Helper()
	fields := map[string]tftypes.Value{}
	for name, inner := range typ.(tftypes.Object).AttributeTypes {
		fields[name] = tftypes.NewValue(inner, nil)
	}
	return tftypes.NewValue(typ, fields)
}

func schemas(t *testing.T) *tfprotov6.GetProviderSchemaResponse {
	t.Helper()
	server := provider.NewServer(provider.New("test")())
	// The framework validates each schema first.
	resp, err := server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	assert.NilError(t, err)
	for _, d := range resp.Diagnostics {
		t.Errorf("%s: %s: %s", d.Severity, d.Summary, d.Detail)
	}
	return resp
}

// TestSecretsAreSensitive lists every attribute that contains a secret.
func TestSecretsAreSensitive(t *testing.T) {
	t.Parallel()
	all := schemas(t)
	var sensitive []string
	collect := func(name string, attributes []*tfprotov6.SchemaAttribute) {
		for _, a := range attributes {
			if a.Sensitive {
				sensitive = append(sensitive, name+"."+a.Name)
			}
		}
	}
	for name, s := range all.ResourceSchemas {
		collect(name, s.Block.Attributes)
	}
	slices.Sort(sensitive)
	want := []string{
		"mailhost_master_password.generated_secret", "mailhost_master_password.value", "mailhost_master_password.value_wo", "mailhost_service_account.token",
	}
	assert.Check(t, slices.Equal(sensitive, want), "sensitive are %q, want %q", sensitive, want)
	for _, a := range all.Provider.Block.Attributes {
		assert.Check(t, a.Name != "token" || a.Sensitive, "the provider's token is not sensitive")
		if a.Name == "oauth2" {
			for _, a := range a.NestedType.Attributes {
				assert.Check(t, a.Name != "client_secret" || a.Sensitive, "oauth2.client_secret is not sensitive")
			}
		}
	}
}

// TestServerHasEveryMethodOfTheFramework fails if a newer framework serves a part of the protocol
// that the layers in front of it hide.
func TestServerHasEveryMethodOfTheFramework(t *testing.T) {
	t.Parallel()
	p := provider.New("test")()
	server := reflect.TypeOf(provider.NewServer(p))
	for method := range reflect.TypeOf(providerserver.NewProtocol6(p)()).Methods() {
		_, ok := server.MethodByName(method.Name)
		assert.Check(t, ok, "%s of the framework's server is hidden", method.Name)
	}
}

// TestUnknownTokenWithoutDeferral checks that creates, which need no API, are planned, and
// that existing objects cause one error with the two steps to run.
func TestUnknownTokenWithoutDeferral(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.ProtocolOfUnknownToken(t).Together()
	var all []*tfprotov6.Diagnostic
	for name, r := range kinds(t, s) {
		o, diags := s.Protocol(t, "").Apply(t.Context(), name, r.config, nil)
		p.NoErrors(diags)
		o.Identity = nil // like a CLI without identities
		_, diags = p.Plan(name, r.config, nil)
		assert.Check(t, acctest.Errors(diags) <= 0, "the create of %s: %s", name, acctest.Render(diags))
		read, diags := p.Read(name, o)
		assert.Check(t, read.State.Equal(o.State), "the read of %s returns %s", name, read.State)
		all = append(all, diags...)
	}
	assert.Check(t, acctest.Errors(all) == 1, "%d errors: %s", acctest.Errors(all), acctest.Render(all))
	acctest.Expect(t, all, "ERROR: Provider setting not known yet", "token in the provider block", "-target=mailhost_service_account.", "\n  terraform apply\n")
}
