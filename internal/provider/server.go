package provider

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/compact"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// NewServer returns the server of the plugin protocol for a provider.
func NewServer(p provider.Provider) tfprotov6.ProviderServer {
	s := &server{framework: providerserver.NewProtocol6(p)().(framework)}
	s.provider, _ = p.(*mailhost) // nil if a test has wrapped it
	return compact.NewServer(p, s)
}

// Factory returns NewServer as a factory for the plugin-testing framework.
func Factory(p provider.Provider) func() (tfprotov6.ProviderServer, error) {
	return func() (tfprotov6.ProviderServer, error) { return NewServer(p), nil }
}

// framework has the methods of the framework's server.
type framework = compact.Framework

// server implements [NewServer].
type server struct {
	framework
	provider *mailhost
	// session is that of the latest configuration; nil if the framework defers every call.
	session atomic.Pointer[session.Session]
}

// ConfigureProvider implements tfprotov6.ProviderServer.
func (s *server) ConfigureProvider(ctx context.Context, req *tfprotov6.ConfigureProviderRequest) (*tfprotov6.ConfigureProviderResponse, error) {
	s.session.Store(nil)
	resp, err := s.framework.ConfigureProvider(ctx, req)
	if err != nil || s.provider == nil {
		return resp, err
	}
	if opened := s.provider.configured.Swap(nil); opened != nil {
		s.session.Store(opened)
	}
	return resp, nil
}

// ValidateResourceConfig implements tfprotov6.ResourceServer.
func (s *server) ValidateResourceConfig(ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	c := newCall(ctx)
	defer c.end()
	return s.framework.ValidateResourceConfig(c, req)
}

// UpgradeResourceState implements tfprotov6.ResourceServer.
func (s *server) UpgradeResourceState(ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	c := newCall(ctx)
	defer c.end()
	// Terraform sends each object of the state first, whatever it does with it.
	if run := s.session.Load(); run != nil && req.RawState != nil {
		run.Saw(req.TypeName, req.RawState.JSON)
	}
	return s.framework.UpgradeResourceState(c, req)
}

// UpgradeResourceIdentity implements tfprotov6.ResourceServer.
func (s *server) UpgradeResourceIdentity(ctx context.Context, req *tfprotov6.UpgradeResourceIdentityRequest) (*tfprotov6.UpgradeResourceIdentityResponse, error) {
	c := newCall(ctx)
	defer c.end()
	return s.framework.UpgradeResourceIdentity(c, req)
}

// ReadResource implements tfprotov6.ResourceServer.
func (s *server) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	c := newCall(ctx)
	defer c.end()
	resp, err := s.framework.ReadResource(c, req)
	if run := s.session.Load(); run != nil && (err != nil || hasError(resp.Diagnostics)) {
		run.Failed()
	}
	return resp, err
}

// PlanResourceChange implements tfprotov6.ResourceServer.
func (s *server) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	c := newCall(ctx)
	defer c.end()
	resp, err := s.framework.PlanResourceChange(c, req)
	if run := s.session.Load(); run != nil {
		isNew := req.PriorState == nil
		if !isNew {
			isNew, _ = req.PriorState.IsNull()
		}
		run.Planned(isNew)
		if err != nil || hasError(resp.Diagnostics) {
			run.Failed()
		}
	}
	return resp, err
}

// ApplyResourceChange implements tfprotov6.ResourceServer.
func (s *server) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	c := newCall(ctx)
	defer c.end()
	run := s.session.Load()
	if run == nil {
		return s.framework.ApplyResourceChange(c, req)
	}
	ctx = c
	if req.TypeName != "mailhost_dns_zone" { // whose create keeps the records that exist
		ctx = client.FromRun(ctx)
	}
	resp, err := s.framework.ApplyResourceChange(ctx, req)
	run.Applied()
	if err != nil || c.Err() != nil || hasError(resp.Diagnostics) {
		run.Failed()
	}
	return resp, err
}

func hasError(diags []*tfprotov6.Diagnostic) bool {
	return slices.ContainsFunc(diags, func(d *tfprotov6.Diagnostic) bool { return d.Severity == tfprotov6.DiagnosticSeverityError })
}

// ImportResourceState implements tfprotov6.ResourceServer.
func (s *server) ImportResourceState(ctx context.Context, req *tfprotov6.ImportResourceStateRequest) (*tfprotov6.ImportResourceStateResponse, error) {
	c := newCall(ctx)
	defer c.end()
	return s.framework.ImportResourceState(c, req)
}

// call is the context of one call. The framework's server keeps the context of every call
// until the process ends, and the context of a request has its loggers and its stream:
// 50 KB for each resource of a plan. So a call lets go of it when it ends.
type call struct {
	done    <-chan struct{}
	request atomic.Pointer[context.Context] // nil after the end
}

func newCall(request context.Context) *call {
	c := &call{done: request.Done()}
	c.request.Store(&request)
	return c
}

func (c *call) end() { c.request.Store(nil) }

// Deadline implements context.Context.
func (c *call) Deadline() (deadline time.Time, ok bool) {
	if request := c.request.Load(); request != nil {
		return (*request).Deadline()
	}
	return time.Time{}, false
}

// Done implements context.Context.
func (c *call) Done() <-chan struct{} { return c.done }

// Err implements context.Context.
func (c *call) Err() error {
	if request := c.request.Load(); request != nil {
		return (*request).Err()
	}
	return context.Canceled
}

// Value implements context.Context.
func (c *call) Value(key any) any {
	if request := c.request.Load(); request != nil {
		return (*request).Value(key)
	}
	return nil
}
