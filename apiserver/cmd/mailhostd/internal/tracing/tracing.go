package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// Options configure the tracing of a server. All but LinkParents and Clock are
// required.
type Options struct {
	// Endpoint is where spans are sent to, as of the function Endpoint.
	Endpoint string
	// LinkParents begins a trace of its own for each request and links it to the
	// caller's (W3C traceparent), rather than continuing that: callers whom nobody
	// knows then have no say in what is sampled.
	LinkParents bool
	// Version is the server's.
	Version string
	// Log is told when spans are lost, now and then.
	Log *slog.Logger
	// Clock tells the time for that; nil: the system's.
	Clock func() time.Time
}

// Tracing makes spans of requests and sends them. It is safe for concurrent use.
type Tracing struct {
	provider *sdktrace.TracerProvider
	wrap     func(http.Handler) http.Handler
}

// Start begins to send spans in the background. Requests never wait for the
// collector: while it does not answer, the newest spans are dropped.
func Start(ctx context.Context, o Options) (*Tracing, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	report(o.Log)
	client, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(o.Endpoint))
	if err != nil {
		return nil, fmt.Errorf("traces can't be exported: %w", err)
	}
	of, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(semconv.ServiceName("mailhostd"), semconv.ServiceVersion(o.Version)),
		resource.WithFromEnv()) // goes before what stands above
	if err != nil {
		o.Log.Warn("OTEL_RESOURCE_ATTRIBUTES can't be used as a whole", "error", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithResource(of),
		sdktrace.WithBatcher(&exporter{SpanExporter: client, log: o.Log, clock: o.Clock}))
	return &Tracing{provider: provider, wrap: otelhttp.NewMiddleware("",
		otelhttp.WithTracerProvider(provider),
		otelhttp.WithPropagators(propagation.TraceContext{}),
		otelhttp.WithPublicEndpointFn(func(*http.Request) bool { return o.LinkParents }),
		otelhttp.WithFilter(func(r *http.Request) bool { return !isProbe(r) }),
	)}, nil
}

// report makes OpenTelemetry's packages, which have one logger for the whole
// process, write to this one.
func report(log *slog.Logger) {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("OpenTelemetry", "error", excerpt(err)) }))
	otel.SetLogger(logr.FromSlogHandler(messagesOnly{log.Handler()}))
}

// isProbe finds the requests of load balancers, which come every few seconds.
func isProbe(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, apiserver.HealthPath) }

// Handler makes a span of each request. It is put around everything else, so that
// the line that the service logs about a request can name its trace.
func (t *Tracing) Handler(next http.Handler) http.Handler { return t.wrap(next) }

// Middleware is an apiserver.Options.Middleware: it completes the span with what
// the service has found out about the request.
func (t *Tracing) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		span := trace.SpanFromContext(r.Context())
		if !span.IsRecording() {
			next.ServeHTTP(w, r)
			return
		}
		describe(span, apiserver.RequestOf(r.Context()), r)
		ended := false
		defer func() {
			if !ended {
				span.SetAttributes(semconv.ErrorTypeKey.String("aborted"))
				span.SetStatus(codes.Error, "the connection was cut before or during the answer")
			}
		}()
		next.ServeHTTP(w, r)
		ended = true
	})
}

func describe(span trace.Span, request apiserver.Request, r *http.Request) {
	switch {
	case request.Operation.ID != "":
		span.SetName(request.Operation.ID)
	case request.Route != "":
		span.SetName(request.Route)
	}
	if _, route, ok := strings.Cut(request.Route, " "); ok {
		span.SetAttributes(semconv.HTTPRoute(route))
	}
	if agent := r.UserAgent(); strings.Contains(agent, api.TokenPrefix+"_") || strings.Contains(agent, "eyJ") { // a token, put in the wrong header
		span.SetAttributes(semconv.UserAgentOriginal("REDACTED"))
	}
	span.SetAttributes(semconv.URLPath(safePath(request, r)), semconv.HTTPResponseHeader("x-request-id", request.ID))
}

// safePath is the path of an operation. Any other may hold the secret of a
// verification link, in a path that does not exist too: one that was copied with
// something behind it.
func safePath(request apiserver.Request, r *http.Request) string {
	if request.Operation.ID != "" {
		return r.URL.Path
	}
	if _, route, ok := strings.Cut(request.Route, " "); ok {
		return route
	}
	return "REDACTED"
}

// Stop sends what is left, and waits for that until ctx ends.
func (t *Tracing) Stop(ctx context.Context) error {
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("the last traces were not sent: %w", err)
	}
	return nil
}
