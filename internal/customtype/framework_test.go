package customtype

import (
	"context"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// These tests run the types in the framework: a provider with one resource whose API
// returns canonical forms.

type testProvider struct{}

func (testProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "test"
}
func (testProvider) Schema(context.Context, provider.SchemaRequest, *provider.SchemaResponse) {}
func (testProvider) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {
}
func (testProvider) DataSources(context.Context) []func() datasource.DataSource { return nil }
func (testProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return thing{} }}
}

type thing struct{}

type thingModel struct {
	Domain  String     `tfsdk:"domain"`
	Aliases types.List `tfsdk:"aliases"`
	Created String     `tfsdk:"created"`
}

func (thing) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "test_thing"
}

func (thing) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"domain":  schema.StringAttribute{Required: true, CustomType: DomainName, Validators: []validator.String{DomainName.Validator()}},
		"aliases": schema.ListAttribute{Optional: true, ElementType: EmailAddress},
		"created": schema.StringAttribute{Computed: true, CustomType: Timestamp},
	}}
}

func (thing) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m thingModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	m.Domain = New("xn--bcher-kva.example")
	m.Created = New("the day before yesterday")
	if !m.Aliases.IsNull() {
		list, diags := types.ListValueFrom(ctx, m.Aliases.ElementType(ctx), []String{
			New("jane@example.com"),
		})
		resp.Diagnostics.Append(diags...)
		m.Aliases = list
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

func (thing) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var m thingModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
}
func (thing) Update(context.Context, resource.UpdateRequest, *resource.UpdateResponse) {}
func (thing) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}

var (
	aliasesType = tftypes.List{ElementType: tftypes.String}
	objectType  = tftypes.Object{AttributeTypes: map[string]tftypes.Type{"domain": tftypes.String, "aliases": aliasesType, "created": tftypes.String}}
)

func object(t *testing.T, domain, created any, aliases ...string) *tfprotov6.DynamicValue {
	t.Helper()
	list := tftypes.NewValue(aliasesType, nil)
	if aliases != nil {
		var items []tftypes.Value
		for _, a := range aliases {
			items = append(items, tftypes.NewValue(tftypes.String, a))
		}
		list = tftypes.NewValue(aliasesType, items)
	}
	v, err := tfprotov6.NewDynamicValue(objectType, tftypes.NewValue(objectType, map[string]tftypes.Value{
		"domain": tftypes.NewValue(tftypes.String, domain), "aliases": list, "created": tftypes.NewValue(tftypes.String, created),
	}))
	if err != nil {
		t.Fatal(err)
	}
	return &v
}

func server(t *testing.T) tfprotov6.ProviderServer {
	t.Helper()
	s, err := providerserver.NewProtocol6WithError(testProvider{})()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFrameworkValidatesConfiguration(t *testing.T) {
	t.Parallel()
	for domain, want := range map[any]string{
		"Bücher.example.":    "",
		tftypes.UnknownValue: "",
		"no_name.example":    "domain must be a domain name such as example.com: ",
	} {
		resp, err := server(t).ValidateResourceConfig(t.Context(), &tfprotov6.ValidateResourceConfigRequest{
			TypeName: "test_thing", Config: object(t, domain, nil),
		})
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case want == "" && len(resp.Diagnostics) == 0:
		case want != "" && len(resp.Diagnostics) == 1 && strings.HasPrefix(resp.Diagnostics[0].Detail, want) &&
			resp.Diagnostics[0].Attribute.Equal(tftypes.NewAttributePath().WithAttributeName("domain")):
		default:
			t.Errorf("%v: %+v", domain, resp.Diagnostics)
		}
	}
}

func TestFrameworkKeepsSpelling(t *testing.T) {
	t.Parallel()
	resp, err := server(t).ApplyResourceChange(t.Context(), &tfprotov6.ApplyResourceChangeRequest{
		TypeName:     "test_thing",
		PriorState:   nothing(t),
		Config:       object(t, "Bücher.example.", nil, "Jane@Example.com"),
		PlannedState: object(t, "Bücher.example.", tftypes.UnknownValue, "Jane@Example.com"),
	})
	if err != nil || len(resp.Diagnostics) > 0 {
		t.Fatalf("%v %+v", err, resp.Diagnostics)
	}
	got, err := resp.NewState.Unmarshal(objectType)
	if err != nil {
		t.Fatal(err)
	}
	want, err := object(t, "Bücher.example.", "the day before yesterday", "Jane@Example.com").Unmarshal(objectType)
	if err != nil {
		t.Fatal(err)
	}
	if !got.Equal(want) {
		t.Errorf("state is %s\nwant %s", got, want)
	}
}

// TestFrameworkReadsState checks that an invalid value in the state is readable.
func TestFrameworkReadsState(t *testing.T) {
	t.Parallel()
	resp, err := server(t).ReadResource(t.Context(), &tfprotov6.ReadResourceRequest{
		TypeName: "test_thing", CurrentState: object(t, "no_name.example", "the day before yesterday", "jane"),
	})
	if err != nil || len(resp.Diagnostics) > 0 {
		t.Errorf("%v %+v", err, resp.Diagnostics)
	}
}

func nothing(t *testing.T) *tfprotov6.DynamicValue {
	t.Helper()
	v, err := tfprotov6.NewDynamicValue(objectType, tftypes.NewValue(objectType, nil))
	if err != nil {
		t.Fatal(err)
	}
	return &v
}
