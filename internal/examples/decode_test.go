package examples_test

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	tfjson "github.com/hashicorp/terraform-json"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/msgpack"
)

// decode evaluates a block's body with a schema, as the CLI does. Values that depend on
// the rest of the configuration are unknown.
func decode(body hcl.Body, schema *tfjson.SchemaBlock) (*tfprotov6.DynamicValue, hcl.Diagnostics) {
	spec := hcldec.ObjectSpec{}
	for name, a := range schema.Attributes {
		spec[name] = &hcldec.AttrSpec{Name: name, Type: attributeType(a), Required: a.Required}
	}
	value, diags := hcldec.Decode(body, spec, unknowns(body))
	if diags.HasErrors() {
		return nil, diags
	}
	encoded, err := msgpack.Marshal(value, hcldec.ImpliedType(spec).WithoutOptionalAttributesDeep())
	if err != nil {
		return nil, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Can't be encoded", Detail: err.Error(), Subject: body.MissingItemRange().Ptr()}}
	}
	return &tfprotov6.DynamicValue{MsgPack: encoded}, nil
}

// attributeType returns the type of an attribute in a configuration.
func attributeType(a *tfjson.SchemaAttribute) cty.Type {
	nested := a.AttributeNestedType
	if nested == nil {
		return a.AttributeType
	}
	attributes := map[string]cty.Type{}
	var optional []string
	for name, a := range nested.Attributes {
		attributes[name] = attributeType(a)
		if !a.Required {
			optional = append(optional, name)
		}
	}
	object := cty.ObjectWithOptionalAttrs(attributes, optional)
	switch nested.NestingMode {
	case tfjson.SchemaNestingModeList:
		return cty.List(object)
	case tfjson.SchemaNestingModeSet:
		return cty.Set(object)
	case tfjson.SchemaNestingModeMap:
		return cty.Map(object)
	}
	return object
}

// unknowns returns a context in which all references of a body and all results of
// functions are unknown.
func unknowns(body hcl.Body) *hcl.EvalContext {
	ctx := &hcl.EvalContext{Variables: map[string]cty.Value{}, Functions: map[string]function.Function{}}
	references, calls := expressions(body)
	for _, t := range references {
		ctx.Variables[t.RootName()] = cty.DynamicVal
	}
	for _, call := range calls {
		ctx.Functions[call.Name] = anything
	}
	return ctx
}

// anything is a function that accepts any arguments and returns an unknown value.
var anything = function.New(&function.Spec{
	VarParam: &function.Parameter{Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowDynamicType: true},
	Type:     function.StaticReturnType(cty.DynamicPseudoType),
	Impl:     func([]cty.Value, cty.Type) (cty.Value, error) { return cty.DynamicVal, nil },
})

// expressions returns the references and the function calls in a body and the blocks in it.
func expressions(body hcl.Body) (references []hcl.Traversal, calls []*hclsyntax.FunctionCallExpr) {
	syntax, ok := body.(*hclsyntax.Body)
	if !ok {
		return nil, nil
	}
	_ = hclsyntax.VisitAll(syntax, func(node hclsyntax.Node) hcl.Diagnostics {
		switch node := node.(type) {
		case *hclsyntax.Attribute:
			references = append(references, node.Expr.Variables()...)
		case *hclsyntax.FunctionCallExpr:
			calls = append(calls, node)
		}
		return nil
	})
	return references, calls
}
