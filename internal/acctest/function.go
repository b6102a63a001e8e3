package acctest

import (
	"math/big"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mailhost/terraform-provider-mailhost/internal/provider"
)

// Unconfigured returns a provider that has no configuration and no account,
// which is all that its functions need.
func Unconfigured(t testing.TB) *Protocol {
	t.Helper()
	server, err := providerserver.NewProtocol6WithError(provider.New("test")())()
	must(t, err)
	p := &Protocol{t: t, server: server}
	p.schema, err = server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	must(t, err)
	return p
}

// Call calls a function of the provider. Where a parameter is of any type, a
// string, number, bool, []any or map[string]any has the type that its literal
// has in a configuration.
func (p *Protocol) Call(name string, arguments ...any) (tftypes.Value, *tfprotov6.FunctionError) {
	p.t.Helper()
	f, ok := p.schema.Functions[name]
	if !ok {
		p.t.Fatalf("the provider has no function %s", name)
	}
	req := &tfprotov6.CallFunctionRequest{Name: name}
	for i, argument := range arguments {
		parameter := f.VariadicParameter
		if i < len(f.Parameters) {
			parameter = f.Parameters[i]
		}
		if parameter == nil {
			p.t.Fatalf("%s takes no %d arguments", name, len(arguments))
		}
		v := literal(argument)
		if !parameter.Type.Is(tftypes.DynamicPseudoType) {
			v = p.value(parameter.Type, argument)
		}
		d, err := tfprotov6.NewDynamicValue(parameter.Type, v)
		must(p.t, err)
		req.Arguments = append(req.Arguments, &d)
	}
	resp, err := p.server.CallFunction(p.t.Context(), req)
	must(p.t, err)
	if resp.Error != nil {
		return tftypes.Value{}, resp.Error
	}
	result, err := resp.Result.Unmarshal(f.Return.Type)
	must(p.t, err)
	return result, nil
}

// Functions returns the functions of the provider, by name.
func (p *Protocol) Functions() map[string]*tfprotov6.Function { return p.schema.Functions }

// literal gives a Go value the type of a literal.
func literal(v any) tftypes.Value {
	switch v := v.(type) {
	case string:
		return tftypes.NewValue(tftypes.String, v)
	case bool:
		return tftypes.NewValue(tftypes.Bool, v)
	case int:
		return tftypes.NewValue(tftypes.Number, big.NewFloat(float64(v)))
	case float64:
		return tftypes.NewValue(tftypes.Number, big.NewFloat(v))
	case []any:
		t := tftypes.Tuple{ElementTypes: []tftypes.Type{}}
		items := []tftypes.Value{}
		for _, e := range v {
			item := literal(e)
			t.ElementTypes, items = append(t.ElementTypes, item.Type()), append(items, item)
		}
		return tftypes.NewValue(t, items)
	case map[string]any:
		t := tftypes.Object{AttributeTypes: map[string]tftypes.Type{}}
		fields := map[string]tftypes.Value{}
		for name, e := range v {
			fields[name] = literal(e)
			t.AttributeTypes[name] = fields[name].Type()
		}
		return tftypes.NewValue(t, fields)
	case tftypes.Value:
		return v
	}
	return tftypes.NewValue(tftypes.DynamicPseudoType, v) // nil, Unknown
}
