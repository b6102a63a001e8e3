// Package serve implements mailhostd serve: its flags with the objects that they configure, the
// listeners, and the server. It also contains commands that share its flags or pages: doctor checks the
// flags, healthcheck requests the readiness of a running server, and openapi prints the API's document.
package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/certificate"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/console"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/signin"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/mailer"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

// settings are the flags of mailhostd serve, which doctor checks.
type settings struct {
	Listen              string        `default:"127.0.0.1:8080" placeholder:"ADDRESS" help:"Address of the API; port 0 is any free port, a port alone is on 127.0.0.1, and :8080 is on all addresses. Default: ${default}."`
	Database            string        `default:"mailhost.db" placeholder:"FILE" help:"SQLite file, created if it does not exist, or postgres:// URL of a database that several servers may share. Set a URL with a password in the variable rather than on the command line. Default: ${default}."`
	DatabaseConnections int           `placeholder:"NUMBER" help:"Maximum number of connections to PostgreSQL, at least 2. Default: 16."`
	PublishedOnly       bool          `help:"Leave out the lifecycle operations, which extend the published API."`
	NoConsole           bool          `help:"Leave out the console, the pages at /console where people look at an account."`
	ControlListen       notEmpty      `placeholder:"ADDRESS" help:"Address of the control plane for tests: faults, requests, messages, fixtures, the clock and a reset, without a credential. A port alone is on 127.0.0.1. Default: off."`
	PublicURL           string        `placeholder:"URL" help:"URL of the server for people: in messages, in the console and for mailhostd login. Default: the address that it listens on."`
	ShutdownTimeout     time.Duration `default:"10s" placeholder:"DURATION" help:"How long requests in flight may take after SIGTERM or SIGINT. Default: ${default}."`

	testFlags
	connectionFlags `group:"Connections:"`
	tlsFlags        `group:"Connections:"`
	limitFlags      `group:"Limits:"`
	oauthFlags      `group:"OAuth access tokens:"`
	smtpFlags       `group:"Verification messages:"`

	MetricsListen notEmpty `group:"Observability:" placeholder:"ADDRESS" help:"Address of /metrics, for Prometheus. A port alone is on 127.0.0.1. Default: off."`
	tracingFlags  `group:"Observability:"`
	logFlags      `group:"Observability:"`
}

type Command struct{ settings }

func (Command) Help() string {
	return "On SIGTERM or SIGINT the server accepts no new requests and completes those in flight; a second signal ends it at once."
}

// Validate is called by kong. It makes no request.
func (c settings) Validate() error {
	for _, rule := range []struct {
		broken  bool
		message string
	}{
		{c.ShutdownTimeout < 0, "--shutdown-timeout: must not be negative"},
		{c.DatabaseConnections != 0 && c.DatabaseConnections < 2, "--database-connections: must be at least 2"},
		{c.DatabaseConnections != 0 && cli.Scheme(c.Database) == "", "--database-connections: an SQLite file has none; name a postgres:// URL with --database"},
		{c.MaxConnections < 0, "--max-connections: must not be negative"},
		{c.DrainDelay < 0, "--drain-delay: must not be negative"},
		{(c.TLSCert == "") != (c.TLSKey == ""), "--tls-cert and --tls-key: set both, or none for plain HTTP"},
		{c.MaxMailboxes < 0, "--max-mailboxes: must not be negative; 0 is unlimited"},
		{c.MaxDedicatedIPs < 1, "--max-dedicated-ips: must be at least 1"},
		{c.OAuthIssuer == "" && c.OAuthAudience != "", "--oauth-audience: needs --oauth-issuer"},
		{c.OAuthIssuer == "" && (c.OAuthClientID != "" || len(c.OAuthScopes) > 0 || len(c.OAuthParameters) > 0), "--oauth-client-id, --oauth-scopes and --oauth-parameters: need --oauth-issuer"},
		{c.OAuthIssuer == "" && c.ConsoleClientID != "", "--oauth-console-client-id: needs --oauth-issuer"},
		{c.ConsoleClientID == "" && c.ConsoleSecret != "", "--oauth-console-client-secret: needs --oauth-console-client-id"},
		{c.ControlListen == "" && (c.Hostile || c.Replay != ""), "--hostile and --replay: need --control-listen"},
		{c.Seed != nil && c.Database != sqlite.Memory, "--seed: needs --database " + sqlite.Memory + ", because a second start would create the same ids and tokens again"},
		{c.SMTPURL == "" && c.SMTPFrom+c.SMTPHelo != "", "--smtp-from and --smtp-helo: need --smtp-url"},
		{c.SMTPURL != "" && c.SMTPFrom == "", "--smtp-from: is required with --smtp-url"},
		{
			c.SMTPURL != "" && c.PublicURL == "" && !isLocal(loopbackForPort(c.Listen)),
			"--public-url: is required with --smtp-url, so that the links in messages work on other machines",
		},
	} {
		if rule.broken {
			return errors.New(rule.message)
		}
	}
	if err := cmp.Or(
		checkAddress("--listen", c.Listen), checkAddress("--control-listen", string(cmp.Or(c.ControlListen, "0"))), checkAddress("--metrics-listen", string(cmp.Or(c.MetricsListen, "0"))),
	); err != nil {
		return err
	}
	if err := signin.CheckParameters(c.OAuthParameters); err != nil {
		return fmt.Errorf("--oauth-parameters: %w", err)
	}
	if _, err := c.verifiers(nil, nil); err != nil {
		return err
	}
	if _, err := c.mailer(c.PublicURL); err != nil {
		return err
	}
	return cmp.Or(cli.CheckURL("--otlp-endpoint", c.OTLPEndpoint), cli.CheckURL("--public-url", c.PublicURL))
}

// Run serves until ctx is cancelled.
func (c Command) Run(ctx context.Context, p cli.Program, app *kong.Kong) error {
	return c.run(ctx, p, app, func(*server, *apiserver.Service, *control.Plane) error { return nil })
}

// run serves until ctx is cancelled, unless ready returns an error. It calls ready when the listeners
// are open: requests wait until the server serves.
func (c settings) run(ctx context.Context, p cli.Program, app *kong.Kong, ready func(*server, *apiserver.Service, *control.Plane) error) (err error) {
	log := c.logger(p.Stderr)
	if unknown := unknownVariables(p, app); len(unknown) > 0 {
		log.Warn("no setting has these variables; mailhostd serve --help lists those that exist", "variables", strings.Join(unknown, ", "))
	}
	plane, err := c.newPlane()
	if err != nil {
		return err
	}
	tokens, err := c.verifiers(plane.Clock.Now, log)
	if err != nil {
		return err
	}
	sender, err := c.mailer(c.PublicURL)
	if err != nil {
		return err
	}
	// Listen before creating a database, because the address may be in use.
	public, err := listen(ctx, "--listen", loopbackForPort(c.Listen))
	if err != nil {
		return err
	}
	s := &server{settings: c, log: log, limits: defaultConnectionLimits, public: public}
	if err := s.configure(ctx, p); err != nil {
		return err
	}
	db, err := cli.OpenDatabase(ctx, c.Database, cli.OpenOptions{Memory: true, Connections: c.DatabaseConnections})
	if err != nil {
		return err
	}
	publicURL := strings.TrimSuffix(cmp.Or(c.PublicURL, s.url()), "/")
	if c.PublicURL != "" {
		if err := comparePublicURL(ctx, db, publicURL, log); err != nil {
			return errors.Join(err, db.Close())
		}
	}
	s.docs["/"] = home(publicURL, docsPath)
	if !c.NoConsole {
		s.docs["/"] = home(publicURL, console.Path)
		s.console = console.New(console.Options{PublicURL: publicURL, Clock: plane.Clock.Now, Log: log, Issuer: c.consoleIssuer(tokens)})
	}
	options := apiserver.Options{
		Store: db, Logger: log, Registrar: api.Value(plane.Fixture.Registrar), PublishedOnly: c.PublishedOnly, Strict: c.Strict, Random: c.random(""),
		PublicURL: publicURL, Clock: plane.Clock.Now, Middleware: s.middleware,
		RateLimit: apiserver.RateLimit(c.RateLimit), MaxMailboxes: api.Value(cmp.Or(plane.Fixture.MaxMailboxes, &c.MaxMailboxes)), MaxDedicatedIPs: c.MaxDedicatedIPs,
	}
	if s.control != nil {
		options.Middleware = func(h http.Handler) http.Handler { return s.middleware(plane.Middleware(h)) }
	}
	if tokens != nil { // a nil slice would be a non-nil interface
		options.Tokens = tokens
	}
	if sender != nil {
		options.Sender = sender
	}
	if c.OAuthIssuer != "" {
		s.docs[signin.WellKnownPath] = c.signInMetadata(options.PublicURL)
	}
	plane.NewService = func(ctx context.Context, id string, child *control.Plane) (*apiserver.Service, error) {
		o := options
		o.PublicURL, o.Sender, o.Random = publicURL+control.IsolatedPath+id, nil, c.random(id)
		o.Clock, o.Middleware = child.Clock.Now, child.Middleware
		db, err := sqlite.Open(ctx, sqlite.Memory, sqlite.Options{})
		if err != nil {
			return nil, err
		}
		o.Store = db
		return apiserver.New(o)
	}
	service, err := apiserver.New(options)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	clocks := &clockWatch{store: db, log: log, now: plane.Clock.Now}
	clocks.check(ctx)
	watching, stopWatching := context.WithCancel(ctx)
	defer stopWatching()
	go clocks.run(watching)
	if s.metrics != nil {
		s.metrics.Watch(service, db, s.certificate)
		s.metrics.WatchClock(clocks.Offset)
	}
	if s.console != nil {
		s.console.Start(service)
	}
	if c.Fixture != "" {
		if err := service.LoadFixture(ctx, plane.Fixture); err != nil {
			return fmt.Errorf("--fixture %s: %w", c.Fixture, err)
		}
	}
	defer reloadOnHangup(s.certificate, log)()
	if err := ready(s, service, plane); err != nil {
		return err
	}
	if warning, _ := unknownWorkloads(ctx, db, tokens); warning != "" { // the first request reports an error
		log.Warn(warning)
	}
	s.logStart(ctx, p.Version(), service, sender)
	return s.serve(ctx, service, plane)
}

// logStart logs the URLs that people and scripts need, and warns about a missing
// account and unprotected listeners.
func (s *server) logStart(ctx context.Context, version string, service *apiserver.Service, sender *mailer.Mailer) {
	switch {
	case sender != nil:
		s.log.Info("sending messages", "server", sender.Server(), "from", sender.From())
	case s.control != nil:
		s.log.Info("messages are not sent, and are in the outbox of the control plane")
	default:
		s.log.Warn("messages are not sent, so that no forwarding to other accounts can be verified; set --smtp-url")
	}
	accounts, err := service.Accounts(ctx)
	switch {
	case err != nil: // the first request reports the error
	case len(accounts) == 0 && s.Database == sqlite.Memory:
		s.log.Warn("there is no account yet, and init can't create one in memory; use --fixture, or POST /accounts of the control plane", "database", s.Database)
	case len(accounts) == 0:
		s.log.Warn("there is no account yet; create one with: mailhostd init --database "+cli.RedactDatabase(s.Database), "database", cli.RedactDatabase(s.Database))
	}
	if s.certificate == nil && !isLocal(s.public.Addr().String()) {
		s.log.Warn("tokens are sent over plain HTTP; make this address reachable only for a TLS proxy", "address", s.public.Addr().String())
	}
	if warning := s.missingPublicURL(); warning != "" {
		s.log.Warn(warning, "url", s.url())
	}
	if s.control != nil {
		if !isLocal(s.control.Addr().String()) {
			s.log.Warn("the control plane needs no credential, and other machines can reach it", "address", s.control.Addr().String())
		}
		s.log.Info("serving the control plane", "url", urlOf(s.control.Addr().String()))
	}
	if s.metricsListen != nil {
		s.log.Info("serving metrics", "url", urlOf(s.metricsListen.Addr().String())+"/metrics")
	}
	s.log.Info("serving", "url", s.url(), "database", cli.RedactDatabase(s.Database), "published_only", s.PublishedOnly, "version", version)
}

// comparePublicURL warns if the last server on the database used another public URL: each replica writes
// its own URL into messages and the console.
func comparePublicURL(ctx context.Context, db store.Store, url string, log *slog.Logger) error {
	before := ""
	if err := db.Update(ctx, func(tx store.Tx) (err error) {
		before, err = tx.SetPublicURL(url)
		return err
	}); err != nil {
		return fmt.Errorf("--public-url: %w", err)
	}
	if before != "" && before != url {
		log.Warn("the server that was started before with this database has another --public-url; all replicas need the same, because it is in the links of messages", "url", url, "before", before)
	}
	return nil
}

// reloadOnHangup reloads the certificate on each SIGHUP until stop is called. A
// server without a certificate ignores the signal.
func reloadOnHangup(cert *certificate.Reloader, log *slog.Logger) (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	go func() {
		for range signals {
			if cert == nil {
				log.Info("there is nothing to reload")
				continue
			}
			cert.Reload()
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
	}
}
