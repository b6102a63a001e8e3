package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/certificate"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/console"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/metrics"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/tracing"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control"
)

type connectionLimits struct {
	header, body, pause, response, idle time.Duration
}

var defaultConnectionLimits = connectionLimits{
	header:   10 * time.Second,
	body:     time.Minute,      // at most 1 MiB
	pause:    20 * time.Second, // without any byte of a body
	response: 3 * time.Minute,  // from the request's header; each part of an export has a minute
	idle:     2 * time.Minute,
}

const maxHeaderBytes = 64 << 10

// strictTransport makes browsers use https only, for a year. It leaves out the subdomains, because
// they may belong to other services.
const strictTransport = "max-age=31536000"

// server serves the API, and optionally the control plane and metrics on their own listeners.
type server struct {
	settings
	log    *slog.Logger
	limits connectionLimits
	public net.Listener
	// closing is set at shutdown: clients must connect to another server.
	closing atomic.Bool
	// Any of the following may be nil.
	control       net.Listener
	metricsListen net.Listener
	certificate   *certificate.Reloader
	metrics       *metrics.Metrics
	tracing       *tracing.Tracing
	docs          docs
	console       *console.Console
}

// url returns the URL of the API on this machine.
func (s *server) url() string {
	u := urlOf(s.public.Addr().String())
	if s.certificate == nil {
		return u
	}
	return "https" + strings.TrimPrefix(u, "http")
}

// middleware wraps the API and the control plane's middleware.
func (s *server) middleware(h http.Handler) http.Handler {
	if s.console != nil {
		h = s.console.Middleware(h)
	}
	h = s.docs.middleware(h)
	if s.metrics != nil {
		h = s.metrics.Middleware(h)
	}
	if s.tracing != nil {
		h = s.tracing.Middleware(h)
	}
	return h
}

func (s *server) configure(ctx context.Context, p cli.Program) (err error) {
	s.docs = newDocs(s.PublishedOnly)
	if s.certificate, err = s.openCertificate(s.log); err != nil {
		return err
	}
	if s.ControlListen != "" {
		if s.control, err = listen(ctx, "--control-listen", loopbackByDefault(string(s.ControlListen))); err != nil {
			return err
		}
	}
	if s.MetricsListen != "" {
		if s.metricsListen, err = listen(ctx, "--metrics-listen", loopbackByDefault(string(s.MetricsListen))); err != nil {
			return err
		}
		s.metrics = metrics.New(p.Version())
	}
	s.tracing, err = s.startTracing(ctx, p, s.log)
	return err
}

// serve serves until ctx is cancelled or a listener fails, and then completes the
// requests in flight.
func (s *server) serve(ctx context.Context, service *apiserver.Service, plane *control.Plane) error {
	requests, cancelRequests := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelRequests()
	failed := make(chan error, 3)
	servers := []*http.Server{s.startPublic(requests, plane.API(service.Handler()), failed)}
	if s.control != nil {
		servers = append(servers, start(s.newServer(requests, plane.Handler(service)), s.control, failed))
	}
	if s.metrics != nil {
		servers = append(servers, start(s.newServer(requests, s.metrics.Handler()), s.metricsListen, failed))
	}
	failure := s.wait(ctx, service, failed)
	service.Drain()
	plane.Drain()
	limit, cancel := context.WithTimeout(requests, s.ShutdownTimeout)
	defer cancel()
	for _, server := range servers {
		if err := server.Shutdown(limit); err != nil {
			cancelRequests()
			failure = errors.Join(failure, fmt.Errorf("requests in flight did not end within %s and were aborted", s.ShutdownTimeout), server.Close())
		}
	}
	failure = errors.Join(failure, plane.Close())
	if s.tracing != nil {
		s.tracing.Stop(requests)
	}
	if failure == nil {
		s.log.Info("shut down")
	}
	return failure
}

// wait returns the error of a listener, or nil after ctx is cancelled and the drain delay has passed.
// During the delay, load balancers notice that the server is not ready.
func (s *server) wait(ctx context.Context, service *apiserver.Service, failed <-chan error) error {
	select {
	case <-ctx.Done():
	case err := <-failed:
		return err
	}
	service.Retire()
	s.closing.Store(true)
	s.log.Info("shutting down", "drain_delay", s.DrainDelay, "timeout", s.ShutdownTimeout)
	select {
	case <-time.After(s.DrainDelay):
		return nil
	case err := <-failed:
		return err
	}
}

func (s *server) startPublic(requests context.Context, h http.Handler, failed chan<- error) *http.Server {
	if s.tracing != nil {
		h = s.tracing.Handler(h)
	}
	server := s.newServer(requests, s.secure(s.closeConnections(h)))
	if s.metrics != nil {
		server.ConnState = s.metrics.ConnState
	}
	l := s.public
	if s.MaxConnections > 0 {
		l = limitConnections(server, l, s.MaxConnections)
	}
	if s.certificate != nil {
		server.TLSConfig = s.certificate.Config()
	}
	return start(server, l, failed)
}

// closeConnections closes a connection after its response in two cases: at shutdown, so that clients
// connect to another server, and after a chunked request. net/http removes a Content-Length from a
// chunked request, after which the connection must be closed (RFC 9112, section 6.3).
func (s *server) closeConnections(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.closing.Load() || len(r.TransferEncoding) > 0 {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// secure sends Strict-Transport-Security with every response if clients use https (RFC 6797).
func (s *server) secure(next http.Handler) http.Handler {
	if s.certificate == nil && !strings.HasPrefix(strings.ToLower(s.PublicURL), "https:") {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Strict-Transport-Security", strictTransport)
		next.ServeHTTP(w, r)
	})
}

// endPauses ends requests with bodies that stop arriving.
func (s *server) endPauses(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != http.NoBody {
			r = r.WithContext(r.Context()) // net/http keeps the body of the original
			r.Body = &arrivingBody{r.Body, http.NewResponseController(w), s.limits.pause, time.Now().Add(s.limits.body)}
		}
		next.ServeHTTP(w, r)
	})
}

// arrivingBody is a body in which each byte must arrive before the end, and soon after the one before.
type arrivingBody struct {
	io.ReadCloser
	connection *http.ResponseController
	pause      time.Duration
	end        time.Time
}

func (b *arrivingBody) Read(p []byte) (int, error) {
	deadline := time.Now().Add(b.pause)
	if b.end.Before(deadline) {
		deadline = b.end
	}
	_ = b.connection.SetReadDeadline(deadline) // an error shows in Read
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) { // net/http reads on to notice a disconnect
		_ = b.connection.SetReadDeadline(time.Time{})
	}
	return n, err
}

// start serves a listener in the background, over TLS if the server is configured for it.
func start(server *http.Server, l net.Listener, failed chan<- error) *http.Server {
	serve := server.Serve
	if server.TLSConfig != nil {
		serve = func(l net.Listener) error { return server.ServeTLS(l, "", "") }
	}
	go func() {
		if err := serve(l); !errors.Is(err, http.ErrServerClosed) {
			failed <- fmt.Errorf("serving failed: %w", err)
		}
	}()
	return server
}

func (s *server) newServer(requests context.Context, h http.Handler) *http.Server {
	return &http.Server{
		Handler:           s.endPauses(h),
		ReadHeaderTimeout: s.limits.header,
		ReadTimeout:       s.limits.body,
		WriteTimeout:      s.limits.response,
		IdleTimeout:       s.limits.idle,
		MaxHeaderBytes:    maxHeaderBytes,
		// The deadline of a stream works only while its connection accepts writes.
		HTTP2:       &http.HTTP2Config{WriteByteTimeout: s.limits.response},
		ErrorLog:    slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context { return requests },
		// OPTIONS * gets the same 404 as any unknown path.
		DisableGeneralOptionsHandler: true,
	}
}
