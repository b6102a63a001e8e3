package metrics

import (
	"context"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
)

const (
	namespace = "mailhostd"
	subsystem = "http"
)

// Metrics are the metrics of one server. It is safe for concurrent use.
type Metrics struct {
	registry    *prometheus.Registry
	requests    *prometheus.CounterVec
	durations   *prometheus.HistogramVec
	sizes       *prometheus.HistogramVec
	aborted     *prometheus.CounterVec
	inFlight    prometheus.Gauge
	connections prometheus.Gauge
}

// New returns the metrics of a server of a version.
func New(version string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "requests_total",
			Help: "Requests by operation, method and status; code 0 is a connection that was cut without an answer.",
		}, []string{"operation", "method", "code"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "request_duration_seconds",
			Help:    "How long requests took, to the last byte of the answer.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60},
		}, []string{"operation", "method", "code"}),
		sizes: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "response_size_bytes",
			Help:    "Size of the answers' bodies.",
			Buckets: prometheus.ExponentialBuckets(256, 8, 8), // to 512 MiB
		}, []string{"operation"}),
		aborted: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "requests_aborted_total",
			Help: "Requests whose connection was cut before or during the answer.",
		}, []string{"operation"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "requests_in_flight",
			Help: "Requests that are being answered.",
		}),
		connections: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "connections",
			Help: "Open connections of the public listener.",
		}),
	}
	m.registry.MustRegister(
		m.requests, m.durations, m.sizes, m.aborted, m.inFlight, m.connections, buildInfo(version),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

func buildInfo(version string) prometheus.Collector {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Namespace: namespace, Name: "build_info", Help: "Always 1; the labels say what runs.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
	})
	info.Set(1)
	return info
}

// WatchReadiness adds whether the server is ready, which is asked on every
// scrape. It must be called once at most.
func (m *Metrics) WatchReadiness(ready func(context.Context) error) {
	m.gauge("ready", "1 while the server takes requests and its database answers, as /healthz/ready.", func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout/2)
		defer cancel()
		if ready(ctx) != nil {
			return 0
		}
		return 1
	})
}

// WatchCertificate adds when the TLS certificate expires. It must be called once
// at most.
func (m *Metrics) WatchCertificate(notAfter func() time.Time) {
	m.gauge("tls_certificate_expiry_timestamp_seconds", "When the TLS certificate expires, in Unix time.", func() float64 {
		return float64(notAfter().Unix())
	})
}

func (m *Metrics) gauge(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, value))
}

const scrapeTimeout = 10 * time.Second

// Handler serves /metrics.
func (m *Metrics) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		Registry: m.registry, Timeout: scrapeTimeout, MaxRequestsInFlight: 4, EnableOpenMetrics: true,
	}))
	return mux
}

// Connection is an http.Server.ConnState.
func (m *Metrics) Connection(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		m.connections.Inc()
	case http.StateClosed, http.StateHijacked:
		m.connections.Dec()
	}
}

// Middleware is an apiserver.Options.Middleware. It counts a request whose
// handler panics too: so does a handler that cuts the connection.
func (m *Metrics) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		operation := apiserver.RequestOf(r.Context()).Name()
		answer := &recorder{ResponseWriter: w}
		begun := time.Now()
		ended := false
		m.inFlight.Inc()
		defer func() {
			m.inFlight.Dec()
			if !ended {
				m.aborted.WithLabelValues(operation).Inc()
			} else if answer.status == 0 {
				answer.status = http.StatusOK
			}
			labels := []string{operation, methodLabel(r.Method), strconv.Itoa(answer.status)}
			m.requests.WithLabelValues(labels...).Inc()
			m.durations.WithLabelValues(labels...).Observe(time.Since(begun).Seconds())
			m.sizes.WithLabelValues(operation).Observe(float64(answer.size))
		}()
		next.ServeHTTP(answer, r)
		ended = true
	})
}

// methodLabel is as promhttp's: methods are made up easily.
func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return strings.ToLower(method)
	}
	return "unknown"
}

// recorder notes what was answered; promhttp's instruments miss what panics.
type recorder struct {
	http.ResponseWriter
	status int
	size   int64
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK { // those below are not the answer yet
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.size += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }
