package schemajson

import (
	"fmt"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

func convertFunction(f *tfprotov6.Function) (*tfjson.FunctionSignature, error) {
	returns, err := convertType(f.Return.Type)
	if err != nil {
		return nil, fmt.Errorf("its result: %w", err)
	}
	to := &tfjson.FunctionSignature{
		Description: f.Description, Summary: f.Summary, DeprecationMessage: f.DeprecationMessage, ReturnType: returns,
	}
	for _, p := range f.Parameters {
		converted, err := convertParameter(p)
		if err != nil {
			return nil, err
		}
		to.Parameters = append(to.Parameters, converted)
	}
	if f.VariadicParameter != nil {
		to.VariadicParameter, err = convertParameter(f.VariadicParameter)
	}
	return to, err
}

func convertParameter(p *tfprotov6.FunctionParameter) (*tfjson.FunctionParameter, error) {
	converted, err := convertType(p.Type)
	if err != nil {
		return nil, fmt.Errorf("parameter %s: %w", p.Name, err)
	}
	return &tfjson.FunctionParameter{Name: p.Name, Description: p.Description, IsNullable: p.AllowNullValue, Type: converted}, nil
}
