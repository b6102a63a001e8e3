package schemajson

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/zclconf/go-cty/cty"
)

// convertType turns the protocol's form of a type into the CLIs' own.
func convertType(t tftypes.Type) (cty.Type, error) {
	switch t := t.(type) {
	case tftypes.List:
		return convertElement(t.ElementType, cty.List)
	case tftypes.Set:
		return convertElement(t.ElementType, cty.Set)
	case tftypes.Map:
		return convertElement(t.ElementType, cty.Map)
	case tftypes.Object:
		return convertObject(t)
	case tftypes.Tuple:
		return convertTuple(t)
	case nil:
		return cty.NilType, fmt.Errorf("it has no type")
	}
	switch {
	case t.Is(tftypes.String):
		return cty.String, nil
	case t.Is(tftypes.Number):
		return cty.Number, nil
	case t.Is(tftypes.Bool):
		return cty.Bool, nil
	case t.Is(tftypes.DynamicPseudoType):
		return cty.DynamicPseudoType, nil
	}
	return cty.NilType, fmt.Errorf("unknown type %s", t)
}

func convertElement(element tftypes.Type, of func(cty.Type) cty.Type) (cty.Type, error) {
	converted, err := convertType(element)
	if err != nil {
		return cty.NilType, err
	}
	return of(converted), nil
}

func convertObject(o tftypes.Object) (cty.Type, error) {
	attributes := make(map[string]cty.Type, len(o.AttributeTypes))
	var optional []string
	for name, t := range o.AttributeTypes {
		converted, err := convertType(t)
		if err != nil {
			return cty.NilType, fmt.Errorf("%s: %w", name, err)
		}
		attributes[name] = converted
		if _, ok := o.OptionalAttributes[name]; ok {
			optional = append(optional, name)
		}
	}
	return cty.ObjectWithOptionalAttrs(attributes, optional), nil
}

func convertTuple(t tftypes.Tuple) (cty.Type, error) {
	elements := make([]cty.Type, len(t.ElementTypes))
	for i, element := range t.ElementTypes {
		converted, err := convertType(element)
		if err != nil {
			return cty.NilType, fmt.Errorf("element %d: %w", i, err)
		}
		elements[i] = converted
	}
	return cty.Tuple(elements), nil
}
