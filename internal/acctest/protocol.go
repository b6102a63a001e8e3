package acctest

import (
	"sync"
	"testing"

	framework "github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest/core"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/provider"
)

// Protocol calls a configured provider as Terraform does.
type Protocol struct {
	t         testing.TB
	core      *core.Provider
	accountID string // of the provider's configuration
	config    tftypes.Value
	// planned means that the current walk contains a plan. A second plan then begins a
	// new walk, unless together is set.
	planned, together bool
	// testFile means that the provider was configured once for all walks.
	testFile bool
}

// Object is a resource's object between two calls.
type Object = core.Object

// Unknown is an unknown value in a configuration.
var Unknown = core.Unknown

// Attributes returns the attributes of an object or the elements of a map, or nil if the
// value is null or unknown.
func Attributes(v tftypes.Value) map[string]tftypes.Value { return core.Attributes(v) }

// observer fails the test for a response that Terraform would refuse.
type observer struct{ testing.TB }

// Call implements core.Observer.
func (observer) Call(_ string, call func()) bool {
	call()
	return true
}

// Diagnostics implements core.Observer.
func (observer) Diagnostics(string, core.Diagnostics) {}

// Fail implements core.Observer.
func (o observer) Fail(kind, text string) {
	o.Helper()
	if kind == "inconsistent result" {
		text += ": the create or the update in internal/service does not send it (expandCreate, expandUpdate), or the API does not return it"
	}
	o.Fatalf("%s: %s", kind, text)
}

// Protocol returns the provider, configured for the server at url, or for s if url is
// empty.
func (s *Server) Protocol(t testing.TB, url string) *Protocol {
	t.Helper()
	return s.ProtocolOf(t, url, provider.New("test")())
}

// ProtocolOf is Protocol for another provider with the same settings, such as a provider
// with the test's clock.
func (s *Server) ProtocolOf(t testing.TB, url string, served framework.Provider) *Protocol {
	t.Helper()
	if url == "" {
		url = s.URL
	}
	return s.configured(t, served, map[string]any{"base_url": url, "account_id": s.AccountID, "token": s.Token})
}

// ProtocolByWorkload is Protocol with the block workload_identity in place of a token, and without retries.
func (s *Server) ProtocolByWorkload(t testing.TB, block map[string]any) *Protocol {
	t.Helper()
	served := provider.NewReplaced("test", provider.Replacements{Hooks: client.Hooks{RetryMax: -1}})()
	return s.configured(t, served, map[string]any{"base_url": s.URL, "account_id": s.AccountID, "workload_identity": block})
}

// ProtocolOfUnknownToken is Protocol with an unknown token.
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

// schemas returns the schemas of every provider.
var schemas = sync.OnceValue(func() *core.Schemas {
	return core.LoadSchemas(provider.NewServer(provider.New("test")()))
})

func (s *Server) configured(t testing.TB, served framework.Provider, settings map[string]any) *Protocol {
	t.Helper()
	p := newProtocol(t, served)
	p.accountID, p.config = s.AccountID, core.NewValue(p.core.Schemas.Provider.ValueType(), settings)
	return p.Walk()
}

func newProtocol(t testing.TB, served framework.Provider) *Protocol {
	return &Protocol{t: t, core: &core.Provider{Server: provider.NewServer(served), Schemas: schemas(), Observer: observer{t}, Context: t.Context()}}
}

// Walk configures the provider again, as Terraform does before each plan and each
// apply, and returns p. Apply and a second Plan do this automatically.
func (p *Protocol) Walk() *Protocol {
	p.t.Helper()
	if p.testFile {
		return p
	}
	p.planned, p.together = false, false
	p.NoErrors(p.core.ValidateConfig(p.config))
	p.NoErrors(p.core.Configure(p.config))
	return p
}

// TestFile configures the provider as terraform test does for the provider blocks of a
// test file: once for all walks, and without validating the configuration.
func (p *Protocol) TestFile() *Protocol {
	p.t.Helper()
	p.NoErrors(p.core.Configure(p.config))
	p.testFile = true
	return p
}

// Together begins a walk that lasts until the next Walk or Apply, so that calls for several
// resources belong to one plan or one apply.
func (p *Protocol) Together() *Protocol {
	p.t.Helper()
	p.Walk().together = true
	return p
}

// NoErrors fails the test if diags contains an error.
func (p *Protocol) NoErrors(diags []*tfprotov6.Diagnostic) {
	p.t.Helper()
	for _, d := range diags {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			p.t.Fatalf("%s: %s\n%s", d.Attribute, d.Summary, d.Detail)
		}
	}
}
