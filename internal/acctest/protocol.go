package acctest

import (
	"context"
	"reflect"
	"sync"
	"testing"

	framework "github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mailhost/terraform-provider-mailhost/internal/provider"
)

// Protocol calls a configured provider as Terraform does.
type Protocol struct {
	t      testing.TB
	server tfprotov6.ProviderServer
	schema *tfprotov6.GetProviderSchemaResponse
	ids    map[string]*tfprotov6.ResourceIdentitySchema
	// accountID is the account that the provider is configured for.
	accountID string
	config    tftypes.Value
	// planned reports whether the current walk has planned a resource. A second plan
	// then begins a new walk, unless together is set.
	planned, together bool
	// testFile: the provider was configured once for all walks.
	testFile bool
}

// Object is a resource's object between two calls.
type Object struct {
	State    tftypes.Value
	Identity *tfprotov6.ResourceIdentityData
	Private  []byte
	// Replace lists the attributes that force a replacement; only in a plan.
	Replace []*tftypes.AttributePath
}

// Protocol returns the provider, configured for the server at url, or for s if url is
// empty.
func (s *Server) Protocol(t testing.TB, url string) *Protocol {
	t.Helper()
	return s.ProtocolOf(t, url, provider.New("test")())
}

// ProtocolOf is Protocol for another provider with the same settings, for instance one
// with the test's clock.
func (s *Server) ProtocolOf(t testing.TB, url string, served framework.Provider) *Protocol {
	t.Helper()
	if url == "" {
		url = s.URL
	}
	return s.configured(t, served, map[string]any{"base_url": url, "account_id": s.AccountID, "token": s.Token})
}

// ProtocolOfUnknownToken is Protocol with a token that is unknown until the apply.
func (s *Server) ProtocolOfUnknownToken(t testing.TB) *Protocol {
	t.Helper()
	return s.configured(t, provider.New("test")(), map[string]any{"base_url": s.URL, "account_id": s.AccountID, "token": Unknown})
}

// Embedded returns the provider, configured for an embedded account. Without accountID, a
// new account gets a random id.
func Embedded(t testing.TB, accountID, dataDir string) *Protocol {
	t.Helper()
	s := &Server{AccountID: accountID}
	settings := map[string]any{"embedded": map[string]any{"data_dir": dataDir}}
	if accountID != "" {
		settings["account_id"] = accountID
	}
	return s.configured(t, provider.New("test")(), settings)
}

// schemas and identities have what every provider returns.
var (
	schemas = sync.OnceValue(func() *tfprotov6.GetProviderSchemaResponse {
		return result(provider.NewServer(provider.New("test")()).GetProviderSchema(context.Background(), &tfprotov6.GetProviderSchemaRequest{}))
	})
	identities = sync.OnceValue(func() map[string]*tfprotov6.ResourceIdentitySchema {
		server := provider.NewServer(provider.New("test")())
		return result(server.GetResourceIdentitySchemas(context.Background(), &tfprotov6.GetResourceIdentitySchemasRequest{})).IdentitySchemas
	})
)

func (s *Server) configured(t testing.TB, served framework.Provider, settings map[string]any) *Protocol {
	t.Helper()
	p := &Protocol{t: t, server: provider.NewServer(served), schema: schemas(), ids: identities(), accountID: s.AccountID}
	p.config = NewValue(p.schema.Provider.ValueType(), settings)
	return p.Walk()
}

// Walk configures the provider again, as Terraform does before each plan and each
// apply, and returns p. Apply and a second Plan do this automatically.
func (p *Protocol) Walk() *Protocol {
	p.t.Helper()
	if p.testFile {
		return p
	}
	p.planned, p.together = false, false
	validated := result(p.server.ValidateProviderConfig(p.t.Context(), &tfprotov6.ValidateProviderConfigRequest{Config: p.dynamic(p.config)}))
	p.NoErrors(validated.Diagnostics)
	p.configure()
	return p
}

// TestFile configures the provider as terraform test does for the provider blocks of a
// test file: once for all walks, and without validating the configuration.
func (p *Protocol) TestFile() *Protocol {
	p.t.Helper()
	p.configure()
	p.testFile = true
	return p
}

func (p *Protocol) configure() {
	p.t.Helper()
	resp := result(p.server.ConfigureProvider(p.t.Context(), &tfprotov6.ConfigureProviderRequest{
		TerraformVersion: "1.12.0", Config: p.dynamic(p.config), ClientCapabilities: &tfprotov6.ConfigureProviderClientCapabilities{},
	}))
	p.NoErrors(resp.Diagnostics)
}

// Together begins a walk that lasts until Walk or Apply, so that calls for several
// resources belong to one plan or one apply.
func (p *Protocol) Together() *Protocol {
	p.t.Helper()
	p.Walk().together = true
	return p
}

// NoErrors fails the test if diags contain an error.
func (p *Protocol) NoErrors(diags []*tfprotov6.Diagnostic) {
	p.t.Helper()
	for _, d := range diags {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			p.t.Fatalf("%s: %s\n%s", d.Attribute, d.Summary, d.Detail)
		}
	}
}

// Unknown is an unknown value in a configuration.
var Unknown any = tftypes.UnknownValue

// Text returns a string attribute of the object's state: "" if it is null,
// "(unknown)" if it is unknown.
func (o *Object) Text(name string) string {
	v := Attributes(o.State)[name]
	if !v.IsKnown() {
		return "(unknown)"
	}
	var s *string
	if v.IsNull() || v.As(&s) != nil {
		return ""
	}
	return *s
}

// Null reports whether an attribute of the object's state is null.
func (o *Object) Null(name string) bool { return Attributes(o.State)[name].IsNull() }

// With returns a copy of the object with another value of an attribute.
func (p *Protocol) With(typeName string, o *Object, name string, v any) *Object {
	fields := Attributes(o.State)
	fields[name] = NewValue(fields[name].Type(), v)
	changed := *o
	changed.State = tftypes.NewValue(p.resourceType(typeName), fields)
	return &changed
}

// Gone reports whether the object's state is null.
func (o *Object) Gone() bool { return o.State.IsNull() }

func (p *Protocol) resourceType(typeName string) tftypes.Type {
	return typeOf(p.schema.ResourceSchemas, typeName)
}

// Null returns a null object, which is the planned state of a destroy.
func (p *Protocol) Null(typeName string) tftypes.Value {
	return tftypes.NewValue(p.resourceType(typeName), nil)
}

func (p *Protocol) dynamic(v tftypes.Value) *tfprotov6.DynamicValue {
	return new(result(tfprotov6.NewDynamicValue(v.Type(), v)))
}

func (p *Protocol) decode(typeName string, d *tfprotov6.DynamicValue) tftypes.Value {
	return p.unmarshal(p.resourceType(typeName), d)
}

func (p *Protocol) unmarshal(t tftypes.Type, d *tfprotov6.DynamicValue) tftypes.Value {
	if d == nil {
		return tftypes.NewValue(t, nil)
	}
	return result(d.Unmarshal(t))
}

// NewValue converts a Go value to a value of type t. Missing attributes are null.
func NewValue(t tftypes.Type, v any) tftypes.Value {
	if v == nil || v == Unknown {
		return tftypes.NewValue(t, v)
	}
	if t.Is(tftypes.DynamicPseudoType) {
		return Literal(v)
	}
	if converted, ok := v.(tftypes.Value); ok {
		return converted
	}
	switch t := t.(type) {
	case tftypes.Object:
		attributes := v.(map[string]any)
		fields := map[string]tftypes.Value{}
		for name, inner := range t.AttributeTypes {
			fields[name] = NewValue(inner, attributes[name])
		}
		for name := range attributes {
			if _, ok := fields[name]; !ok {
				panic("there is no attribute " + name)
			}
		}
		return tftypes.NewValue(t, fields)
	case tftypes.Map:
		entries := map[string]tftypes.Value{}
		for it := reflect.ValueOf(v).MapRange(); it.Next(); {
			entries[it.Key().String()] = NewValue(t.ElementType, it.Value().Interface())
		}
		return tftypes.NewValue(t, entries)
	case tftypes.List:
		return tftypes.NewValue(t, newValues(t.ElementType, v))
	case tftypes.Set:
		return tftypes.NewValue(t, newValues(t.ElementType, v))
	}
	return tftypes.NewValue(t, v)
}

// newValues returns the elements of a slice.
func newValues(element tftypes.Type, v any) (items []tftypes.Value) {
	for i := range reflect.ValueOf(v).Len() {
		items = append(items, NewValue(element, reflect.ValueOf(v).Index(i).Interface()))
	}
	return items
}

// Attributes returns the attributes of an object or the elements of a map, or nil if the
// value is null or unknown.
func Attributes(v tftypes.Value) map[string]tftypes.Value {
	var out map[string]tftypes.Value
	if v.IsNull() || !v.IsKnown() {
		return nil
	}
	if err := v.As(&out); err != nil {
		panic(err)
	}
	return out
}

// ElementOf returns an element of a map, or null.
func ElementOf(elements map[string]tftypes.Value, key string, t tftypes.Type) tftypes.Value {
	if e, ok := elements[key]; ok {
		return e
	}
	return tftypes.NewValue(t, nil)
}

// Proposed returns the proposed new state as Terraform computes it before a plan:
// computed attributes that are not configured keep their prior values.
func Proposed(schemas []*tfprotov6.SchemaAttribute, prior, config tftypes.Value) tftypes.Value {
	if config.IsNull() || !config.IsKnown() {
		return config
	}
	before, configured := Attributes(prior), Attributes(config)
	out := make(map[string]tftypes.Value, len(schemas))
	for _, a := range schemas {
		c := configured[a.Name]
		p := ElementOf(before, a.Name, c.Type())
		nested := a.NestedType != nil && !c.IsNull() && c.IsKnown()
		switch {
		case a.Computed && c.IsNull():
			out[a.Name] = p
		case nested && a.NestedType.Nesting == tfprotov6.SchemaObjectNestingModeSingle:
			out[a.Name] = Proposed(a.NestedType.Attributes, p, c)
		case nested && a.NestedType.Nesting == tfprotov6.SchemaObjectNestingModeMap:
			elements, before := map[string]tftypes.Value{}, Attributes(p)
			for key, e := range Attributes(c) {
				elements[key] = Proposed(a.NestedType.Attributes, ElementOf(before, key, e.Type()), e)
			}
			out[a.Name] = tftypes.NewValue(c.Type(), elements)
		default:
			out[a.Name] = c
		}
	}
	return tftypes.NewValue(config.Type(), out)
}
