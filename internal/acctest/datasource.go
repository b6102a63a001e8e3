package acctest

import (
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest/core"
)

// typeOf returns the type of a resource's or another block's object.
func typeOf(schemas map[string]*tfprotov6.Schema, name string) tftypes.Type {
	s, ok := schemas[name]
	if !ok {
		panic("the provider has no such " + name)
	}
	return s.ValueType()
}

// ReadData validates the configuration of a data source and, if it is valid, reads the data source.
// It returns the diagnostics of both.
func (p *Protocol) ReadData(typeName string, config map[string]any) (*Object, []*tfprotov6.Diagnostic) {
	t := typeOf(p.core.Schemas.DataSourceSchemas, typeName)
	configured := core.Dynamic(core.NewValue(t, config))
	valid := core.Must(p.core.Server.ValidateDataResourceConfig(p.t.Context(), &tfprotov6.ValidateDataResourceConfigRequest{TypeName: typeName, Config: configured}))
	if Errors(valid.Diagnostics) > 0 {
		return nil, valid.Diagnostics
	}
	resp := core.Must(p.core.Server.ReadDataSource(p.t.Context(), &tfprotov6.ReadDataSourceRequest{TypeName: typeName, Config: configured}))
	return &Object{State: p.core.Decode(typeName, t, resp.State)}, append(valid.Diagnostics, resp.Diagnostics...)
}

// Listed is one result of a list resource.
type Listed struct {
	Object

	DisplayName string
}

// List queries a list resource like terraform query with include_resource = true.
func (p *Protocol) List(typeName string, config map[string]any, limit int64) ([]Listed, []*tfprotov6.Diagnostic) {
	return p.Query(typeName, config, limit, true)
}

// Query is [Protocol.List] that returns null states unless objects is set.
func (p *Protocol) Query(typeName string, config map[string]any, limit int64, objects bool) ([]Listed, []*tfprotov6.Diagnostic) {
	configured := core.Dynamic(core.NewValue(typeOf(p.core.Schemas.ListResourceSchemas, typeName), config))
	server := p.core.Server.(tfprotov6.ListResourceServer)
	valid := core.Must(server.ValidateListResourceConfig(p.t.Context(), &tfprotov6.ValidateListResourceConfigRequest{TypeName: typeName, Config: configured}))
	if Errors(valid.Diagnostics) > 0 {
		return nil, valid.Diagnostics
	}
	stream := core.Must(server.ListResource(p.t.Context(), &tfprotov6.ListResourceRequest{TypeName: typeName, Config: configured, IncludeResource: objects, Limit: limit}))
	var found []Listed
	diags := valid.Diagnostics
	for r := range stream.Results {
		diags = append(diags, r.Diagnostics...)
		if r.Identity != nil {
			found = append(found, Listed{DisplayName: r.DisplayName, Object: Object{State: p.core.Decode(typeName, p.Null(typeName).Type(), r.Resource), Identity: r.Identity}})
		}
	}
	return found, diags
}

// AsConfig returns the configuration that Terraform generates for an object: all
// configurable attributes except sensitive ones.
func (p *Protocol) AsConfig(typeName string, o *Object) map[string]any {
	fields, config := Attributes(o.State), map[string]any{}
	for _, a := range p.core.Schemas.ResourceSchemas[typeName].Block.Attributes {
		if (a.Optional || a.Required) && !a.Sensitive && !fields[a.Name].IsNull() {
			config[a.Name] = fields[a.Name]
		}
	}
	return config
}

// ExpectListed queries a list resource. It fails the test unless the results have these
// display names in this order, matching identities, and empty plans (see
// [Protocol.ExpectPlansNothing]). It returns the results.
func (p *Protocol) ExpectListed(t testing.TB, typeName string, config map[string]any, want ...string) []Listed {
	t.Helper()
	listed, diags := p.List(typeName, config, 100)
	p.NoErrors(diags)
	var got []string
	for _, l := range listed {
		got = append(got, l.DisplayName)
		id := p.IdentityOf(typeName, &l.Object)
		assert.Check(t, id["id"] == l.Text("id") && id["account_id"] == p.accountID, "the identity of %s is %v", l.DisplayName, id)
		p.ExpectPlansNothing(t, typeName, l)
	}
	assert.Check(t, slices.Equal(got, want), "%v lists %q, want %q", config, got, want)
	return listed
}

// ExpectPlansNothing imports a listed object by its identity and reads it. It fails the
// test unless the generated configuration plans no changes.
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
	assert.Check(t, plan.State.Equal(o.State) && len(plan.Replace) == 0, "%s %s plans %s\nwhile there is %s", typeName, listed.DisplayName, plan.State, o.State)
}
