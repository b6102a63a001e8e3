package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control"
)

// The bounds of a connection. An answer has none: the export of a large account
// takes as long as its reader does.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = time.Minute // a body has at most 1 MiB
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
)

// server is the listeners of a service.
type server struct {
	log     *slog.Logger
	timeout time.Duration
	public  net.Listener
	control net.Listener // may be nil
}

// serve serves until ctx is cancelled or a listener fails, and ends the requests
// under way.
func (s *server) serve(ctx context.Context, service *apiserver.Service, clock *control.Clock) error {
	requests, cancelRequests := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancelRequests(nil)
	failed := make(chan error, 2)
	main := s.start(requests, s.public, service.Handler(), failed)
	servers := []*http.Server{main}
	if s.control != nil {
		servers = append(servers, s.start(requests, s.control, control.NewHandler(service, clock), failed))
	}
	var failure error
	select {
	case <-ctx.Done():
		s.log.Info("shutting down", "timeout", s.timeout)
	case err := <-failed:
		failure = fmt.Errorf("serving failed: %w", err)
	}
	service.Drain()
	limit, cancel := context.WithTimeout(requests, s.timeout)
	defer cancel()
	for _, server := range servers {
		if err := server.Shutdown(limit); err != nil {
			cancelRequests(errShutdown)
			failure = errors.Join(failure, fmt.Errorf("requests under way did not end within %s and were cut off", s.timeout), server.Close())
		}
	}
	if failure == nil {
		s.log.Info("shut down")
	}
	return failure
}

var errShutdown = errors.New("the server has shut down")

// start serves a listener in the background.
func (s *server) start(requests context.Context, l net.Listener, h http.Handler, failed chan<- error) *http.Server {
	server := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		BaseContext:       func(net.Listener) context.Context { return requests },
		// OPTIONS * is answered as any other path that the API does not have.
		DisableGeneralOptionsHandler: true,
	}
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			failed <- err
		}
	}()
	return server
}

// closeListeners closes what was not served.
func (s *server) closeListeners() {
	_ = s.public.Close()
	if s.control != nil {
		_ = s.control.Close()
	}
}
