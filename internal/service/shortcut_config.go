package service

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/vmihailenco/msgpack/v5"

	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

// Validate returns the response for a configuration without errors and warnings, in which
// only strings are set.
func (s *Shortcut) Validate(ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest) *tfprotov6.ValidateResourceConfigResponse {
	if _, ok := s.resource.Managed.(resource.ResourceWithValidateConfig); ok || req.Config == nil {
		return nil
	}
	config, ok := split(req.Config.MsgPack)
	if !ok || len(config) != len(s.schema.Attributes) {
		return nil
	}
	for _, f := range config {
		if a := s.schema.Attributes[f.name]; a == nil || !isValid(ctx, a, f) {
			return nil
		}
	}
	return &tfprotov6.ValidateResourceConfigResponse{}
}

// isValid reports whether an attribute is null and may be, or is a valid string. In doubt
// it is not valid.
func isValid(ctx context.Context, a schema.Attribute, f field) bool {
	if f.kind() == null {
		return !a.IsRequired()
	}
	text, ok := f.text()
	s, isString := a.(schema.StringAttribute)
	if !ok || !isString || s.WriteOnly || s.DeprecationMessage != "" || !s.Required && !s.Optional {
		return false
	}
	if _, ok := s.CustomType.(customtype.Type); !ok && s.CustomType != nil {
		return false
	}
	for _, v := range s.Validators {
		var resp validator.StringResponse
		v.ValidateString(ctx, validator.StringRequest{
			Path: path.Root(f.name), PathExpression: path.MatchRoot(f.name), ConfigValue: types.StringValue(text),
		}, &resp)
		if len(resp.Diagnostics) > 0 {
			return false
		}
	}
	return true
}

// Upgrade returns the response for a state of the current version of the schema: the same
// values in the other encoding.
func (s *Shortcut) Upgrade(req *tfprotov6.UpgradeResourceStateRequest) *tfprotov6.UpgradeResourceStateResponse {
	if req.Version != s.schema.Version || req.RawState == nil {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(req.RawState.JSON))
	dec.UseNumber()
	var state any
	if dec.Decode(&state) != nil || state == nil {
		return nil
	}
	var upgraded bytes.Buffer
	if !encode(msgpack.NewEncoder(&upgraded), s.objectType, state) {
		return nil
	}
	return &tfprotov6.UpgradeResourceStateResponse{UpgradedState: &tfprotov6.DynamicValue{MsgPack: upgraded.Bytes()}}
}

// encode encodes a decoded JSON value of a type. It returns false if the value is of another
// type, or the type is not one that resources with shortcuts have.
func encode(enc *msgpack.Encoder, t tftypes.Type, value any) bool {
	if value == nil {
		return enc.EncodeNil() == nil
	}
	switch v := value.(type) {
	case string:
		return t.Is(tftypes.String) && enc.EncodeString(v) == nil
	case bool:
		return t.Is(tftypes.Bool) && enc.EncodeBool(v) == nil
	case json.Number:
		n, err := v.Int64()
		return t.Is(tftypes.Number) && err == nil && enc.EncodeInt(n) == nil
	case []any:
		list, ok := t.(tftypes.List)
		if !ok || enc.EncodeArrayLen(len(v)) != nil {
			return false
		}
		for _, item := range v {
			if !encode(enc, list.ElementType, item) {
				return false
			}
		}
		return true
	case map[string]any:
		object, ok := t.(tftypes.Object)
		if !ok || len(v) != len(object.AttributeTypes) || enc.EncodeMapLen(len(v)) != nil {
			return false
		}
		for name, item := range v {
			attribute, ok := object.AttributeTypes[name]
			if !ok || enc.EncodeString(name) != nil || !encode(enc, attribute, item) {
				return false
			}
		}
		return true
	}
	return false
}
