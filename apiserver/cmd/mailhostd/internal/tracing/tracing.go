// Package tracing sends a span of each request to an OpenTelemetry collector over OTLP/HTTP, and adds
// trace ids to the log.
//
// Names and attributes follow OpenTelemetry's semantic conventions for HTTP servers. Spans contain no
// secrets: no query, no request headers, and no path of a verification link.
package tracing

import (
	"cmp"
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
	"golang.org/x/time/rate"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// Options configure the tracing of a server.
type Options struct {
	// Collector is the URL of the collector; "" selects the URL in OpenTelemetry's variables.
	Collector string
	// LinkParents starts a new trace for each request and links it to the caller's trace (W3C
	// traceparent) instead of continuing it, so that unknown callers can't control the sampling.
	LinkParents bool
	Version     string
	// Log receives an occasional warning while spans are lost.
	Log *slog.Logger
}

// Tracing creates and exports spans. It is safe for concurrent use.
type Tracing struct {
	provider *sdktrace.TracerProvider
	log      *slog.Logger
	// Handler creates a span for each request. It must be the outermost handler, so that the service's
	// log line for a request contains the trace id.
	Handler func(http.Handler) http.Handler
}

// Start starts the export in the background. Requests never wait for the collector:
// while it is unavailable, the newest spans are dropped.
func Start(ctx context.Context, o Options) (*Tracing, error) {
	setLogger(o.Log)
	client, err := otlptracehttp.New(ctx, endpoint(o.Collector)...)
	if err != nil {
		return nil, fmt.Errorf("traces can't be exported: %w", err)
	}
	attributes, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(semconv.ServiceName("mailhostd"), semconv.ServiceVersion(o.Version)),
		resource.WithFromEnv()) // overrides the attributes above
	if err != nil {
		o.Log.Warn("OTEL_RESOURCE_ATTRIBUTES is partly invalid", "error", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithResource(attributes),
		sdktrace.WithBatcher(client))
	return &Tracing{provider: provider, log: o.Log, Handler: otelhttp.NewMiddleware("",
		otelhttp.WithTracerProvider(provider),
		otelhttp.WithPropagators(propagation.TraceContext{}),
		otelhttp.WithPublicEndpointFn(func(*http.Request) bool { return o.LinkParents }),
		// Health checks are too frequent for traces.
		otelhttp.WithFilter(func(r *http.Request) bool { return !strings.HasPrefix(r.URL.Path, apiserver.HealthPath) }),
	)}, nil
}

func endpoint(collector string) (options []otlptracehttp.Option) {
	if collector != "" {
		options = append(options, otlptracehttp.WithEndpointURL(strings.TrimSuffix(collector, "/")+"/v1/traces"))
	}
	return options
}

// Check sends a batch without spans to the collector that Start would use.
func Check(ctx context.Context, collector string) error {
	setLogger(slog.New(slog.DiscardHandler))
	once := otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: false})
	if err := otlptracehttp.NewClient(append(endpoint(collector), once)...).UploadTraces(ctx, nil); err != nil {
		return fmt.Errorf("%.300s", strings.Join(strings.Fields(err.Error()), " ")) // the error may contain a whole response
	}
	return nil
}

// warnInterval is the minimum time between two warnings about lost spans.
const warnInterval = 5 * time.Minute

// setLogger sets the global logger of OpenTelemetry's packages, which report an error for each lost batch of spans.
func setLogger(log *slog.Logger) {
	lost := &rate.Sometimes{First: 1, Interval: warnInterval}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		lost.Do(func() { log.Warn("traces do not reach their collector", "error", fmt.Sprintf("%.300s", err)) }) // the error may contain a whole response
	}))
	otel.SetLogger(logr.FromSlogHandler(messagesOnly{log.Handler()}))
}

// Middleware adds the service's attributes of a request to its span. It is for
// apiserver.Options.Middleware.
func (t *Tracing) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		span := trace.SpanFromContext(r.Context())
		describe(span, apiserver.RequestOf(r.Context()), r)
		completed := false
		defer func() {
			if !completed {
				span.SetAttributes(semconv.ErrorTypeKey.String("aborted"))
				span.SetStatus(codes.Error, "the connection was closed before the end of the response")
			}
		}()
		next.ServeHTTP(w, r)
		completed = true
	})
}

func describe(span trace.Span, request apiserver.Request, r *http.Request) {
	if name := cmp.Or(request.Operation.ID, request.Route); name != "" {
		span.SetName(name)
	}
	_, route, _ := strings.Cut(request.Route, " ")
	if route != "" {
		span.SetAttributes(semconv.HTTPRoute(route))
	}
	if agent := r.UserAgent(); strings.Contains(agent, api.TokenPrefix+"_") || strings.Contains(agent, "eyJ") { // a token in the wrong header
		span.SetAttributes(semconv.UserAgentOriginal("REDACTED"))
	}
	path := cmp.Or(route, "REDACTED") // an unknown path may be a verification link with extra characters
	if request.Operation.ID != "" {
		path = r.URL.Path
	}
	span.SetAttributes(semconv.URLPath(path), semconv.HTTPResponseHeader("x-request-id", request.ID))
}

// stopTimeout limits the export of the last spans.
const stopTimeout = 5 * time.Second

// Stop exports the remaining spans. It logs a failure.
func (t *Tracing) Stop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		t.log.Warn("the last traces were not sent", "error", err)
	}
}

// LogHandler adds the trace id and span id from a log line's context.
func LogHandler(h slog.Handler) slog.Handler { return logHandler{h} }

type logHandler struct{ slog.Handler }

func (h logHandler) Handle(ctx context.Context, line slog.Record) error {
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		line = line.Clone()
		line.AddAttrs(slog.String("trace_id", span.TraceID().String()), slog.String("span_id", span.SpanID().String()))
	}
	return h.Handler.Handle(ctx, line)
}

func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logHandler{h.Handler.WithAttrs(attrs)}
}

func (h logHandler) WithGroup(name string) slog.Handler { return logHandler{h.Handler.WithGroup(name)} }

// messagesOnly drops the attributes of log lines. OpenTelemetry's packages log the
// value of an invalid variable, which may be a header with a credential.
type messagesOnly struct{ slog.Handler }

func (h messagesOnly) Handle(ctx context.Context, line slog.Record) error {
	return h.Handler.Handle(ctx, slog.NewRecord(line.Time, line.Level, "OpenTelemetry: "+line.Message, line.PC))
}

func (h messagesOnly) WithAttrs([]slog.Attr) slog.Handler { return h }

func (h messagesOnly) WithGroup(string) slog.Handler { return h }

// IsConfigured reports whether OpenTelemetry's variables name a collector. OpenTelemetry's packages read
// these and others, such as OTEL_TRACES_SAMPLER, OTEL_SERVICE_NAME and OTEL_EXPORTER_OTLP_HEADERS.
func IsConfigured(variables map[string]string) bool {
	return strings.TrimSpace(variables["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"]+variables["OTEL_EXPORTER_OTLP_ENDPOINT"]) != "" &&
		!strings.EqualFold(strings.TrimSpace(variables["OTEL_SDK_DISABLED"]), "true") && strings.TrimSpace(variables["OTEL_TRACES_EXPORTER"]) != "none"
}
