package provider

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/mailhost/terraform-provider-mailhost/internal/compact"
)

// NewServer returns the server of the plugin protocol for a provider.
func NewServer(p provider.Provider) tfprotov6.ProviderServer {
	return compact.NewServer(p, &server{providerserver.NewProtocol6(p)().(framework)})
}

// Factory returns NewServer as a factory for the plugin-testing framework.
func Factory(p provider.Provider) func() (tfprotov6.ProviderServer, error) {
	return func() (tfprotov6.ProviderServer, error) { return NewServer(p), nil }
}

// framework has the methods of the framework's server.
type framework = compact.Framework

// server implements [NewServer]: the framework's server, which gets a [call] as context.
type server struct{ framework }

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
	return s.framework.ReadResource(c, req)
}

// PlanResourceChange implements tfprotov6.ResourceServer.
func (s *server) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	c := newCall(ctx)
	defer c.end()
	return s.framework.PlanResourceChange(c, req)
}

// ApplyResourceChange implements tfprotov6.ResourceServer.
func (s *server) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	c := newCall(ctx)
	defer c.end()
	return s.framework.ApplyResourceChange(c, req)
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
