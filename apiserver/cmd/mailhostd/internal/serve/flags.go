package serve

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/certificate"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/console"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/signin"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/tracing"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/replay"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/mailer"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/oauth"
)

// This file contains the flag groups of mailhostd serve, and creates the objects that they configure.

type testFlags struct {
	Fixture notEmpty `placeholder:"FILE" help:"JSON file with accounts to create unless they exist, and with the registrar's rules."`
	Strict  bool     `help:"Refuse members of bodies and query parameters that the API does not have. It ignores them otherwise."`
	Hostile bool     `help:"Fail one request in twenty, take some time for each, and return short pages, as a real service might: the faults of the control plane at the start."`
	Seed    *uint64  `placeholder:"NUMBER" help:"Make ids, tokens and faults the same in each run with the number; ids of mailboxes also begin with the time. Whoever knows the number knows the tokens."`
	Replay  notEmpty `placeholder:"FILE" help:"Respond to requests from a recording of mailhostd proxy --record, or another one of go-vcr, instead of serving an account."`
}

// notEmpty is the value of a flag that is off by default. An empty value is an error, because it is probably
// an unset variable of a script. An empty environment variable is ignored, as for every flag.
type notEmpty string

func (v *notEmpty) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return errors.New("is empty; give it a value, or leave it out")
	}
	*v = notEmpty(text)
	return nil
}

// newPlane returns the control plane for the flags.
func (f testFlags) newPlane() (*control.Plane, error) {
	plane := &control.Plane{Hostile: f.Hostile, Seed: f.Seed}
	plane.Faults.Seed = api.Value(f.Seed)
	var err error
	if plane.Fixture, err = f.readFixture(); err != nil {
		return nil, err
	}
	if f.Replay != "" {
		recording, err := cli.ReadFile("--replay", string(f.Replay), replay.Read)
		if err != nil {
			return nil, err
		}
		plane.Replay = recording
	}
	return plane, nil
}

// random returns the source for an account's ids and secrets, or nil for the default source.
func (f testFlags) random(account string) io.Reader {
	if f.Seed == nil {
		return nil
	}
	return rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "%d %s", *f.Seed, account)))
}

// readFixture returns an empty fixture without --fixture.
func (f testFlags) readFixture() (*fixture.Fixture, error) {
	if f.Fixture == "" {
		return &fixture.Fixture{}, nil
	}
	return cli.ReadFile("--fixture", string(f.Fixture), fixture.Read)
}

type connectionFlags struct {
	MaxConnections int           `default:"10000" placeholder:"COUNT" help:"Maximum number of connections. For another one, the one that has been idle for the longest time is closed; without an idle one it waits. 0 is unlimited. Default: ${default}."`
	DrainDelay     time.Duration `default:"0s" placeholder:"DURATION" help:"How long to serve requests after SIGTERM or SIGINT while /healthz/ready fails, so that load balancers choose another server. Default: ${default}."`
}

type tlsFlags struct {
	TLSCert string `name:"tls-cert" placeholder:"FILE" help:"Certificate chain in PEM, to serve the API over TLS. Reloaded when it changes, and on SIGHUP."`
	TLSKey  string `name:"tls-key" placeholder:"FILE" help:"Private key of --tls-cert, in PEM."`
}

// openCertificate returns nil without --tls-cert.
func (f tlsFlags) openCertificate(log *slog.Logger) (*certificate.Reloader, error) {
	if f.TLSCert == "" {
		return nil, nil
	}
	return certificate.Open(f.TLSCert, f.TLSKey, time.Now, log)
}

type limitFlags struct {
	RateLimit    rateLimit `placeholder:"REQUESTS/DURATION" help:"Rate limit of a credential in this process, for instance 600/1m: a burst of that many requests, and as many again in each duration. Default: unlimited."`
	MaxMailboxes int       `placeholder:"NUMBER" help:"Maximum number of mailboxes of an account. Default: unlimited."`

	MaxDedicatedIPs int `name:"max-dedicated-ips" placeholder:"NUMBER" default:"4" help:"Maximum number of dedicated IPs of an account, because all accounts of a server share them. Default: ${default}."`
}

type rateLimit apiserver.RateLimit

func (l *rateLimit) UnmarshalText(text []byte) error {
	requests, per, _ := strings.Cut(string(text), "/")
	n, err := strconv.Atoi(requests)
	duration, perErr := time.ParseDuration(per)
	if err != nil || perErr != nil || n < 1 || duration/time.Duration(n) <= 0 {
		return fmt.Errorf("%.64q is not a rate limit; use requests and a duration, for instance 600/1m", text)
	}
	*l = rateLimit{Requests: n, Per: duration}
	return nil
}

type oauthFlags struct {
	OAuthIssuer      string            `name:"oauth-issuer" placeholder:"URL" help:"Issuer whose OAuth 2.0 access tokens (JWT) are accepted, as in their iss claim; its keys are found by OpenID Connect Discovery. Default: none."`
	OAuthAudience    string            `name:"oauth-audience" placeholder:"NAME" help:"This API's name in the tokens' aud claim; required with --oauth-issuer."`
	OAuthGroupsClaim string            `name:"oauth-groups-claim" default:"groups" placeholder:"CLAIM" help:"Claim with the user's groups, which authorizations may name. Default: ${default}."`
	OAuthClientID    string            `name:"oauth-client-id" placeholder:"ID" help:"Public client of the issuer for people who use mailhostd login, which reads it from this server. Default: none."`
	OAuthScopes      []string          `name:"oauth-scopes" placeholder:"SCOPE" help:"Scopes that mailhostd login requests, and the console. Default: openid."`
	OAuthParameters  map[string]string `name:"oauth-parameters" placeholder:"NAME=VALUE" help:"Parameters that mailhostd login and the console send to the issuer, separated by semicolons, for an issuer that returns tokens for an API only if it is named: resource=URL (RFC 8707), or audience=URL at Auth0. The audience of these tokens is --oauth-audience. Default: none."`
	ConsoleClientID  string            `name:"oauth-console-client-id" placeholder:"ID" help:"Client of the issuer with which people sign in to the console; its redirect URI is /console/sign-in/return below the public URL. Default: --oauth-client-id."`
	Trust            string            `name:"trust" placeholder:"FILE" help:"Trust file: issuers of tokens for workloads, such as CI systems, and by which claims each workload is known. Workloads need no stored secret. Default: none."`
	ConsoleSecret    string            `name:"oauth-console-client-secret" placeholder:"SECRET" help:"Secret of that client. Set it in the variable rather than on the command line. Default: none, for a public client."`
}

// verifiers returns a verifier for the issuer of people and for each issuer of workloads. It makes no
// request.
func (f oauthFlags) verifiers(clock func() time.Time, log *slog.Logger) (all oauth.Verifiers, err error) {
	if f.OAuthIssuer != "" {
		v, err := oauth.New(oauth.Options{Issuer: f.OAuthIssuer, Audience: f.OAuthAudience, GroupsClaim: f.OAuthGroupsClaim, Clock: clock, Logger: log})
		if err != nil {
			return nil, fmt.Errorf("--oauth-%w", err)
		}
		all = append(all, v)
	}
	if f.Trust == "" {
		return all, nil
	}
	text, err := os.ReadFile(f.Trust)
	if err != nil {
		return nil, fmt.Errorf("--trust: %w", err)
	}
	workloads, err := oauth.ReadTrust(text, clock, log)
	if err != nil {
		return nil, fmt.Errorf("--trust: %s: %w", f.Trust, err)
	}
	for _, v := range workloads {
		if v.Issuer() == f.OAuthIssuer {
			return nil, fmt.Errorf("--trust: %s: the issuer %s is that of people, by --oauth-issuer", f.Trust, f.OAuthIssuer)
		}
	}
	return append(all, workloads...), nil
}

// consoleIssuer returns the issuer at which people sign in to the console, or nil if they can use only
// tokens. The first verifier is for people.
func (f oauthFlags) consoleIssuer(all oauth.Verifiers) *signin.Website {
	id := cmp.Or(f.ConsoleClientID, f.OAuthClientID)
	if id == "" {
		return nil
	}
	client := signin.Client{Issuer: f.OAuthIssuer, ID: id, Scopes: f.OAuthScopes, Parameters: f.OAuthParameters}
	return &signin.Website{Client: client, Secret: f.ConsoleSecret, Endpoint: all[0].Endpoint}
}

// missingPublicURL returns a warning, or "". It warns if people sign in at the issuer and no public URL is set.
func (c settings) missingPublicURL() string {
	if c.PublicURL != "" || c.OAuthClientID == "" && c.ConsoleClientID == "" {
		return ""
	}
	return "people can sign in only at the address that the server listens on; behind a TLS proxy, set --public-url, so that they can sign in there and the console's cookies are for TLS alone"
}

// signInMetadata serves the metadata for sign-in at the API at url (RFC 9728).
func (f oauthFlags) signInMetadata(url string) http.Handler {
	text, _ := json.Marshal(signin.Metadata{ // only strings, so there is no error
		Resource: url, AuthorizationServers: []string{f.OAuthIssuer}, BearerMethodsSupported: []string{"header"},
		ScopesSupported: f.OAuthScopes, ClientID: f.OAuthClientID, Parameters: f.OAuthParameters,
	})
	return console.File("application/json", text)
}

type smtpFlags struct {
	SMTPURL  string `name:"smtp-url" placeholder:"URL" help:"Mail server for verification messages: smtp://[user:password@]host[:port] with STARTTLS, which a server on this machine may lack, or smtps://… with implicit TLS. ?tls=none sends without encryption. Set a password in the variable rather than on the command line. Default: none; messages are only in the outbox of the control plane."`
	SMTPFrom string `name:"smtp-from" placeholder:"ADDRESS" help:"Sender of messages, with or without a name, for instance Mailhost <no-reply@example.com>; required with --smtp-url."`
	SMTPHelo string `name:"smtp-helo" placeholder:"NAME" help:"Name by which this server introduces itself to the mail server (EHLO): a full domain name, or an address such as [192.0.2.1]. Default: the host of --public-url, or the name of this machine, or its address, the first that is a full name."`
}

// mailer returns nil without --smtp-url.
func (f smtpFlags) mailer(publicURL string) (*mailer.Mailer, error) {
	if f.SMTPURL == "" {
		return nil, nil
	}
	m, err := mailer.New(mailer.Options{URL: f.SMTPURL, From: f.SMTPFrom, HELO: cmp.Or(f.SMTPHelo, fullName(publicURL))})
	if err != nil {
		return nil, fmt.Errorf("--smtp-%w", err)
	}
	return m, nil
}

// fullName returns the domain name of this machine: the host of its public URL, or the system's name.
// It returns "" if neither is a full name, as in many containers.
func fullName(publicURL string) string {
	public, err := url.Parse(publicURL)
	if err == nil {
		if name, err := domainname.Normalize(public.Hostname()); err == nil {
			return name
		}
	}
	system, _ := os.Hostname() // "" after an error
	name, _ := domainname.Normalize(system)
	return name
}

type tracingFlags struct {
	OTLPEndpoint string `name:"otlp-endpoint" placeholder:"URL" help:"OpenTelemetry collector for traces, over OTLP/HTTP; $$OTEL_EXPORTER_OTLP_HEADERS has its credentials. Default: $$OTEL_EXPORTER_OTLP_ENDPOINT, or off."`
	Traceparent  string `name:"traceparent" enum:"continue,link" default:"continue" placeholder:"MODE" help:"How to use the trace context of a request: ${enum}. link starts a new trace for each request, for a public server. Default: ${default}."`
}

// startTracing returns nil if tracing is off.
func (f tracingFlags) startTracing(ctx context.Context, p cli.Program, log *slog.Logger) (*tracing.Tracing, error) {
	if f.OTLPEndpoint == "" && !tracing.IsConfigured(cli.Variables(p.Environ)) {
		return nil, nil
	}
	t, err := tracing.Start(ctx, tracing.Options{Collector: f.OTLPEndpoint, LinkParents: f.Traceparent == "link", Version: p.Version(), Log: log})
	if err == nil {
		log.Info("sending traces", "endpoint", cmp.Or(f.OTLPEndpoint, "of the OTEL variables"))
	}
	return t, err
}

type logFlags struct {
	LogFormat string     `enum:"text,json" default:"text" placeholder:"FORMAT" help:"Format of the log: ${enum}. Default: ${default}."`
	LogLevel  slog.Level `default:"info" placeholder:"LEVEL" help:"Minimum level of log lines: debug, info, warn or error. Default: ${default}."`
}

func (f logFlags) logger(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: f.LogLevel}
	if f.LogFormat == "json" {
		return slog.New(tracing.LogHandler(slog.NewJSONHandler(w, options)))
	}
	return slog.New(tracing.LogHandler(slog.NewTextHandler(w, options)))
}
