package compact

import (
	"context"
	"reflect"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"gotest.tools/v3/assert"
)

// recorder is a framework's server that records the request of a call. Any other method of the protocol
// ends the test with a panic.
type recorder struct {
	Framework
	request any
}

func record[Req, Resp any](r *recorder, req *Req) (*Resp, error) {
	r.request = req
	return new(Resp), nil
}

func (r *recorder) ValidateResourceConfig(_ context.Context, req *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	return record[tfprotov6.ValidateResourceConfigRequest, tfprotov6.ValidateResourceConfigResponse](r, req)
}

func (r *recorder) UpgradeResourceState(_ context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	return record[tfprotov6.UpgradeResourceStateRequest, tfprotov6.UpgradeResourceStateResponse](r, req)
}

func (r *recorder) UpgradeResourceIdentity(_ context.Context, req *tfprotov6.UpgradeResourceIdentityRequest) (*tfprotov6.UpgradeResourceIdentityResponse, error) {
	return record[tfprotov6.UpgradeResourceIdentityRequest, tfprotov6.UpgradeResourceIdentityResponse](r, req)
}

func (r *recorder) ReadResource(_ context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	return record[tfprotov6.ReadResourceRequest, tfprotov6.ReadResourceResponse](r, req)
}

func (r *recorder) PlanResourceChange(_ context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	return record[tfprotov6.PlanResourceChangeRequest, tfprotov6.PlanResourceChangeResponse](r, req)
}

func (r *recorder) ApplyResourceChange(_ context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	return record[tfprotov6.ApplyResourceChangeRequest, tfprotov6.ApplyResourceChangeResponse](r, req)
}

func (r *recorder) ImportResourceState(_ context.Context, req *tfprotov6.ImportResourceStateRequest) (*tfprotov6.ImportResourceStateResponse, error) {
	return record[tfprotov6.ImportResourceStateRequest, tfprotov6.ImportResourceStateResponse](r, req)
}

func (r *recorder) MoveResourceState(_ context.Context, req *tfprotov6.MoveResourceStateRequest) (*tfprotov6.MoveResourceStateResponse, error) {
	return record[tfprotov6.MoveResourceStateRequest, tfprotov6.MoveResourceStateResponse](r, req)
}

func (r *recorder) GenerateResourceConfig(_ context.Context, req *tfprotov6.GenerateResourceConfigRequest) (*tfprotov6.GenerateResourceConfigResponse, error) {
	return record[tfprotov6.GenerateResourceConfigRequest, tfprotov6.GenerateResourceConfigResponse](r, req)
}

// TestEveryFieldOfARequest sends a request with every field set through each method of the protocol for
// resources. The framework must get all fields, with the resource's values converted. The test fails if
// a newer protocol adds a field that Server drops or leaves unconverted.
func TestEveryFieldOfARequest(t *testing.T) {
	t.Parallel()
	// Values of these fields are not of the resource's type.
	others := map[string]bool{"ProviderMeta": true}
	wide := tftypes.Map{ElementType: tftypes.String}
	object := tftypes.Object{AttributeTypes: map[string]tftypes.Type{"entries": wide}}
	value, err := tfprotov6.NewDynamicValue(object, tftypes.NewValue(object, map[string]tftypes.Value{
		"entries": tftypes.NewValue(wide, map[string]tftypes.Value{"a": tftypes.NewValue(tftypes.String, "b")}),
	}))
	assert.NilError(t, err)
	k := &recorder{}
	s := &Server{k, func() map[string]*objectType {
		return map[string]*objectType{"compact": {attributes: map[string]tftypes.Type{"entries": wide}}}
	}}
	methods := reflect.TypeFor[tfprotov6.ResourceServer]()
	for method := range methods.Methods() {
		request := reflect.New(method.Type.In(1).Elem())
		for field := range request.Elem().Type().Fields() {
			f := request.Elem().FieldByIndex(field.Index)
			switch v := f.Addr().Interface().(type) {
			case **tfprotov6.DynamicValue:
				*v = &value
			case **tfprotov6.RawState:
				*v = &tfprotov6.RawState{JSON: []byte(`{"entries":{"a":"b"}}`)}
			case *string:
				*v = "compact"
			case *bool:
				*v = true
			case *int64:
				*v = 1
			case *[]byte:
				*v = []byte("private")
			default:
				assert.Assert(t, f.Kind() == reflect.Pointer, "%s of %s has the type %s, which this test does not know", field.Name, method.Name, f.Type())
				f.Set(reflect.New(f.Type().Elem()))
			}
		}
		results := reflect.ValueOf(s).MethodByName(method.Name).Call([]reflect.Value{reflect.ValueOf(t.Context()), request})
		err, ok := reflect.TypeAssert[error](results[1])
		assert.Assert(t, !ok, "%s: %s", method.Name, err)
		got := reflect.ValueOf(k.request).Elem()
		for field := range got.Type().Fields() {
			sent, received := request.Elem().FieldByIndex(field.Index), got.FieldByIndex(field.Index)
			switch received.Interface().(type) {
			case *tfprotov6.DynamicValue:
				same := received.Interface() == any(&value)
				assert.Check(t, same == others[field.Name], "%s of %s: the value is unconverted: %t", field.Name, method.Name, same)
			case *tfprotov6.RawState:
				assert.Check(t, !received.IsNil(), "%s of %s is dropped", field.Name, method.Name)
			default:
				assert.Check(t, reflect.DeepEqual(sent.Interface(), received.Interface()), "%s of %s is %v, and the framework gets %v", field.Name, method.Name, sent, received)
			}
		}
	}
}
