package serviceaccount_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
	mailhost "github.com/mailhost/terraform-provider-mailhost/internal/provider"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/serviceaccount"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// clock is the provider's clock, which a test can set.
type clock struct{ unix atomic.Int64 }

// newClock returns a clock with the current time in whole seconds.
func newClock() *clock {
	c := new(clock)
	c.set(time.Now())
	return c
}

func (c *clock) now() time.Time          { return time.Unix(c.unix.Load(), 0).UTC() }
func (c *clock) set(t time.Time)         { c.unix.Store(t.Unix()) }
func (c *clock) advance(d time.Duration) { c.set(c.now().Add(d)) }

// protocol returns a provider process with the clock. An empty url is the server's own.
func (c *clock) protocol(t *testing.T, s *acctest.Server, url string) *acctest.Protocol {
	t.Helper()
	return s.ProtocolOf(t, url, c.provider())
}

// provider returns a provider with the clock.
func (c *clock) provider() provider.Provider { return clocked{mailhost.New("test")(), c} }

// clocked is a provider whose service account resources use the clock.
type clocked struct {
	provider.Provider
	*clock
}

// ending is a provider that a test can close.
type ending struct {
	clocked
	session *session.Session
}

func (p *ending) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	p.clocked.Configure(ctx, req, resp)
	p.session, _ = resp.EphemeralResourceData.(*session.Session)
}

func (p clocked) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return serviceaccount.NewResourceAt(p.now) }}
}

func (p clocked) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return []func() ephemeral.EphemeralResource{func() ephemeral.EphemeralResource { return serviceaccount.NewEphemeralResourceAt(p.now) }}
}
