package provider

import (
	"context"
	"errors"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/compact"
	mailhostfunction "github.com/mailhost/terraform-provider-mailhost/internal/function"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/account"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/dedicatedip"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/dnsrecord"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/dnszone"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/domain"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/forwarding"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/mailbox"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/mailboxset"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/masterpassword"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/serviceaccount"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// New returns a constructor of the provider for the plugin server.
func New(version string) func() provider.Provider {
	return newIn(&process{}, version)
}

// Replacements replace the provider's environment for a test. The zero value replaces nothing.
type Replacements struct {
	// Transport sends the requests to a remote API.
	Transport http.RoundTripper
	// Hooks replace time, randomness and limits of the API client.
	Hooks client.Hooks
}

// NewReplaced is New for tests, with a replaced environment.
func NewReplaced(version string, r Replacements) func() provider.Provider {
	return newIn(&process{replaced: r}, version)
}

// Serve serves the provider to Terraform until it disconnects, and then closes the
// provider's connections.
func Serve(version string, debug bool) error {
	var options []tf6server.ServeOpt
	if debug {
		options = append(options, tf6server.WithManagedDebug())
	}
	p := &process{}
	err := tf6server.Serve("registry.terraform.io/mailhost/mailhost", func() tfprotov6.ProviderServer {
		return NewServer(newIn(p, version)())
	}, options...)
	return errors.Join(err, p.close())
}

func newIn(p *process, version string) func() provider.Provider {
	return func() provider.Provider { return &mailhost{version: version, process: p} }
}

// process stores the open connections of the provider instances in one process.
type process struct {
	replaced Replacements

	mu      sync.Mutex
	closers []func() error
}

func (p *process) onClose(fn func() error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closers = append(p.closers, fn)
}

func (p *process) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, fn := range p.closers {
		errs = append(errs, fn())
	}
	return errors.Join(errs...)
}

type mailhost struct {
	version string
	process *process
	// validated counts the validated configurations that Configure has yet to receive.
	validated atomic.Int64
}

var (
	_ provider.Provider                       = (*mailhost)(nil)
	_ provider.ProviderWithActions            = (*mailhost)(nil)
	_ provider.ProviderWithEphemeralResources = (*mailhost)(nil)
	_ provider.ProviderWithFunctions          = (*mailhost)(nil)
	_ provider.ProviderWithListResources      = (*mailhost)(nil)
	_ provider.ProviderWithValidateConfig     = (*mailhost)(nil)
)

func (p *mailhost) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "mailhost"
	resp.Version = p.version
}

func (p *mailhost) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages an email-hosting account: domains, mailboxes, DNS records, forwarding rules, master passwords, service accounts and dedicated IPs. " +
			"Without `base_url` the account is embedded: the provider runs the account's whole API in its own process, on a local file.",
		Attributes: map[string]schema.Attribute{
			"base_url": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "URL of a remote API, up to and without `/v1/public`. Also `" + envBaseURL + "`. Without it the account is embedded. An empty value is an error, so that a missing variable never selects a local file.",
			},
			"account_id": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "UUID of the account to manage. Also `" + envAccountID + "`. Required with `base_url`. With `embedded = {}` the account is created with this id, or with a new id if the data directory has no account yet. It is an error without `base_url` and `embedded`.",
			},
			"token": schema.StringAttribute{
				Optional:            true,
				Sensitive:           true,
				MarkdownDescription: "Service account token or OAuth access token for the remote API. Better set as `" + envToken + "`. Without a `base_url` it is an error, so that nothing meant for a real account is applied to a local file.",
			},
			"oauth2": schema.SingleNestedAttribute{
				Optional:            true,
				MarkdownDescription: "Gets access tokens for the remote API by the OAuth client-credentials flow, instead of `token`.",
				Attributes: map[string]schema.Attribute{
					"token_url":     schema.StringAttribute{Required: true, MarkdownDescription: "The issuer's token endpoint."},
					"client_id":     schema.StringAttribute{Required: true, MarkdownDescription: "The client's id at the issuer."},
					"client_secret": schema.StringAttribute{Required: true, Sensitive: true, MarkdownDescription: "The client's secret at the issuer."},
					"scopes":        schema.ListAttribute{Optional: true, ElementType: types.StringType, MarkdownDescription: "Scopes to request."},
				},
			},
			"workload_identity": schema.SingleNestedAttribute{
				Optional: true,
				MarkdownDescription: "Authenticates by the tokens that a CI system or cluster issues to each job (OpenID Connect), so that no secret is stored: those of GitHub Actions, for a job with the permission `id-token: write`; of GitLab, in the variable `" + envIDToken + "` of the job's `id_tokens`; " +
					"and of Kubernetes and others, in a file. They are renewed during a long apply where the CI system renews them. Without this block, the variable `" + envAudience + "` does the same unless there is a `token`.",
				Attributes: map[string]schema.Attribute{
					"audience":   schema.StringAttribute{Optional: true, MarkdownDescription: "The API's name in the tokens' `aud` claim, as the API trusts it. Also `" + envAudience + "`. A token for another audience is not sent."},
					"token_file": schema.StringAttribute{Optional: true, MarkdownDescription: "File with the token; it is read again when the token has expired. Also `" + envIDTokenFile + "`. It takes precedence over the tokens of GitHub and GitLab."},
				},
			},
			"embedded": schema.SingleNestedAttribute{
				Optional:            true,
				MarkdownDescription: "Selects an embedded account. `embedded = {}` uses the defaults.",
				Attributes: map[string]schema.Attribute{
					"data_dir": schema.StringAttribute{Optional: true, MarkdownDescription: "Directory of the account's database, created if it does not exist. Also `" + envDataDir + "`. Default: `" + defaultDataDir + "` below the working directory."},
					"fixture":  schema.StringAttribute{Optional: true, MarkdownDescription: "JSON file with the initial accounts and the registrar's rules. It does not change an account that exists already."},
				},
			},
			"max_requests_per_minute": schema.Int64Attribute{
				Optional:            true,
				MarkdownDescription: "How many requests the provider sends in any minute, also to an embedded account. Also `" + envMaxRequestsPerMinute + "`. By default there is no limit but the service's own, whose `Retry-After` the provider honours.",
			},
		},
	}
}

func (p *mailhost) ValidateConfig(context.Context, provider.ValidateConfigRequest, *provider.ValidateConfigResponse) {
	p.validated.Add(1)
}

// servesOneWalk reports whether the configuration serves a single walk: core validates and configures
// the provider once per walk. `terraform test` configures the provider of a test file without validating
// it, and uses it for every plan, apply and destroy of the file.
func (p *mailhost) servesOneWalk() bool {
	for n := p.validated.Load(); n > 0; n = p.validated.Load() {
		if p.validated.CompareAndSwap(n, n-1) {
			return true
		}
	}
	return false
}

func (p *mailhost) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	oneWalk := p.servesOneWalk()
	var c config
	resp.Diagnostics.Append(req.Config.Get(ctx, &c)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if names := c.unknown(ctx); len(names) > 0 {
		if req.ClientCapabilities.DeferralAllowed {
			resp.Deferred = &provider.Deferred{Reason: provider.DeferredReasonProviderConfigUnknown}
		}
		provide(resp, session.New(func(context.Context) (*client.Client, error) { return nil, notKnownYet(names) }))
		return
	}
	s, diags := c.resolve(ctx, os.LookupEnv)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	s.warnFixtureChanged(&resp.Diagnostics)
	userAgent := "terraform-provider-mailhost/" + p.version + " terraform/" + req.TerraformVersion
	opened := session.New(func(ctx context.Context) (*client.Client, error) { return s.open(ctx, p.process, userAgent) })
	opened.Backend = c.backend(s)
	if !oneWalk {
		opened.Walk().Disable()
	}
	p.process.onClose(func() error { // runs before the session's server is closed
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
		defer cancel()
		return opened.Close(ctx)
	})
	provide(resp, opened)
}

// endTimeout limits the cleanup: the CLI kills a process two seconds after the request to end.
const endTimeout = 1500 * time.Millisecond

// provide passes the session to everything that the framework configures.
func provide(resp *provider.ConfigureResponse, s *session.Session) {
	resp.DataSourceData = s
	resp.ResourceData = s
	resp.EphemeralResourceData = s
	resp.ActionData = s
	resp.ListResourceData = s
	resp.StateStoreData = s
}

// object is a kind of object with a resource, two data sources and a list resource.
type object struct {
	resource   func() resource.Resource
	definition interface {
		DataSource() datasource.DataSource
		DataSources() datasource.DataSource
		ListResource() list.ListResource
	}
}

var objects = []object{
	{dedicatedip.NewResource, dedicatedip.Definition},
	{dnsrecord.NewResource, dnsrecord.Definition},
	{domain.NewResource, domain.Definition},
	{forwarding.NewResource, forwarding.Definition},
	{mailbox.NewResource, mailbox.Definition},
	{masterpassword.NewResource, masterpassword.Definition},
	{serviceaccount.NewResource, serviceaccount.Definition},
}

func (p *mailhost) Resources(context.Context) (all []func() resource.Resource) {
	for _, o := range objects {
		all = append(all, o.resource)
	}
	return append(all, dnszone.NewResource, mailboxset.NewResource)
}

func (p *mailhost) DataSources(context.Context) []func() datasource.DataSource {
	all := []func() datasource.DataSource{
		account.NewDataSource, account.NewAuthorizations, dedicatedip.NewOptionsDataSource, mailbox.NewExport,
	}
	for _, o := range objects {
		all = append(all, o.definition.DataSource, o.definition.DataSources)
	}
	return all
}

func (p *mailhost) ListResources(context.Context) (all []func() list.ListResource) {
	for _, o := range objects {
		all = append(all, o.definition.ListResource)
	}
	return append(all, dnszone.Definition.ListResource, mailboxset.Definition.ListResource)
}

func (p *mailhost) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return []func() ephemeral.EphemeralResource{
		serviceaccount.NewEphemeralResource,
	}
}

func (p *mailhost) Actions(context.Context) []func() action.Action {
	return []func() action.Action{
		account.NewCancelPlan,
		account.NewChangePlan,
		account.NewSubmitFeedback,
		forwarding.NewResend,
		mailbox.NewExportAction,
	}
}

func (p *mailhost) Functions(context.Context) []func() function.Function {
	return mailhostfunction.All()
}

// NewServer returns the plugin protocol server of a provider.
func NewServer(p provider.Provider) tfprotov6.ProviderServer {
	return compact.NewServer(p, &server{providerserver.NewProtocol6(p)().(compact.Framework)})
}

// Factory returns NewServer as a factory for the plugin-testing framework.
func Factory(p provider.Provider) func() (tfprotov6.ProviderServer, error) {
	return func() (tfprotov6.ProviderServer, error) { return NewServer(p), nil }
}

// server is the framework's server with the fields of [nested] attributes in its schema.
type server struct{ compact.Framework }
