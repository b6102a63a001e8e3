package compact

import (
	"context"
	"fmt"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Framework is the interface of the framework's server.
type Framework interface {
	tfprotov6.ProviderServer
	tfprotov6.ListResourceServer
	tfprotov6.ActionServer
	tfprotov6.StateStoreServer
}

// Server serves a provider with resources that may use attributes of a compact [Type].
type Server struct {
	Framework

	objects func() map[string]*objectType // by resource type
}

// NewServer returns a server in front of the framework's server of a provider.
func NewServer(p provider.Provider, framework Framework) *Server {
	return &Server{framework, sync.OnceValue(func() map[string]*objectType { return objectTypes(p) })}
}

// objectTypes returns the resources with compact attributes.
func objectTypes(p provider.Provider) map[string]*objectType {
	ctx := context.Background()
	var own provider.MetadataResponse
	p.Metadata(ctx, provider.MetadataRequest{}, &own)
	all := map[string]*objectType{}
	for _, create := range p.Resources(ctx) {
		r := create()
		var named resource.MetadataResponse
		r.Metadata(ctx, resource.MetadataRequest{ProviderTypeName: own.TypeName}, &named)
		var described resource.SchemaResponse
		r.Schema(ctx, resource.SchemaRequest{}, &described)
		t := &objectType{attributes: map[string]tftypes.Type{}}
		for name, a := range described.Schema.Attributes {
			if compacted, ok := a.GetType().(Type); ok {
				t.attributes[name] = compacted.Wire
				t.partial = t.partial || compacted.Partial
			}
		}
		if len(t.attributes) > 0 {
			all[named.TypeName] = t
		}
	}
	return all
}

func (s *Server) GetProviderSchema(ctx context.Context, req *tfprotov6.GetProviderSchemaRequest) (*tfprotov6.GetProviderSchemaResponse, error) {
	resp, err := s.Framework.GetProviderSchema(ctx, req)
	if err != nil {
		return resp, err
	}
	for name, t := range s.objects() {
		described := resp.ResourceSchemas[name]
		if described == nil {
			continue // the response contains diagnostics only, for instance after an interrupt
		}
		for _, a := range described.Block.Attributes {
			if wire, ok := t.attributes[a.Name]; ok {
				a.Type = wire
			}
		}
	}
	return resp, nil
}

// conversion returns the conversion for a call, or nil for a resource without compact attributes.
func (s *Server) conversion(typeName string) *conversion {
	t := s.objects()[typeName]
	if t == nil {
		return nil
	}
	return &conversion{t, make(map[string][]pair, len(t.attributes))}
}

type values []**tfprotov6.DynamicValue

// call calls the framework's server with a [callContext]. c converts the values in of the request and
// the values out of the response; it is nil for a resource without compact attributes.
func call[Req, Resp any](ctx context.Context, c *conversion, req *Req, in values, next func(context.Context, *Req) (*Resp, error), out func(*Resp) values) (*Resp, error) {
	limited := newCallContext(ctx)
	defer limited.end()
	if c == nil {
		return next(limited, req)
	}
	for _, d := range in {
		if err := c.toFramework(d); err != nil {
			return nil, fmt.Errorf("decoding a value of Terraform: %w", err)
		}
	}
	resp, err := next(limited, req)
	if err != nil || resp == nil {
		return resp, err
	}
	for _, d := range out(resp) {
		if err := c.toTerraform(d); err != nil {
			return nil, fmt.Errorf("encoding a value for Terraform: %w", err)
		}
	}
	return resp, nil
}

func (s *Server) ValidateResourceConfig(ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	return call(ctx, s.conversion(req.TypeName), req,
		values{&req.Config}, s.Framework.ValidateResourceConfig,
		func(*tfprotov6.ValidateResourceConfigResponse) values { return nil })
}

func (s *Server) UpgradeResourceState(ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	c := s.conversion(req.TypeName)
	if c != nil {
		state, err := c.stateToFramework(req.RawState)
		if err != nil {
			return nil, fmt.Errorf("decoding the state: %w", err)
		}
		req.RawState = state
	}
	return call(ctx, c, req,
		nil, s.Framework.UpgradeResourceState,
		func(r *tfprotov6.UpgradeResourceStateResponse) values { return values{&r.UpgradedState} })
}

func (s *Server) UpgradeResourceIdentity(ctx context.Context, req *tfprotov6.UpgradeResourceIdentityRequest) (*tfprotov6.UpgradeResourceIdentityResponse, error) {
	return call(ctx, nil, req, nil, s.Framework.UpgradeResourceIdentity, nil)
}

func (s *Server) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	return call(ctx, s.conversion(req.TypeName), req,
		values{&req.CurrentState}, s.Framework.ReadResource,
		func(r *tfprotov6.ReadResourceResponse) values { return values{&r.NewState} })
}

func (s *Server) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	return call(ctx, s.conversion(req.TypeName), req,
		values{&req.PriorState, &req.ProposedNewState, &req.Config}, s.Framework.PlanResourceChange,
		func(r *tfprotov6.PlanResourceChangeResponse) values { return values{&r.PlannedState} })
}

func (s *Server) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	c := s.conversion(req.TypeName)
	resp, err := call(ctx, c, req,
		values{&req.PriorState, &req.PlannedState, &req.Config}, s.Framework.ApplyResourceChange,
		func(r *tfprotov6.ApplyResourceChangeResponse) values { return values{&r.NewState} })
	if c == nil || !c.partial || err != nil {
		return resp, err
	}
	if creates, _ := req.PriorState.IsNull(); creates {
		// The object of a failed create is tainted: the next plan would replace it and so delete the
		// created parts. An incomplete create is therefore a success, and this flag makes Terraform
		// accept a result with less than the plan.
		resp.UnsafeToUseLegacyTypeSystem = true //nolint:staticcheck // see above
	}
	return resp, err
}

func (s *Server) ImportResourceState(ctx context.Context, req *tfprotov6.ImportResourceStateRequest) (*tfprotov6.ImportResourceStateResponse, error) {
	return call(ctx, s.conversion(req.TypeName), req,
		nil, s.Framework.ImportResourceState,
		func(r *tfprotov6.ImportResourceStateResponse) (all values) {
			for _, imported := range r.ImportedResources {
				all = append(all, &imported.State)
			}
			return all
		})
}

func (s *Server) ListResource(ctx context.Context, req *tfprotov6.ListResourceRequest) (*tfprotov6.ListResourceServerStream, error) {
	stream, err := s.Framework.ListResource(ctx, req)
	c := s.conversion(req.TypeName)
	if c == nil || err != nil {
		return stream, err
	}
	results := stream.Results
	stream.Results = func(push func(tfprotov6.ListResourceResult) bool) {
		for r := range results {
			if err := c.toTerraform(&r.Resource); err != nil {
				r.Diagnostics = append(r.Diagnostics, &tfprotov6.Diagnostic{Severity: tfprotov6.DiagnosticSeverityError, Summary: "Can't encode a value for Terraform", Detail: err.Error()})
			}
			if !push(r) {
				return
			}
		}
	}
	return stream, nil
}

func (s *Server) GenerateResourceConfig(ctx context.Context, req *tfprotov6.GenerateResourceConfigRequest) (*tfprotov6.GenerateResourceConfigResponse, error) {
	return call(ctx, s.conversion(req.TypeName), req,
		values{&req.State}, s.Framework.GenerateResourceConfig,
		func(r *tfprotov6.GenerateResourceConfigResponse) values { return values{&r.Config} })
}
