package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/net/netutil"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/certificate"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/malformed"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/metrics"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/pace"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/tracing"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control"
)

// connectionLimits are the bounds of a connection. An answer has a pace instead of a bound:
// the export of a large account takes as long as its reader does.
type connectionLimits struct {
	header, body, idle time.Duration
	answer             pace.Bounds
}

var defaultConnectionLimits = connectionLimits{
	header: 10 * time.Second,
	body:   time.Minute, // it has at most 1 MiB
	idle:   2 * time.Minute,
	answer: pace.Bounds{Grace: 30 * time.Second, Rate: 16 << 10, Pause: 5 * time.Minute},
}

const maxHeaderBytes = 64 << 10

// connectionFlags say how many connections there are and how they end.
type connectionFlags struct {
	MaxConnections int           `default:"10000" placeholder:"COUNT" help:"Connections at one time; more wait until one ends. 0: no bound. Default: ${default}."`
	DrainDelay     time.Duration `default:"0s" placeholder:"DURATION" help:"How long to go on answering after SIGTERM or SIGINT while /healthz/ready says no, so that load balancers look elsewhere. Default: ${default}."`
}

func (f connectionFlags) validate() error {
	switch {
	case f.MaxConnections < 0:
		return errors.New("--max-connections: must not be negative")
	case f.DrainDelay < 0:
		return errors.New("--drain-delay: must not be negative")
	}
	return nil
}

// server is the listeners of a service, and what watches them.
type server struct {
	connectionFlags
	log *slog.Logger
	// timeout is for the requests under way at the end.
	timeout time.Duration
	limits  connectionLimits
	public  net.Listener
	// retired says that clients shall find another server.
	retired atomic.Bool
	// What follows may be nil.
	control       net.Listener
	metricsListen net.Listener
	certificate   *certificate.Keeper
	metrics       *metrics.Metrics
	tracing       *tracing.Tracing
	docs          docs
}

// url returns where this machine reaches the API.
func (s *server) url() string {
	if s.certificate == nil {
		return urlOf(s.public)
	}
	return "https" + strings.TrimPrefix(urlOf(s.public), "http")
}

// middleware is what watches the service from within, and adds to it.
func (s *server) middleware() []func(http.Handler) http.Handler {
	var all []func(http.Handler) http.Handler
	if s.tracing != nil {
		all = append(all, s.tracing.Middleware)
	}
	if s.metrics != nil {
		all = append(all, s.metrics.Middleware)
	}
	if s.docs != nil {
		all = append(all, s.docs.middleware)
	}
	return all
}

// compose puts the first middleware around the second, and so on.
func compose(all ...func(http.Handler) http.Handler) func(http.Handler) http.Handler {
	return func(h http.Handler) http.Handler {
		for _, around := range slices.Backward(all) {
			h = around(h)
		}
		return h
	}
}

// equip adds what watches the server and its connections.
func (s *server) equip(ctx context.Context, c *serveCommand, environ []string) (err error) {
	if s.docs, err = newDocs(c.PublishedOnly); err != nil {
		return err
	}
	if s.certificate, err = c.openCertificate(s.log); err != nil {
		return err
	}
	if s.metricsListen, err = c.listenMetrics(ctx); err != nil {
		return err
	}
	if s.metricsListen != nil {
		s.metrics = metrics.New(programVersion())
		if s.certificate != nil {
			s.metrics.WatchCertificate(s.certificate.NotAfter)
		}
	}
	s.tracing, err = c.startTracing(ctx, environ, s.log)
	return err
}

// serve serves until ctx is cancelled or a listener fails, and ends the requests
// under way.
func (s *server) serve(ctx context.Context, service *apiserver.Service, plane *control.Plane) error {
	requests, cancelRequests := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancelRequests(nil)
	failed := make(chan error, 3)
	servers := []*http.Server{s.startPublic(requests, service.Handler(), failed)}
	if s.control != nil {
		servers = append(servers, s.start(requests, s.control, plane.Handler(service), failed))
	}
	if s.metrics != nil {
		s.metrics.WatchReadiness(service.Ready)
		servers = append(servers, s.start(requests, s.metricsListen, s.metrics.Handler(), failed))
	}
	failure := s.wait(ctx, service, failed)
	service.Drain()
	limit, cancel := context.WithTimeout(requests, s.timeout)
	defer cancel()
	for _, server := range servers {
		if err := server.Shutdown(limit); err != nil {
			cancelRequests(errShutdown)
			failure = errors.Join(failure, fmt.Errorf("requests under way did not end within %s and were cut off", s.timeout), server.Close())
		}
	}
	s.stopTracing(requests)
	if failure == nil {
		s.log.Info("shut down")
	}
	return failure
}

var errShutdown = errors.New("the server has shut down")

// wait returns when the service shall take no more requests, and what failed if
// it is that. Until then load balancers have had their time to notice.
func (s *server) wait(ctx context.Context, service *apiserver.Service, failed <-chan error) error {
	select {
	case <-ctx.Done():
	case err := <-failed:
		return fmt.Errorf("serving failed: %w", err)
	}
	service.Retire()
	s.retired.Store(true)
	s.log.Info("shutting down", "drain_delay", s.DrainDelay, "timeout", s.timeout)
	delay := time.NewTimer(s.DrainDelay)
	defer delay.Stop()
	select {
	case <-delay.C:
		return nil
	case err := <-failed:
		return fmt.Errorf("serving failed: %w", err)
	}
}

// startPublic serves the API in the background.
func (s *server) startPublic(requests context.Context, h http.Handler, failed chan<- error) *http.Server {
	if s.tracing != nil {
		h = s.tracing.Handler(h)
	}
	server := s.newServer(requests, s.closing(h))
	if s.metrics != nil {
		server.ConnState = s.metrics.Connection
	}
	l := s.public
	if s.MaxConnections > 0 {
		l = netutil.LimitListener(l, s.MaxConnections)
	}
	if s.certificate == nil {
		l = malformed.Listener(l)
	} else {
		server.TLSConfig = malformed.Config(s.certificate.Config()) // so that Serve sets up HTTP/2
		server.ConnContext = malformed.ConnContext
		server.Handler = malformed.Handler(server.Handler)
		l = malformed.TLSListener(l, server.TLSConfig, s.limits.header, server.ErrorLog)
	}
	inBackground(func() error { return server.Serve(l) }, failed)
	return server
}

// closing ends a connection with the response once the server has retired, so that
// kept-alive ones move to another server, and after a chunked request: net/http
// accepts one that has a Content-Length as well and removes that, and after such a
// request the connection must close (RFC 9112, section 6.3).
func (s *server) closing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.retired.Load() || len(r.TransferEncoding) > 0 {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// start serves another listener in the background.
func (s *server) start(requests context.Context, l net.Listener, h http.Handler, failed chan<- error) *http.Server {
	server := s.newServer(requests, h)
	inBackground(func() error { return server.Serve(l) }, failed)
	return server
}

func inBackground(serve func() error, failed chan<- error) {
	go func() {
		if err := serve(); !errors.Is(err, http.ErrServerClosed) {
			failed <- err
		}
	}()
}

func (s *server) newServer(requests context.Context, h http.Handler) *http.Server {
	return &http.Server{
		Handler:           pace.Handler(h, s.limits.answer),
		ReadHeaderTimeout: s.limits.header,
		ReadTimeout:       s.limits.body,
		WriteTimeout:      s.limits.answer.Grace, // of what net/http answers by itself; see pace
		IdleTimeout:       s.limits.idle,
		MaxHeaderBytes:    maxHeaderBytes,
		// A stream's deadline is kept only while its connection can be written to.
		HTTP2:       &http.HTTP2Config{WriteByteTimeout: s.limits.answer.Grace},
		ErrorLog:    slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context { return requests },
		// OPTIONS * is answered as any other path that the API does not have.
		DisableGeneralOptionsHandler: true,
	}
}

// stopTimeout bounds the sending of the last traces.
const stopTimeout = 5 * time.Second

// stopTracing sends the last traces. That some are lost is no failure of the
// server.
func (s *server) stopTracing(ctx context.Context) {
	if s.tracing == nil {
		return
	}
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := s.tracing.Stop(limit); err != nil {
		s.log.Warn(err.Error())
	}
}

// closeListeners closes what was not served.
func (s *server) closeListeners() {
	for _, l := range []net.Listener{s.public, s.control, s.metricsListen} {
		if l != nil {
			_ = l.Close()
		}
	}
}
