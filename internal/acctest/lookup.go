package acctest

import (
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// ReadData validates the configuration of a data source and, if it is valid,
// reads it. The diagnostics are those of both.
func (p *Protocol) ReadData(typeName string, config map[string]any) (*Object, []*tfprotov6.Diagnostic) {
	p.t.Helper()
	t := schemaType(p, "data source", typeName, p.schema.DataSourceSchemas)
	asked := p.dynamic(p.value(t, config))
	valid, err := p.server.ValidateDataResourceConfig(p.t.Context(), &tfprotov6.ValidateDataResourceConfigRequest{TypeName: typeName, Config: asked})
	must(p.t, err)
	if hasError(valid.Diagnostics) {
		return nil, valid.Diagnostics
	}
	resp, err := p.server.ReadDataSource(p.t.Context(), &tfprotov6.ReadDataSourceRequest{TypeName: typeName, Config: asked})
	must(p.t, err)
	return &Object{State: p.unmarshal(t, resp.State)}, append(valid.Diagnostics, resp.Diagnostics...)
}

// Listed is what a list resource tells of one object.
type Listed struct {
	Object

	DisplayName string
}

// List queries a list resource as terraform query does with include_resource =
// true. The diagnostics are all that came.
func (p *Protocol) List(typeName string, config map[string]any, limit int64) ([]Listed, []*tfprotov6.Diagnostic) {
	p.t.Helper()
	return p.list(typeName, config, limit, true)
}

// ListIdentities is [Protocol.List] without the objects themselves, as terraform
// query does by default: their states are null.
func (p *Protocol) ListIdentities(typeName string, config map[string]any, limit int64) ([]Listed, []*tfprotov6.Diagnostic) {
	p.t.Helper()
	return p.list(typeName, config, limit, false)
}

func (p *Protocol) list(typeName string, config map[string]any, limit int64, objects bool) ([]Listed, []*tfprotov6.Diagnostic) {
	p.t.Helper()
	asked := p.dynamic(p.value(schemaType(p, "list resource", typeName, p.schema.ListResourceSchemas), config))
	server, ok := p.server.(tfprotov6.ListResourceServer)
	if !ok {
		p.t.Fatal("the provider server lists no resources")
	}
	valid, err := server.ValidateListResourceConfig(p.t.Context(), &tfprotov6.ValidateListResourceConfigRequest{TypeName: typeName, Config: asked})
	must(p.t, err)
	if hasError(valid.Diagnostics) {
		return nil, valid.Diagnostics
	}
	stream, err := server.ListResource(p.t.Context(), &tfprotov6.ListResourceRequest{TypeName: typeName, Config: asked, IncludeResource: objects, Limit: limit})
	must(p.t, err)
	var found []Listed
	diags := valid.Diagnostics
	for r := range stream.Results {
		diags = append(diags, r.Diagnostics...)
		if r.Identity != nil {
			found = append(found, Listed{DisplayName: r.DisplayName, Object: Object{State: p.decode(typeName, r.Resource), Identity: r.Identity}})
		}
	}
	return found, diags
}

// AsConfig returns the configuration that Terraform generates from an object: the
// attributes that can be configured, but those that are sensitive.
func (p *Protocol) AsConfig(typeName string, o *Object) map[string]any {
	p.t.Helper()
	var fields map[string]tftypes.Value
	must(p.t, o.State.As(&fields))
	config := map[string]any{}
	for _, a := range p.schema.ResourceSchemas[typeName].Block.Attributes {
		if (a.Optional || a.Required) && !a.Sensitive && !fields[a.Name].IsNull() {
			config[a.Name] = fields[a.Name]
		}
	}
	return config
}

func schemaType(p *Protocol, what, typeName string, schemas map[string]*tfprotov6.Schema) tftypes.Type {
	p.t.Helper()
	s, ok := schemas[typeName]
	if !ok {
		p.t.Fatalf("the provider has no %s %s", what, typeName)
	}
	return s.ValueType()
}

func hasError(diags []*tfprotov6.Diagnostic) bool { return Errors(diags) > 0 }

// Errors counts the diagnostics that are errors.
func Errors(diags []*tfprotov6.Diagnostic) (n int) {
	for _, d := range diags {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			n++
		}
	}
	return n
}

// ExpectListed queries a list resource and fails the test unless the objects have
// these display names, in this order, and each its own identity and nothing to
// plan, see [Protocol.ExpectPlansNothing]. It returns them.
func (p *Protocol) ExpectListed(t testing.TB, typeName string, config map[string]any, want ...string) []Listed {
	t.Helper()
	listed, diags := p.List(typeName, config, 100)
	p.NoErrors(diags)
	var got []string
	for _, l := range listed {
		got = append(got, l.DisplayName)
		if id := p.IdentityOf(typeName, &l.Object); id["id"] != l.Text("id") || id["account_id"] != p.accountID {
			t.Errorf("the identity of %s is %v", l.DisplayName, id)
		}
		p.ExpectPlansNothing(t, typeName, l)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v lists %q, want %q", config, got, want)
	}
	return listed
}

// ExpectPlansNothing takes an object that was listed, imports and reads it by its
// identity, and fails the test where the configuration that Terraform generates
// from what was listed plans anything.
func (p *Protocol) ExpectPlansNothing(t testing.TB, typeName string, listed Listed) {
	t.Helper()
	identity := map[string]any{}
	for name, value := range p.IdentityOf(typeName, &listed.Object) {
		identity[name] = value
	}
	o, diags := p.Import(typeName, "", identity)
	p.NoErrors(diags)
	o, diags = p.Read(typeName, o)
	p.NoErrors(diags)
	config := p.AsConfig(typeName, &listed.Object)
	p.NoErrors(p.Validate(typeName, config))
	plan, diags := p.Plan(typeName, config, o)
	p.NoErrors(diags)
	if !plan.State.Equal(o.State) || len(plan.Replace) > 0 {
		t.Errorf("%s %s plans %s\nwhile there is %s", typeName, listed.DisplayName, plan.State, o.State)
	}
}
